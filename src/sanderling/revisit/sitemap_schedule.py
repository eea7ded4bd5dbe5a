"""When to fetch sitemaps and feeds again: sooner after new entries, later without, never after repeated failures."""

from sanderling.db.connection import Connection
from sanderling.revisit.change_lists import TRUSTED_SQL

MIN_INTERVAL = 600.0  # for a continuous refresh
INITIAL_INTERVAL = 3600.0
MAX_INTERVAL = 7 * 86_400.0
PROBATION_READS = 3  # every refresh fetches it until so many reads were unchanged
MAX_GONE_READS = 2  # consecutive 404 or 410 before it is retired
MAX_FAILED_READS = 5  # consecutive failures before it is retired
ACTIVE_SQL = (
    "SELECT u.id FROM urls AS u LEFT JOIN sitemap_schedule AS m ON m.url = u.id WHERE u.role IN ('sitemap', 'feed')"
    f" AND u.state = 'visited' AND u.host NOT IN (SELECT host FROM change_lists WHERE {TRUSTED_SQL})"
)


class SitemapSchedule:
    """Fetch intervals of the sitemaps and feeds of a collection."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def record_read(self, url_id: int, now: float, has_new_entries: bool) -> None:
        """Halve the interval after new entries, else extend it."""
        interval, unchanged_reads = self._load_interval(url_id)
        interval, unchanged_reads = (
            (max(interval / 2, MIN_INTERVAL), 0)
            if has_new_entries
            else (min(interval * 1.5, MAX_INTERVAL), unchanged_reads + 1)
        )
        self._save_interval(url_id, now, interval, unchanged_reads, 0)

    def record_failure(self, url_id: int, now: float, is_gone: bool = False) -> bool:
        """Record a failed fetch. Returns True if the sitemap is now retired."""
        interval, unchanged_reads = self._load_interval(url_id)
        row = self.db.execute("SELECT failures FROM sitemap_schedule WHERE url = ?", (url_id,)).fetchone()
        failures = 1 + (row[0] if row else 0)
        self._save_interval(url_id, now, min(interval * 1.5, MAX_INTERVAL), unchanged_reads, failures)
        return bool(failures >= (MAX_GONE_READS if is_gone else MAX_FAILED_READS))

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
        return (row[0], row[1]) if row else (INITIAL_INTERVAL, 0)

    def _save_interval(self, url_id: int, now: float, interval: float, unchanged_reads: int, failures: int) -> None:
        self.db.execute(
            "INSERT INTO sitemap_schedule (url, due_at, interval_seconds, unchanged_reads, failures)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT (url) DO UPDATE"
            " SET due_at = excluded.due_at, interval_seconds = excluded.interval_seconds,"
            " unchanged_reads = excluded.unchanged_reads,"
            " failures = excluded.failures",
            (url_id, now + interval, interval, unchanged_reads, failures),
        )
