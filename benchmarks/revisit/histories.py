"""Real change histories of pages, and how fresh and how old the copies are that a crawler held of them."""

import json
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

DAY = 86_400.0
SPANS = {  # years of use, as the makers of the traces give them
    "ota-contrib": (1672531200, 1767225600),
    "openbsd-www": (946684800, 1104537600),
    "httpd-manual": (1262304000, 1577836800),
    "kubernetes-website": (1609459200, 1704067200),
    "rust-blog": (1514764800, 1767225600),
    "julia-packages": (1577836800, 1767225600),
    "digitalgov": (1514764800, 1704067200 + 31622400),
}


class Life(Struct, frozen=True):
    """One page: when its content became what, within the years of use."""

    path: str
    born: float
    died: float
    times: list[float]  # of birth and every change
    versions: list[int]  # from then on; pages flap, so one may come again

    def at(self, now: float) -> int:
        """The version that is there at a time."""
        return self.versions[max(bisect_right(self.times, now) - 1, 0)]

    @property
    def rate(self) -> float:
        """Changes a day, on average: what an oracle knows."""
        return self.changes / max((self.died - self.born) / DAY, 1.0)

    @property
    def changes(self) -> int:
        """Changes within the years of use."""
        return bisect_right(self.times, self.died) - bisect_right(self.times, self.born)


class Trace(Struct, frozen=True):
    """All pages of one history."""

    name: str
    begin: float
    end: float
    pages: list[Life]


def traces_in(folder: Path) -> list[str]:
    """The names of the traces that are there, smallest first."""
    return [path.stem for path in sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_size)]


def read(folder: Path, name: str, part: int = 1) -> Trace:
    """One trace; perhaps only each so many-th hundred of its pages in order of their addresses, so that kin stay."""
    rows = [json.loads(line) for line in (folder / f"{name}.jsonl").open()]
    begin, end = SPANS.get(name) or _span(rows)
    pages = [life for row in sorted(rows, key=lambda row: str(row["page"])) if (life := _life(row, begin, end))]
    return Trace(name, begin, end, [page for number, page in enumerate(pages) if number // 100 % part == 0])


def _span(rows: list[dict[str, object]]) -> tuple[float, float]:
    """The last four years of a history that nobody gave years of use."""
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
    """The copies a crawler holds: how long they were fresh, and how old they were when not."""

    def __init__(self, pages: list[Life]) -> None:
        self.pages = pages
        self.version: dict[int, int] = {}
        self.since: dict[int, float] = {}
        self.fresh = self.lived = self.age = 0.0
        self.visits = 0

    def look(self, number: int, now: float) -> bool:
        """Fetch a page; say whether it had changed."""
        self.visits += 1
        self.close(number, now)
        version = self.pages[number].at(now)
        changed = self.version.get(number, version) != version
        self.version[number], self.since[number] = version, now
        return changed

    def close(self, number: int, until: float) -> None:
        """Count the time since the last look at a page."""
        if number not in self.since:
            return
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
    """The times between changes, from one moment to another, with the version that was there."""
    place = max(bisect_right(page.times, since) - 1, 0)
    while since < until:
        after = page.times[place + 1] if place + 1 < len(page.times) else until
        step = min(after, until)
        if step > since:
            yield since, step, page.versions[place]
        since, place = step, place + 1
