"""Pages and their past: what is stored of them, what changed and when."""

from collections.abc import Sequence
from pathlib import Path

from sanderling.changes.change_store import load_changes
from sanderling.changes.word_report import DiffReport, build_diff_report, parse_version
from sanderling.db.connection import Connection
from sanderling.errors import CollectionError
from sanderling.http.content_type import parse_charset, parse_mime_type
from sanderling.storage.page_history import COUNT_CHANGES_SQL, LAST_CHANGE_SQL
from sanderling.storage.queries import find_url_id, load_urls
from sanderling.urls.normalize import normalize_url
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import read_record
from sanderling.web.view_models import ChangeRow, StoredBody, StoredPageRow, VisitHistoryRow


def list_changes(db: Connection, kind: str, site: str, since: float, offset: int, limit: int) -> list[ChangeRow]:
    """What changed, newest first."""
    found = []
    for noted in load_changes(db, since):
        kinds = tuple(str(k) for k in noted.change.kinds)
        if kinds and (not kind or kind in kinds) and (not site or site in noted.site):
            found.append((noted, kinds))
        if len(found) >= offset + limit:
            break
    chosen = found[offset:]
    urls = load_urls(db, [noted.url_id for noted, _ in chosen])
    titles = _load_titles(db, [noted.url_id for noted, _ in chosen])
    return [
        ChangeRow(urls[n.url_id], titles.get(n.url_id, ""), n.seen_at, n.previous_at, kinds, n.change.significance)
        for n, kinds in chosen
    ]


def _load_titles(db: Connection, ids: Sequence[int]) -> dict[int, str]:
    if not ids:
        return {}
    marks = ",".join("?" * len(ids))
    return dict(db.execute(f"SELECT url, title FROM pages WHERE url IN ({marks})", list(ids)).fetchall())


def get_page(db: Connection, url: str) -> StoredPageRow | None:
    """A page as it is now; None if it was never stored."""
    id_ = find_url_id(db, url)
    row = db.execute(
        f"SELECT title, status, mime, language, first_seen, last_visit, {LAST_CHANGE_SQL}, visits, {COUNT_CHANGES_SQL}, size"
        " FROM pages AS p WHERE url = ?",
        (id_,),
    ).fetchone()
    return StoredPageRow(url, *row) if row else None


def list_visits(db: Connection, url: str, limit: int) -> list[VisitHistoryRow]:
    """All visits to a page, newest first, with what changed."""
    id_ = find_url_id(db, url)
    kinds = {noted.seen_at: noted.change for noted in load_changes(db, url_id=id_)} if id_ else {}
    rows = db.execute(
        "SELECT id, at, outcome, reason, status, changed, size, wire_bytes, seconds, length > 0 FROM visits"
        " WHERE url = ? ORDER BY at DESC, id DESC LIMIT ?",
        (id_, limit),
    )
    made = []
    for row in rows:
        change = kinds.get(row[1])
        kinds_seen = tuple(map(str, change.kinds)) if change else ()
        seen = (bool(kinds_seen), *row[6:9], bool(row[9]), kinds_seen, change.significance if change else 0.0)
        made.append(VisitHistoryRow(*row[:5], *seen))
    return made


def load_body(db: Connection, archive: Path, url: str, visit: int = 0, at: float = 0.0) -> StoredBody | None:
    """A stored answer: of one visit, or the last one not after a time, or the last of all."""
    row = db.execute(
        "SELECT v.id, v.at, f.name, v.start, v.length FROM visits AS v JOIN files AS f ON f.id = v.file"
        " WHERE v.url = ? AND v.length > 0 AND v.outcome IN ('fetched', 'not_modified')"
        " AND (? = 0 OR v.id = ?) AND (? = 0 OR v.at <= ?) ORDER BY v.at DESC, v.id DESC LIMIT 1",
        (find_url_id(db, url), visit, visit, at, at),
    ).fetchone()
    if row is None:
        return None
    try:
        record = read_record(archive, RecordLocation(*row[2:]))
    except CollectionError:
        return None
    declared = record.get_header("Content-Type")
    mime, charset, title = _load_content_type(db, url)  # a 304 says less than the answer it repeats
    mime = parse_mime_type(declared) or mime
    return StoredBody(url, row[0], row[1], record.status, mime, parse_charset(declared) or charset, record.body, title)


def _load_content_type(db: Connection, url: str) -> tuple[str, str, str]:
    row = db.execute("SELECT mime, charset, title FROM pages WHERE url = ?", (find_url_id(db, url),)).fetchone()
    return (str(row[0]), str(row[1]), str(row[2])) if row else ("", "", "")


def find_last_versions(db: Connection, url: str) -> tuple[int, int]:
    """The visits that brought the last version of a page and the one before it; 0 for one that there is not."""
    sql = "SELECT id, digest FROM visits WHERE url = ? AND outcome = 'fetched' AND length > 0 ORDER BY at, id"
    found: list[tuple[int, bytes]] = [(0, b""), (0, b"")]
    for visit, digest in db.execute(sql, (find_url_id(db, url),)):
        if found[-1][1] != digest:
            found.append((visit, digest))
    return found[-2][0], found[-1][0]


def compare_bodies(before: StoredBody | None, after: StoredBody | None) -> DiffReport | None:
    """Two versions word by word; None if one of them is not stored."""
    if before is None or after is None:
        return None
    old, new = (parse_version(one.content, one.charset, url=one.url) for one in (before, after))
    return build_diff_report(old, new)


def resolve_url_id(db: Connection, url: str) -> int:
    """The id of a URL, however it is spelled; 0 if it is not known."""
    spelling = normalize_url(url)
    return find_url_id(db, spelling.url) if spelling else 0
