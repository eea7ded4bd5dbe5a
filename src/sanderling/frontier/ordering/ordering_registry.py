"""Read what `--order` says: a name, or several with weights (`pagerank+sitemap`, `0.7*opic+0.3*breadth`)."""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.frontier.ordering.access_logs import Popularity, learned, weighed
from sanderling.frontier.ordering.best_first import Similarity
from sanderling.frontier.ordering.coverage import Coverage
from sanderling.frontier.ordering.fish_search import Fish
from sanderling.frontier.ordering.hits import Hits
from sanderling.frontier.ordering.opic import Opic
from sanderling.frontier.ordering.pagerank import PageRank
from sanderling.frontier.ordering.popularity import Popular, Score
from sanderling.frontier.ordering.protocol import Ordering
from sanderling.frontier.ordering.pvalue import Pvalue
from sanderling.frontier.ordering.shark_search import Shark
from sanderling.frontier.ordering.simple import UNSAID, BackLinks, Breadth, Depth, LargerSites, SitemapPriority
from sanderling.frontier.ordering.topic import Topic
from sanderling.frontier.ordering.weighted import Mix

DEFAULT = "pagerank"  # the best of those measured (docs/benchmarks.md)
FOCUSED = "shark"  # the same, of those that have a topic
PART = re.compile(r"\s*+(?:(\d++(?:\.\d++)?)\s*+\*\s*+)?([a-z-]++)\s*+")
TOPIC = "a topic: --query 'some words' or --like-text FILE"
LOGS = "to know what people ask for: --access-log FILE"


class Given(Struct, frozen=True):
    """What an ordering may need beside the crawl itself."""

    topic: Topic = Topic()
    popularity: Popularity = Popularity()
    path_of: Callable[[int], str] = str  # the path of a known URL, by its id
    priority_of: Callable[[int], float] = lambda _url: UNSAID  # what a sitemap said of a known URL

    def has(self, need: str) -> bool:
        """Is what an ordering needs there?"""
        return {TOPIC: bool(self.topic), LOGS: bool(self.popularity.counts), "": True}[need]


class Kind(Struct, frozen=True):
    """An ordering that can be chosen."""

    make: Callable[[Given], Ordering]
    says: str
    needs: str = ""
    mixes: bool = True  # its ranks are of a size that adds up with others


def _plain(make: Callable[[], Ordering]) -> Callable[[Given], Ordering]:
    return lambda _given: make()


def _popular(score: Score) -> Callable[[Given], Ordering]:
    return lambda given: Popular(given.popularity, score, given.path_of)


ORDERINGS: Mapping[str, Kind] = {
    "breadth": Kind(_plain(Breadth), "level by level"),
    "depth": Kind(_plain(Depth), "the links of the newest page first", mixes=False),
    "pvalue": Kind(_plain(Pvalue), "links out less links in, three lists taken 4 : 2 : 1", mixes=False),
    "coverage": Kind(_plain(Coverage), "what leads to most new links"),
    "backlinks": Kind(_plain(BackLinks), "what most stored pages link to"),
    "pagerank": Kind(_plain(PageRank), "PageRank of the graph so far"),
    "opic": Kind(_plain(Opic), "each page shares its cash among its links"),
    "hits": Kind(_plain(Hits), "what good hubs point at"),
    "larger-sites": Kind(_plain(LargerSites), "the site with most URLs waiting"),
    "sitemap": Kind(lambda given: SitemapPriority(given.priority_of), "the priority in sitemaps"),
    "popularity": Kind(_popular(weighed), "what people ask for, by --access-log", LOGS),
    "popularity-tac": Kind(_popular(learned(four=False)), "the same, a tree that learned from the total count", LOGS),
    "popularity-sac": Kind(_popular(learned(four=True)), "the same, from the four counts", LOGS),
    "popularity-tac-knn": Kind(_popular(learned(four=False, by_tree=False)), "nearest neighbours, total count", LOGS),
    "popularity-sac-knn": Kind(_popular(learned(four=True, by_tree=False)), "nearest neighbours, four counts", LOGS),
    "fish": Kind(_plain(Fish), "near pages that speak of --query, or not at all", TOPIC, mixes=False),
    "shark": Kind(_plain(Shark), "the same in shades", TOPIC),
    "similarity": Kind(_plain(Similarity), "the links that speak most of --query", TOPIC),
}


def choose(text: str, given: Given | None = None) -> Ordering:
    """Make the ordering that was asked for, or say what there is."""
    given = given or Given()
    parts = [PART.fullmatch(part) for part in text.split("+")]
    named = [(float(found[1] or 1.0), found[2]) for found in parts if found and found[2] in ORDERINGS]
    if len(named) < len(parts):
        raise UsageError(
            f"there is no ordering {text!r}; there are {', '.join(ORDERINGS)}, and mixes such as pagerank+sitemap"
            " or 0.7*opic+0.3*breadth"
        )
    for _, name in named:
        if not given.has(ORDERINGS[name].needs):
            raise UsageError(f"--order {name} needs {ORDERINGS[name].needs}")
    if len(named) == 1:
        return ORDERINGS[named[0][1]].make(given)
    unmixable = [name for _, name in named if not ORDERINGS[name].mixes]
    if unmixable:
        mixing = ", ".join(name for name, kind in ORDERINGS.items() if kind.mixes)
        raise UsageError(f"{unmixable[0]} cannot be mixed with others; these can: {mixing}")
    total = sum(weight for weight, _ in named)
    if total <= 0:
        raise UsageError(f"the weights of {text!r} add up to nothing; write for example 0.7*opic+0.3*breadth")
    return Mix([(weight / total, ORDERINGS[name].make(given)) for weight, name in named])
