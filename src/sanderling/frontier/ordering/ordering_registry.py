"""Read what `--order` says: a name, or several with weights (`pagerank+sitemap`, `0.7*opic+0.3*breadth`)."""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.frontier.ordering.access_logs import AccessCounts, build_learned_scorer, score_by_weight
from sanderling.frontier.ordering.best_first import BestFirstOrdering
from sanderling.frontier.ordering.coverage import CoverageOrdering
from sanderling.frontier.ordering.fish_search import FishSearchOrdering
from sanderling.frontier.ordering.hits import HitsOrdering
from sanderling.frontier.ordering.opic import OpicOrdering
from sanderling.frontier.ordering.pagerank import PageRankOrdering
from sanderling.frontier.ordering.popularity import PopularityOrdering, PopularityScorer
from sanderling.frontier.ordering.protocol import Ordering
from sanderling.frontier.ordering.pvalue import PvalueOrdering
from sanderling.frontier.ordering.shark_search import SharkSearchOrdering
from sanderling.frontier.ordering.simple import (
    DEFAULT_PRIORITY,
    BacklinkOrdering,
    BreadthFirstOrdering,
    DepthFirstOrdering,
    LargestSiteOrdering,
    SitemapPriorityOrdering,
)
from sanderling.frontier.ordering.topic import Topic
from sanderling.frontier.ordering.weighted import WeightedOrdering

DEFAULT_ORDERING = "pagerank"  # the best of those measured (docs/measurements/benchmarks.md)
DEFAULT_FOCUSED_ORDERING = "shark"  # the same, of those that have a topic
TERM_PATTERN = re.compile(r"\s*+(?:(\d++(?:\.\d++)?)\s*+\*\s*+)?([a-z-]++)\s*+")
TOPIC_REQUIREMENT = "a topic: --query 'some words' or --like-text FILE"
LOGS_REQUIREMENT = "to know what people ask for: --access-log FILE"


class OrderingInputs(Struct, frozen=True):
    """What an ordering may need beside the crawl itself."""

    topic: Topic = Topic()
    access_counts: AccessCounts = AccessCounts()
    get_path: Callable[[int], str] = str  # the path of a known URL, by its id
    get_priority: Callable[[int], float] = lambda _url: DEFAULT_PRIORITY  # what a sitemap said of a known URL

    def has_requirement(self, requirement: str) -> bool:
        """Is what an ordering needs there?"""
        return {TOPIC_REQUIREMENT: bool(self.topic), LOGS_REQUIREMENT: bool(self.access_counts.counts), "": True}[
            requirement
        ]


class OrderingDefinition(Struct, frozen=True):
    """An ordering that can be chosen."""

    build: Callable[[OrderingInputs], Ordering]
    description: str
    requirement: str = ""
    is_mixable: bool = True  # its ranks are of a size that adds up with others


def _build_without_inputs(build: Callable[[], Ordering]) -> Callable[[OrderingInputs], Ordering]:
    return lambda _given: build()


def _build_popularity(scorer: PopularityScorer) -> Callable[[OrderingInputs], Ordering]:
    return lambda given: PopularityOrdering(given.access_counts, scorer, given.get_path)


ORDERINGS: Mapping[str, OrderingDefinition] = {
    "breadth": OrderingDefinition(_build_without_inputs(BreadthFirstOrdering), "level by level"),
    "depth": OrderingDefinition(
        _build_without_inputs(DepthFirstOrdering), "the links of the newest page first", is_mixable=False
    ),
    "pvalue": OrderingDefinition(
        _build_without_inputs(PvalueOrdering), "links out less links in, three lists taken 4 : 2 : 1", is_mixable=False
    ),
    "coverage": OrderingDefinition(_build_without_inputs(CoverageOrdering), "what leads to most new links"),
    "backlinks": OrderingDefinition(_build_without_inputs(BacklinkOrdering), "what most stored pages link to"),
    "pagerank": OrderingDefinition(_build_without_inputs(PageRankOrdering), "PageRank of the graph so far"),
    "opic": OrderingDefinition(_build_without_inputs(OpicOrdering), "each page shares its cash among its links"),
    "hits": OrderingDefinition(_build_without_inputs(HitsOrdering), "what good hubs point at"),
    "larger-sites": OrderingDefinition(_build_without_inputs(LargestSiteOrdering), "the site with most URLs waiting"),
    "sitemap": OrderingDefinition(
        lambda given: SitemapPriorityOrdering(given.get_priority), "the priority in sitemaps"
    ),
    "popularity": OrderingDefinition(
        _build_popularity(score_by_weight), "what people ask for, by --access-log", LOGS_REQUIREMENT
    ),
    "popularity-tac": OrderingDefinition(
        _build_popularity(build_learned_scorer(use_all_counts=False)),
        "the same, a tree that learned from the total count",
        LOGS_REQUIREMENT,
    ),
    "popularity-sac": OrderingDefinition(
        _build_popularity(build_learned_scorer(use_all_counts=True)), "the same, from the four counts", LOGS_REQUIREMENT
    ),
    "popularity-tac-knn": OrderingDefinition(
        _build_popularity(build_learned_scorer(use_all_counts=False, use_tree=False)),
        "nearest neighbours, total count",
        LOGS_REQUIREMENT,
    ),
    "popularity-sac-knn": OrderingDefinition(
        _build_popularity(build_learned_scorer(use_all_counts=True, use_tree=False)),
        "nearest neighbours, four counts",
        LOGS_REQUIREMENT,
    ),
    "fish": OrderingDefinition(
        _build_without_inputs(FishSearchOrdering),
        "near pages that speak of --query, or not at all",
        TOPIC_REQUIREMENT,
        is_mixable=False,
    ),
    "shark": OrderingDefinition(_build_without_inputs(SharkSearchOrdering), "the same in shades", TOPIC_REQUIREMENT),
    "similarity": OrderingDefinition(
        _build_without_inputs(BestFirstOrdering), "the links that speak most of --query", TOPIC_REQUIREMENT
    ),
}


def parse_ordering(text: str, inputs: OrderingInputs | None = None) -> Ordering:
    """Make the ordering that was asked for, or say what there is."""
    inputs = inputs or OrderingInputs()
    parts = [TERM_PATTERN.fullmatch(part) for part in text.split("+")]
    named = [(float(found[1] or 1.0), found[2]) for found in parts if found and found[2] in ORDERINGS]
    if len(named) < len(parts):
        raise UsageError(
            f"there is no ordering {text!r}; there are {', '.join(ORDERINGS)}, and mixes such as pagerank+sitemap"
            " or 0.7*opic+0.3*breadth"
        )
    for _, name in named:
        if not inputs.has_requirement(ORDERINGS[name].requirement):
            raise UsageError(f"--order {name} needs {ORDERINGS[name].requirement}")
    if len(named) == 1:
        return ORDERINGS[named[0][1]].build(inputs)
    unmixable = [name for _, name in named if not ORDERINGS[name].is_mixable]
    if unmixable:
        mixing = ", ".join(name for name, kind in ORDERINGS.items() if kind.is_mixable)
        raise UsageError(f"{unmixable[0]} cannot be mixed with others; these can: {mixing}")
    total = sum(weight for weight, _ in named)
    if total <= 0:
        raise UsageError(f"the weights of {text!r} add up to nothing; write for example 0.7*opic+0.3*breadth")
    return WeightedOrdering([(weight / total, ORDERINGS[name].build(inputs)) for weight, name in named])
