"""Measure the effect of each ordering on crawl speed, in turn on one site.

Each run is compared with a breadth-first run just before it, so that what else the machine does affects both;
the median of the rounds counts. What it takes to begin and to end is left out.
"""

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

from msgspec import Struct

BASELINE = "breadth"
MOST_COST = 0.15

Crawl = Callable[[str], "Timed"]


class Timed(Struct, frozen=True):
    """A crawl without its start and end."""

    pages: int
    cpu_seconds: float
    wall_seconds: float


class Speed(Struct, frozen=True):
    """An ordering over all rounds: medians, and the medians of its ratios to breadth-first just before."""

    order: str
    cpu_ms: float  # for a page, all processes
    per_second: float  # pages, by the clock
    cpu_ratio: float
    wall_ratio: float  # of pages per second
    rounds: int


def race(orders: Sequence[str], rounds: int, crawl: Crawl) -> list[Speed]:
    """Let every ordering crawl once in each round, each after a breadth-first crawl."""
    runs: dict[str, list[Timed]] = {name: [] for name in orders}
    before: dict[str, list[Timed]] = {name: [] for name in orders}
    for turn in range(rounds):
        for name in orders:
            before[name].append(crawl(BASELINE))
            runs[name].append(crawl(name))
            one = runs[name][-1]
            print(f"  round {turn + 1}, {name}: {one.pages / one.wall_seconds:.0f} pages/s", file=sys.stderr)
    return [_speed(name, runs[name], before[name]) for name in orders]


def _speed(name: str, ours: Sequence[Timed], theirs: Sequence[Timed]) -> Speed:
    cpu, rate = [1000 * run.cpu_seconds / run.pages for run in ours], [run.pages / run.wall_seconds for run in ours]
    base_cpu = [1000 * run.cpu_seconds / run.pages for run in theirs]
    base_rate = [run.pages / run.wall_seconds for run in theirs]
    return Speed(
        name, median(cpu), median(rate), median(a / b for a, b in zip(cpu, base_cpu, strict=True)),
        median(a / b for a, b in zip(rate, base_rate, strict=True)), len(ours),
    )  # fmt: skip


def table(speeds: Sequence[Speed]) -> str:
    lines = [
        f"Throughput relative to breadth-first just before, median of {speeds[0].rounds} rounds:",
        ", ".join(f"{s.order} {s.wall_ratio:.2f}" for s in speeds) + ".",
    ]
    slow = [s.order for s in speeds if s.wall_ratio < 1 - MOST_COST]
    result = f"NOT met: {', '.join(slow)}" if slow else "met"
    return "\n".join([*lines, "", f"- no ordering costs more than {MOST_COST:.0%} of the throughput ({result})"])


def sitemaps(folder: Path, homes: Mapping[str, str], hits: Mapping[str, int]) -> None:
    """Write a sitemap for each host with priorities by page views."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, host in homes.items():
        urls = sorted((url for url in hits if url.startswith(host + "/")), key=lambda url: (hits[url], url))
        rows = [f"<url><loc>{_escaped(url)}</loc><priority>{0.1 + 0.9 * place / len(urls):.1f}</priority></url>"
                for place, url in enumerate(urls)]  # fmt: skip
        text = "".join(['<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">', *rows])
        (folder / f"{name}.xml").write_text(text + "</urlset>")


def _escaped(url: str) -> str:
    return url.replace("&", "&amp;").replace("<", "&lt;")
