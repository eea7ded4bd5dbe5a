"""Query visits to index, and the current state of pages."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from sanderling.db.connection import Connection, select_by_ids
from sanderling.models import Outcome
from sanderling.warc.records import RecordLocation

CHUNK_SIZE = 400
GONE_OUTCOMES = (Outcome.GONE, Outcome.REDIRECT)

# The original of a copy counts only while it is indexable with the same body and does not name the copy as canonical.
ORIGINAL_JOIN = """
    LEFT JOIN pages AS o ON o.url = p.duplicate_of AND o.digest = p.digest AND o.noindex = 0 AND o.misses = 0
                         AND o.status BETWEEN 200 AND 299 AND o.canonical <> h.name || u.path
"""
EXCLUDED_CONDITION = "(p.noindex <> 0 OR p.misses > 0 OR p.status NOT BETWEEN 200 AND 299 OR o.url IS NOT NULL)"
PENDING_SQL = f"""
    SELECT v.id, v.url, v.at, v.outcome, v.changed, coalesce(f.name, ''), v.start, v.length,
           coalesce(p.visit, v.id), coalesce({EXCLUDED_CONDITION}, 1 = 1), coalesce(p.duplicate_of, 0), p.links,
           coalesce(p.title, ''), coalesce(p.language, ''), coalesce(p.canonical, ''), v.digest,
           coalesce(p.first_seen, v.at)
    FROM visits AS v JOIN urls AS u ON u.id = v.url JOIN hosts AS h ON h.id = u.host
         LEFT JOIN pages AS p ON p.url = v.url {ORIGINAL_JOIN} LEFT JOIN files AS f ON f.id = v.file
    WHERE v.id > ? AND v.id <= ? AND u.role = 'page' AND (p.url IS NOT NULL OR v.outcome = 'skipped') ORDER BY v.id
"""
LATEST_SQL = f"""
    SELECT v.id, v.url, v.at, v.outcome, v.changed, coalesce(f.name, ''), v.start, v.length,
           p.visit, {EXCLUDED_CONDITION}, p.duplicate_of, p.links, p.title, p.language, p.canonical, p.digest,
           p.first_seen
    FROM pages AS p JOIN visits AS v ON v.id = p.visit JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host
         {ORIGINAL_JOIN} LEFT JOIN files AS f ON f.id = v.file
    WHERE p.visit <= ? AND p.url
"""


def find_copies(db: Connection, url_ids: Sequence[int]) -> set[str]:
    """Return those of these URLs whose page is an exact copy of another page that belongs in the index."""
    sql = (
        "SELECT h.name || u.path FROM pages AS p JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host"
        f" {ORIGINAL_JOIN} WHERE o.url IS NOT NULL AND p.url IN ({{}})"
    )
    return {url for (url,) in select_by_ids(db, sql, url_ids)}


class PendingVisit(Struct, frozen=True):
    """A visit with the current state of its page."""

    id: int
    url_id: int
    at: float
    outcome: str
    changed: bool
    file: str
    start: int
    length: int
    latest_visit: int  # the visit that stored the page's current version
    is_excluded: bool  # the page does not belong in the index
    original_id: int  # the page it is an exact copy of; 0: none
    links: bytes
    title: str
    language: str
    canonical: str  # the rel=canonical URL; empty: none
    digest: bytes
    first_seen: float  # time of the first stored version of the page

    @property
    def is_latest(self) -> bool:
        return self.latest_visit == self.id

    @property
    def location(self) -> RecordLocation:
        return RecordLocation(self.file, self.start, self.length)


def load_pending_visits(db: Connection, since: int, until: int) -> list[PendingVisit]:
    """Return visits in (since, until], in order."""
    return [PendingVisit(*row) for row in db.execute(PENDING_SQL, (since, until))]


def load_latest_visits(db: Connection, url_ids: Sequence[int], until: int) -> Iterator[PendingVisit]:
    """Yield the visits that stored the current versions, up to `until`."""
    for start in range(0, len(url_ids), CHUNK_SIZE):
        part = list(url_ids[start : start + CHUNK_SIZE])
        for row in db.execute(f"{LATEST_SQL} IN ({','.join('?' * len(part))})", (until, *part)):
            yield PendingVisit(*row)


def is_gone(visit: PendingVisit) -> bool:
    """Return whether the page was gone, redirected, or excluded."""
    return visit.outcome in GONE_OUTCOMES or (visit.is_excluded and visit.id >= visit.latest_visit)
