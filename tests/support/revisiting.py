"""A site and a crawler that revisits it."""

import time
from pathlib import Path

from tests.support.site import Page, Site, html

from sanderling.config.settings import HttpSettings, PolitenessSettings, RevisitSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.refresh import RefreshMode, RefreshSummary, refresh
from sanderling.crawl.session import CrawlRequest

DAY = 86_400.0
WORDS = "The tide comes in twice a day and leaves behind what it brought, and the birds know it well."


def request(site: Site, revisit: RevisitSettings | None = None, maps: bool = False) -> CrawlRequest:
    return CrawlRequest(
        (site.root + "/",),
        scope=ScopeSettings(sitemaps=maps),
        politeness=PolitenessSettings(delay=0, backoff=0.2),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=1),
        revisit=revisit or RevisitSettings(),
    )


def go(site: Site, folder: Path, mode: RefreshMode, days: float = 0.0, maps: bool = False) -> RefreshSummary:
    return refresh(folder, request(site, maps=maps), mode, clock=lambda: time.time() + days * DAY)


def texts(number: int) -> dict[str, Page]:
    site = {"/": html(*(f"/p{n}" for n in range(number)), text=WORDS)}
    return site | {f"/p{n}": html("/", text=f"{WORDS} This is page {n}.") for n in range(number)}
