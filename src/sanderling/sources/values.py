"""What the fields of an entry mean; what makes no sense is counted and left out."""

from collections import Counter

from msgspec import Struct

from sanderling.sources import extensions
from sanderling.sources.changefreq import read_changefreq
from sanderling.sources.dates import Moment, read_date
from sanderling.sources.entries import Kind, Problem
from sanderling.sources.feeds import looks_like_url, page_of

LOC_LIMIT = 8192  # characters; longer than any URL we would ask for
_DATES = {  # those of a change before those of the beginning
    Kind.URLSET: ("lastmod",),
    Kind.INDEX: ("lastmod",),
    Kind.RSS: ("updated", "modified", "pubdate", "date", "published", "issued"),
    Kind.ATOM: ("updated", "modified", "published", "issued", "created"),
}


class Values(Struct):
    """Reads the fields that were gathered of one entry."""

    fields: dict[str, str]
    kind: Kind
    problems: Counter[Problem]

    def loc(self, base: str) -> str:
        """Give its address; nothing if it has none that could be one. Those of a feed start from `base`."""
        is_feed = self.kind is Kind.RSS or self.kind is Kind.ATOM
        loc = page_of(self.fields, base) if is_feed else self.fields.get("loc", "") or self.fields.get("", "")
        if not loc:
            self.problems[Problem.NO_LOC] += 1
        elif len(loc) > LOC_LIMIT or not (is_feed or looks_like_url(loc) or loc.startswith("/")):
            self.problems[Problem.BAD_LOC] += 1
            return ""
        return loc

    def lastmod(self) -> Moment | None:
        """Give the first of its dates that can be read."""
        for name in _DATES[self.kind]:
            if text := self.fields.get(name, ""):
                moment = read_date(text)
                if moment:
                    return moment
                self.problems[Problem.BAD_DATE] += 1
        return None

    def changefreq(self) -> str:
        """Give its class."""
        text = self.fields.get("changefreq", "")
        name = read_changefreq(text)
        if text and not name:
            self.problems[Problem.BAD_CHANGEFREQ] += 1
        return name

    def priority(self) -> float | None:
        """Give its priority, from 0 to 1."""
        text = self.fields.get("priority", "")
        if not text:
            return None
        number = extensions.number(text)
        if number is not None and 0.0 <= number <= 1.0:
            return number
        self.problems[Problem.BAD_PRIORITY] += 1
        return None
