"""Query the pages of a sitemap and of a change list (DPS-3, DPS-4), and format them as sitemap XML.

Priorities change while a crawler pages through. Therefore a second phase repeats all pages viewed since the first
response: a page may be listed twice, but is never missing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from xml.sax.saxutils import escape, quoteattr

from sanderling.publisher.http_dates import format_w3c, format_w3c_millis
from sanderling.publisher.priority import compute_priority
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.state_db import Connection, PublisherState

PART_SIZE = 50_000  # entries of a sitemap file, limit of the protocol
SORT_LIMIT = 20_000  # up to this many changes, sorting is faster than the index on scores

LIVE_FILTER = "deleted = 0 AND hidden = 0"
ENTRY_COLUMNS = "id, path, modified, created, noticed, score, deleted"
CHANGED_FILTER = "noticed > :since AND noticed <= :until"
XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACES = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/"'


@dataclass(frozen=True, slots=True)
class ListingEntry:
    path: str
    modified_ms: int
    priority: float
    change_type: str = ""  # created, updated, or deleted; empty in the sitemap


@dataclass(frozen=True, slots=True)
class ListingCursor:
    """Position in a change list, as encoded in the link to the next page."""

    phase: str = "ordered"  # then "climbed", then "deleted"
    score: float = 0.0
    page_id: int = 0
    until: int = 0  # commit time of the first response; 0: none yet

    def __str__(self) -> str:
        return f"{self.phase},{self.score!r},{self.page_id},{self.until}"


def parse_cursor(text: str) -> ListingCursor | None:
    """Return None for invalid cursors."""
    parts = text.split(",")
    if len(parts) != 4 or parts[0] not in ("ordered", "climbed", "deleted"):
        return None
    try:
        # SQLite integers are below 2^63, which has 19 digits.
        cursor = ListingCursor(parts[0], float(parts[1]), int(parts[2][:18]), int(parts[3][:18]))
    except ValueError:
        return None
    return cursor if cursor.until > 0 else None


@dataclass(frozen=True, slots=True)
class ChangesQuery:
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


def format_link(relation: str, url: str) -> str:
    return f"<rs:ln rel={quoteattr(relation)} href={quoteattr(url)}/>\n"


def format_capability(capability: str, **attributes: str) -> str:
    """Format the ResourceSync metadata of a document."""
    formatted = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    return f"<rs:md capability={quoteattr(capability)}{formatted}/>\n"


def build_urlset(site: PublishedSite, metadata: str, entries: Iterable[ListingEntry]) -> str:
    return "".join((XML_DECLARATION, f"<urlset {NAMESPACES}>\n", metadata, *_format_urls(site, entries), "</urlset>\n"))


def _format_urls(site: PublishedSite, entries: Iterable[ListingEntry]) -> Iterator[str]:
    base = escape(site.base_url)
    for entry in entries:
        modified = format_w3c(entry.modified_ms)
        change = f'<rs:md change="{entry.change_type}" datetime="{modified}"/>' if entry.change_type else ""
        url = base + escape(entry.path)
        location = f"<loc>{url}</loc><lastmod>{modified}</lastmod>"
        yield f"<url>{location}<priority>{entry.priority:.2f}</priority>{change}</url>\n"


def build_sitemap_index(site: PublishedSite, metadata: str, parts: Iterable[tuple[int, int]]) -> str:
    url = escape(site.build_url(site.sitemap_path))
    rows = (
        f"<sitemap><loc>{url}?part={part}</loc><lastmod>{format_w3c(modified)}</lastmod></sitemap>\n"
        for part, modified in parts
    )
    return "".join((XML_DECLARATION, f"<sitemapindex {NAMESPACES}>\n", metadata, *rows, "</sitemapindex>\n"))


def build_capability_document(metadata: str, documents: Iterable[tuple[str, str]]) -> str:
    """Build a ResourceSync document that lists documents as (URL, capability)."""
    rows = (
        f"<url><loc>{escape(url)}</loc>{format_capability(capability).strip()}</url>\n" for url, capability in documents
    )
    return "".join((XML_DECLARATION, f"<urlset {NAMESPACES}>\n", metadata, *rows, "</urlset>\n"))


def format_period(since: int, until: int) -> str:
    """Format the period of a change list. `until` is the next LAST_VISIT."""
    return format_capability("changelist", **{"from": format_w3c_millis(since), "until": format_w3c_millis(until)})
