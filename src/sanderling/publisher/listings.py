"""Query the pages of a sitemap and of a change list, with pagination (DPS-3, DPS-4).

The change list is ordered by live priority, deletions last. Priorities change while a crawler pages through, so a page
that rises above its cursor would be missed. Therefore a second phase repeats all pages viewed since the first
response: a page may be listed twice, but is never missing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from sanderling.publisher.priority import compute_priority
from sanderling.publisher.state_db import Connection, PublisherState

PART_SIZE = 50_000  # entries of a sitemap file, limit of the protocol
SORT_LIMIT = 20_000  # up to this many changes, sorting is faster than the index on scores

LIVE_FILTER = "deleted = 0 AND hidden = 0"
ENTRY_COLUMNS = "id, path, modified, created, noticed, score, deleted"
CHANGED_FILTER = "noticed > :since AND noticed <= :until"


@dataclass(frozen=True, slots=True)
class ListingEntry:
    """A listed page."""

    path: str
    modified_ms: int
    priority: float
    change_type: str = ""  # created, updated, or deleted; empty in the sitemap


@dataclass(frozen=True, slots=True)
class ListingCursor:
    """The position in a change list, as encoded in the link to the next page."""

    phase: str = "ordered"  # then "climbed", then "deleted"
    score: float = 0.0
    page_id: int = 0
    until: int = 0  # commit time of the first response; 0: none yet

    def __str__(self) -> str:
        return f"{self.phase},{self.score!r},{self.page_id},{self.until}"


def parse_cursor(text: str) -> ListingCursor | None:
    """Parse a cursor. Invalid cursors return None."""
    parts = text.split(",")
    if len(parts) != 4 or parts[0] not in ("ordered", "climbed", "deleted"):
        return None
    try:
        cursor = ListingCursor(
            parts[0], float(parts[1]), int(parts[2][:18]), int(parts[3][:18])
        )  # SQLite counts to 2^63
    except ValueError:
        return None
    return cursor if cursor.until > 0 else None


@dataclass(frozen=True, slots=True)
class ChangesQuery:
    """The parameters of a change list request."""

    since: int
    min_priority: float = -1.0  # exclusive
    limit: int = 10_000
    cursor: ListingCursor = ListingCursor()


@dataclass(frozen=True, slots=True)
class ListingPage:
    """A page of changes.

    `next_cursor` is None on the last page.
    """

    entries: list[ListingEntry]
    until: int
    next_cursor: ListingCursor | None


def load_top_score(db: Connection) -> float:
    """Return the highest score of any listed page."""
    row = db.execute(
        f"SELECT score FROM pages INDEXED BY pages_live WHERE {LIVE_FILTER} ORDER BY score DESC LIMIT 1"
    ).fetchone()
    return float(row[0]) if row else 0.0


def load_changes(db: Connection, publisher_state: PublisherState, query: ChangesQuery) -> ListingPage:
    """Return a page of changes after `since`."""
    cursor = (
        query.cursor
        if 0 < query.cursor.until <= publisher_state.last_commit_time
        else replace(query.cursor, until=publisher_state.last_commit_time)
    )
    entries: list[ListingEntry] = []
    changes = _iterate_changes(db, publisher_state, query, cursor)
    for entry, entry_cursor in islice(changes, query.limit):
        entries.append(entry)
        cursor = entry_cursor
    has_more = next(changes, None) is not None
    return ListingPage(entries, cursor.until, cursor if has_more else None)


def _iterate_changes(
    db: Connection, publisher_state: PublisherState, query: ChangesQuery, start_cursor: ListingCursor
) -> Iterator[tuple[ListingEntry, ListingCursor]]:
    """Yield changes with their cursors, phase by phase."""
    top = load_top_score(db)
    bounds = {
        "since": query.since,
        "until": start_cursor.until,
        "score": start_cursor.score,
        "id": start_cursor.page_id,
    }
    phases = ("ordered", "climbed", "deleted")
    for phase in phases[phases.index(start_cursor.phase) :]:
        if phase != start_cursor.phase:
            bounds |= {"score": 0.0, "id": 0}
        elif phase == "ordered" and start_cursor.page_id == 0:
            bounds["score"] = float("inf")
        if phase == "climbed" and start_cursor.until == publisher_state.last_commit_time:
            continue  # no views since the first response
        for row in db.execute(_build_changes_sql(db, phase, bounds), bounds):
            entry = _build_entry(row, query.since, publisher_state.priority_formula, top)
            if phase != "deleted" and entry.priority <= query.min_priority:
                if phase == "ordered":
                    break  # the rest has lower priorities
                continue
            yield entry, ListingCursor(phase, row[5], row[0], start_cursor.until)


def _build_changes_sql(db: Connection, phase: str, bounds: dict[str, float]) -> str:
    select = f"SELECT {ENTRY_COLUMNS} FROM pages INDEXED BY"
    if phase == "climbed":
        viewed = "hit_at > :until AND id > :id"
        return f"{select} pages_noticed WHERE {CHANGED_FILTER} AND {LIVE_FILTER} AND {viewed} ORDER BY id"
    if phase == "deleted":
        return f"{select} pages_gone WHERE {CHANGED_FILTER} AND deleted = 1 AND hidden = 0 AND id > :id ORDER BY id"
    change_count = db.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM pages WHERE {CHANGED_FILTER} LIMIT {SORT_LIMIT})", bounds
    ).fetchone()[0]
    index = "pages_noticed" if change_count < SORT_LIMIT else "pages_live"
    after = "(score < :score OR (score = :score AND id > :id))"
    return f"{select} {index} WHERE {CHANGED_FILTER} AND {LIVE_FILTER} AND {after} ORDER BY score DESC, id"


def _build_entry(
    row: tuple[int, str, int, int, int, float, int], since: int, formula: str, top_score: float
) -> ListingEntry:
    _, path, modified, created, _, score, deleted = row
    if deleted:
        return ListingEntry(path, modified, 0.0, "deleted")
    return ListingEntry(
        path, modified, compute_priority(formula, score, top_score), "created" if created > since else "updated"
    )


def load_sitemap_parts(db: Connection) -> list[tuple[int, int]]:
    """Return the parts of the sitemap with their latest modification times."""
    (last_id,) = db.execute("SELECT max(id) FROM pages").fetchone()
    newest = "SELECT max(modified) FROM pages INDEXED BY pages_part WHERE id / 50000 = ? AND " + LIVE_FILTER
    parts = ((part, db.execute(newest, (part,)).fetchone()[0]) for part in range((last_id or 0) // PART_SIZE + 1))
    return [(part, modified) for part, modified in parts if modified is not None]


def load_sitemap_entries(db: Connection, publisher_state: PublisherState, part: int) -> Iterator[ListingEntry]:
    """Yield the pages of a sitemap part with live priorities."""
    top = load_top_score(db)
    rows = db.execute(
        f"SELECT path, modified, score FROM pages WHERE id >= ? AND id < ? AND {LIVE_FILTER} ORDER BY id",
        (part * PART_SIZE, (part + 1) * PART_SIZE),
    )
    for path, modified, score in rows:
        yield ListingEntry(path, modified, compute_priority(publisher_state.priority_formula, score, top))
