"""Crawls for queries: which share of the pages found and fetched for an unmet query is about it."""

import random
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.templates.labelled_sites import Site
from benchmarks.templates.site_graph import START, SiteGraph, build_graph, crawl_driven
from msgspec import Struct
from msgspec.structs import replace

from sanderling.frontier.ordering.topic import Topic
from sanderling.html.parser import parse_html
from sanderling.templates.concept_averaging import THRESHOLD
from sanderling.templates.driven_ordering import Arrival, DrivenOrdering
from sanderling.urls.tokens import WORD

MAX_SITE_PAGES = 1_100
QUERIES, SAMPLES, BUDGET = 12, 3, 60
MIN_PAGES, MAX_SHARE = 12, 0.15  # pages that are about a query
ENDING = re.compile(r"(?:ies|es|s|y|e)$")
MIN_OCCURRENCES = 2  # of each word in the text of a page that is about the query


class QueryCase(Struct, frozen=True):
    """A query, the pages that are about it, and the stored results that did not satisfy."""

    words: str
    relevant: frozenset[str]
    samples: Sequence[str]


def build_query_table(sites: Sequence[Site]) -> Iterator[str]:
    """Yield the table of crawls for queries."""
    yield "### Crawls for queries"
    yield ""
    yield (
        f"Simulated: {QUERIES} queries of two title words for each site, {SAMPLES} results as samples, {BUDGET}"
        f" fetches at most. A page is about a query if its text has each word at least {MIN_OCCURRENCES} times. Pages"
        " found are of the type of the samples and have a relevant text, as workers compute it."
    )
    yield ""
    yield "| site | pages found | about the query | pages fetched | about the query | of any page |"
    yield "|---|---:|---:|---:|---:|---:|"
    rows = []
    for site in sites:
        if len(site.types) > MAX_SITE_PAGES or START not in site.types:
            continue
        texts = {path: read_text(site, path) for path in site.types}
        graph, cases = build_graph(site), choose_queries(site, texts)
        results = [run_case(graph, case, texts) for case in cases]
        found, fetched = sum(len(found) for found, _, _ in results), sum(len(fetched) for _, fetched, _ in results)
        right = sum(len(found & case.relevant) for found, _, case in results)
        about = sum(len(fetched & case.relevant) for _, fetched, case in results)
        chance = statistics.mean(len(case.relevant) / len(site.types) for case in cases)
        rows.append([right / max(1, found), about / max(1, fetched), chance])
        yield (f"| {site.name} | {found} | {rows[-1][0]:.0%} | {fetched} | {rows[-1][1]:.0%} | {chance:.0%} |")
    means = [statistics.mean(column) for column in zip(*rows, strict=True)]
    yield f"| mean | | {means[0]:.0%} | | {means[1]:.0%} | {means[2]:.0%} |"


def run_case(graph: SiteGraph, case: QueryCase, texts: Mapping[str, str]) -> tuple[set[str], set[str], QueryCase]:
    """Return the pages found and the pages fetched, without the samples and the home page."""
    start = [*case.samples, START]
    ordering = DrivenOrdering([graph.pages[path].view for path in case.samples], case.words)
    graph = SiteGraph(
        {path: _weigh(page, texts[path], ordering.topic) for path, page in graph.pages.items()}, graph.paths
    )
    fetched = set(crawl_driven(graph, start, case.samples, BUDGET + len(start), ordering)) - set(start)
    urls = {path: graph.pages[path].view.url for path in fetched}
    found = {path for path, url in urls.items() if ordering.matches.get(url, 0.0) >= THRESHOLD}
    return found, fetched, case


def _weigh(page: Arrival, text: str, topic: Topic) -> Arrival:
    return replace(page, relevance=topic.score_page(text, page.view.title))


def choose_queries(site: Site, bodies: Mapping[str, str]) -> list[QueryCase]:
    """Choose pairs of words of titles that enough pages are about, at random."""
    texts = {path: Counter(stem_words(bodies[path])) for path in sorted(site.types)}
    rng, cases, tried = random.Random(site.name), list[QueryCase](), set[str]()
    titles = {path: _get_title_words(site, path) for path in texts}
    for path in rng.sample(sorted(titles), len(titles)):
        words = sorted(titles[path])
        if len(words) < 2 or len(cases) == QUERIES:
            continue
        query = " ".join(rng.sample(words, 2))
        relevant = find_relevant(query, texts)
        if query not in tried and MIN_PAGES <= len(relevant) <= MAX_SHARE * len(texts):
            tried.add(query)
            ranked = sorted(relevant, key=lambda page: (-_count_words(query, texts[page]), page))
            cases.append(QueryCase(query, frozenset(relevant) - {*ranked[:SAMPLES], START}, ranked[:SAMPLES]))
    return cases


def read_text(site: Site, path: str) -> str:
    body = parse_html(site.read(path)).find("body")
    return body.text if body is not None else ""


def stem_words(text: str) -> list[str]:
    """Return the words of a text without case and plural endings."""
    return [ENDING.sub("", word.lower()) for word in WORD.findall(text) if len(word) > 2]


def _get_title_words(site: Site, path: str) -> set[str]:
    title = parse_html(site.read(path)).find("title")
    return {
        word.lower() for word in (title.text if title is not None else "").split() if word.isalpha() and len(word) > 3
    }


def find_relevant(query: str, texts: Mapping[str, Counter[str]]) -> list[str]:
    words = stem_words(query)
    return [path for path, counts in texts.items() if all(counts[word] >= MIN_OCCURRENCES for word in words)]


def _count_words(query: str, counts: Counter[str]) -> float:
    return sum(counts[word] for word in stem_words(query)) / max(1, counts.total())
