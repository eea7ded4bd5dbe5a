"""Store the lastmod, changefreq, and priority of pages from sitemaps and feeds.

Hints never overwrite observations, and are deleted with their sitemap entry.
"""

from collections.abc import Sequence

from sanderling.db.connection import Connection, select_by_ids
from sanderling.models import SitemapHint, Url

SQL_CHUNK_SIZE = 400


class SitemapHintStore:
    """The newest hint of each page."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def load_hints(self, url_ids: Sequence[int]) -> dict[int, SitemapHint]:
        sql = "SELECT url, lastmod, whole_day, changefreq, priority FROM sitemap_hints WHERE url IN ({})"
        return {
            url: SitemapHint(Url(""), "", lastmod, bool(whole_day), changefreq, priority)
            for url, lastmod, whole_day, changefreq, priority in select_by_ids(self.db, sql, url_ids)
        }

    def find_newer(self, url_ids: Sequence[int]) -> dict[int, float]:
        """Return pages modified after our last visit, and when. A date counts until the end of its day."""
        found: dict[int, float] = {}
        for start in range(0, len(url_ids), SQL_CHUNK_SIZE):
            part = list(url_ids[start : start + SQL_CHUNK_SIZE])
            rows = self.db.execute(
                "SELECT t.url, t.lastmod + t.whole_day * 86400 FROM sitemap_hints AS t JOIN pages AS p ON p.url = t.url"
                " WHERE t.lastmod + t.whole_day * 86400 > p.last_visit AND t.lastmod > p.last_change - 86400"
                f" AND t.url IN ({','.join('?' * len(part))})",
                part,
            )
            found.update(rows.fetchall())
        return found

    def replace_hints(self, sitemap_id: int, hints: Sequence[tuple[int, SitemapHint]], read_at: float) -> list[int]:
        """Replace the hints of a completely read sitemap. Returns the pages it no longer lists."""
        self.db.executemany(
            "INSERT INTO sitemap_hints (url, sitemap, lastmod, whole_day, changefreq, priority, seen_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (url) DO UPDATE SET sitemap = excluded.sitemap, lastmod = excluded.lastmod,"
            " whole_day = excluded.whole_day, changefreq = excluded.changefreq, priority = excluded.priority,"
            " seen_at = excluded.seen_at",
            [(url, sitemap_id, h.lastmod, h.is_date_only, h.changefreq, h.priority, read_at) for url, h in hints],
        )
        rows = self.db.execute(
            "DELETE FROM sitemap_hints WHERE sitemap = ? AND seen_at < ? RETURNING url", (sitemap_id, read_at)
        )
        return [url for (url,) in rows.fetchall()]
