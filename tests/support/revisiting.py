"""A real site to come back to, and the crawler that does."""

import time
from pathlib import Path

from tests.support.site import Page, Site, html

from sanderling.config.settings import Fetching, Politeness, Revisit, Scope, Workers
from sanderling.crawl.refresh import Mode, Refreshed, refresh
from sanderling.crawl.session import Request

DAY = 86_400.0
WORDS = "The tide comes in twice a day and leaves behind what it brought, and the birds know it well."


def request(site: Site, revisit: Revisit | None = None, maps: bool = False) -> Request:
    return Request(
        (site.root + "/",),
        scope=Scope(sitemaps=maps),
        politeness=Politeness(delay=0, backoff=0.2),
        fetching=Fetching(allow_private=True),
        workers=Workers(migrants=1),
        revisit=revisit or Revisit(),
    )


def go(site: Site, folder: Path, mode: Mode, days: float = 0.0, maps: bool = False) -> Refreshed:
    return refresh(folder, request(site, maps=maps), mode, clock=lambda: time.time() + days * DAY)


def texts(number: int) -> dict[str, Page]:
    site = {"/": html(*(f"/p{n}" for n in range(number)), text=WORDS)}
    return site | {f"/p{n}": html("/", text=f"{WORDS} This is page {n}.") for n in range(number)}
