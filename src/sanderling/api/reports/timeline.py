"""Stored bodies, visits and changes of pages."""

from pathlib import Path

from sanderling.api.reports.view_models import ChangeRow, StoredBody, StoredPageRow, VisitHistoryRow
from sanderling.changes.change_groups import group_changes
from sanderling.changes.change_query import ChangeFilter, describe_changes, find_lifecycle_changes
from sanderling.changes.change_store import StoredChange, load_changes
from sanderling.changes.classify import LIFECYCLE_KINDS
from sanderling.changes.feed import ReportedChange
from sanderling.changes.word_report import DiffReport, build_diff_report, parse_version
from sanderling.db.connection import Connection
from sanderling.errors import CollectionError
from sanderling.http.content_type import parse_charset, parse_mime_type
from sanderling.storage.collection import StoredCollection
from sanderling.storage.page_history import COUNT_CHANGES_SQL, LAST_CHANGE_SQL
from sanderling.storage.queries import find_url_id
from sanderling.urls.normalize import normalize_url
from sanderling.urls.scope import get_site
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import read_record


def list_changes(
    collection: StoredCollection, kind: str, site: str, since: float, offset: int, limit: int
) -> list[ChangeRow]:
    """Return changes with their text, newest first; a change that several pages share is one event."""
    lifecycle = find_lifecycle_changes(ChangeFilter(kinds=LIFECYCLE_KINDS, has_start=since > 0), collection, since)
    matches: list[ReportedChange | StoredChange] = [
        item
        for item in lifecycle
        if (not kind or kind in item.change.kinds) and (not site or site in get_site(item.url))
    ]
    enough = len(matches) + offset + limit
    for stored in load_changes(collection.db, since) if kind not in LIFECYCLE_KINDS else ():
        kinds = stored.change.kinds
        if kinds and (not kind or kind in kinds) and (not site or site in stored.site):
            matches.append(stored)
        if len(matches) >= enough:
            break
    selected = sorted(matches, key=lambda item: -item.seen_at)[offset : offset + limit]
    described = describe_changes(collection, [item for item in selected if isinstance(item, StoredChange)])
    described += [item for item in selected if isinstance(item, ReportedChange)]
    return [
        ChangeRow(
            item.url,
            item.name if item.shared_urls else item.title,
            item.seen_at,
            item.previous_at,
            tuple(map(str, item.change.kinds)),
            item.change.significance,
            item.texts,
            item.shared_urls,
        )
        for item in group_changes(sorted(described, key=lambda item: -item.seen_at))
    ]


def get_page(db: Connection, url: str) -> StoredPageRow | None:
    id_ = resolve_url_id(db, url)
    row = db.execute(
        f"SELECT title, status, mime, language, first_seen, last_visit, {LAST_CHANGE_SQL}, visits,"
        f" {COUNT_CHANGES_SQL}, size FROM pages AS p WHERE url = ?",
        (id_,),
    ).fetchone()
    return StoredPageRow(url, *row) if row else None


def list_visits(db: Connection, url: str, limit: int) -> list[VisitHistoryRow]:
    """Return visits with their changes, newest first."""
    id_ = resolve_url_id(db, url)
    changes = {entry.seen_at: entry.change for entry in load_changes(db, url_id=id_)} if id_ else {}
    rows = db.execute(
        "SELECT id, at, outcome, reason, status, changed, size, wire_bytes, seconds, length > 0 FROM visits"
        " WHERE url = ? ORDER BY at DESC, id DESC LIMIT ?",
        (id_, limit),
    )
    visits = []
    for row in rows:
        change = changes.get(row[1])
        kinds = tuple(map(str, change.kinds)) if change else ()
        details = (bool(kinds), *row[6:9], bool(row[9]), kinds, change.significance if change else 0.0)
        visits.append(VisitHistoryRow(*row[:5], *details))
    return visits


def load_body(db: Connection, archive: Path, url: str, visit: int = 0, at: float = 0.0) -> StoredBody | None:
    """Load the body of a visit, else the last until `at`."""
    row = db.execute(
        "SELECT v.id, v.at, f.name, v.start, v.length FROM visits AS v JOIN files AS f ON f.id = v.file"
        " WHERE v.url = ? AND v.length > 0 AND v.outcome IN ('fetched', 'not_modified')"
        " AND (? = 0 OR v.id = ?) AND (? = 0 OR v.at <= ?) ORDER BY v.at DESC, v.id DESC LIMIT 1",
        (resolve_url_id(db, url), visit, visit, at, at),
    ).fetchone()
    if row is None:
        return None
    try:
        record = read_record(archive, RecordLocation(*row[2:]))
    except CollectionError:
        return None
    declared = record.get_header("Content-Type")
    mime, charset, title = _load_content_type(db, url)  # a 304 has fewer headers than the response it confirms
    mime = parse_mime_type(declared) or mime
    return StoredBody(url, row[0], row[1], record.status, mime, parse_charset(declared) or charset, record.body, title)


def _load_content_type(db: Connection, url: str) -> tuple[str, str, str]:
    row = db.execute("SELECT mime, charset, title FROM pages WHERE url = ?", (resolve_url_id(db, url),)).fetchone()
    return (str(row[0]), str(row[1]), str(row[2])) if row else ("", "", "")


def find_last_versions(db: Connection, url: str) -> tuple[int, int]:
    """Return the visits of the previous and the last version; 0 if missing."""
    sql = "SELECT id, digest FROM visits WHERE url = ? AND outcome = 'fetched' AND length > 0 ORDER BY at, id"
    versions: list[tuple[int, bytes]] = [(0, b""), (0, b"")]
    for visit, digest in db.execute(sql, (resolve_url_id(db, url),)):
        if versions[-1][1] != digest:
            versions.append((visit, digest))
    return versions[-2][0], versions[-1][0]


def compare_bodies(before: StoredBody | None, after: StoredBody | None) -> DiffReport | None:
    """Compare versions. None if either is not stored."""
    if before is None or after is None:
        return None
    old, new = (parse_version(body.content, body.charset, url=body.url) for body in (before, after))
    return build_diff_report(old, new)


def resolve_url_id(db: Connection, url: str) -> int:
    """Return the id of a URL; 0 if invalid or unknown."""
    normalized = normalize_url(url)
    return find_url_id(db, normalized.url) if normalized else 0
