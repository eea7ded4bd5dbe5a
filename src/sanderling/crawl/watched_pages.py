"""Add the pages and sites of watches to a running refresh, and set how often they are checked."""

import json
from collections.abc import Sequence

from msgspec import Struct

from sanderling.crawl.context import CrawlContext
from sanderling.crawl.reevaluate import enqueue_seeds
from sanderling.crawl.stages.discovered_urls import WATCHED_PAGES_META_KEY
from sanderling.db.connection import transaction
from sanderling.storage.collection import get_meta, set_meta
from sanderling.urls.normalize import NormalizedUrl
from sanderling.urls.scope import add_page, add_seed


class WatchedUrls(Struct, frozen=True):
    """Pages to visit without their sites, and seeds to visit with theirs."""

    pages: tuple[NormalizedUrl, ...] = ()
    seeds: tuple[NormalizedUrl, ...] = ()


NO_WATCHED_URLS = WatchedUrls()


def add_watched_urls(context: CrawlContext, watched: WatchedUrls, now: float) -> None:
    """Add watched URLs to the scope and queue them. Known URLs keep their state."""
    pages, seeds = watched.pages, watched.seeds
    with transaction(context.db):
        rule = context.url_filter.scope_rule
        new_pages = [page for page in pages if page.url not in rule.pages]
        new_seeds = [seed for seed in seeds if seed.url not in rule.seeds]
        for page in new_pages:
            rule = add_page(rule, page.url)
        for seed in new_seeds:
            rule = add_seed(rule, seed.url)
        context.url_filter.scope_rule = rule
        _extend_meta(context, WATCHED_PAGES_META_KEY, new_pages)
        _extend_meta(context, "seeds", new_seeds)
        enqueue_seeds(context, [*pages, *seeds], now)


def _extend_meta(context: CrawlContext, key: str, urls: Sequence[NormalizedUrl]) -> None:
    if urls:
        stored = json.loads(get_meta(context.db, key, "[]"))
        set_meta(context.db, key, json.dumps([*stored, *(url.url for url in urls)]))
