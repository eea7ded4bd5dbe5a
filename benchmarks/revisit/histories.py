"""Real change histories of pages, and freshness and age of the copies of a crawler."""

import json
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

DAY = 86_400.0
SPANS = {  # spans given by the authors of the traces
    "ota-contrib": (1672531200, 1767225600),
    "openbsd-www": (946684800, 1104537600),
    "httpd-manual": (1262304000, 1577836800),
    "kubernetes-website": (1609459200, 1704067200),
    "rust-blog": (1514764800, 1767225600),
    "julia-packages": (1577836800, 1767225600),
    "digitalgov": (1514764800, 1704067200 + 31622400),
}


class Life(Struct, frozen=True):
    """Versions of a page within the span of the trace."""

    path: str
    born: float
    died: float
    times: list[float]  # of creation and each change
    versions: list[int]  # from these times on; a version may return

    def at(self, now: float) -> int:
        """Return the version at a time."""
        return self.versions[max(bisect_right(self.times, now) - 1, 0)]

    @property
    def rate(self) -> float:
        """Mean changes per day, as known to the oracle."""
        return self.changes / max((self.died - self.born) / DAY, 1.0)

    @property
    def changes(self) -> int:
        """Number of changes within the span."""
        return bisect_right(self.times, self.died) - bisect_right(self.times, self.born)


class Trace(Struct, frozen=True):
    """All pages of one history."""

    name: str
    begin: float
    end: float
    pages: list[Life]


def traces_in(folder: Path) -> list[str]:
    """Return the names of the traces in the folder, smallest first."""
    return [path.stem for path in sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_size)]


def read(folder: Path, name: str, part: int = 1) -> Trace:
    """Read a trace; with `part`, every part-th hundred of its pages in URL order, which keeps directories together."""
    rows = [json.loads(line) for line in (folder / f"{name}.jsonl").open()]
    begin, end = SPANS.get(name) or _span(rows)
    pages = [life for row in sorted(rows, key=lambda row: str(row["page"])) if (life := _life(row, begin, end))]
    return Trace(name, begin, end, [page for number, page in enumerate(pages) if number // 100 % part == 0])


def _span(rows: list[dict[str, object]]) -> tuple[float, float]:
    """Return the last four years of a trace without a given span."""
    end = max(max(row["changes"] or [row["born"]]) for row in rows)  # type: ignore[call-overload]
    return end - 4 * 365 * DAY, end


def _life(row: dict[str, object], begin: float, end: float) -> Life | None:
    born, died = float(row["born"]), float(row["died"] or end)  # type: ignore[arg-type]
    if born >= end or died <= begin:
        return None
    times, versions = [born], [int(row["ver"][0])]  # type: ignore[index]
    for at, version in zip(row["changes"], row["ver"][1:], strict=True):  # type: ignore[call-overload, index]
        if version != versions[-1]:
            times.append(float(at))
            versions.append(int(version))
    return Life(str(row["page"]), max(born, begin), min(died, end), times, versions)


class Held:
    """Copies of a crawler, with total fresh time and age."""

    def __init__(self, pages: list[Life]) -> None:
        self.pages = pages
        self.version: dict[int, int] = {}
        self.since: dict[int, float] = {}
        self.fresh = self.lived = self.age = 0.0
        self.visits = 0
        self.delays: list[float] = []  # seconds from each change to the next visit

    def look(self, number: int, now: float) -> bool:
        """Fetch a page. Returns whether it had changed."""
        self.visits += 1
        self.close(number, now)
        version = self.pages[number].at(now)
        changed = self.version.get(number, version) != version
        self.version[number], self.since[number] = version, now
        return changed

    def close(self, number: int, until: float) -> None:
        """Add the time since the last visit of a page."""
        if number not in self.since:
            return
        times = self.pages[number].times
        first = bisect_right(times, self.since[number])
        self.delays += [until - at for at in times[first : bisect_right(times, until)]]
        stale_at = 0.0
        for start, end, version in _stretches(self.pages[number], self.since[number], until):
            self.lived += end - start
            if version == self.version[number]:
                self.fresh += end - start
                stale_at = 0.0
            else:
                stale_at = stale_at or start
                self.age += ((end - stale_at) ** 2 - (start - stale_at) ** 2) / 2
        self.since[number] = until


def _stretches(page: Life, since: float, until: float) -> Iterator[tuple[float, float, int]]:
    """Yield (start, end, version) between two times."""
    place = max(bisect_right(page.times, since) - 1, 0)
    while since < until:
        after = page.times[place + 1] if place + 1 < len(page.times) else until
        step = min(after, until)
        if step > since:
            yield since, step, page.versions[place]
        since, place = step, place + 1
