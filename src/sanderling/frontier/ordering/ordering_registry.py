"""Registry of orderings and parser of `--order`: a name, or a weighted mix such as `0.7*opic+0.3*breadth`."""

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
from sanderling.plugins.plugin_registry import PluginGroup, has_plugin, load_plugin

DEFAULT_ORDERING = "pagerank"  # best in benchmarks (docs/measurements/benchmarks.md)
DEFAULT_FOCUSED_ORDERING = "shark"  # best focused ordering
TERM_PATTERN = re.compile(r"\s*+(?:(\d++(?:\.\d++)?)\s*+\*\s*+)?([a-z-]++)\s*+")
TOPIC_REQUIREMENT = "a topic: --query 'some words' or --like-text FILE"
LOGS_REQUIREMENT = "request counts: --access-log FILE"


class OrderingInputs(Struct, frozen=True):
    """Optional inputs of orderings."""

    topic: Topic = Topic()
    access_counts: AccessCounts = AccessCounts()
    get_path: Callable[[int], str] = str  # URL id -> path
    get_priority: Callable[[int], float] = lambda _url: DEFAULT_PRIORITY  # URL id -> sitemap priority

    def has_requirement(self, requirement: str) -> bool:
        return {TOPIC_REQUIREMENT: bool(self.topic), LOGS_REQUIREMENT: bool(self.access_counts.counts), "": True}[
            requirement
        ]


class OrderingDefinition(Struct, frozen=True):
    """A selectable ordering."""

    build: Callable[[OrderingInputs], Ordering]
    description: str
    requirement: str = ""
    is_mixable: bool = True  # its ranks can be summed with those of other orderings


def _build_without_inputs(build: Callable[[], Ordering]) -> Callable[[OrderingInputs], Ordering]:
    return lambda _inputs: build()


def _build_popularity(scorer: PopularityScorer) -> Callable[[OrderingInputs], Ordering]:
    return lambda inputs: PopularityOrdering(inputs.access_counts, scorer, inputs.get_path)


ORDERINGS: Mapping[str, OrderingDefinition] = {
    "breadth": OrderingDefinition(_build_without_inputs(BreadthFirstOrdering), "breadth first, by link depth"),
    "depth": OrderingDefinition(
        _build_without_inputs(DepthFirstOrdering), "depth first: links of the newest page", is_mixable=False
    ),
    "pvalue": OrderingDefinition(
        _build_without_inputs(PvalueOrdering),
        "forward links minus backlinks, in three lists 4 : 2 : 1",
        is_mixable=False,
    ),
    "coverage": OrderingDefinition(_build_without_inputs(CoverageOrdering), "pages that lead to most new links"),
    "backlinks": OrderingDefinition(
        _build_without_inputs(BacklinkOrdering), "number of stored pages that link to the URL"
    ),
    "pagerank": OrderingDefinition(_build_without_inputs(PageRankOrdering), "PageRank of the graph so far"),
    "opic": OrderingDefinition(
        _build_without_inputs(OpicOrdering), "OPIC: each page distributes its cash over its links"
    ),
    "hits": OrderingDefinition(_build_without_inputs(HitsOrdering), "HITS: pages that good hubs link to"),
    "larger-sites": OrderingDefinition(_build_without_inputs(LargestSiteOrdering), "the site with most queued URLs"),
    "sitemap": OrderingDefinition(lambda inputs: SitemapPriorityOrdering(inputs.get_priority), "priority in sitemaps"),
    "popularity": OrderingDefinition(_build_popularity(score_by_weight), "requests in --access-log", LOGS_REQUIREMENT),
    "popularity-tac": OrderingDefinition(
        _build_popularity(build_learned_scorer(use_all_counts=False)),
        "requests in --access-log, decision tree on the total count",
        LOGS_REQUIREMENT,
    ),
    "popularity-sac": OrderingDefinition(
        _build_popularity(build_learned_scorer(use_all_counts=True)),
        "requests in --access-log, decision tree on four counts",
        LOGS_REQUIREMENT,
    ),
    "popularity-tac-knn": OrderingDefinition(
        _build_popularity(build_learned_scorer(use_all_counts=False, use_tree=False)),
        "requests in --access-log, nearest neighbors on the total count",
        LOGS_REQUIREMENT,
    ),
    "popularity-sac-knn": OrderingDefinition(
        _build_popularity(build_learned_scorer(use_all_counts=True, use_tree=False)),
        "requests in --access-log, nearest neighbors on four counts",
        LOGS_REQUIREMENT,
    ),
    "fish": OrderingDefinition(
        _build_without_inputs(FishSearchOrdering),
        "fish search: only links near pages about --query",
        TOPIC_REQUIREMENT,
        is_mixable=False,
    ),
    "shark": OrderingDefinition(
        _build_without_inputs(SharkSearchOrdering), "shark search: fish search with graded relevance", TOPIC_REQUIREMENT
    ),
    "similarity": OrderingDefinition(
        _build_without_inputs(BestFirstOrdering), "best first: link text and page similar to --query", TOPIC_REQUIREMENT
    ),
}


def find_ordering(name: str) -> OrderingDefinition | None:
    """Return an ordering by name, also one of a plugin. None: there is none."""
    if name in ORDERINGS or not has_plugin(PluginGroup.ORDERINGS, name):
        return ORDERINGS.get(name)
    return OrderingDefinition(_build_without_inputs(load_plugin(PluginGroup.ORDERINGS, name)), "from a plugin")


def parse_ordering(text: str, inputs: OrderingInputs | None = None) -> Ordering:
    """Build the ordering named by `--order`. Raises UsageError with the valid names."""
    inputs = inputs or OrderingInputs()
    parts = [TERM_PATTERN.fullmatch(part) for part in text.split("+")]
    terms = [
        (float(match[1] or 1.0), match[2], definition)
        for match in parts
        if match and (definition := find_ordering(match[2]))
    ]
    if len(terms) < len(parts):
        raise UsageError(
            f"unknown ordering {text!r}; choose from {', '.join(ORDERINGS)}, or a mix such as pagerank+sitemap"
            " or 0.7*opic+0.3*breadth"
        )
    for _, name, definition in terms:
        if not inputs.has_requirement(definition.requirement):
            raise UsageError(f"--order {name} needs {definition.requirement}")
    if len(terms) == 1:
        return terms[0][2].build(inputs)
    unmixable = [name for _, name, definition in terms if not definition.is_mixable]
    if unmixable:
        mixable = ", ".join(name for name, definition in ORDERINGS.items() if definition.is_mixable)
        raise UsageError(f"{unmixable[0]} cannot be mixed with other orderings; choose from: {mixable}")
    total = sum(weight for weight, _, _ in terms)
    if total <= 0:
        raise UsageError(f"the weights of {text!r} add up to 0; write for example 0.7*opic+0.3*breadth")
    return WeightedOrdering([(weight / total, definition.build(inputs)) for weight, _, definition in terms])
