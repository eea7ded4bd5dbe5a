"""What a crawler is shown: rows of the store in the right order, a page at a time (DPS-3, DPS-4).

The list of changes is ordered by live priority, highest first, deletions last. Priorities move while a crawler pages
through, so a page that climbs past the place reached so far would be missed: after the ordered part comes a part with
all that was viewed since the first answer. A page may thus be named twice, but never not at all.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from sanderling.publisher.priority import compute_priority
from sanderling.publisher.state_db import Connection, PublisherState

PART_SIZE = 50_000  # entries of one file of a large sitemap: the most the protocol allows
SORT_LIMIT = 20_000  # up to here it is cheaper to sort what changed than to walk all pages by priority

LIVE_FILTER = "deleted = 0 AND hidden = 0"
ENTRY_COLUMNS = "id, path, modified, created, noticed, score, deleted"
CHANGED_FILTER = "noticed > :since AND noticed <= :until"


@dataclass(frozen=True, slots=True)
class ListingEntry:
    """One page as it is listed."""

    path: str
    modified_ms: int
    priority: float
    change_type: str = ""  # created, updated or deleted; empty in the plain sitemap


@dataclass(frozen=True, slots=True)
class ListingCursor:
    """Where the next page of a list of changes begins; also what its link carries."""

    phase: str = "ordered"  # then "climbed", then "deleted"
    score: float = 0.0
    page_id: int = 0
    until: int = 0  # stamp of the first answer; 0 before there was one

    def __str__(self) -> str:
        return f"{self.phase},{self.score!r},{self.page_id},{self.until}"


def parse_cursor(text: str) -> ListingCursor | None:
    """Read the place in a link; None if it is none of ours."""
    parts = text.split(",")
    if len(parts) != 4 or parts[0] not in ("ordered", "climbed", "deleted"):
        return None
    try:
        place = ListingCursor(
            parts[0], float(parts[1]), int(parts[2][:18]), int(parts[3][:18])
        )  # SQLite counts to 2^63
    except ValueError:
        return None
    return place if place.until > 0 else None


@dataclass(frozen=True, slots=True)
class ChangesQuery:
    """What a crawler asks for."""

    since: int
    min_priority: float = -1.0  # pages must have a priority above this
    limit: int = 10_000
    cursor: ListingCursor = ListingCursor()


@dataclass(frozen=True, slots=True)
class ListingPage:
    """One page of changes, and where the next begins (None: this was the last)."""

    entries: list[ListingEntry]
    until: int
    next_cursor: ListingCursor | None


def load_top_score(db: Connection) -> float:
    """Find the highest score of any listed page."""
    row = db.execute(
        f"SELECT score FROM pages INDEXED BY pages_live WHERE {LIVE_FILTER} ORDER BY score DESC LIMIT 1"
    ).fetchone()
    return float(row[0]) if row else 0.0


def load_changes(db: Connection, publisher_state: PublisherState, query: ChangesQuery) -> ListingPage:
    """Give what changed after `since`, from the wished place on."""
    place = (
        query.cursor
        if 0 < query.cursor.until <= publisher_state.last_commit_time
        else replace(query.cursor, until=publisher_state.last_commit_time)
    )
    entries: list[ListingEntry] = []
    walk = _iterate_changes(db, publisher_state, query, place)
    for entry, here in islice(walk, query.limit):
        entries.append(entry)
        place = here
    more = next(walk, None) is not None
    return ListingPage(entries, place.until, place if more else None)


def _iterate_changes(
    db: Connection, publisher_state: PublisherState, query: ChangesQuery, start_cursor: ListingCursor
) -> Iterator[tuple[ListingEntry, ListingCursor]]:
    """Go through the three phases from a place on."""
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
            continue  # nothing was written since the first answer
        for row in db.execute(_build_changes_sql(db, phase, bounds), bounds):
            entry = _build_entry(row, query.since, publisher_state.priority_formula, top)
            if phase != "deleted" and entry.priority <= query.min_priority:
                if phase == "ordered":
                    break  # all that follow are lower
                continue
            yield entry, ListingCursor(phase, row[5], row[0], start_cursor.until)


def _build_changes_sql(db: Connection, phase: str, bounds: dict[str, float]) -> str:
    rows = f"SELECT {ENTRY_COLUMNS} FROM pages INDEXED BY"
    if phase == "climbed":
        return f"{rows} pages_noticed WHERE {CHANGED_FILTER} AND {LIVE_FILTER} AND hit_at > :until AND id > :id ORDER BY id"
    if phase == "deleted":
        return f"{rows} pages_gone WHERE {CHANGED_FILTER} AND deleted = 1 AND hidden = 0 AND id > :id ORDER BY id"
    few = db.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM pages WHERE {CHANGED_FILTER} LIMIT {SORT_LIMIT})", bounds
    ).fetchone()[0]
    index = "pages_noticed" if few < SORT_LIMIT else "pages_live"
    after = "(score < :score OR (score = :score AND id > :id))"
    return f"{rows} {index} WHERE {CHANGED_FILTER} AND {LIVE_FILTER} AND {after} ORDER BY score DESC, id"


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
    """Number the files of the sitemap, each with the time its newest page changed."""
    (last,) = db.execute("SELECT max(id) FROM pages").fetchone()
    newest = "SELECT max(modified) FROM pages INDEXED BY pages_part WHERE id / 50000 = ? AND " + LIVE_FILTER
    found = ((part, db.execute(newest, (part,)).fetchone()[0]) for part in range((last or 0) // PART_SIZE + 1))
    return [(part, modified) for part, modified in found if modified is not None]


def load_sitemap_entries(db: Connection, publisher_state: PublisherState, part: int) -> Iterator[ListingEntry]:
    """Give the pages of one file of the sitemap with their live priorities."""
    top = load_top_score(db)
    rows = db.execute(
        f"SELECT path, modified, score FROM pages WHERE id >= ? AND id < ? AND {LIVE_FILTER} ORDER BY id",
        (part * PART_SIZE, (part + 1) * PART_SIZE),
    )
    for path, modified, score in rows:
        yield ListingEntry(path, modified, compute_priority(publisher_state.priority_formula, score, top))
