"""Queue pages that become due during a refresh, within the revisit budget.

Sitemaps, feeds and change lists come first: they tell which pages are worth a visit.
"""

import math
from collections.abc import Callable, Mapping

from sanderling.crawl.context import SITEMAP_RANK, CrawlContext
from sanderling.crawl.stages.change_detection import FAILURE_DELAY_SECONDS
from sanderling.db.connection import Connection
from sanderling.dedup.url_variants import find_redundant_ids
from sanderling.frontier.requeue import restore_visited
from sanderling.frontier.url_rows import select_by_state
from sanderling.models import Host, Reason, UrlState
from sanderling.revisit.intervals import RevisitBudget
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.queries import load_shortest_intervals, load_urls

MAX_QUEUED_AT_ONCE = 2_000  # pages
MIN_SAVED_SECONDS = 60.0  # a refresh right after another may spend this much of the budget
URL_VARIANT_REASON = "visited under another URL (duplicate)"


class QueueRefill:
    """Queues due pages at each call."""

    def __init__(
        self,
        context: CrawlContext,
        budget: RevisitBudget | None,
        now: float,
        is_continuous: bool = False,
        on_host_intervals: Callable[[Mapping[Host, float]], None] | None = None,
    ) -> None:
        self.context = context
        self.budget = budget
        self.spends_full_budget = is_continuous and budget is not None  # visits pages early if budget is left
        self.budget_started_at = now - (compute_saved_seconds(context.db, budget, now) if budget else 0.0)
        self.hosts_reset_at = now
        self.visited_before = math.inf if is_continuous else now  # a single refresh visits each page once
        self.is_continuous = is_continuous
        self.on_host_intervals = on_host_intervals  # gets the change rate of hosts

    def __call__(self, now: float) -> int:
        """Queue due lists, or due pages without any. Returns the number of URLs."""
        context = self.context
        if now - self.hosts_reset_at > FAILURE_DELAY_SECONDS:
            context.frontier.reset_hosts()
            restore_failed_pages(context)
            self.hosts_reset_at = now
        if context.options.use_sitemaps:
            list_ids = [*context.revisit.change_lists.load_stale(now), *context.revisit.sitemap_schedule.load_due(now)]
            context.frontier.requeue(list_ids, SITEMAP_RANK)
            if list_ids:
                return len(list_ids)
        url_ids = self._select_due(now)
        tvi_ids = context.revisit.tvi_files.select_tvi_visits(url_ids)
        context.revisit.schedule.postpone(list(tvi_ids), now + FAILURE_DELAY_SECONDS, "its TVI file is fetched instead")
        context.frontier.requeue([*tvi_ids.values(), *(url for url in url_ids if url not in tvi_ids)])
        context.stats.due += len(url_ids)
        if self.on_host_intervals:
            self.on_host_intervals({Host(name): value for name, value in load_shortest_intervals(context.db).items()})
        return len(url_ids)

    def _select_due(self, now: float) -> list[int]:
        context, limit = self.context, self._compute_allowance(now)
        min_priority = context.revisit.change_lists.min_priority
        rows = context.revisit.schedule.load_due(now, limit, min_priority, self.spends_full_budget, self.visited_before)
        failed_ids = frozenset[int]() if self.is_continuous else context.run.failed_ids
        url_ids = [row.url_id for row in rows if row.url_id not in failed_ids]
        url_ids += context.revisit.change_lists.sample_unnamed_pages(now)[: limit - len(url_ids)]
        return self._drop_url_variants(url_ids, now)

    def _drop_url_variants(self, url_ids: list[int], now: float) -> list[int]:
        """Postpone URL variants of stored pages, in case their DUST rule is withdrawn."""
        db, rules = self.context.db, self.context.frontier.url_filter.dust_rules
        redundant = find_redundant_ids(db, rules, load_urls(db, url_ids).items()) if rules else set()
        self.context.revisit.schedule.postpone(list(redundant), now + FAILURE_DELAY_SECONDS, URL_VARIANT_REASON)
        return [url for url in url_ids if url not in redundant]

    def _compute_allowance(self, now: float) -> int:
        if self.budget is None:
            return MAX_QUEUED_AT_ONCE
        stats = self.context.stats
        return compute_page_allowance(self.budget, now - self.budget_started_at, stats.due, stats.bytes)


def compute_page_allowance(budget: RevisitBudget, seconds: float, queued: int, size: int) -> int:
    """Compute how many more pages may be queued after `seconds`."""
    earned = budget.compute_allowance(seconds)
    if budget.is_in_bytes:
        return MAX_QUEUED_AT_ONCE if size < earned else 0
    return max(0, min(MAX_QUEUED_AT_ONCE, int(max(1.0, earned)) - queued))


def compute_saved_seconds(db: Connection, budget: RevisitBudget, now: float) -> float:
    """Return the unspent time of the budget: since the last refresh, at most its period."""
    idle = now - CollectionMeta(db).refreshed_at
    return budget.period_seconds if idle < 0 else min(max(idle, MIN_SAVED_SECONDS), budget.period_seconds)


def restore_failed_pages(context: CrawlContext) -> None:
    """Mark stored pages whose last fetch failed as visited, so that they can become due."""
    failed = select_by_state(context.db, (UrlState.FAILED,), (Reason.ROBOTS_UNREACHABLE,))
    restore_visited(context.db, context.storage.catalog.find_stored([url.id for url in failed]))
