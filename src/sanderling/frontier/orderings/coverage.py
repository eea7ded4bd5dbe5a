"""URL ordering by coverage (MIG-2): what leads to most links not covered yet goes first.

The links of a page are known only after it was visited: then `organise/coverage.py` gives the greedy order, at the
start of a new session. Of a page not visited yet they are guessed: by how many new links the pages in the same folder
had.
"""

from collections.abc import Mapping, Sequence
from math import log1p

from sanderling.frontier.order import ARRANGED, Finding, Lesson, LinksOf, Ordering
from sanderling.frontier.tally import Sums, Tally
from sanderling.organise.coverage import order
from sanderling.records import Url

FOLDERS = 50_000  # remembered
RECENT = 20.0  # pages of a folder whose average counts


def folder_of(url: Url) -> str:
    """What pages of one kind have in common: all of the path but its last part."""
    return url.partition("?")[0].rpartition("/")[0]


class Coverage(Ordering):
    """New links by folder, as a sliding average."""

    compares = False

    def __init__(self) -> None:
        self.met = Tally()
        self.fresh: dict[str, tuple[float, float]] = {}  # folder -> average, pages
        self.usual = 1.0

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        return [-log1p(self.fresh.get(folder_of(f.url), (self.usual, 0.0))[0]) for f in findings]

    def learn(self, lesson: Lesson) -> None:
        tally = self.met
        tally.reach(max(lesson.targets, default=0))
        values, mask = tally.values, tally.mask
        fresh = 0
        for target in lesson.targets:
            at = target & mask
            if not values[at]:
                values[at] = 1.0
                fresh += 1
        if len(self.fresh) >= FOLDERS:
            self.fresh.clear()
        folder = folder_of(lesson.url)
        average, pages = self.fresh.get(folder, (self.usual, 1.0))
        pages = min(pages + 1, RECENT)
        self.fresh[folder] = average + (fresh - average) / pages, pages
        self.usual += (fresh - self.usual) / RECENT

    def arrange(self, known: Sequence[tuple[int, int]], links: LinksOf) -> Sequence[float]:
        """Greedy cover of all links that are known; what is new goes before it."""
        places = {url: float(len(known)) for url, _ in known}
        covering = order({url: links(url) for url, _ in known[:ARRANGED]})
        places |= {url: float(place) for place, (url, _) in enumerate(covering)}
        return list(places.values())

    def tallies(self) -> Mapping[str, Sums]:
        return {"met": self.met}
