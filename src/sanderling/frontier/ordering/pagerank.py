"""PageRank of the graph so far, kept up to date by pushing residuals; of equals, the page nearer to a seed goes first.

PR(p) = (1 - d) + d * sum PR(q) / out(q). A page keeps a residual: rank it received and has not passed on. To store a
page is to push: its residual goes on to its links. Residual that comes to a stored page is pushed on later, the pages
in turn, one link of an old page for two of a new one: so the work is bounded by the links of the crawl. A waiting
URL is ranked by its residual, which is all the rank it has.

Two things differ from the textbook, because only a part of the graph is seen: a page counts as having a few links more
than it shows, since one link among three is weak evidence, and each level down costs a little.
"""

from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from math import log

from sanderling.frontier.ordering.protocol import Favour, Finding, Lesson, Ordering
from sanderling.frontier.ordering.score_table import VISITED, Sums, Tally

D = 0.85  # LIT-PR, the usual value
OWN = 1 - D  # what every page has of its own
SEED = 3.0  # what a seed has beside: a person chose it, and its pages link back to it
MORE = 10  # links a page is taken to have beside those it shows
LEVEL = 0.5  # of score: what a level costs
LEAST = 1e-30
PUSH = 0.1  # residual of a stored page that is worth passing on
MOVE = log(1.25)  # a URL is moved when its residual has grown by a quarter
SHARE = 2  # for two links of new pages one of an old page is walked
LINKS_KEPT = 2_000_000  # links of stored pages in memory, 16 MB; those pushed longest ago go first
WIDTH = 8  # bytes of one of them
ROOM = 0.9  # of them stay when there is no room
QUEUED = VISITED - 1  # told of a stored page that waits to be pushed


def score(rank: float) -> float:
    """Rank as a score: a factor of e is worth one level of depth in a mix."""
    return log(max(rank, LEAST))


class PageRank(Ordering):
    """Residuals by URL, and the links of stored pages that still pass rank on."""

    favour = Favour.UNSEEN

    def __init__(self, links_kept: int = LINKS_KEPT) -> None:
        self.residual = Tally()
        self.passed = Sums()  # rank that stored pages passed on: with the residual, all they ever had
        self.links_kept = links_kept
        self.links: dict[int, bytes] = {}  # packed: each is one large block, away from the small objects of a batch
        self.kept = 0
        self.waiting: deque[int] = deque()  # stored pages with residual to pass on
        self.budget = 0  # links that may still be walked for them

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        scores: dict[
            tuple[int, int], float
        ] = {}  # what a page has for each of its links: found together, they share it
        out = []
        for f in findings:
            known = scores.get((f.page, f.links))
            if known is None:
                known = score(D * self._held(f.page, f.is_seed) / (f.links + MORE)) if f.page else 0.0
                scores[f.page, f.links] = known
            out.append(LEVEL * f.depth - known)
        return out

    def _held(self, page: int, is_seed: bool) -> float:
        own = 0.0 if self.residual.has_visited(page) else OWN + SEED * is_seed
        return self.residual[page] + own

    def learn(self, lesson: Lesson) -> None:
        page, targets = lesson.page, lesson.targets
        residual = self.residual
        residual.reach(max(targets, default=page))
        held = self._held(page, lesson.is_seed)
        residual.visit(page)
        self._push(page, held, targets)
        self._keep(page, targets)
        self._pass_on(len(targets))

    def _push(self, page: int, held: float, targets: Sequence[int]) -> None:
        self.passed.add(page, held)
        tally = self.residual
        values, told, mask = tally.values, tally.told, tally.mask
        values[page & mask] = 0.0
        share = max(D * held / (len(targets) + MORE), LEAST)
        risen = []
        for target in targets:
            at = target & mask
            values[at] = now = values[at] + share
            known = told[at]
            if known > 0:
                risen.append(target)
            elif not known:
                told[at] = share
            elif known == VISITED and now > PUSH:
                told[at] = QUEUED
                self.waiting.append(target)
        tally.touch(risen)

    def _pass_on(self, walked: int) -> None:
        """Push old pages, for half as many links as were just walked for a new one."""
        self.budget = min(self.budget + walked // SHARE, 10 * walked)
        tally = self.residual
        while self.waiting and self.budget > 0:
            page = self.waiting.popleft()
            tally.visit(page)
            packed = self.links.pop(page, None)
            if packed is None:
                continue  # its links were forgotten: what it holds stays with it
            self.links[page] = packed
            targets = array("q", packed)
            self.budget -= len(targets)
            self._push(page, tally[page], targets)

    def _keep(self, page: int, targets: Sequence[int]) -> None:
        old = self.links.pop(page, b"")
        self.links[page] = array("q", targets).tobytes()
        self.kept += len(targets) - len(old) // WIDTH
        if self.kept > self.links_kept:
            self._forget()

    def _forget(self) -> None:
        """Let the links pushed longest ago go, many at once: to find the oldest of a dictionary is to pass all gaps."""
        leaving, left = [], self.kept - int(ROOM * self.links_kept)
        for page, packed in self.links.items():
            if left <= 0:
                break
            left -= len(packed) // WIDTH
            leaving.append(page)
        self.kept -= sum(len(self.links.pop(page)) for page in leaving) // WIDTH

    def gains(self) -> Mapping[int, float]:
        return self.residual.moved(score, MOVE)

    def again(self, url: int, depth: int) -> float:
        return LEVEL * depth - score(self.residual[url] + self.passed[url])

    def keeps(self, url: int, depth: int, relevance: float) -> float:  # noqa: ARG002
        """By what it received alone: so a waiting URL can be compared."""
        own = OWN if self.residual.has_visited(url) else 0.0
        return LEVEL * depth - score(self.residual[url] + self.passed[url] - own)

    def tallies(self) -> Mapping[str, Sums]:
        return {"residual": self.residual, "passed": self.passed}
