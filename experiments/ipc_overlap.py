"""IPC Table 3: overlap, quality and bandwidth, one coordinator against independent parallel crawlers."""

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from urllib.parse import urljoin

from msgspec.structs import replace

from experiments.crawls import request
from experiments.frame import Figure, Series, Table, measured
from experiments.web import Server, Shape, Site, make_site, path_of, serving
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.html.links import extract_metadata
from sanderling.html.parser import parse_html

TITLE = "IPC Table 3: overlap, quality, bandwidth against independent parallel crawlers (measured)"

CRAWLERS = 4
PAGES = 800
BUDGET = 400  # fetches in all
TOP = 80  # pages that count as important
PINNED = "3bf4f8951e3945c3"


@dataclass(frozen=True, slots=True)
class Harvest:
    """What some crawlers brought home together."""

    fetches: int
    unique: int
    important: int
    bytes: int

    @property
    def overlap(self) -> float:
        """Cho and Garcia-Molina: fetches beyond the first, per page."""
        return (self.fetches - self.unique) / self.unique


def ranks(site: Site) -> dict[str, float]:
    """Compute PageRank on the whole site."""
    graph = {path: outlinks(path, body) & site.pages.keys() for path, body in site.pages.items()}
    rank = dict.fromkeys(graph, 1 / len(graph))
    for _ in range(50):
        following = dict.fromkeys(graph, 0.15 / len(graph))
        for path, targets in graph.items():
            for target in targets:
                following[target] += 0.85 * rank[path] / len(targets)
        rank = following
    return rank


def outlinks(path: str, body: bytes) -> set[str]:
    """Read the links of a page, as a crawler does."""
    return {urljoin(path, link.href) for link in extract_metadata(parse_html(body), f"http://x{path}").links}


@cache
def harvests() -> tuple[Harvest, Harvest, str]:
    """Spend one budget twice: four crawlers that do not know of each other, and one coordinator with four migrants."""
    site = make_site(Shape("overlap", PAGES, PAGES, 0.0), Random(2012))
    important = set(sorted(ranks(site), key=ranks(site).__getitem__)[-TOP:])
    starts = [path_of(number) for number in (0, 1, 2, 3)]
    with tempfile.TemporaryDirectory() as folder, serving(Server(site)) as server:
        for number, start in enumerate(starts):
            alone = request(server, sitemaps=False, migrants=1, limit=BUDGET // CRAWLERS)
            crawl(Path(folder, f"alone{number}"), with_seeds(alone, server, [start]))
        independent = harvest(server, important)
        server.forget()
        together = request(server, sitemaps=False, migrants=CRAWLERS, limit=BUDGET)
        crawl(Path(folder, "together"), with_seeds(together, server, starts))
        return independent, harvest(server, important), site.digest()


def with_seeds(one: CrawlRequest, server: Server, starts: list[str]) -> CrawlRequest:
    """Begin at these pages."""
    return replace(one, seeds=tuple(server.root + start for start in starts))


def harvest(server: Server, important: set[str]) -> Harvest:
    """Count what the server sent."""
    pages = [path for path in server.sent if path in server.site.pages]
    return Harvest(len(pages), len(set(pages)), len(important & set(pages)), server.bytes)


def table() -> Table:
    """Compare the two harvests."""
    apart, ours, digest = harvests()
    rows = (
        measured("overlap, independent crawlers", "not given", None, apart.overlap, 0.1, 3.0),
        measured("overlap, ours", "none", 0, ours.overlap, 0.0, 0.0),
        measured(
            "pages for the same number of fetches, ours / theirs", "more", None, ours.unique / apart.unique, 1.1, 4.0
        ),
        measured("share of important pages, independent", "lower", None, apart.important / TOP, 0.0, 1.0),
        measured(
            "share of important pages, ours, less theirs",
            "higher",
            None,
            (ours.important - apart.important) / TOP,
            0.0,
            1.0,
        ),
        measured("bytes per page, ours / theirs", "lower", None, _bytes(ours) / _bytes(apart), 0.2, 0.95),
    )
    figure = Figure(
        f"{BUDGET} fetches",
        ("pages", "important pages"),
        (
            Series("independent", (float(apart.unique), float(apart.important))),
            Series("ours", (float(ours.unique), float(ours.important))),
        ),
    )
    remark = f"{CRAWLERS} crawlers, {PAGES} pages; important are the {TOP} of highest PageRank."
    return Table(TITLE, rows, remark, figure, digest, PINNED)


def _bytes(one: Harvest) -> float:
    return one.bytes / one.unique
