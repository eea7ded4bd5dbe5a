"""Interpret raw fields of a sitemap or feed entry."""

from collections import Counter

from msgspec import Struct

from sanderling.discovery import extensions
from sanderling.discovery.changefreq import parse_changefreq
from sanderling.discovery.dates import ParsedDate, parse_date
from sanderling.discovery.entry_types import SitemapKind, SitemapProblem
from sanderling.discovery.feeds import LOC_LIMIT, choose_page_url, is_http_url

_DATE_FIELDS = {  # date of change before date of publication
    SitemapKind.URLSET: ("lastmod",),
    SitemapKind.INDEX: ("lastmod",),
    SitemapKind.RSS: ("updated", "modified", "pubdate", "date", "published", "issued"),
    SitemapKind.ATOM: ("updated", "modified", "published", "issued", "created"),
}


class EntryFields(Struct):
    """Raw fields of an entry; parse methods count invalid values in `problems`."""

    fields: dict[str, str]
    kind: SitemapKind
    problems: Counter[SitemapProblem]

    def parse_loc(self, base: str) -> str:
        """Return the URL, resolved against `base` in feeds, or ""."""
        is_feed = self.kind is SitemapKind.RSS or self.kind is SitemapKind.ATOM
        loc = choose_page_url(self.fields, base) if is_feed else self.fields.get("loc", "") or self.fields.get("", "")
        if not loc:
            self.problems[SitemapProblem.NO_LOC] += 1
        elif len(loc) > LOC_LIMIT or not (is_feed or is_http_url(loc) or loc.startswith("/")):
            self.problems[SitemapProblem.BAD_LOC] += 1
            return ""
        return loc

    def parse_lastmod(self) -> ParsedDate | None:
        """Return the first valid date, or None."""
        for name in _DATE_FIELDS[self.kind]:
            if text := self.fields.get(name, ""):
                if date := parse_date(text):
                    return date
                self.problems[SitemapProblem.BAD_DATE] += 1
        return None

    def parse_changefreq(self) -> str:
        """Return the change frequency, or ""."""
        text = self.fields.get("changefreq", "")
        name = parse_changefreq(text)
        if text and not name:
            self.problems[SitemapProblem.BAD_CHANGEFREQ] += 1
        return name

    def parse_priority(self) -> float | None:
        text = self.fields.get("priority", "")
        if not text:
            return None
        number = extensions.parse_number(text)
        if number is not None and 0.0 <= number <= 1.0:
            return number
        self.problems[SitemapProblem.BAD_PRIORITY] += 1
        return None
