"""What is special about feeds: which of several addresses is the page's, and what relative ones start from."""

import re
from collections import Counter
from typing import Any
from urllib.parse import urljoin

import msgspec

from sanderling.discovery.dates import Moment, Precision, read_date
from sanderling.discovery.entry_types import Entry, Kind, Problem
from sanderling.discovery.xml_scanner import attributes

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:").match
_BLANK = re.compile(r"\s").search
_REGISTRY = "http://www.iana.org/assignments/relation/"  # RFC 4287, 4.2.7.2: a relation may be spelled out


def looks_like_url(text: str) -> bool:
    """Tell whether a text begins as a web address does."""
    return text[:8].lower().startswith(("http://", "https://"))


def leads_off(link: str) -> bool:
    """Tell whether a link leads out of the web: to mail, to gemini."""
    return _SCHEME(link) is not None and not looks_like_url(link)


def page_of(gathered: dict[str, str], base: str) -> str:
    """Choose the address of an entry's page: its link, else an identifier that is one; nothing if there is none."""
    link = gathered.get("link", "")
    if link and not _SCHEME(link) and not _BLANK(link):
        return joined(base, link)
    named = (link, *(gathered.get(name, "") for name in ("guid", "id", "about")))
    return next((text for text in named if looks_like_url(text)), "")


def joined(base: str, href: str) -> str:
    """Resolve an address against what stands around it, which may be relative to the file itself."""
    try:
        return urljoin(base, href) if base else href
    except ValueError:
        return href


def base_within(base: str, rest: str) -> str:
    """Give what relative addresses inside a tag start from: its xml:base, taken from the one around it."""
    return joined(base, attributes(rest).get("base", "").strip()) if "base" in rest else base


def is_alternate(relation: str) -> bool:
    """Tell whether a link of an entry leads to its page."""
    return relation.strip().lower().removeprefix(_REGISTRY) == "alternate"


TEXT_LIMIT = 8 * 1024 * 1024  # characters; the objects they make take some ten times as much
LOC_LIMIT = 8192
_VERSION = "jsonfeed.org/version/1"


class JsonFeed:
    """One feed: feed it, then take what it says."""

    def __init__(self, problems: Counter[Problem]) -> None:
        self.kind = Kind.UNKNOWN
        self.found: list[Entry] = []
        self._problems = problems
        self._pieces: list[str] = []
        self._size = 0

    def feed(self, text: str, is_last: bool) -> None:
        """Gather text; read it when it ends."""
        if self._size <= TEXT_LIMIT:
            self._pieces.append(text)
            self._size += len(text)
        if is_last and self._size > TEXT_LIMIT:
            self._problems[Problem.TOO_LARGE] += 1
        elif is_last:
            self._read("".join(self._pieces))

    def _read(self, text: str) -> None:
        try:
            feed: Any = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            self._problems[Problem.NOT_WELL_FORMED] += 1
            return
        if not isinstance(feed, dict) or _VERSION not in _text(feed, "version"):
            return
        self.kind = Kind.JSON
        items = feed.get("items")
        for item in items if isinstance(items, list) else []:
            self._take(item)

    def _take(self, item: Any) -> None:
        loc = page_of({"link": _text(item, "url"), "id": _text(item, "id")}, "") if isinstance(item, dict) else ""
        if not loc:
            self._problems[Problem.NO_LOC] += 1
        elif len(loc) > LOC_LIMIT:
            self._problems[Problem.BAD_LOC] += 1
        else:
            moment = self._date(item)
            precision = moment.precision if moment else Precision.SECOND
            self.found.append(Entry(loc, moment.at if moment else None, precision))

    def _date(self, item: dict[str, Any]) -> Moment | None:
        for name in ("date_modified", "date_published"):
            if text := _text(item, name):
                if moment := read_date(text):
                    return moment
                self._problems[Problem.BAD_DATE] += 1
        return None


def _text(words: dict[str, Any], name: str) -> str:
    value = words.get(name)
    return value.strip() if isinstance(value, str) else ""
