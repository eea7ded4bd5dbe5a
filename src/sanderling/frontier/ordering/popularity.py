"""Popularity from access logs (LIT-POP): what people ask for goes first; frontier/ordering/access_logs.py counts and
scores it.

How far a count is to be trusted is learned against the PageRank of pages that are stored: at the start of a crawl from
those of earlier ones, then again each time twice as many are known. What waits already keeps its place.
"""

from collections.abc import Callable, Mapping, Sequence

from sanderling.frontier.ordering.access_logs import Popularity
from sanderling.frontier.ordering.pagerank import PageRank
from sanderling.frontier.ordering.protocol import Finding, Lesson, Ordering
from sanderling.models import Url

LEVEL = 0.01  # of two pages nobody asked for, the one nearer to a seed goes first
FIRST_LOOK = 30  # stored pages named in the logs, before anything is learned from them

Score = Callable[[Popularity, Mapping[str, float]], Mapping[str, float]]
"""Scores by path, from the counts and the PageRank of some paths."""


def path_of(url: Url) -> str:
    """A URL as an access log has it."""
    return url[url.index("/", 8) :]


class Popular(Ordering):
    """Scores by path; `known` gives the path of a URL by its id."""

    def __init__(self, popularity: Popularity, score: Score, known: Callable[[int], str]) -> None:
        self.popularity = popularity
        self.score = score
        self.known = known
        self.scores = score(popularity, {})
        self.graph = PageRank()
        self.paths: dict[int, str] = {}  # stored pages that the logs name
        self.next_look = FIRST_LOOK

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        scores = self.scores
        return [LEVEL * f.depth - scores.get(path_of(f.url), 0.0) for f in findings]

    def learn(self, lesson: Lesson) -> None:
        self.graph.learn(lesson)
        self.graph.residual.pending.clear()
        path = path_of(lesson.url)
        if path in self.popularity.counts:
            self.paths[lesson.page] = path

    def gains(self) -> Mapping[int, float]:
        if len(self.paths) >= self.next_look:
            self.next_look = 2 * len(self.paths)
            graph = self.graph
            ranks = {path: graph.residual[page] + graph.passed[page] for page, path in self.paths.items()}
            self.scores = self.score(self.popularity, ranks)
        return {}

    def again(self, url: int, depth: int) -> float:
        return LEVEL * depth - self.scores.get(self.known(url), 0.0)
