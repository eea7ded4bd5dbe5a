"""Feeds in JSON (jsonfeed.org, version 1 and 1.1): text in, entries out; read when the whole file is there."""

from collections import Counter
from typing import Any

import msgspec

from sanderling.sources.dates import Moment, Precision, read_date
from sanderling.sources.entries import Entry, Kind, Problem
from sanderling.sources.feeds import page_of

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
