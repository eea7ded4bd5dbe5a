"""More like this, in the store: the stored pages that are built like sample pages."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.fingerprint.structure import compute_feature_similarity, decode_features
from sanderling.html.parser import Document, parse_charset, parse_html
from sanderling.html.tag_tree import build_tag_tree
from sanderling.html.tree_match import SIMILAR_THRESHOLD, compute_similarity
from sanderling.models import Reason, Url, UrlState
from sanderling.storage.collection import StoredCollection, open_collection_read_only
from sanderling.storage.queries import load_stored_record, load_urls
from sanderling.templates.classifier import EARLY, Recogniser, asked_for
from sanderling.templates.similar.samples import Sample
from sanderling.templates.template_index import Match, Structures
from sanderling.templates.template_indexer import load_page_views, open_structures, update_site_templates
from sanderling.templates.template_views import PageView
from sanderling.urls.normalize import get_host

SMALL_SITE = 24  # pages; templates of fewer are not believed
SEEN = 1_000  # pages that were not brought home and say what is common on a site
CROSS_SITE = 500  # pages of other sites that are compared tree by tree


class SimilarPage(Struct, frozen=True):
    """A page built like the samples, and where it was found: in the store or on the web."""

    url: str
    similarity: float
    source: str  # "store" or "web"


def find_stored(folder: Path, samples: Sequence[Sample], exact: bool = False) -> list[SimilarPage]:
    """Stored pages built like any of the samples, the most alike first."""
    with open_collection_read_only(folder) as collection, open_structures(collection) as structures:
        best: dict[int, float] = {}
        for sample in samples:
            for match in _matches(sample, structures, collection):
                best[match.id] = max(best.get(match.id, 0.0), match.similarity)
        if len(samples) > 1:
            best = _asked_for(samples, best, structures)
        if exact:
            best = _exactly(samples, best, collection)
        names = load_urls(collection.db, list(best))
    found = [SimilarPage(names[id_], round(value, 4), "store") for id_, value in best.items() if id_ in names]
    return sorted(found, key=lambda page: (-page.similarity, page.url))


def _asked_for(samples: Sequence[Sample], best: dict[int, float], structures: Structures) -> dict[int, float]:
    """Of the pages found, those that have what the samples have in common by no accident."""
    members = structures.features_of(best)
    wanted = asked_for([sample.look.features for sample in samples], members.values())
    return {id_: value for id_, value in best.items() if wanted <= members.get(id_, frozenset())}


def _matches(sample: Sample, structures: Structures, collection: StoredCollection) -> Iterable[Match]:
    db = collection.db
    site = sample.site or _site_of(db, sample.look.url)
    if not site or structures.count(site) == 0:
        return structures.like_signature(sample.signature, SIMILAR_THRESHOLD, CROSS_SITE)
    if kept := _kept(db, site):
        return _among_all_seen(sample, load_page_views(structures, db, site), kept)
    update_site_templates(structures, db, site)
    found = structures.find_same_template(site, sample.look)
    if structures.count(site) >= SMALL_SITE and structures.template_count(site) > 1:
        return found
    recogniser = Recogniser([sample.look])  # too little is known of the site: go by likeness alone
    looks = {look.id: look for look in load_page_views(structures, db, site)}
    for look in looks.values():
        recogniser.show(look)
    return [match for match in found if recogniser.likeness(looks[match.id]) >= EARLY]


def _among_all_seen(sample: Sample, looks: Sequence[PageView], kept: Sequence[PageView]) -> Iterable[Match]:
    """Where most of a site was seen and not brought home, its templates are learned from all that was seen."""
    recogniser = Recogniser([sample.look])
    for look in [*kept, *looks]:
        recogniser.show(look)
    recogniser.study()
    return [
        Match(look.id, compute_feature_similarity(look.features, sample.look.features))
        for look in looks
        if recogniser.wants(look)
    ]


def _kept(db: Connection, site: int) -> list[PageView]:
    """Pages of a site that migrants keep: they say what is common to all pages of the site."""
    rows = db.execute(
        "SELECT u.id, h.name || u.path, m.value FROM urls AS u JOIN hosts AS h ON h.id = u.host"
        " JOIN marks AS m ON m.url = u.id AND m.kind = 'structure'"
        " WHERE u.host = ? AND u.state = ? AND u.reason = ? LIMIT ?",
        (site, UrlState.SKIPPED, Reason.NOT_SIMILAR, SEEN),
    )
    return [PageView(id_, url, "", decode_features(bytes(value))) for id_, url, value in rows]


def _site_of(db: Connection, url: str) -> int:
    row = db.execute("SELECT id FROM hosts WHERE name = ?", (get_host(Url(url)),)).fetchone()
    return int(row[0]) if row else 0


def _exactly(samples: Sequence[Sample], found: dict[int, float], collection: StoredCollection) -> dict[int, float]:
    """Match whole trees: Simple Tree Matching of every page found with every sample that is stored."""
    trees = [
        build_tag_tree(body_of(collection, sample.look.id, sample.look.url)) for sample in samples if sample.look.id
    ]
    if not trees:
        return found
    names = load_urls(collection.db, list(found))
    exact = {}
    for id_, url in names.items():
        tree = build_tag_tree(body_of(collection, id_, url))
        exact[id_] = max(compute_similarity(tree, sample) for sample in trees)
    return exact


def body_of(collection: StoredCollection, id_: int, url: str) -> Document:
    """The stored body of a page, parsed."""
    record = load_stored_record(collection, id_, url)
    return parse_html(record.body, parse_charset(record.get_header("Content-Type")))
