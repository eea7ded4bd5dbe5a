"""Real crawls of seeded sites with the shapes of the thesis' four, each done once and used by several tables."""

import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from msgspec.structs import replace

from experiments.web import Server, Shape, edit, make_site, serving
from sanderling.config.settings import (
    HttpSettings,
    LimitSettings,
    PolitenessSettings,
    RevisitSettings,
    ScopeSettings,
    WorkerSettings,
)
from sanderling.crawl.refresh import refresh
from sanderling.crawl.session import CrawlRequest, CrawlSummary, crawl

# MIG Tables 5.1-5.4: links found without and with sitemap, share modified at the second visit
SHAPES = (
    Shape("gbu", 723, 980, 221 / 734),
    Shape("ymca", 141, 158, 40 / 145),
    Shape("ngfcet", 423, 503, 154 / 442),
    Shape("tits", 174, 223, 34 / 180),
)
LATENCY = 0.008  # seconds a request takes at the server
SEED = 2017


@dataclass(frozen=True, slots=True)
class Visits:
    """What crawling one site took."""

    shape: Shape
    plain: CrawlSummary  # links alone, one migrant, one connection
    ours: CrawlSummary  # as Sanderling comes
    edited: int
    plain_again: int  # bodies a crawler without memory fetches at the second visit
    plain_again_bytes: int
    ours_again: int
    ours_again_bytes: int
    ours_again_asked: int
    plain_seconds: float  # from the first request to the last answer, at the server
    ours_seconds: float
    missed: int  # changed pages the second visit did not fetch
    digest: str


def request(server: Server, *, sitemaps: bool, migrants: int, connections: int = 0, limit: int = 0) -> CrawlRequest:
    """Ask for a crawl of one of our own servers."""
    return CrawlRequest(
        seeds=(server.root + "/",),
        scope=ScopeSettings(sitemaps=sitemaps),
        limits=LimitSettings(limit=limit),
        politeness=PolitenessSettings(delay=0, concurrency=connections),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=migrants),
    )


@cache
def visits(name: str) -> Visits:
    """Crawl a site both ways, change it, and visit it again both ways."""
    shape = next(shape for shape in SHAPES if shape.name == name)
    draw = Random(f"{SEED} {name}")
    site = make_site(shape, draw)
    digest = site.digest()
    with tempfile.TemporaryDirectory() as folder, serving(Server(site, LATENCY)) as server:
        plain_request = request(server, sitemaps=False, migrants=1, connections=1)
        plain = crawl(Path(folder, "plain"), plain_request)
        plain_seconds = server.last - server.first
        server.forget()
        ours = crawl(Path(folder, "ours"), request(server, sitemaps=True, migrants=2))
        ours_seconds = server.last - server.first
        changed = edit(site, shape.changed, draw, int(time.time()) + 3600)
        server.forget()
        crawl(Path(folder, "plain again"), plain_request)
        plain_again, plain_bytes = pages_sent(server), server.bytes
        server.forget()
        again = replace(request(server, sitemaps=True, migrants=2), seeds=(), revisit=RevisitSettings(policy="sitemap"))
        refresh(Path(folder, "ours"), again, clock=lambda: time.time() + 7200)
        return Visits(
            shape,
            plain,
            ours,
            len(changed),
            len(plain_again),
            plain_bytes,
            len(pages_sent(server)),
            server.bytes,
            len([path for path in server.asked if path in site.pages]),
            plain_seconds,
            ours_seconds,
            len(changed - set(pages_sent(server))),
            digest,
        )


def pages_sent(server: Server) -> list[str]:
    """Name the pages whose body went out."""
    return [path for path in server.sent if path in server.site.pages]
