"""Headers and lists of Memento (RFC 7089)."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import takewhile

from msgspec import Struct

from sanderling.api.replay.replay_url import LATEST, build_replay_path, format_http_date
from sanderling.clock import parse_http_date
from sanderling.warc.cdxj import CdxjEntry, format_timestamp

MAX_TIMEMAP_ENTRIES = 100_000


class MementoLinks(Struct, frozen=True):
    """Links of a page and its captures, oldest first. `origin`: scheme and authority of this server."""

    origin: str
    url: str
    captures: Sequence[CdxjEntry]

    def build_header(self, current: CdxjEntry | None = None) -> str:
        """Build the Link header; `current`: the capture that is sent."""
        links = [
            f'<{self.url}>; rel="original"',
            f'<{self.origin}/web/{self.url}>; rel="timegate"',
            f'<{self.origin}/web/timemap/link/{self.url}>; rel="timemap"; type="application/link-format"',
        ]
        return ", ".join([*links, *(self._build_memento(entry, rel) for entry, rel in self._select(current))])

    def build_timemap(self) -> str:
        """Build the time map, in the link format of RFC 6690."""
        entries = self.captures[-MAX_TIMEMAP_ENTRIES:]
        span = (
            f'; from="{format_http_date(entries[0].captured_at)}"; until="{format_http_date(entries[-1].captured_at)}"'
        )
        lines = [
            f'<{self.url}>; rel="original"',
            f'<{self.origin}/web/timemap/link/{self.url}>; rel="self"; type="application/link-format"{span}',
            f'<{self.origin}/web/{self.url}>; rel="timegate"',
        ]
        for number, entry in enumerate(entries):
            position = ["first"] * (number == 0) + ["last"] * (number == len(entries) - 1)
            lines.append(self._build_memento(entry, " ".join([*position, "memento"])))
        return ",\n".join(lines) + "\n"

    def _select(self, current: CdxjEntry | None) -> list[tuple[CdxjEntry, str]]:
        """Return first, last, previous, and next capture with their relations."""
        if not self.captures:
            return []
        relations: dict[int, list[str]] = {0: ["first"]}
        relations.setdefault(len(self.captures) - 1, []).append("last")
        if current is not None:
            place = next((n for n, entry in enumerate(self.captures) if entry == current), -1)
            if place > 0:
                relations.setdefault(place - 1, []).insert(0, "prev")
            if 0 <= place < len(self.captures) - 1:
                relations.setdefault(place + 1, []).insert(0, "next")
            relations.setdefault(place, [])
        return [(self.captures[n], " ".join([*names, "memento"])) for n, names in sorted(relations.items()) if n >= 0]

    def _build_memento(self, entry: CdxjEntry, relation: str) -> str:
        address = f"{self.origin}{build_capture_path(entry, self.captures)}"
        return f'<{address}>; rel="{relation}"; datetime="{format_http_date(entry.captured_at)}"'


def build_capture_path(entry: CdxjEntry, captures: Sequence[CdxjEntry]) -> str:
    """Build the address of a capture; two more digits number captures that follow the first of a second."""
    start = bisect_left(captures, entry.captured_at, key=lambda other: other.captured_at)
    of_second = takewhile(lambda other: other.captured_at == entry.captured_at, captures[start : start + 99])
    number = next((n for n, other in enumerate(of_second, 1) if other.location == entry.location), 1)
    return build_replay_path(entry.url, entry.captured_at, number=number)


def parse_accept_datetime(value: str) -> float | None:
    """Return the requested time; the latest without a header, None if it is invalid."""
    return parse_http_date(value) if value else float(LATEST)


def build_etag(entry: CdxjEntry) -> str:
    return f'"{entry.location.file}-{entry.location.offset}-{format_timestamp(entry.captured_at)}"'
