"""The window onto a collection on disk: reads its database and archive while a crawl may be writing."""

import json
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from sanderling.changes.ledger import entries
from sanderling.changes.report import Report, compare, version
from sanderling.clock import Clock, real
from sanderling.database import Connection
from sanderling.errors import CollectionError
from sanderling.organise.normalise import normalise
from sanderling.pages.parse import charset_of
from sanderling.refresh.diary import reasons
from sanderling.search.errand import Errand
from sanderling.search.window import (
    Body,
    ChangeRow,
    DueRow,
    ErrorRow,
    HostRow,
    MigrantRow,
    PageRow,
    Point,
    Status,
    VersionRow,
)
from sanderling.store.catalogue import url_id, urls_of
from sanderling.store.collection import get_meta, read_collection
from sanderling.store.read import read_record
from sanderling.store.signals import Raised, Signal, last_raised
from sanderling.store.warc_records import Place

HEAVY_SECONDS = 5.0  # counts over whole tables are taken at most so often
HOST_SECONDS = 60.0
RECENT = 2_000  # visits looked at for rates


READY = "CASE WHEN q.ready_at > h.open_at THEN q.ready_at ELSE h.open_at END"  # the later of the two, in any SQL


class Counts(msgspec.Struct, frozen=True):
    """Sums over whole tables, taken now and then."""

    pages: int
    urls: dict[str, int]
    stored: int
    archived: int
    downloaded: int
    saved: int
    changed_today: int
    fresh: float


class CrawlWindow:
    """Looks into one collection; every thread has a connection of its own."""

    def __init__(self, folder: Path, clock: Clock = real) -> None:
        self.folder = folder
        self.clock = clock
        self.errand = Errand(folder)
        self._local = threading.local()
        self._counts: tuple[float, Counts] | None = None
        self._lock = threading.Lock()
        self._by_host: dict[int, tuple[float, int]] = {}

    @property
    def db(self) -> Connection:
        """This thread's connection."""
        if not hasattr(self._local, "collection"):
            self._local.collection = read_collection(self.folder)
            if isinstance(self._local.collection.db, sqlite3.Connection):
                self._local.collection.db.execute("PRAGMA cache_size=-8192")
        found: Connection = self._local.collection.db
        return found

    # The crawl as a whole

    def status(self) -> Status:
        """Everything the dashboard shows in numbers."""
        now, db, counts = self.clock(), self.db, self._heavy()
        (visits,) = db.execute("SELECT coalesce(max(id), 0) FROM visits").fetchone()
        (waiting,) = db.execute("SELECT coalesce(sum(waiting), 0) FROM hosts").fetchone()
        (flying,) = db.execute("SELECT count(*) FROM leases").fetchone()
        pages, data = self._speed(now, visits)
        running = self.errand.running()
        resting = [row.state == "deactivated" for row in self.errand.migrants()]
        paused = bool(resting) and all(resting) if running else waiting > 0
        return Status(
            at=now, running=running, paused=paused, session=int(get_meta(db, "session", "1")),
            complete=get_meta(db, "complete") == "1", finish_reason=get_meta(db, "finish_reason"),
            pages=counts.pages, urls=counts.urls, waiting=waiting, in_flight=flying if running else 0, visits=visits,
            pages_per_second=pages, bytes_per_second=data, bytes_stored=counts.stored, bytes_archived=counts.archived,
            bytes_downloaded=counts.downloaded, bytes_saved=counts.saved, changed_today=counts.changed_today,
            fresh=counts.fresh, indexed=0, index_behind=0, seeds=tuple(json.loads(get_meta(db, "seeds", "[]"))),
        )  # fmt: skip

    def _speed(self, now: float, newest: int) -> tuple[float, float]:
        row = self.db.execute(
            "SELECT count(*), coalesce(sum(wire_bytes), 0) FROM visits WHERE id > ? AND at > ?",
            (newest - RECENT * 10, now - 10),
        ).fetchone()
        return row[0] / 10, row[1] / 10

    def _heavy(self) -> Counts:
        with self._lock:
            now = time.monotonic()
            if self._counts is None or now - self._counts[0] > HEAVY_SECONDS:
                self._counts = (now, self._count())
            return self._counts[1]

    def _count(self) -> Counts:
        db, now = self.db, self.clock()
        pages, stored, fresh = db.execute(
            "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(CASE WHEN last_visit > ? THEN 1 ELSE 0 END), 0)"
            " FROM pages WHERE status BETWEEN 200 AND 299",
            (now - 86400,),
        ).fetchone()
        (archived,) = db.execute("SELECT coalesce(sum(committed), 0) FROM files").fetchone()
        (downloaded, unsent) = db.execute(
            "SELECT coalesce(sum(wire_bytes), 0), coalesce(sum(CASE outcome WHEN 'not_modified' THEN"
            " (SELECT size FROM pages WHERE pages.url = visits.url) ELSE 0 END), 0) FROM visits"
        ).fetchone()
        (changed,) = db.execute("SELECT count(*) FROM changes WHERE at > ? AND kinds <> ''", (now - 86400,)).fetchone()
        states = dict(db.execute("SELECT state, count(*) FROM urls GROUP BY state").fetchall())
        return Counts(pages, states, stored, archived, downloaded, unsent, changed, fresh / pages if pages else 0.0)

    def hosts(self, most: int) -> list[HostRow]:
        """Hosts that were ever knocked at: those with work first, then those in trouble."""
        rows = self.db.execute(
            "SELECT id, name, waiting, leased, open_at, hold, strikes, verdict, robots_status FROM hosts"
            " WHERE waiting > 0 OR leased > 0 OR strikes > 0 OR robots_status >= 0"
            " ORDER BY leased DESC, waiting DESC, strikes DESC, name LIMIT ?",
            (most,),
        ).fetchall()
        return [replace(HostRow(*row[1:]), pages=self._pages_of(row[0])) for row in rows]

    def _pages_of(self, host: int) -> int:
        """Pages of a host, counted at most once a minute."""
        taken, count = self._by_host.get(host, (-1e9, 0))
        if time.monotonic() - taken > HOST_SECONDS:
            sql = "SELECT count(*) FROM urls AS u JOIN pages AS p ON p.url = u.id WHERE u.host = ? AND p.status < 300"
            count = int(self.db.execute(sql, (host,)).fetchone()[0])
            self._by_host[host] = (time.monotonic(), count)
        return count

    def migrants(self) -> list[MigrantRow]:
        """Who is at work, as the crawl itself says; asked at most every few seconds, whoever looks."""
        return self.errand.migrants()

    def errors(self, most: int) -> list[ErrorRow]:
        """The last visits that went wrong."""
        rows = self.db.execute(
            "SELECT h.name || u.path, v.at, v.outcome, v.reason, v.status FROM"
            " (SELECT * FROM visits ORDER BY id DESC LIMIT 20000) AS v"
            " JOIN urls AS u ON u.id = v.url JOIN hosts AS h ON h.id = u.host"
            " WHERE v.outcome IN ('failed', 'retry', 'gone') ORDER BY v.id DESC LIMIT ?",
            (most,),
        )
        return [ErrorRow(*row) for row in rows]

    def reasons(self) -> dict[str, dict[str, int]]:
        """Why URLs were skipped or given up."""
        found: dict[str, dict[str, int]] = {"skipped": {}, "failed": {}}
        for state, reason, count in self.db.execute(
            "SELECT state, reason, count(*) FROM urls WHERE state IN ('skipped', 'failed')"
            " GROUP BY 1, 2 ORDER BY 3 DESC"
        ):
            found[state][reason] = count
        return found

    def signals(self) -> dict[Signal, Raised]:
        """What components last told each other, as the log of signals has it."""
        return last_raised(self.folder / "logs")

    def rates(self, minutes: int) -> list[Point]:
        """Visits per second, minute by minute."""
        now = self.clock()
        since = now - minutes * 60
        first = self._visit_at(since)
        rows = dict(
            self.db.execute(
                "SELECT CAST((at - ?) / 60 AS INTEGER), count(*) FROM visits WHERE id >= ? AND at >= ? GROUP BY 1",
                (since, first, since),
            ).fetchall()
        )
        return [Point(since + minute * 60, rows.get(minute, 0) / 60) for minute in range(minutes)]

    def _visit_at(self, moment: float) -> int:
        """The first visit about that time, found by halving: visits are numbered as they come home."""
        low, high = 1, int(self.db.execute("SELECT coalesce(max(id), 0) FROM visits").fetchone()[0])
        while low < high:
            middle = (low + high) // 2
            row = self.db.execute("SELECT at FROM visits WHERE id >= ? ORDER BY id LIMIT 1", (middle,)).fetchone()
            if row is None or row[0] >= moment:
                high = middle
            else:
                low = middle + 1
        return max(1, low - RECENT)

    def freshness(self) -> list[Point]:
        """Share of pages looked at within so many days, for the last thirty days."""
        now = self.clock()
        ages = dict(
            self.db.execute(
                "SELECT CAST((? - last_visit) / 86400 AS INTEGER), count(*) FROM pages"
                " WHERE status BETWEEN 200 AND 299 GROUP BY 1",
                (now,),
            ).fetchall()
        )
        total, reached, points = sum(ages.values()), 0, []
        for day in range(30):
            reached += ages.get(day, 0) + (sum(n for age, n in ages.items() if age < 0) if day == 0 else 0)
            points.append(Point(day, reached / total if total else 0.0))
        return points

    # Pages and their past

    def changes(self, kind: str, site: str, since: float, offset: int, most: int) -> list[ChangeRow]:
        """What changed, newest first."""
        found = []
        for noted in entries(self.db, since):
            kinds = tuple(str(k) for k in noted.change.kinds)
            if kinds and (not kind or kind in kinds) and (not site or site in noted.site):
                found.append((noted, kinds))
            if len(found) >= offset + most:
                break
        chosen = found[offset:]
        urls = urls_of(self.db, [noted.url for noted, _ in chosen])
        titles = self._titles([noted.url for noted, _ in chosen])
        return [
            ChangeRow(urls[n.url], titles.get(n.url, ""), n.at, n.previous_at, kinds, n.change.significance)
            for n, kinds in chosen
        ]

    def _titles(self, ids: Sequence[int]) -> dict[int, str]:
        if not ids:
            return {}
        marks = ",".join("?" * len(ids))
        return dict(self.db.execute(f"SELECT url, title FROM pages WHERE url IN ({marks})", list(ids)).fetchall())

    def due(self, most: int) -> list[DueRow]:
        """What is visited next, and why in that order."""
        now = self.clock()
        rows = self.db.execute(
            f"SELECT h.name || u.path, {READY}, q.rank, u.depth, u.source, h.hold, u.attempts,"
            " EXISTS (SELECT 1 FROM pages AS p WHERE p.url = u.id)"
            " FROM queue AS q JOIN urls AS u ON u.id = q.url JOIN hosts AS h ON h.id = q.host"
            f" ORDER BY {READY} > ?, q.rank, q.url LIMIT ?",
            (now, most),
        )
        queued = [_due(row, now) for row in rows]
        return queued + self._planned(most - len(queued), now)

    def _planned(self, most: int, now: float) -> list[DueRow]:
        """Pages that wait for their time, and what the plan says of each."""
        rows = self.db.execute(
            "SELECT h.name || u.path, d.due_at, d.url, u.depth FROM due AS d JOIN urls AS u ON u.id = d.url"
            " JOIN hosts AS h ON h.id = u.host WHERE u.state <> 'queued' ORDER BY d.due_at, d.url LIMIT ?",
            (max(0, most),),
        ).fetchall()
        why = reasons(self.db, [id_ for _, _, id_, _ in rows], now) if rows else {}
        return [DueRow(url, why[id_], due_at, 0.0, depth, True) for url, due_at, id_, depth in rows]

    def page(self, url: str) -> PageRow | None:
        """A page as it is now; None if it was never stored."""
        id_ = self._id(url)
        row = self.db.execute(
            "SELECT title, status, mime, language, first_seen, last_visit, last_change, visits, changes, size"
            " FROM pages WHERE url = ?",
            (id_,),
        ).fetchone()
        return PageRow(url, *row) if row else None

    def history(self, url: str, most: int) -> list[VersionRow]:
        """All visits to a page, newest first, with what changed."""
        id_ = self._id(url)
        kinds = {noted.at: noted.change for noted in entries(self.db, url=id_)} if id_ else {}
        rows = self.db.execute(
            "SELECT id, at, outcome, reason, status, changed, size, wire_bytes, seconds, length > 0 FROM visits"
            " WHERE url = ? ORDER BY at DESC, id DESC LIMIT ?",
            (id_, most),
        )
        made = []
        for row in rows:
            change = kinds.get(row[1])
            kinds_seen = tuple(map(str, change.kinds)) if change else ()
            seen = (bool(row[5]), *row[6:9], bool(row[9]), kinds_seen, change.significance if change else 0.0)
            made.append(VersionRow(*row[:5], *seen))
        return made

    def body(self, url: str, visit: int = 0, at: float = 0.0) -> Body | None:
        """A stored answer: of one visit, or the last one not after a time, or the last of all."""
        row = self.db.execute(
            "SELECT v.id, v.at, f.name, v.start, v.length FROM visits AS v JOIN files AS f ON f.id = v.file"
            " WHERE v.url = ? AND v.length > 0 AND v.outcome IN ('fetched', 'not_modified')"
            " AND (? = 0 OR v.id = ?) AND (? = 0 OR v.at <= ?) ORDER BY v.at DESC, v.id DESC LIMIT 1",
            (self._id(url), visit, visit, at, at),
        ).fetchone()
        if row is None:
            return None
        try:
            record = read_record(self.folder / "archive", Place(*row[2:]))
        except CollectionError:
            return None
        declared = record.header("Content-Type")
        mime, charset, title = self._about(url)  # a 304 says less than the answer it repeats
        mime = declared.partition(";")[0].strip().lower() or mime
        return Body(url, row[0], row[1], record.status, mime, charset_of(declared) or charset, record.body, title)

    def _about(self, url: str) -> tuple[str, str, str]:
        row = self.db.execute("SELECT mime, charset, title FROM pages WHERE url = ?", (self._id(url),)).fetchone()
        return (str(row[0]), str(row[1]), str(row[2])) if row else ("", "", "")

    def compare(self, url: str, old: int, new: int) -> Report | None:
        """Two versions word by word; None if one of them is not stored."""
        before, after = self.body(url, old), self.body(url, new)
        if before is None or after is None:
            return None
        return compare(version(before.body, before.charset), version(after.body, after.charset))

    def _id(self, url: str) -> int:
        spelling = normalise(url)
        return url_id(self.db, spelling.url) if spelling else 0

    # Start and stop

    def start(self, seeds: tuple[str, ...]) -> str:
        """Begin or go on crawling."""
        row = self.db.execute("SELECT command FROM runs ORDER BY id DESC LIMIT 1").fetchone()
        return self.errand.start(seeds, str(row[0]) if row else "")

    def pause(self) -> str:
        """Let all migrants rest; the crawl stays."""
        return self.errand.pause()

    def send_for_more(self) -> bool:
        """Send specialised migrants for what users did not find; a crawl that runs takes it by itself."""
        return self.errand.send_for_more()

    def stop(self) -> str:
        """Let the crawl finish what is in flight; it goes on from there next time."""
        return self.errand.stop()


def _due(row: tuple[str, float, float, int, str, str, int, int], now: float) -> DueRow:
    url, due_at, rank, depth, source, hold, attempts, visited = row
    if due_at > now:
        why = f"its host rests: {hold}" if hold else "its host was asked a moment ago"
    elif attempts:
        why = f"tried {attempts} times, worth another"
    elif visited:
        why = "may have changed since the last visit"
    else:
        why = f"new, found by {source}, {depth} links from a seed"
    return DueRow(url, why, due_at, rank, depth, bool(visited))
