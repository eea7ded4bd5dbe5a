"""Driven crawls against breadth-first ones, and against a crawler that knows the whole site."""

import random
import statistics
from collections.abc import Iterator, Sequence

from benchmarks.templates.labelled_sites import Site
from benchmarks.templates.site_graph import Web, breadth, drive, oracle, web_of
from msgspec import Struct

FOUND_TARGET, HARVEST_TARGET, RARE = 0.9, 3.0, 0.2
SMALLEST = 8


class Outcome(Struct, frozen=True):
    """What crawls for one page type found, as shares of the type, with twice as many fetches as it has pages."""

    site: str
    kind: str
    pages: int
    share: float  # of the site
    found: float
    early: float  # found with the fetches an all-knowing crawler needs for the target
    plain: float  # found breadth-first
    best: float  # found by an all-knowing crawler
    needed: int  # fetches of an all-knowing crawler for the target

    @property
    def is_possible(self) -> bool:
        """Whether three times the harvest of breadth-first can be had at all: nobody finds more than everything."""
        return self.plain * HARVEST_TARGET <= 1

    def row(self) -> str:
        """A line of the table."""
        times = f"{self.found / self.plain:.1f}" if self.plain else "-"
        cells = (f"{self.pages:,}", f"{self.share:.0%}", f"{self.found:.0%}", f"{self.plain:.0%}", times,
                 f"{self.best:.0%}", f"{self.needed:,} of {2 * self.pages:,}", f"{self.early:.0%}")  # fmt: skip
        return f"| {self.site} | {self.kind} | {' | '.join(cells)} |"


def outcomes(site: Site, samples: int, largest: int) -> Iterator[Outcome]:
    """Crawl a site for every page type that is neither too small nor too large."""
    web = web_of(site)
    reachable = set(breadth(web, len(web.pages)))
    for kind, members in site.of_type().items():
        wanted = set(members) & reachable
        if SMALLEST <= len(wanted) <= largest:
            chosen = random.Random(1).sample(sorted(wanted), min(samples, len(wanted)))
            yield _outcome(site.name, kind, web, wanted, chosen)


def _outcome(site: str, kind: str, web: Web, wanted: set[str], samples: Sequence[str]) -> Outcome:
    budget = 2 * len(wanted)
    knowing = [oracle(web, wanted, sample, budget) for sample in samples]
    needed = [_needed(order, wanted) for order in knowing]
    orders = [drive(web, sample, budget) for sample in samples]
    return Outcome(
        site, kind, len(wanted), len(wanted) / len(breadth(web, len(web.pages))),
        found=statistics.mean(_share(order, wanted) for order in orders),
        early=statistics.mean(_share(order[:least], wanted) for order, least in zip(orders, needed, strict=True)),
        plain=_share(breadth(web, budget), wanted),
        best=statistics.mean(_share(order, wanted) for order in knowing),
        needed=round(statistics.mean(needed)),
    )  # fmt: skip


def _share(order: Sequence[str], wanted: set[str]) -> float:
    return len(wanted.intersection(order)) / len(wanted)


def _needed(order: Sequence[str], wanted: set[str]) -> int:
    """Fetches until the target is reached; all of them if it is not."""
    found = 0
    for fetches, path in enumerate(order, 1):
        found += path in wanted
        if found >= FOUND_TARGET * len(wanted):
            return fetches
    return len(order)


def driven_table(sites: Sequence[Site], samples: int, largest: int) -> Iterator[str]:
    """The table of driven crawls."""
    yield "### Driven crawls"
    yield ""
    yield (
        f"Simulated over the link graphs of the sites, {samples} samples of each type in turn, twice as many fetches as"
        " there are matching pages, a directory above the sample that is not there costing one too; found is what was"
        f" fetched within them. Types of {SMALLEST} to {largest:,} pages. Targets: {FOUND_TARGET:.0%} found, and"
        f" {HARVEST_TARGET:.0f} times the harvest of breadth-first where matching pages are under {RARE:.0%}. The last"
        " three columns: what a crawler finds that knows every page and link before, the fetches it needs for"
        f" {FOUND_TARGET:.0%}, and what the driven crawl has found after as many."
    )
    yield ""
    yield (
        "| site | type | pages | share of site | found | breadth-first | times | all-knowing finds | needs"
        " | found by then |"
    )
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    every = []
    for site in sites:
        for outcome in outcomes(site, samples, largest):
            every.append(outcome)
            yield outcome.row()
    yield ""
    yield _summary(every)


def _summary(every: Sequence[Outcome]) -> str:
    rare = [outcome for outcome in every if outcome.share < RARE]
    possible = [outcome for outcome in rare if outcome.is_possible]
    gained = [outcome for outcome in possible if outcome.found >= HARVEST_TARGET * outcome.plain]
    return (
        f"{sum(outcome.found >= FOUND_TARGET for outcome in every)} of {len(every)} types reach {FOUND_TARGET:.0%}"
        f" (mean {statistics.mean(outcome.found for outcome in every):.0%}). Of the {len(rare)} rare types"
        f" {len(rare) - len(possible)} are so near the start that breadth-first finds more than a third of them, and"
        f" nobody can do {HARVEST_TARGET:.0f} times as well; of the other {len(possible)}, {len(gained)} reach"
        f" {HARVEST_TARGET:.0f} times its harvest."
    )
