"""Driven crawls against breadth-first ones, in simulation over the link graphs of labelled sites."""

import random
import statistics
from collections.abc import Iterator, Sequence

from benchmarks.templates.labelled_sites import Site
from benchmarks.templates.site_graph import START, build_graph, crawl_breadth_first, crawl_driven

MIN_PAGES, MAX_SHARE = 8, 0.2
SAMPLES = 3
FOUND_TARGET, FLOOR = 0.9, 0.95


def build_driven_table(sites: Sequence[Site], largest: int, heading: str = "Driven crawls") -> Iterator[str]:
    """Yield the table of driven crawls for the types below a fifth of their site."""
    yield f"### {heading}"
    yield ""
    yield (
        f"Simulated with the ordering of the product, {SAMPLES} samples, twice as many fetches as the type has"
        f" reachable pages; both crawls start with the home page and the samples. Types of {MIN_PAGES} to {largest:,}"
        f" pages, below {MAX_SHARE:.0%} of their site."
    )
    yield ""
    yield "| site | type | pages | driven | breadth-first |"
    yield "|---|---|---:|---:|---:|"
    results = []
    for site in sites:
        if START not in site.types:
            continue
        graph = build_graph(site)
        reachable = set(crawl_breadth_first(graph, [START], len(graph.pages)))
        for kind, members in site.group_by_type().items():
            wanted = sorted(reachable.intersection(members))
            if not MIN_PAGES <= len(wanted) <= min(largest, MAX_SHARE * len(site.types)):
                continue
            samples = random.Random(f"{site.name} {kind}").sample(wanted, SAMPLES)
            start, budget = [*samples, START], 2 * len(wanted)
            driven = _compute_share(crawl_driven(graph, start, samples, budget), wanted)
            plain = _compute_share(crawl_breadth_first(graph, start, budget), wanted)
            results.append((driven, plain))
            yield f"| {site.name} | {kind} | {len(wanted)} | {driven:.0%} | {plain:.0%} |"
    yield ""
    yield (
        f"{sum(driven >= FOUND_TARGET for driven, _ in results)} of {len(results)} types reach {FOUND_TARGET:.0%} (mean"
        f" {statistics.mean(driven for driven, _ in results):.0%}, breadth-first"
        f" {statistics.mean(plain for _, plain in results):.0%});"
        f" {sum(driven < FLOOR * plain for driven, plain in results)} are below {FLOOR} of breadth-first."
    )


def _compute_share(order: Sequence[str], wanted: Sequence[str]) -> float:
    return len(set(wanted).intersection(order)) / len(wanted)
