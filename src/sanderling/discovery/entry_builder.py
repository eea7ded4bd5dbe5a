"""Build entries from tags; tolerates wrong nesting and unclosed tags."""

import re
from collections import Counter

from sanderling.discovery import extensions
from sanderling.discovery.dates import DatePrecision, ParsedDate, parse_date
from sanderling.discovery.entry_fields import EntryFields
from sanderling.discovery.entry_types import (
    AlternateLink,
    SitemapArticle,
    SitemapEntry,
    SitemapImage,
    SitemapKind,
    SitemapLimits,
    SitemapProblem,
    SitemapVideo,
)
from sanderling.discovery.feeds import is_alternate_relation, is_non_web_link, join_url, resolve_xml_base
from sanderling.discovery.xml_scanner import parse_attributes, unescape_xml

FIELD_LIMIT = 65536  # characters
WHITESPACE = " \t\r\n\f\v\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x2010))
)

# Entries without attributes, comments or extensions: most entries of most sitemaps.
_PLAIN_FIELDS = ("loc", "lastmod", "changefreq", "priority")
_PLAIN_ENTRY = re.compile(
    r"<(url|sitemap)>\s*+<loc>([^<]++)</loc>\s*+"
    + "".join(rf"(?:<{name}>([^<]*+)</{name}>\s*+)?+" for name in _PLAIN_FIELDS[1:])
    + r"</\1>\s*+"
).match

_ROOT_KINDS = {
    "urlset": SitemapKind.URLSET,
    "sitemapindex": SitemapKind.INDEX,
    "rss": SitemapKind.RSS,
    "rdf": SitemapKind.RSS,
    "feed": SitemapKind.ATOM,
}
_ENTRY_KINDS = {
    "url": SitemapKind.URLSET,
    "sitemap": SitemapKind.INDEX,
    "item": SitemapKind.RSS,
    "entry": SitemapKind.ATOM,
}
_PART_NAMES = frozenset(("image", "video", "news"))
# Elements whose content may contain tags that look like fields of the entry.
_SKIPPED_ELEMENTS = frozenset(("content", "description", "summary", "encoded", "pagemap", "source"))
_FEED_SKIPPED_ELEMENTS = _SKIPPED_ELEMENTS | {"image", "textinput"}  # these contain other links
_FEED_DATE_NAMES = frozenset(("lastbuilddate", "pubdate", "updated", "date", "modified"))


class EntryBuilder:
    """Handler of an `XmlScanner`; appends complete entries to `entries`."""

    def __init__(self, limits: SitemapLimits, problems: Counter[SitemapProblem]) -> None:
        self._set_kind(SitemapKind.UNKNOWN)
        self.entries: list[SitemapEntry] = []
        self.updated_at: ParsedDate | None = None
        self.is_html = False  # the file is a web page, not a sitemap
        self._limits = limits
        self._problems = problems
        self._root = ""  # name of the open root element
        self._entry_fields: dict[str, str] | None = None
        self._root_base = self._base = ""  # xml:base of the feed and of the entry
        self._begin_part("")
        self._field, self._field_attributes = "", ""
        self._text_chunks: list[str] = []
        self._skipped_element = ""  # name of the open element whose content is ignored
        self._is_nested = False  # inside a `url` within a `loc`

    def handle_start_tag(self, name: str, attributes_text: str) -> None:
        if self._skipped_element or self.is_html:
            return
        is_closed = attributes_text.endswith("/")
        if self._entry_fields is None:
            self._handle_tag_outside_entry(name, attributes_text, is_closed)
        elif _ENTRY_KINDS.get(name) is self.kind:
            self._handle_entry_start(attributes_text)
        elif name == "link" and self._handle_link(parse_attributes(attributes_text)):
            self._field = ""
        elif name in self._skipped_names and not self._part:
            self._skipped_element = "" if is_closed else name
        elif is_closed:
            self._entry_fields.setdefault(name, "")
        elif name in _PART_NAMES and not self._part and self.kind is SitemapKind.URLSET:
            self._begin_part(name)
        else:
            self._store_field()
            self._field, self._field_attributes = name, attributes_text
            if name == "mobile":
                self._entry_fields["mobile"] = ""

    def handle_end_tag(self, name: str) -> None:
        if self._skipped_element and (name == self._skipped_element or _ENTRY_KINDS.get(name) is not self.kind):
            self._skipped_element = "" if name == self._skipped_element else self._skipped_element
        elif name == self._field:
            self._store_field()
        elif _ENTRY_KINDS.get(name) is self.kind and self.kind is not SitemapKind.UNKNOWN:
            self._handle_entry_end()
        elif self._part and name == self._part:
            self._end_part()
        elif name == self._root:
            self.flush_entry()
            self._root = ""

    def handle_text(self, text: str) -> None:
        if (self._field or (self._entry_fields is not None and not text.isspace())) and not self._skipped_element:
            self._text_chunks.append(text)

    def handle_whole_entry(self, buffer: str, position: int) -> int:
        """Parse a plain entry with a regular expression, three times as fast."""
        match = (
            None
            if self._entry_fields is not None or self._skipped_element or self.is_html
            else _PLAIN_ENTRY(buffer, position)
        )
        if match is None or _ENTRY_KINDS[match[1]] is not self.kind:
            return position
        self._begin_entry()
        self._entry_fields = None
        values = zip(_PLAIN_FIELDS, match.groups()[1:], strict=True)
        self._append_entry({name: unescape_xml(value).strip(WHITESPACE) for name, value in values if value})
        return match.end()

    def finish(self, is_inside_tag: bool) -> None:
        """Complete the entry of a truncated file.

        An open value counts only if its end tag had begun.
        """
        if self._root or self._entry_fields is not None or self._skipped_element:
            self._problems[SitemapProblem.TRUNCATED] += 1
        if not is_inside_tag:
            self._field, self._text_chunks = "", []
        self._store_field()
        if self._entry_fields and {"loc", "link", "guid", ""} & self._entry_fields.keys():
            self.flush_entry()

    def flush_entry(self) -> None:
        """Build an entry from the collected fields."""
        self._skipped_element = ""
        self._store_field()
        self._end_part()
        fields, self._entry_fields = self._entry_fields, None
        self._is_nested = False
        if fields is not None:
            self._append_entry(fields)

    def _set_kind(self, kind: SitemapKind) -> None:
        self.kind = kind
        self._is_feed = kind is SitemapKind.RSS or kind is SitemapKind.ATOM
        self._skipped_names = _FEED_SKIPPED_ELEMENTS if self._is_feed else _SKIPPED_ELEMENTS

    def _handle_tag_outside_entry(self, name: str, attributes_text: str, is_closed: bool) -> None:
        if name in _ENTRY_KINDS and not is_closed:
            if self.kind is SitemapKind.UNKNOWN:
                self._set_kind(_ENTRY_KINDS[name])
            if _ENTRY_KINDS[name] is self.kind:
                self._begin_entry(attributes_text)
        elif self.kind is SitemapKind.UNKNOWN and name in _ROOT_KINDS:
            self._set_kind(_ROOT_KINDS[name])
            self._root = "" if is_closed else name
            self._root_base = resolve_xml_base("", attributes_text)
        elif name == "channel":
            self._root_base = resolve_xml_base(self._root_base, attributes_text)
        elif self.kind is SitemapKind.UNKNOWN and name in ("html", "body", "head"):
            self.is_html = True
        self._field, self._text_chunks = ("" if is_closed else name) if name in _FEED_DATE_NAMES else "", []

    def _handle_entry_start(self, attributes_text: str) -> None:
        if self._field == "loc":
            self._is_nested = True
            return
        if self._entry_fields:
            self._problems[SitemapProblem.NOT_WELL_FORMED] += 1
            self.flush_entry()
        self._begin_entry(attributes_text)

    def _handle_entry_end(self) -> None:
        if self._is_nested:
            self._is_nested = False
        elif self._entry_fields is None:
            self._problems[SitemapProblem.NOT_WELL_FORMED] += 1
        else:
            self.flush_entry()

    def _begin_entry(self, attributes_text: str = "") -> None:
        self._entry_fields = {}
        if self._is_feed:
            self._base = resolve_xml_base(self._root_base, attributes_text)
            self._entry_fields |= (
                {"about": parse_attributes(attributes_text).get("about", "")} if "about" in attributes_text else {}
            )
        self._begin_part("")
        self._alternates: list[AlternateLink] = []
        self._images: list[SitemapImage] = []
        self._videos: list[SitemapVideo] = []
        self._news: SitemapArticle | None = None
        self._field, self._text_chunks = "", []

    def _begin_part(self, name: str) -> None:
        self._part = name
        self._part_fields: extensions.PartFields = {}

    def _end_part(self) -> None:
        part, fields = self._part, self._part_fields
        self._begin_part("")
        if part == "image" and len(self._images) < self._limits.max_parts:
            image = extensions.build_image(fields)
            self._images += [image] if image else []
        elif part == "video" and len(self._videos) < self._limits.max_parts:
            self._videos.append(extensions.build_video(fields))
        elif part == "news":
            self._news = self._news or extensions.build_article(fields)

    def _store_field(self) -> None:
        """Store the current field, or text outside fields for entries without `loc`."""
        name, attributes_text, chunks = self._field, self._field_attributes, self._text_chunks
        self._field, self._field_attributes, self._text_chunks = "", "", []
        if not chunks:
            return
        value = unescape_xml("".join(chunks)[:FIELD_LIMIT]).strip(WHITESPACE)
        if self._entry_fields is None:
            self._read_feed_date(name, value)
        elif not value or (name == "link" and "rel" in attributes_text and not _is_alternate(attributes_text)):
            return
        elif self._part:
            if sum(map(len, self._part_fields.values())) < self._limits.max_parts:
                self._part_fields.setdefault(name, []).append((value, attributes_text))
        elif name == "loc" and "loc" in self._entry_fields:
            self._problems[SitemapProblem.NOT_WELL_FORMED] += 1
            self.flush_entry()
            self._begin_entry()
            self._entry_fields = {"loc": value}
        else:
            self._entry_fields.setdefault(name, value)

    def _read_feed_date(self, name: str, value: str) -> None:
        if name in _FEED_DATE_NAMES and self._is_feed and self.updated_at is None:
            self.updated_at = parse_date(value)

    def _handle_link(self, attributes_by_name: dict[str, str]) -> bool:
        """Parse an Atom link or an alternate language."""
        assert self._entry_fields is not None
        href = attributes_by_name.get("href", "").strip(WHITESPACE)
        is_alternate = is_alternate_relation(attributes_by_name.get("rel", "alternate"))
        if not href or self._part:
            return False
        if self.kind is SitemapKind.URLSET:
            if is_alternate and len(self._alternates) < self._limits.max_parts:
                self._alternates.append(AlternateLink(attributes_by_name.get("hreflang", ""), href))
        elif is_alternate and ("link" not in self._entry_fields or is_non_web_link(self._entry_fields["link"])):
            self._entry_fields["link"] = join_url(attributes_by_name.get("base", "").strip(WHITESPACE), href)
        return True

    def _append_entry(self, fields: dict[str, str]) -> None:
        reader = EntryFields(fields, self.kind, self._problems)
        loc = reader.parse_loc(self._base)
        if not loc:
            return
        lastmod = reader.parse_lastmod()
        self.entries.append(
            SitemapEntry(
                loc=loc,
                lastmod=lastmod.timestamp if lastmod else None,
                lastmod_precision=lastmod.precision if lastmod else DatePrecision.SECOND,
                changefreq=reader.parse_changefreq(),
                priority=reader.parse_priority(),
                alternates=tuple(self._alternates),
                images=tuple(self._images),
                videos=tuple(self._videos),
                news=self._news,
                is_mobile="mobile" in fields,
            )
        )


def _is_alternate(attributes_text: str) -> bool:
    return is_alternate_relation(parse_attributes(attributes_text).get("rel", ""))
