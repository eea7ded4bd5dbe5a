"""Pages of the same type as sample pages, among the stored ones."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.html.parser import Document, parse_charset, parse_html
from sanderling.html.tag_tree import build_tag_tree
from sanderling.html.tree_match import SIMILAR_THRESHOLD, compute_similarity
from sanderling.models import Url
from sanderling.storage.collection import StoredCollection, open_collection_read_only
from sanderling.storage.queries import load_stored_record, load_titles, load_urls
from sanderling.templates.concept_averaging import THRESHOLD, Inference, calibrate, infer_concepts
from sanderling.templates.page_features import PageView, extract_features, name_features
from sanderling.templates.sample_pages import (
    Sample,
    load_sample,
    load_saved_samples,
)
from sanderling.templates.template_index import SiteConcepts, TemplateIndex, open_template_index

MAX_QUESTIONS = 3
CANDIDATES_PER_QUESTION = 10  # some are not stored
MAX_EXACT_PAGES = 5_000  # compared tree by tree
MAX_EXPLAINED_CONCEPTS = 8
MAX_NAMES = 4  # of a concept


class SimilarPage(Struct, frozen=True):
    """A page like the samples: its probability (with --exact: similarity), its source, and the shared features."""

    url: str
    probability: float
    source: str = "store"  # or "web"
    shared: tuple[str, ...] = ()
    title: str = ""


class Question(Struct, frozen=True):
    """A stored page whose answer, of the same type or not, would tell most."""

    url: str
    title: str


class SharedFeatures(Struct, frozen=True):
    """Features that decided: share of the weight, number of pages that have them, names."""

    weight: float
    page_count: int
    names: tuple[str, ...]


class SimilarPages(Struct, frozen=True):
    pages: list[SimilarPage]
    questions: list[Question] = []
    explanation: list[SharedFeatures] = []


def find_stored(
    folder: Path,
    samples: Sequence[Sample],
    negatives: Sequence[Sample] = (),
    *,
    threshold: float | None = None,
    explain: bool = False,
) -> SimilarPages:
    """Find the stored pages of the samples' type, most probable first, and questions that would tell more."""
    pages: list[SimilarPage] = []
    questions: list[Question] = []
    explanation: list[SharedFeatures] = []
    with open_collection_read_only(folder) as collection, open_template_index(collection) as index:
        for site in dict.fromkeys(sample.site for sample in samples if sample.site):
            own = [sample.view for sample in samples if sample.site == site]
            others = [sample.view for sample in negatives if sample.site == site]
            source = index.open_site(site)
            inference = infer_concepts(source, [*map(extract_features, own)], [*map(extract_features, others)])
            names = _load_names(collection, own) if explain else {}
            excluded = {view.id for view in others}
            found = _rank_stored(collection.db, source, inference, len(own), threshold, names)
            pages += [page for id_, page in found.items() if id_ not in excluded]
            questions += _choose_questions(index, source, inference, [*own, *others])
            if explain:
                explanation += _explain(inference, names)
    return SimilarPages(
        sorted(pages, key=lambda page: (-page.probability, page.url)), questions[:MAX_QUESTIONS], explanation
    )


def _rank_stored(
    db: Connection,
    source: SiteConcepts,
    inference: Inference,
    sample_count: int,
    threshold: float | None,
    names: Mapping[int, str],
) -> dict[int, SimilarPage]:
    ranked = inference.rank_pages(None if threshold is None else min(THRESHOLD, threshold / 4))
    ids = source.load_ids(ranked)
    stored = load_titles(db, list(ids.values()))
    urls = load_urls(db, list(stored))
    found = {}
    for number, raw in ranked.items():
        id_ = ids.get(number, 0)
        probability = round(calibrate(raw, sample_count), 4)
        if id_ in urls and (threshold is None or probability >= threshold):
            shared = _name_shared(inference, number, names) if names else ()
            found[id_] = SimilarPage(urls[id_], probability, "store", shared, stored[id_])
    return found


def _choose_questions(
    index: TemplateIndex, source: SiteConcepts, inference: Inference, asked: Sequence[PageView]
) -> list[Question]:
    numbers = inference.choose_questions((), CANDIDATES_PER_QUESTION)
    ids = source.load_ids(numbers)
    asked_ids = {view.id for view in asked}
    candidates = [ids[number] for number in numbers if number in ids and ids[number] not in asked_ids]
    titles = load_titles(index.catalog, candidates)
    urls = load_urls(index.catalog, list(titles))
    return [Question(urls[id_], titles[id_]) for id_ in candidates if id_ in urls]


def _load_names(collection: StoredCollection, samples: Sequence[PageView]) -> dict[int, str]:
    return name_features(samples, [load_body(collection, view.id, view.url) for view in samples if view.id])


def _explain(inference: Inference, names: Mapping[int, str]) -> list[SharedFeatures]:
    return [
        SharedFeatures(round(concept.weight, 4), concept.pages.bit_count(), _name_concept(concept.features, names))
        for concept in inference.concepts[:MAX_EXPLAINED_CONCEPTS]
    ]


def _name_shared(inference: Inference, number: int, names: Mapping[int, str]) -> tuple[str, ...]:
    concepts = inference.concepts[:MAX_EXPLAINED_CONCEPTS]
    return tuple(
        name
        for concept in concepts
        if concept.pages >> number & 1
        for name in _name_concept(concept.features, names)[:1]
    )


def _name_concept(features: Iterable[int], names: Mapping[int, str]) -> tuple[str, ...]:
    known = sorted({names[feature] for feature in features if feature in names}, key=lambda name: (len(name), name))
    return tuple(known[:MAX_NAMES]) or ("any page",)


def find_exactly(folder: Path, samples: Sequence[Sample], threshold: float | None = None) -> SimilarPages:
    """Compare whole trees with Simple Tree Matching, with the lower threshold of MIG 9 unless another is given."""
    least = SIMILAR_THRESHOLD if threshold is None else threshold
    pages = []
    with open_collection_read_only(folder) as collection, open_template_index(collection) as index:
        for site in dict.fromkeys(sample.site for sample in samples if sample.site):
            own = [sample.view for sample in samples if sample.site == site and sample.view.id]
            trees = [build_tag_tree(load_body(collection, view.id, view.url)) for view in own]
            views = index.list_pages(site, MAX_EXACT_PAGES)
            stored = load_titles(collection.db, [view.id for view in views])
            for view in views:
                if trees and view.id in stored:
                    tree = build_tag_tree(load_body(collection, view.id, view.url))
                    similarity = max(compute_similarity(tree, sample) for sample in trees)
                    pages += [SimilarPage(view.url, round(similarity, 4))] if similarity >= least else []
    return SimilarPages(sorted(pages, key=lambda page: (-page.probability, page.url)))


def load_body(collection: StoredCollection, id_: int, url: str) -> Document:
    """Return the stored body of a page, parsed."""
    record = load_stored_record(collection, id_, url)
    return parse_html(record.body, parse_charset(record.get_header("Content-Type")))


def find_saved(folder: Path, name: str) -> list[str]:
    """Return the URLs of the stored pages of the type that saved samples stand for, the samples included."""
    saved = load_saved_samples(folder, name)
    with open_collection_read_only(folder) as collection:
        samples, negatives = (
            [sample for url in urls if (sample := load_sample(Url(url), collection.db)) is not None]
            for urls in (saved.samples, saved.negatives)
        )
    found = [page.url for page in find_stored(folder, samples, negatives).pages]
    return list(dict.fromkeys([*(sample.view.url for sample in samples), *found]))
