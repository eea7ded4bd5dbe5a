"""More like this, in the store: the stored pages that are built like sample pages."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.fingerprint.structure import features, likeness
from sanderling.html.parser import Document, charset_of, parse
from sanderling.html.tag_tree import clean
from sanderling.html.tree_match import THETA_LOW, similarity
from sanderling.models import Reason, State, Url
from sanderling.storage.collection import Collection, read_collection
from sanderling.storage.queries import stored, urls_of
from sanderling.templates.classifier import EARLY, Recogniser, asked_for
from sanderling.templates.similar.samples import Sample
from sanderling.templates.template_index import Match, Structures
from sanderling.templates.template_indexer import learn_site, looks_of, open_structures
from sanderling.templates.template_views import Look
from sanderling.urls.normalize import host_of

SMALL_SITE = 24  # pages; templates of fewer are not believed
SEEN = 1_000  # pages that were not brought home and say what is common on a site
CROSS_SITE = 500  # pages of other sites that are compared tree by tree


class Found(Struct, frozen=True):
    """A page built like the samples, and where it was found: in the store or on the web."""

    url: str
    similarity: float
    source: str  # "store" or "web"


def find_stored(folder: Path, samples: Sequence[Sample], exact: bool = False) -> list[Found]:
    """Stored pages built like any of the samples, the most alike first."""
    with read_collection(folder) as collection, open_structures(collection) as structures:
        best: dict[int, float] = {}
        for sample in samples:
            for match in _matches(sample, structures, collection):
                best[match.id] = max(best.get(match.id, 0.0), match.similarity)
        if len(samples) > 1:
            best = _asked_for(samples, best, structures)
        if exact:
            best = _exactly(samples, best, collection)
        names = urls_of(collection.db, list(best))
    found = [Found(names[id_], round(value, 4), "store") for id_, value in best.items() if id_ in names]
    return sorted(found, key=lambda page: (-page.similarity, page.url))


def _asked_for(samples: Sequence[Sample], best: dict[int, float], structures: Structures) -> dict[int, float]:
    """Of the pages found, those that have what the samples have in common by no accident."""
    members = structures.features_of(best)
    wanted = asked_for([sample.look.features for sample in samples], members.values())
    return {id_: value for id_, value in best.items() if wanted <= members.get(id_, frozenset())}


def _matches(sample: Sample, structures: Structures, collection: Collection) -> Iterable[Match]:
    db = collection.db
    site = sample.site or _site_of(db, sample.look.url)
    if not site or structures.count(site) == 0:
        return structures.like_signature(sample.signature, THETA_LOW, CROSS_SITE)
    if kept := _kept(db, site):
        return _among_all_seen(sample, looks_of(structures, db, site), kept)
    learn_site(structures, db, site)
    found = structures.like_look(site, sample.look)
    if structures.count(site) >= SMALL_SITE and structures.template_count(site) > 1:
        return found
    recogniser = Recogniser([sample.look])  # too little is known of the site: go by likeness alone
    looks = {look.id: look for look in looks_of(structures, db, site)}
    for look in looks.values():
        recogniser.show(look)
    return [match for match in found if recogniser.likeness(looks[match.id]) >= EARLY]


def _among_all_seen(sample: Sample, looks: Sequence[Look], kept: Sequence[Look]) -> Iterable[Match]:
    """Where most of a site was seen and not brought home, its templates are learned from all that was seen."""
    recogniser = Recogniser([sample.look])
    for look in [*kept, *looks]:
        recogniser.show(look)
    recogniser.study()
    return [Match(look.id, likeness(look.features, sample.look.features)) for look in looks if recogniser.wants(look)]


def _kept(db: Connection, site: int) -> list[Look]:
    """Pages of a site that migrants keep: they say what is common to all pages of the site."""
    rows = db.execute(
        "SELECT u.id, h.name || u.path, m.value FROM urls AS u JOIN hosts AS h ON h.id = u.host"
        " JOIN marks AS m ON m.url = u.id AND m.kind = 'structure'"
        " WHERE u.host = ? AND u.state = ? AND u.reason = ? LIMIT ?",
        (site, State.SKIPPED, Reason.NOT_ALIKE, SEEN),
    )
    return [Look(id_, url, "", features(bytes(value))) for id_, url, value in rows]


def _site_of(db: Connection, url: str) -> int:
    row = db.execute("SELECT id FROM hosts WHERE name = ?", (host_of(Url(url)),)).fetchone()
    return int(row[0]) if row else 0


def _exactly(samples: Sequence[Sample], found: dict[int, float], collection: Collection) -> dict[int, float]:
    """Match whole trees: Simple Tree Matching of every page found with every sample that is stored."""
    trees = [clean(body_of(collection, sample.look.id, sample.look.url)) for sample in samples if sample.look.id]
    if not trees:
        return found
    names = urls_of(collection.db, list(found))
    exact = {}
    for id_, url in names.items():
        tree = clean(body_of(collection, id_, url))
        exact[id_] = max(similarity(tree, sample) for sample in trees)
    return exact


def body_of(collection: Collection, id_: int, url: str) -> Document:
    """The stored body of a page, parsed."""
    record = stored(collection, id_, url)
    return parse(record.body, charset_of(record.header("Content-Type")))
