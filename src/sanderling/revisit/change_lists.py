"""Lists of changes that sites publish: change lists, and when to fetch sitemaps and feeds again.

The request URL of a list contains LAST_VISIT, the server's time of its last response. While a list is trusted, pages of
its host are due only if named. A few due pages that it did not name are visited to test whether it is complete.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from sanderling.clock import parse_http_date
from sanderling.db.connection import Connection, select_by_ids
from sanderling.frontier.requeue import restore_visited, set_request_url
from sanderling.models import Visit

MAX_PARTS = 200  # of one response
OVERLAP_SECONDS = 60.0  # of the first request
POLL_SECONDS = 3600.0  # for a continuous refresh
TEST_WINDOW_SECONDS = 600.0  # after a response in which visits test its completeness
TEST_DIVISOR = 20  # one of so many unnamed due pages is visited
MAX_TESTS_PER_HOST = 20
MIN_COMPLETENESS = 0.75  # share of tested pages that must be unchanged, because missed changes are never seen
MIN_PRECISION = 0.25  # share of named pages that must have changed; a false one costs only a request
PRIOR_COUNT = 2.0  # correct results credited to a new list
DECAY = 0.98
DELETED_PRIORITY = 2.0  # above every threshold: deletions are always checked
DEFAULT_PRIORITY = 0.5  # of a page without one, by the sitemap protocol
DATE_HEADER = re.compile(rb"^date:[ \t]*([^\r\n]{1,60})", re.IGNORECASE | re.MULTILINE)
TRUSTED_SQL = (
    f"responded = 1 AND tested - missed + {PRIOR_COUNT} >= {MIN_COMPLETENESS} * (tested + {PRIOR_COUNT})"
    f" AND confirmed + {PRIOR_COUNT} >= {MIN_PRECISION} * (named + {PRIOR_COUNT})"
)
MIN_READ_INTERVAL = 600.0  # for a continuous refresh
INITIAL_READ_INTERVAL = 3600.0
MAX_READ_INTERVAL = 7 * 86_400.0
PROBATION_READS = 3  # every refresh fetches it until so many reads were unchanged
MAX_GONE_READS = 2  # consecutive 404 or 410 before it is retired
MAX_FAILED_READS = 5  # consecutive failures before it is retired
ACTIVE_SQL = (
    "SELECT u.id FROM urls AS u LEFT JOIN sitemap_schedule AS m ON m.url = u.id WHERE u.role IN ('sitemap', 'feed')"
    f" AND u.state = 'visited' AND u.host NOT IN (SELECT host FROM change_lists WHERE {TRUSTED_SQL})"
)


class ChangeLists:
    """The change lists of a collection. Pages must have a priority above `threshold`; 0 admits all."""

    def __init__(self, db: Connection, threshold: float = 0.0) -> None:
        self.db = db
        self.min_priority = threshold if threshold > 0 else -1.0

    def is_above_threshold(self, priority: float) -> bool:
        return priority > self.min_priority

    def register_list(self, url_id: int) -> None:
        """Register the list of a host. The first list of a host counts."""
        self.db.execute(
            "INSERT INTO change_lists (host, url) SELECT host, id FROM urls WHERE id = ? ON CONFLICT (host) DO NOTHING",
            (url_id,),
        )

    def is_registered(self, url_id: int) -> bool:
        return self.db.execute("SELECT 1 FROM change_lists WHERE url = ?", (url_id,)).fetchone() is not None

    def is_abandoned(self, url_id: int) -> bool:
        """Whether a list was given up earlier."""
        sql = "SELECT 1 FROM urls WHERE id = ? AND role = 'changes' AND state IN ('gone', 'failed', 'skipped')"
        return self.db.execute(sql, (url_id,)).fetchone() is not None

    def reactivate_list(self, url_id: int, request_url: str) -> None:
        restore_visited(self.db, [url_id])
        set_request_url(self.db, url_id, request_url)

    def build_first_request(self, list_url: str, host_id: int, visit: Visit) -> str:
        """Build the request for all changes since the oldest stored page, by the clock of the server."""
        from sanderling.publisher.http_dates import format_w3c_millis  # imported late: few sites publish a list

        row = self.db.execute(
            "SELECT min(p.last_visit) FROM pages AS p JOIN urls AS u ON u.id = p.url"
            " WHERE u.host = ? AND u.role = 'page'",
            (host_id,),
        ).fetchone()
        oldest = min(visit.visited_at, row[0] if row[0] is not None else visit.visited_at)
        since = oldest - visit.duration_seconds - OVERLAP_SECONDS + get_server_time(visit) - visit.visited_at
        return _build_request_url(list_url, format_w3c_millis(max(0, int(since * 1000))))

    def reset_answers(self) -> None:
        """Distrust all lists until they respond in this run."""
        self.db.execute("UPDATE change_lists SET responded = 0, parts = 0")

    def record_part(self, visit: Visit, named_pages: Sequence[tuple[int, float]], next_url: str, now: float) -> None:
        """Store a part of a response. `next_url` is the next part, empty at the end."""
        (parts, until, sure) = self.db.execute(
            "SELECT parts, until, has_baseline FROM change_lists WHERE url = ?", (visit.id,)
        ).fetchone()
        until = until if parts and until else visit.change_list_until
        self._store_named_pages(named_pages, sure, now)
        if next_url and parts + 1 >= MAX_PARTS:
            return self.record_failure(visit, now)
        request_url = next_url or _build_request_url(visit.url, until)
        set_request_url(self.db, visit.id, request_url)
        self.db.execute(
            "UPDATE change_lists"
            " SET parts = ?, until = ?, responded = ?, requested_at = ?, sampled = 0, has_baseline = ? WHERE url = ?",
            (parts + 1 if next_url else 0, until, int(not next_url), now, int(sure or not next_url), visit.id),
        )
        return None

    def _store_named_pages(self, named_pages: Sequence[tuple[int, float]], has_baseline: int, now: float) -> None:
        self.db.executemany(
            "INSERT INTO announcements SELECT id, ?, ? FROM urls WHERE id = ? AND role = 'page'"
            " AND state IN ('visited', 'gone', 'queued')"
            " ON CONFLICT (url) DO UPDATE SET priority = excluded.priority",
            [(priority, has_baseline, url) for url, priority in named_pages],
        )
        self.db.executemany(
            "INSERT INTO due (url, due_at, why, state)"
            " SELECT u.id, ?, 'named by the change list', ? FROM urls AS u WHERE u.id = ?"
            " AND u.role = 'page' AND u.state IN ('visited', 'gone')"
            " ON CONFLICT (url) DO UPDATE SET due_at = excluded.due_at, why = excluded.why",
            [(now, b"", url) for url, _ in named_pages],
        )

    def has_next_part(self, url_id: int) -> bool:
        return (
            self.db.execute("SELECT 1 FROM change_lists WHERE url = ? AND parts > 0", (url_id,)).fetchone() is not None
        )

    def record_failure(self, visit: Visit, now: float) -> None:
        """Distrust a list without a valid response, and restart it with the next request."""
        (host,) = self.db.execute("SELECT host FROM urls WHERE id = ?", (visit.id,)).fetchone()
        request_url = self.build_first_request(visit.url, host, visit)
        set_request_url(self.db, visit.id, request_url)
        self.db.execute(
            "UPDATE change_lists SET responded = 0, parts = 0, has_baseline = 0, requested_at = ? WHERE url = ?",
            (now, visit.id),
        )

    def record_retry(self, url_id: int, now: float) -> None:
        """Distrust a list that could not be fetched; the same request is sent again."""
        self.db.execute("UPDATE change_lists SET responded = 0, requested_at = ? WHERE url = ?", (now, url_id))

    def load_all(self) -> list[int]:
        return [id_ for (id_,) in self.db.execute("SELECT id FROM urls WHERE role = 'changes' AND state = 'visited'")]

    def load_stale(self, now: float) -> list[int]:
        """Load lists that are due for another request."""
        rows = self.db.execute(
            "SELECT l.url FROM change_lists AS l JOIN urls AS u ON u.id = l.url"
            " WHERE l.requested_at < ? AND u.state = 'visited'",
            (now - POLL_SECONDS,),
        )
        return [url for (url,) in rows]

    def sample_unnamed_pages(self, now: float) -> list[int]:
        """Select a few due pages that trusted lists did not name, once per response."""
        sample: list[int] = []
        for (host,) in self.db.execute(f"SELECT host FROM change_lists WHERE sampled = 0 AND {TRUSTED_SQL}").fetchall():
            rows = self.db.execute(
                "SELECT d.url"
                " FROM due AS d JOIN urls AS u ON u.id = d.url LEFT JOIN announcements AS t ON t.url = d.url"
                " WHERE u.host = ? AND d.due_at <= ? AND u.state = 'visited' AND t.url IS NULL"
                " ORDER BY d.due_at LIMIT ?",
                (host, now, TEST_DIVISOR * MAX_TESTS_PER_HOST),
            ).fetchall()
            sample += [url for (url,) in rows[: -(-len(rows) // TEST_DIVISOR)]]
            self.db.execute("UPDATE change_lists SET sampled = 1 WHERE host = ?", (host,))
        return sample

    def score_visits(self, changed: Mapping[int, bool], now: float) -> None:
        """Compare lists with the result of visits: `{url id: changed}`."""
        if self.db.execute("SELECT 1 FROM change_lists LIMIT 1").fetchone() is None:
            return
        for url, has_changed in changed.items():
            row = self.db.execute("DELETE FROM announcements WHERE url = ? RETURNING has_baseline", (url,)).fetchone()
            if row is None:
                self._update_score(url, "tested", "missed", has_changed, now)
            elif row[0]:
                self._update_score(url, "named", "confirmed", has_changed, now)

    def _update_score(self, url_id: int, total_column: str, hit_column: str, is_hit: bool, now: float) -> None:
        self.db.execute(
            "UPDATE change_lists"
            f" SET {total_column} = {total_column} * {DECAY} + 1, {hit_column} = {hit_column} * {DECAY} + ?"
            " WHERE host = (SELECT host FROM urls"
            " WHERE id = ?) AND requested_at >= ? AND has_baseline = 1 AND responded = 1",
            (float(is_hit), url_id, now - TEST_WINDOW_SECONDS),
        )

    def remove_pages(self, url_ids: Iterable[int]) -> None:
        """Forget the announcements of deleted pages."""
        self.db.executemany("DELETE FROM announcements WHERE url = ?", [(url,) for url in url_ids])


def _build_request_url(list_url: str, since: str) -> str:
    from sanderling.publisher.changelist_parser import build_changelist_url  # imported late: few sites publish a list

    return build_changelist_url(list_url, since)


def is_valid_answer(visit: Visit) -> bool:
    """Whether a response is a change list."""
    from sanderling.publisher.http_dates import parse_time

    return len(visit.change_list_until) < 64 and parse_time(visit.change_list_until) is not None


def get_server_time(visit: Visit) -> float:
    """Return the time of a response by the Date header; else by our clock."""
    header = DATE_HEADER.search(visit.head)
    date = parse_http_date(header[1].decode("latin-1")) if header else None
    return visit.visited_at if date is None else date


class SitemapSchedule:
    """Fetch intervals of the sitemaps and feeds of a collection."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def record_read(self, url_id: int, now: float, has_new_entries: bool) -> None:
        """Halve the interval after new entries, else extend it."""
        interval, unchanged_reads = self._load_interval(url_id)
        interval, unchanged_reads = (
            (max(interval / 2, MIN_READ_INTERVAL), 0)
            if has_new_entries
            else (min(interval * 1.5, MAX_READ_INTERVAL), unchanged_reads + 1)
        )
        self._save_interval(url_id, now, interval, unchanged_reads, 0)

    def record_failure(self, url_id: int, now: float, is_gone: bool = False, *, is_guess: bool = False) -> bool:
        """Record a failed fetch. Returns True if the sitemap is now retired: a guess (no site named it) at once."""
        interval, unchanged_reads = self._load_interval(url_id)
        row = self.db.execute("SELECT failures FROM sitemap_schedule WHERE url = ?", (url_id,)).fetchone()
        failures = MAX_FAILED_READS if is_guess and row is None else 1 + (row[0] if row else 0)
        self._save_interval(url_id, now, min(interval * 1.5, MAX_READ_INTERVAL), unchanged_reads, failures)
        return bool(failures >= (MAX_GONE_READS if is_gone else MAX_FAILED_READS))

    def is_missing(self, url_id: int) -> bool:
        """Return whether the last fetch failed."""
        row = self.db.execute("SELECT failures FROM sitemap_schedule WHERE url = ?", (url_id,)).fetchone()
        return row is not None and row[0] > 0

    def load_retired(self) -> set[int]:
        """Return those that are not fetched again, unless robots.txt names them."""
        sql = f"SELECT url FROM sitemap_schedule WHERE failures >= {MAX_FAILED_READS}"
        return {url for (url,) in self.db.execute(sql)}

    def load_just_retired(self, url_ids: Sequence[int]) -> list[int]:
        """Return those that were retired, and not fetched since."""
        sql = f"SELECT url FROM sitemap_schedule WHERE failures = {MAX_FAILED_READS} AND url IN ({{}})"
        return sorted({url for (url,) in select_by_ids(self.db, sql, url_ids)})

    def load_due(self, now: float) -> list[int]:
        return self._select_ids(f"{ACTIVE_SQL} AND m.due_at <= ? AND m.failures < {MAX_FAILED_READS}", now)

    def load_due_at_start(self, now: float) -> list[int]:
        """Load due and new sitemaps at the start of a refresh."""
        sql = (
            f"{ACTIVE_SQL} AND (m.url IS NULL"
            f" OR ((m.due_at <= ? OR m.unchanged_reads < {PROBATION_READS}) AND m.failures < {MAX_FAILED_READS}))"
        )
        return self._select_ids(sql, now)

    def _select_ids(self, sql: str, now: float) -> list[int]:
        return [url for (url,) in self.db.execute(sql, (now,))]

    def _load_interval(self, url_id: int) -> tuple[float, int]:
        row = self.db.execute(
            "SELECT interval_seconds, unchanged_reads FROM sitemap_schedule WHERE url = ?", (url_id,)
        ).fetchone()
        return (row[0], row[1]) if row else (INITIAL_READ_INTERVAL, 0)

    def _save_interval(self, url_id: int, now: float, interval: float, unchanged_reads: int, failures: int) -> None:
        self.db.execute(
            "INSERT INTO sitemap_schedule (url, due_at, interval_seconds, unchanged_reads, failures)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT (url) DO UPDATE"
            " SET due_at = excluded.due_at, interval_seconds = excluded.interval_seconds,"
            " unchanged_reads = excluded.unchanged_reads,"
            " failures = excluded.failures",
            (url_id, now + interval, interval, unchanged_reads, failures),
        )
