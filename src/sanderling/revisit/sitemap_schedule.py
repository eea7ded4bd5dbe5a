"""When to read sitemaps and feeds again: sooner where there was news, later where not; what is of no use is retired."""

from sanderling.db.connection import Connection
from sanderling.revisit.change_lists import TRUSTED_SQL

MIN_INTERVAL = 600.0  # seconds between two readings by a refresh that stays
INITIAL_INTERVAL = 3600.0
MAX_INTERVAL = 7 * 86_400.0
PROBATION_READS = 3  # readings without news up to which every refresh reads it
MAX_GONE_READS = 2  # of them, if the server says that it is gone
MAX_FAILED_READS = 5  # readings in a row that failed, or gave nothing that can be read, after which it is retired
ACTIVE_SQL = (
    "SELECT u.id FROM urls AS u LEFT JOIN maps AS m ON m.url = u.id WHERE u.role IN ('sitemap', 'feed')"
    f" AND u.state = 'visited' AND u.host NOT IN (SELECT host FROM lists WHERE {TRUSTED_SQL})"
)


class SitemapSchedule:
    """The sitemaps and feeds of a collection, with a schedule of their own."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def record_read(self, url_id: int, now: float, has_new_entries: bool) -> None:
        """It was read, and had something new to say or not."""
        every, quiet = self._load_interval(url_id)
        every, quiet = (
            (max(every / 2, MIN_INTERVAL), 0) if has_new_entries else (min(every * 1.5, MAX_INTERVAL), quiet + 1)
        )
        self._save_interval(url_id, now, every, quiet, 0)

    def record_failure(self, url_id: int, now: float, is_gone: bool = False) -> bool:
        """It was not to be read, or not there at all; is it retired now?"""
        every, quiet = self._load_interval(url_id)
        row = self.db.execute("SELECT failures FROM maps WHERE url = ?", (url_id,)).fetchone()
        failures = 1 + (row[0] if row else 0)
        self._save_interval(url_id, now, min(every * 1.5, MAX_INTERVAL), quiet, failures)
        return bool(failures >= (MAX_GONE_READS if is_gone else MAX_FAILED_READS))

    def load_due(self, now: float) -> list[int]:
        """Those whose time has come, for a refresh that stays."""
        return self._select_ids(f"{ACTIVE_SQL} AND m.due_at <= ? AND m.failures < {MAX_FAILED_READS}", now)

    def load_due_at_start(self, now: float) -> list[int]:
        """Those to read when a refresh begins: also young ones, whose habits are not known."""
        sql = (
            f"{ACTIVE_SQL} AND (m.url IS NULL OR ("
            f"(m.due_at <= ? OR m.quiet < {PROBATION_READS}) AND m.failures < {MAX_FAILED_READS}))"
        )
        return self._select_ids(sql, now)

    def _select_ids(self, sql: str, now: float) -> list[int]:
        return [url for (url,) in self.db.execute(sql, (now,))]

    def _load_interval(self, url_id: int) -> tuple[float, int]:
        row = self.db.execute("SELECT every, quiet FROM maps WHERE url = ?", (url_id,)).fetchone()
        return (row[0], row[1]) if row else (INITIAL_INTERVAL, 0)

    def _save_interval(self, url_id: int, now: float, interval: float, unchanged_reads: int, failures: int) -> None:
        self.db.execute(
            "INSERT INTO maps (url, due_at, every, quiet, failures) VALUES (?, ?, ?, ?, ?) ON CONFLICT (url) DO UPDATE"
            " SET due_at = excluded.due_at, every = excluded.every, quiet = excluded.quiet,"
            " failures = excluded.failures",
            (url_id, now + interval, interval, unchanged_reads, failures),
        )
