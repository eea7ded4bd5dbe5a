"""Pages of the same type as sample pages, among the stored ones; samples from the store, the web, or a saved name."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from sanderling.crawl.probe import ProbeResult, probe_robots, probe_url
from sanderling.crawl.request import parse_seed
from sanderling.db.connection import Connection
from sanderling.errors import UsageError
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.robots import build_robots_rules
from sanderling.fingerprint.structure import decode_features, fingerprint_structure
from sanderling.html.parser import Document, is_html, parse_charset, parse_html
from sanderling.html.tag_tree import build_tag_tree
from sanderling.html.tree_match import SIMILAR_THRESHOLD, compute_similarity
from sanderling.models import Outcome, Reason, Url, UrlState
from sanderling.storage.collection import StoredCollection, open_collection_read_only
from sanderling.storage.queries import find_url_id, load_stored_record, load_titles, load_urls
from sanderling.templates.concept_averaging import THRESHOLD, Inference, calibrate, infer_concepts
from sanderling.templates.page_features import PageView, extract_features, name_features
from sanderling.templates.template_index import SiteConcepts, TemplateIndex, open_template_index
from sanderling.urls.normalize import NormalizedUrl, get_host

MIN_FEATURES = 2  # a page of a single block has no structure
MAX_QUESTIONS = 3
CANDIDATES_PER_QUESTION = 10  # some are not stored
MAX_EXACT_PAGES = 5_000  # compared tree by tree
MAX_EXPLAINED_CONCEPTS = 8
MAX_NAMES = 4  # of a concept
SAVED_SAMPLES = "samples.json"


class Sample(Struct, frozen=True):
    """A sample page; `site` is 0 if no page of its host is known."""

    view: PageView
    site: int = 0


class SimilarPage(Struct, frozen=True):
    """A page like the samples: its probability (with --exact: similarity), its source, and the shared features."""

    url: str
    probability: float
    source: str = "store"  # or "web"
    shared: tuple[str, ...] = ()


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


class SavedSamples(Struct, frozen=True):
    """Samples under a name."""

    samples: tuple[str, ...]
    negatives: tuple[str, ...] = ()


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
    ranked = inference.rank_pages(THRESHOLD if threshold is None else min(THRESHOLD, threshold / 2))
    ids = source.load_ids(ranked)
    stored = load_titles(db, list(ids.values()))
    urls = load_urls(db, list(stored))
    found = {}
    for number, raw in ranked.items():
        id_ = ids.get(number, 0)
        probability = round(calibrate(raw, sample_count), 4)
        if id_ in urls and (threshold is None or probability >= threshold):
            shared = _name_shared(inference, number, names) if names else ()
            found[id_] = SimilarPage(urls[id_], probability, "store", shared)
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


# Samples


def load_saved_samples(folder: Path, name: str) -> SavedSamples:
    saved = _read_saved(folder)
    if name not in saved:
        known = ", ".join(sorted(saved)) or "none"
        raise UsageError(
            f"no samples are saved as {name!r} (saved: {known}); save them with: sanderling similar --save"
        )
    return saved[name]


def save_samples(folder: Path, name: str, samples: SavedSamples) -> None:
    """Save samples under a name, in a file of the collection."""
    saved = _read_saved(folder) | {name: samples}
    part = folder / f"{SAVED_SAMPLES}.part"
    part.write_bytes(msgspec.json.format(msgspec.json.encode(saved)))
    part.replace(folder / SAVED_SAMPLES)


def _read_saved(folder: Path) -> dict[str, SavedSamples]:
    try:
        return msgspec.json.decode((folder / SAVED_SAMPLES).read_bytes(), type=dict[str, SavedSamples])
    except FileNotFoundError:
        return {}
    except msgspec.DecodeError as error:
        raise UsageError(
            f"{folder / SAVED_SAMPLES} is damaged ({error}): remove it and save the samples again"
        ) from None


def take_sample(text: str, collection: StoredCollection | None, settings: FetchSettings | None) -> Sample:
    """Return a stored page as a sample, or fetch it if settings are given. Raises UsageError if it cannot serve."""
    normalized = parse_seed(text)
    stored = load_sample(normalized.url, collection.db) if collection else None
    if stored is not None:
        return stored
    if settings is None:
        raise UsageError(f"{normalized.url} is not stored; leave out --stored to fetch it")
    view = fetch_sample(normalized, settings)
    return Sample(view, _find_site(collection.db, view.url) if collection else 0)


def load_sample(url: Url, db: Connection) -> Sample | None:
    """Return the stored page of a URL as a sample, or None."""
    id_ = find_url_id(db, url)
    if not id_:
        return None
    row = db.execute(
        "SELECT p.status, p.mime, p.title, p.location, u.host, m.value FROM pages AS p JOIN urls AS u ON u.id = p.url"
        " LEFT JOIN marks AS m ON m.url = p.url AND m.kind = 'structure' WHERE p.url = ?",
        (id_,),
    ).fetchone()
    if row is None:
        state, reason = db.execute("SELECT state, reason FROM urls WHERE id = ?", (id_,)).fetchone()
        if reason == Reason.ROBOTS:
            raise UsageError(_describe_exclusion(url))
        if state in (UrlState.FAILED, UrlState.GONE):
            raise UsageError(f"{url} could not be fetched ({reason or state}): give another sample")
        return None
    status, mime, title, location, site, fingerprint = row
    _refuse_unusable(url, status, mime, location, bytes(fingerprint or b""))
    return Sample(PageView(id_, url, title, bytes(fingerprint)), site)


def fetch_sample(normalized: NormalizedUrl, settings: FetchSettings) -> PageView:
    """Fetch a sample if robots.txt allows it."""
    robots = probe_robots(get_host(normalized.url), settings)
    if not build_robots_rules(robots, settings.agent_token).is_allowed(normalized.request_url):
        raise UsageError(_describe_exclusion(normalized.url))
    answer = probe_url(normalized, settings)
    if answer.outcome not in (Outcome.FETCHED, Outcome.REDIRECT):
        why = answer.detail or answer.reason or f"status {answer.status}"
        raise UsageError(f"{normalized.url} could not be fetched ({why}): give another sample")
    tree = _parse_answer(answer) if is_html(answer.mime, answer.body) else None
    fingerprint = fingerprint_structure(tree) if tree is not None else b""
    _refuse_unusable(normalized.url, answer.status, answer.mime, answer.location, fingerprint)
    title = tree.find("title") if tree is not None else None
    return PageView(0, normalized.url, " ".join(title.text.split()) if title is not None else "", fingerprint)


def _parse_answer(answer: ProbeResult) -> Document:
    return parse_html(answer.body, parse_charset(answer.content_type))


def _find_site(db: Connection, url: str) -> int:
    row = db.execute("SELECT id FROM hosts WHERE name = ?", (get_host(Url(url)),)).fetchone()
    return int(row[0]) if row else 0


def _describe_exclusion(url: str) -> str:
    return f"robots.txt of {get_host(Url(url))} does not let us fetch {url}: give another sample"


def _refuse_unusable(url: str, status: int, mime: str, location: str, fingerprint: bytes) -> None:
    if 300 <= status < 400:
        raise UsageError(f"{url} is a redirect{f' to {location}' if location else ''}: give the page it leads to")
    if status >= 400:
        raise UsageError(f"{url} answers with status {status}: give a page that exists")
    if not fingerprint and mime and not is_html(mime, b""):
        raise UsageError(f"{url} is {mime}, not a web page: only HTML has a structure to match")
    if len(decode_features(fingerprint)) < MIN_FEATURES:
        raise UsageError(f"{url} is nearly empty: it has no structure to match")
