"""Gather entries from the tags of a sitemap or a feed, however they are nested, spelled or left open."""

import re
from collections import Counter

from msgspec import Struct

from sanderling.discovery import extensions
from sanderling.discovery.changefreq import read_changefreq
from sanderling.discovery.dates import Moment, Precision, read_date
from sanderling.discovery.entry_types import Alternate, Entry, Image, Kind, Limits, News, Problem, Video
from sanderling.discovery.feeds import base_within, is_alternate, joined, leads_off, looks_like_url, page_of
from sanderling.discovery.xml_scanner import attributes, unescape

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


FIELD_LIMIT = 65536
BLANKS = " \t\r\n\f\v\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x2010))
)

_PLAIN_FIELDS = ("loc", "lastmod", "changefreq", "priority")
_PLAIN = re.compile(
    r"<(url|sitemap)>\s*+<loc>([^<]++)</loc>\s*+"
    + "".join(rf"(?:<{name}>([^<]*+)</{name}>\s*+)?+" for name in _PLAIN_FIELDS[1:])
    + r"</\1>\s*+"
).match

_ROOTS = {"urlset": Kind.URLSET, "sitemapindex": Kind.INDEX, "rss": Kind.RSS, "rdf": Kind.RSS, "feed": Kind.ATOM}
_ENTRIES = {"url": Kind.URLSET, "sitemap": Kind.INDEX, "item": Kind.RSS, "entry": Kind.ATOM}
_PARTS = frozenset(("image", "video", "news"))
_PROSE = frozenset(
    ("content", "description", "summary", "encoded", "pagemap", "source")
)  # with tags of their own inside
_FEED_PROSE = _PROSE | {"image", "textinput"}  # with links of their own inside
_FEED_DATES = frozenset(("lastbuilddate", "pubdate", "updated", "date", "modified"))


class Gatherer:
    """Listens to a Scanner; entries that are complete wait in `found`."""

    def __init__(self, limits: Limits, problems: Counter[Problem]) -> None:
        self._decide(Kind.UNKNOWN)
        self.found: list[Entry] = []
        self.updated: Moment | None = None
        self.is_page = False  # it is a web page, not a sitemap
        self._limits = limits
        self._problems = problems
        self._root = ""  # the root element, until it is closed
        self._entry: dict[str, str] | None = None
        self._root_base = self._base = ""  # what relative addresses of a feed and of an entry start from
        self._begin_part("")
        self._field, self._rest = "", ""
        self._pieces: list[str] = []
        self._prose = ""  # the element whose inside is not for us
        self._is_nested = False  # a `url` inside a `loc`

    def opened(self, name: str, rest: str) -> None:
        """Hear of a start tag."""
        if self._prose or self.is_page:
            return
        is_closed = rest.endswith("/")
        if self._entry is None:
            self._opened_outside(name, rest, is_closed)
        elif _ENTRIES.get(name) is self.kind:
            self._opened_entry(rest)
        elif name == "link" and self._linked(attributes(rest)):
            self._field = ""
        elif name in self._prose_names and not self._part:
            self._prose = "" if is_closed else name
        elif is_closed:
            self._entry.setdefault(name, "")
        elif name in _PARTS and not self._part and self.kind is Kind.URLSET:
            self._begin_part(name)
        else:
            self._store()
            self._field, self._rest = name, rest
            if name == "mobile":
                self._entry["mobile"] = ""

    def closed(self, name: str) -> None:
        """Hear of an end tag."""
        if self._prose and (name == self._prose or _ENTRIES.get(name) is not self.kind):
            self._prose = "" if name == self._prose else self._prose
        elif name == self._field:
            self._store()
        elif _ENTRIES.get(name) is self.kind and self.kind is not Kind.UNKNOWN:
            self._closed_entry()
        elif self._part and name == self._part:
            self._end_part()
        elif name == self._root:
            self.flush()
            self._root = ""

    def text(self, text: str) -> None:
        """Hear of text."""
        if (self._field or (self._entry is not None and not text.isspace())) and not self._prose:
            self._pieces.append(text)

    def whole(self, buffer: str, at: int) -> int:
        """Take an entry of the plainest form in one step: most are, and it is three times as fast."""
        found = None if self._entry is not None or self._prose or self.is_page else _PLAIN(buffer, at)
        if found is None or _ENTRIES[found[1]] is not self.kind:
            return at
        self._begin_entry()
        self._entry = None
        values = zip(_PLAIN_FIELDS, found.groups()[1:], strict=True)
        self._make({name: unescape(value).strip(BLANKS) for name, value in values if value})
        return found.end()

    def finish(self, is_inside_tag: bool) -> None:
        """Take what the end of the file left open: a value only if its end tag had begun."""
        if self._root or self._entry is not None or self._prose:
            self._problems[Problem.CUT_OFF] += 1
        if not is_inside_tag:
            self._field, self._pieces = "", []
        self._store()
        if self._entry and {"loc", "link", "guid", ""} & self._entry.keys():
            self.flush()

    def flush(self) -> None:
        """Make an entry of what was gathered."""
        self._prose = ""
        self._store()
        self._end_part()
        gathered, self._entry = self._entry, None
        self._is_nested = False
        if gathered is not None:
            self._make(gathered)

    def _decide(self, kind: Kind) -> None:
        self.kind = kind
        self._is_feed = kind is Kind.RSS or kind is Kind.ATOM
        self._prose_names = _FEED_PROSE if self._is_feed else _PROSE

    def _opened_outside(self, name: str, rest: str, is_closed: bool) -> None:
        if name in _ENTRIES and not is_closed:
            if self.kind is Kind.UNKNOWN:
                self._decide(_ENTRIES[name])
            if _ENTRIES[name] is self.kind:
                self._begin_entry(rest)
        elif self.kind is Kind.UNKNOWN and name in _ROOTS:
            self._decide(_ROOTS[name])
            self._root = "" if is_closed else name
            self._root_base = base_within("", rest)
        elif name == "channel":
            self._root_base = base_within(self._root_base, rest)
        elif self.kind is Kind.UNKNOWN and name in ("html", "body", "head"):
            self.is_page = True
        self._field, self._pieces = ("" if is_closed else name) if name in _FEED_DATES else "", []

    def _opened_entry(self, rest: str) -> None:
        if self._field == "loc":
            self._is_nested = True
            return
        if self._entry:
            self._problems[Problem.NOT_WELL_FORMED] += 1
            self.flush()
        self._begin_entry(rest)

    def _closed_entry(self) -> None:
        if self._is_nested:
            self._is_nested = False
        elif self._entry is None:
            self._problems[Problem.NOT_WELL_FORMED] += 1
        else:
            self.flush()

    def _begin_entry(self, rest: str = "") -> None:
        self._entry = {}
        if self._is_feed:
            self._base = base_within(self._root_base, rest)
            self._entry |= {"about": attributes(rest).get("about", "")} if "about" in rest else {}
        self._begin_part("")
        self._alternates: list[Alternate] = []
        self._images: list[Image] = []
        self._videos: list[Video] = []
        self._news: News | None = None
        self._field, self._pieces = "", []

    def _begin_part(self, name: str) -> None:
        self._part = name
        self._fields: extensions.Fields = {}

    def _end_part(self) -> None:
        part, fields = self._part, self._fields
        self._begin_part("")
        if part == "image" and len(self._images) < self._limits.parts:
            made = extensions.image(fields)
            self._images += [made] if made else []
        elif part == "video" and len(self._videos) < self._limits.parts:
            self._videos.append(extensions.video(fields))
        elif part == "news":
            self._news = self._news or extensions.news(fields)

    def _store(self) -> None:
        """Keep the value of the field that ends here; text outside fields too, where people forgot `loc`."""
        name, rest, pieces = self._field, self._rest, self._pieces
        self._field, self._rest, self._pieces = "", "", []
        if not pieces:
            return
        value = unescape("".join(pieces)[:FIELD_LIMIT]).strip(BLANKS)
        if self._entry is None:
            self._feed_date(name, value)
        elif not value or (name == "link" and "rel" in rest and not is_alternate(attributes(rest).get("rel", ""))):
            return
        elif self._part:
            if sum(map(len, self._fields.values())) < self._limits.parts:
                self._fields.setdefault(name, []).append((value, rest))
        elif name == "loc" and "loc" in self._entry:
            self._problems[Problem.NOT_WELL_FORMED] += 1
            self.flush()
            self._begin_entry()
            self._entry = {"loc": value}
        else:
            self._entry.setdefault(name, value)

    def _feed_date(self, name: str, value: str) -> None:
        if name in _FEED_DATES and self._is_feed and self.updated is None:
            self.updated = read_date(value)

    def _linked(self, words: dict[str, str]) -> bool:
        """Read a link that has its target in an attribute: an Atom link, or a page in another language."""
        assert self._entry is not None
        href, leads_there = words.get("href", "").strip(BLANKS), is_alternate(words.get("rel", "alternate"))
        if not href or self._part:
            return False
        if self.kind is Kind.URLSET:
            if leads_there and len(self._alternates) < self._limits.parts:
                self._alternates.append(Alternate(words.get("hreflang", ""), href))
        elif leads_there and ("link" not in self._entry or leads_off(self._entry["link"])):
            self._entry["link"] = joined(words.get("base", "").strip(BLANKS), href)
        return True

    def _make(self, gathered: dict[str, str]) -> None:
        reader = Values(gathered, self.kind, self._problems)
        loc = reader.loc(self._base)
        if not loc:
            return
        moment = reader.lastmod()
        self.found.append(
            Entry(
                loc=loc,
                lastmod=moment.at if moment else None,
                lastmod_precision=moment.precision if moment else Precision.SECOND,
                changefreq=reader.changefreq(),
                priority=reader.priority(),
                alternates=tuple(self._alternates),
                images=tuple(self._images),
                videos=tuple(self._videos),
                news=self._news,
                mobile="mobile" in gathered,
            )
        )
