"""URLs of feed entries, and JSON Feed."""

import re
from collections import Counter
from typing import Any
from urllib.parse import urljoin

import msgspec

from sanderling.discovery.dates import DatePrecision, ParsedDate, parse_date
from sanderling.discovery.entry_types import SitemapEntry, SitemapKind, SitemapProblem
from sanderling.discovery.xml_scanner import parse_attributes

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:").match
_WHITESPACE = re.compile(r"\s").search
_IANA_RELATION_PREFIX = "http://www.iana.org/assignments/relation/"  # RFC 4287, 4.2.7.2: a relation may be a full IRI


def is_http_url(text: str) -> bool:
    return text[:8].lower().startswith(("http://", "https://"))


def is_non_web_link(link: str) -> bool:
    return _SCHEME(link) is not None and not is_http_url(link)


def choose_page_url(fields: dict[str, str], base: str) -> str:
    """Return the link of an entry, else an identifier that is a URL."""
    link = fields.get("link", "")
    if link and not _SCHEME(link) and not _WHITESPACE(link):
        return join_url(base, link)
    candidates = (link, *(fields.get(name, "") for name in ("guid", "id", "about")))
    return next((text for text in candidates if is_http_url(text)), "")


def join_url(base: str, href: str) -> str:
    """Resolve a link against a base that may be relative or invalid."""
    try:
        return urljoin(base, href) if base else href
    except ValueError:
        return href


def resolve_xml_base(base: str, attributes_text: str) -> str:
    """Return the xml:base of a tag resolved against the outer base."""
    return (
        join_url(base, parse_attributes(attributes_text).get("base", "").strip()) if "base" in attributes_text else base
    )


def is_alternate_relation(relation: str) -> bool:
    """Return whether `rel` means the page of the entry."""
    return relation.strip().lower().removeprefix(_IANA_RELATION_PREFIX) == "alternate"


MAX_FEED_LENGTH = 8 * 1024 * 1024  # characters; the parsed objects take about ten times as much memory
LOC_LIMIT = 8192  # characters; longer than any URL that is requested
_JSON_FEED_VERSION = "jsonfeed.org/version/1"


class JsonFeedParser:
    """Parser of a JSON Feed; appends to `entries`."""

    def __init__(self, problems: Counter[SitemapProblem]) -> None:
        self.kind = SitemapKind.UNKNOWN
        self.entries: list[SitemapEntry] = []
        self._problems = problems
        self._text_chunks: list[str] = []
        self._size = 0

    def feed(self, text: str, is_last: bool) -> None:
        """Buffer text, and parse it after the last part."""
        if self._size <= MAX_FEED_LENGTH:
            self._text_chunks.append(text)
            self._size += len(text)
        if is_last and self._size > MAX_FEED_LENGTH:
            self._problems[SitemapProblem.TOO_LARGE] += 1
        elif is_last:
            self._parse_feed("".join(self._text_chunks))

    def _parse_feed(self, text: str) -> None:
        try:
            feed: Any = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            self._problems[SitemapProblem.NOT_WELL_FORMED] += 1
            return
        if not isinstance(feed, dict) or _JSON_FEED_VERSION not in _get_text(feed, "version"):
            return
        self.kind = SitemapKind.JSON
        items = feed.get("items")
        for item in items if isinstance(items, list) else []:
            self._append_item(item)

    def _append_item(self, item: Any) -> None:
        loc = (
            choose_page_url({"link": _get_text(item, "url"), "id": _get_text(item, "id")}, "")
            if isinstance(item, dict)
            else ""
        )
        if not loc:
            self._problems[SitemapProblem.NO_LOC] += 1
        elif len(loc) > LOC_LIMIT:
            self._problems[SitemapProblem.BAD_LOC] += 1
        else:
            date = self._parse_item_date(item)
            precision = date.precision if date else DatePrecision.SECOND
            self.entries.append(SitemapEntry(loc, date.timestamp if date else None, precision))

    def _parse_item_date(self, item: dict[str, Any]) -> ParsedDate | None:
        for name in ("date_modified", "date_published"):
            if text := _get_text(item, name):
                if date := parse_date(text):
                    return date
                self._problems[SitemapProblem.BAD_DATE] += 1
        return None


def _get_text(item: dict[str, Any], name: str) -> str:
    value = item.get(name)
    return value.strip() if isinstance(value, str) else ""
