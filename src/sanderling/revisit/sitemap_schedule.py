"""When to read sitemaps and feeds again: sooner where there was news, later where not; what is of no use is retired."""

from sanderling.db.connection import Connection
from sanderling.revisit.change_lists import TRUSTED

SOONEST = 600.0  # seconds between two readings by a refresh that stays
FIRST = 3600.0
LATEST = 7 * 86_400.0
YOUNG = 3  # readings without news up to which every refresh reads it
LOOKS = 2  # of them, if the server says that it is gone
FRUITLESS = 5  # readings in a row that failed, or gave nothing that can be read, after which it is retired
WANTED = (
    "SELECT u.id FROM urls AS u LEFT JOIN maps AS m ON m.url = u.id WHERE u.role IN ('sitemap', 'feed')"
    f" AND u.state = 'visited' AND u.host NOT IN (SELECT host FROM lists WHERE {TRUSTED})"
)


class Maps:
    """The sitemaps and feeds of a collection, with a schedule of their own."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def read(self, url: int, now: float, news: bool) -> None:
        """It was read, and had something new to say or not."""
        every, quiet = self._row(url)
        every, quiet = (max(every / 2, SOONEST), 0) if news else (min(every * 1.5, LATEST), quiet + 1)
        self._write(url, now, every, quiet, 0)

    def fail(self, url: int, now: float, gone: bool = False) -> bool:
        """It was not to be read, or not there at all; is it retired now?"""
        every, quiet = self._row(url)
        row = self.db.execute("SELECT failures FROM maps WHERE url = ?", (url,)).fetchone()
        failures = 1 + (row[0] if row else 0)
        self._write(url, now, min(every * 1.5, LATEST), quiet, failures)
        return bool(failures >= (LOOKS if gone else FRUITLESS))

    def due(self, now: float) -> list[int]:
        """Those whose time has come, for a refresh that stays."""
        return self._found(f"{WANTED} AND m.due_at <= ? AND m.failures < {FRUITLESS}", now)

    def unread(self, now: float) -> list[int]:
        """Those to read when a refresh begins: also young ones, whose habits are not known."""
        sql = f"{WANTED} AND (m.url IS NULL OR ((m.due_at <= ? OR m.quiet < {YOUNG}) AND m.failures < {FRUITLESS}))"
        return self._found(sql, now)

    def _found(self, sql: str, now: float) -> list[int]:
        return [url for (url,) in self.db.execute(sql, (now,))]

    def _row(self, url: int) -> tuple[float, int]:
        row = self.db.execute("SELECT every, quiet FROM maps WHERE url = ?", (url,)).fetchone()
        return (row[0], row[1]) if row else (FIRST, 0)

    def _write(self, url: int, now: float, every: float, quiet: int, failures: int) -> None:
        self.db.execute(
            "INSERT INTO maps (url, due_at, every, quiet, failures) VALUES (?, ?, ?, ?, ?) ON CONFLICT (url) DO UPDATE"
            " SET due_at = excluded.due_at, every = excluded.every, quiet = excluded.quiet,"
            " failures = excluded.failures",
            (url, now + every, every, quiet, failures),
        )
