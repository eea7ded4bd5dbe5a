"""Pages and their past: what is stored of them, what changed and when."""

from collections.abc import Sequence
from pathlib import Path

from sanderling.changes.change_store import entries
from sanderling.changes.word_report import Report, compare, version
from sanderling.db.connection import Connection
from sanderling.errors import CollectionError
from sanderling.http.content_type import charset_of, mime_of
from sanderling.storage.page_history import CHANGES, LAST_CHANGE
from sanderling.storage.queries import url_id, urls_of
from sanderling.urls.normalize import normalise
from sanderling.warc.reader import read_record
from sanderling.warc.records import Place
from sanderling.web.view_models import Body, ChangeRow, PageRow, VersionRow


def changes(db: Connection, kind: str, site: str, since: float, offset: int, most: int) -> list[ChangeRow]:
    """What changed, newest first."""
    found = []
    for noted in entries(db, since):
        kinds = tuple(str(k) for k in noted.change.kinds)
        if kinds and (not kind or kind in kinds) and (not site or site in noted.site):
            found.append((noted, kinds))
        if len(found) >= offset + most:
            break
    chosen = found[offset:]
    urls = urls_of(db, [noted.url for noted, _ in chosen])
    titles = _titles(db, [noted.url for noted, _ in chosen])
    return [
        ChangeRow(urls[n.url], titles.get(n.url, ""), n.at, n.previous_at, kinds, n.change.significance)
        for n, kinds in chosen
    ]


def _titles(db: Connection, ids: Sequence[int]) -> dict[int, str]:
    if not ids:
        return {}
    marks = ",".join("?" * len(ids))
    return dict(db.execute(f"SELECT url, title FROM pages WHERE url IN ({marks})", list(ids)).fetchall())


def page(db: Connection, url: str) -> PageRow | None:
    """A page as it is now; None if it was never stored."""
    id_ = id_of(db, url)
    row = db.execute(
        f"SELECT title, status, mime, language, first_seen, last_visit, {LAST_CHANGE}, visits, {CHANGES}, size"
        " FROM pages AS p WHERE url = ?",
        (id_,),
    ).fetchone()
    return PageRow(url, *row) if row else None


def history(db: Connection, url: str, most: int) -> list[VersionRow]:
    """All visits to a page, newest first, with what changed."""
    id_ = id_of(db, url)
    kinds = {noted.at: noted.change for noted in entries(db, url=id_)} if id_ else {}
    rows = db.execute(
        "SELECT id, at, outcome, reason, status, changed, size, wire_bytes, seconds, length > 0 FROM visits"
        " WHERE url = ? ORDER BY at DESC, id DESC LIMIT ?",
        (id_, most),
    )
    made = []
    for row in rows:
        change = kinds.get(row[1])
        kinds_seen = tuple(map(str, change.kinds)) if change else ()
        seen = (bool(kinds_seen), *row[6:9], bool(row[9]), kinds_seen, change.significance if change else 0.0)
        made.append(VersionRow(*row[:5], *seen))
    return made


def body(db: Connection, archive: Path, url: str, visit: int = 0, at: float = 0.0) -> Body | None:
    """A stored answer: of one visit, or the last one not after a time, or the last of all."""
    row = db.execute(
        "SELECT v.id, v.at, f.name, v.start, v.length FROM visits AS v JOIN files AS f ON f.id = v.file"
        " WHERE v.url = ? AND v.length > 0 AND v.outcome IN ('fetched', 'not_modified')"
        " AND (? = 0 OR v.id = ?) AND (? = 0 OR v.at <= ?) ORDER BY v.at DESC, v.id DESC LIMIT 1",
        (id_of(db, url), visit, visit, at, at),
    ).fetchone()
    if row is None:
        return None
    try:
        record = read_record(archive, Place(*row[2:]))
    except CollectionError:
        return None
    declared = record.header("Content-Type")
    mime, charset, title = _about(db, url)  # a 304 says less than the answer it repeats
    mime = mime_of(declared) or mime
    return Body(url, row[0], row[1], record.status, mime, charset_of(declared) or charset, record.body, title)


def _about(db: Connection, url: str) -> tuple[str, str, str]:
    row = db.execute("SELECT mime, charset, title FROM pages WHERE url = ?", (id_of(db, url),)).fetchone()
    return (str(row[0]), str(row[1]), str(row[2])) if row else ("", "", "")


def last_two(db: Connection, url: str) -> tuple[int, int]:
    """The visits that brought the last version of a page and the one before it; 0 for one that there is not."""
    sql = "SELECT id, digest FROM visits WHERE url = ? AND outcome = 'fetched' AND length > 0 ORDER BY at, id"
    found: list[tuple[int, bytes]] = [(0, b""), (0, b"")]
    for visit, digest in db.execute(sql, (id_of(db, url),)):
        if found[-1][1] != digest:
            found.append((visit, digest))
    return found[-2][0], found[-1][0]


def difference(before: Body | None, after: Body | None) -> Report | None:
    """Two versions word by word; None if one of them is not stored."""
    if before is None or after is None:
        return None
    old, new = (version(one.body, one.charset, url=one.url) for one in (before, after))
    return compare(old, new)


def id_of(db: Connection, url: str) -> int:
    """The id of a URL, however it is spelled; 0 if it is not known."""
    spelling = normalise(url)
    return url_id(db, spelling.url) if spelling else 0
