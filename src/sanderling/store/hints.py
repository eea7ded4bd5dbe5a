"""What sitemaps and feeds say of pages. A hint never overwrites what was observed, and goes when its entry goes."""

from collections.abc import Sequence

from sanderling.database import Connection
from sanderling.records import Hint


class Hints:
    """Keeps the newest hint of each page."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def keep(self, source: int, hints: Sequence[tuple[int, Hint]], at: float) -> None:
        """A sitemap was read in full at this time: keep what it says, drop what it no longer says."""
        self.db.executemany(
            "INSERT INTO hints (url, map, lastmod, whole_day, changefreq, priority, seen_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (url) DO UPDATE SET map = excluded.map, lastmod = excluded.lastmod,"
            " whole_day = excluded.whole_day, changefreq = excluded.changefreq, priority = excluded.priority,"
            " seen_at = excluded.seen_at",
            [(url, source, h.lastmod, h.whole_day, h.changefreq, h.priority, at) for url, h in hints],
        )
        self.db.execute("DELETE FROM hints WHERE map = ? AND seen_at < ?", (source, at))
