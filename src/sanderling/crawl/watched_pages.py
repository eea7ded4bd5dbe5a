"""Add the pages and sites of watches to a running refresh, and set how often they are checked."""

from msgspec import Struct

from sanderling.crawl.context import CrawlContext
from sanderling.crawl.reevaluate import enqueue_seeds
from sanderling.db.connection import transaction
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.urls.normalize import NormalizedUrl


class WatchedUrls(Struct, frozen=True):
    """Pages to visit without their sites, and seeds to visit with theirs."""

    pages: tuple[NormalizedUrl, ...] = ()
    seeds: tuple[NormalizedUrl, ...] = ()


NO_WATCHED_URLS = WatchedUrls()


def add_watched_urls(context: CrawlContext, watched: WatchedUrls, now: float) -> None:
    """Add watched URLs to the scope and queue them. Known URLs keep their state."""
    pages, seeds = watched.pages, watched.seeds
    with transaction(context.db):
        url_filter, meta = context.frontier.url_filter, CollectionMeta(context.db)
        rule = url_filter.scope_rule
        new_pages = [page.url for page in pages if page.url not in rule.pages]
        new_seeds = [seed.url for seed in seeds if seed.url not in rule.seeds]
        url_filter.extend_scope(pages=new_pages, seeds=new_seeds)
        meta.watched_pages = [*meta.watched_pages, *new_pages]
        meta.seeds = [*meta.seeds, *new_seeds]
        enqueue_seeds(context, [*pages, *seeds], now)
