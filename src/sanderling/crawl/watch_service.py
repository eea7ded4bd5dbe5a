"""The watch service: a continuous refresh of the watched pages, and a thread that evaluates and notifies."""

import re
from collections.abc import Callable, Iterable, Mapping
from math import inf
from pathlib import Path

from msgspec.structs import replace

from sanderling.clock import Clock, system_clock
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.hub_topics import HubTopics
from sanderling.crawl.monitor_thread import MonitorThread, run_monitor_once
from sanderling.crawl.refresh import RefreshMode, RefreshSummary, refresh
from sanderling.crawl.request import CrawlRequest, build_fetch_settings
from sanderling.crawl.stop import CrawlProgress, FinishReason
from sanderling.crawl.watched_pages import WatchedUrls, add_watched_urls
from sanderling.db.connection import transaction
from sanderling.frontier.requeue import requeue_pages
from sanderling.monitor.active_hours import find_next_active_time
from sanderling.monitor.control_fetches import MAX_CONTROLS
from sanderling.monitor.evaluate import EventHandler
from sanderling.monitor.watch import Watch
from sanderling.monitor.watch_store import WatchStore
from sanderling.monitor.websub import HubAddress, Subscriber
from sanderling.revisit.intervals import SHORTEST_INTERVAL, IntervalRule
from sanderling.storage.queries import find_gone_pages_before, find_url_id
from sanderling.urls.normalize import normalize_url

MAX_BACKOFF_WAIT = 5.0  # seconds that a single check waits for hosts that all back off
COMMIT_SECONDS = 2.0  # after a page was fetched until it is stored
SLOW_TICK_SECONDS = 30.0  # between checks of active hours and of pages that are gone
CONTROL_RANK = -1e9  # before all other pages
INTERVAL_OWNER = "watches"


class WatchService:
    """Runs watches once or continuously."""

    def __init__(
        self,
        folder: Path,
        request: CrawlRequest,
        on_event: EventHandler,
        clock: Clock = system_clock,
        hubs: HubAddress | None = None,
    ) -> None:
        self.folder = folder
        self.request = request
        self.on_event = on_event
        self.clock = clock
        self.store = WatchStore(folder)
        self.watches = self.store.load_watches()
        self.store_version = self.store.get_version()
        self.coordinator: Coordinator | None = None
        self.monitor: MonitorThread | None = None
        self.page_ids: dict[str, int] = {}
        self.next_slow_tick = 0.0
        self.hubs = hubs
        self.subscriber: Subscriber | None = None
        self.examined_count = -1  # pages fetched when hubs were last looked for
        self.hub_check_at = inf
        self.hub_topics = HubTopics(self.folder)

    def run(
        self,
        mode: RefreshMode,
        on_start: Callable[[Coordinator], None] | None = None,
        on_tick: Callable[[CrawlProgress], None] | None = None,
    ) -> RefreshSummary:
        """Refresh the watched pages and send notifications, until stopped or once."""

        def start(coordinator: Coordinator) -> None:
            self.coordinator = coordinator
            self._apply_watches(coordinator)
            if self.monitor and self.monitor.ident is None:  # not earlier: a new collection has no tables yet
                self.monitor.start()
            if on_start:
                on_start(coordinator)

        def tick(progress: CrawlProgress) -> None:
            self._handle_tick(progress)
            if mode is RefreshMode.ONCE:
                self._stop_if_backed_off(progress)
            if on_tick:
                on_tick(progress)

        if mode is RefreshMode.CONTINUOUS:
            self.monitor = MonitorThread(self.folder, self.on_event, self.clock)
        if self.hubs is not None and mode is RefreshMode.CONTINUOUS:
            settings = build_fetch_settings(self.request)
            self.subscriber = Subscriber(self.hubs, settings, self.clock)
            self.subscriber.start()
        try:
            summary = self._refresh(self.request, mode, start, tick)
            if self.monitor is None:
                self._evaluate_once(FinishReason(summary.finish_reason), on_start)
        finally:
            if self.subscriber is not None:
                self.subscriber.stop()
            self.store.close()
        return summary

    def _refresh(
        self,
        request: CrawlRequest,
        mode: RefreshMode,
        on_start: Callable[[Coordinator], None],
        on_tick: Callable[[CrawlProgress], None] | None = None,
    ) -> RefreshSummary:
        urls, clock = build_watched_urls(self.watches), self.clock
        try:
            return refresh(self.folder, request, mode, watched=urls, on_start=on_start, on_tick=on_tick, clock=clock)
        finally:
            if self.monitor and self.monitor.ident is not None:
                self.monitor.stop()

    def _evaluate_once(self, finish: FinishReason, on_start: Callable[[Coordinator], None] | None) -> None:
        """Evaluate the visits of a single run, with the control fetches that they need."""
        for _ in range(MAX_CONTROLS):
            run_monitor_once(self.folder, self.on_event, self.clock, is_last=False)
            requests = self.store.take_control_requests()
            if not requests or finish is not FinishReason.DONE:
                break

            def start(coordinator: Coordinator, ids: Iterable[int] = tuple(requests)) -> None:
                coordinator.context.run.control_ids.update(ids)
                if on_start:
                    on_start(coordinator)

            request = replace(self.request, selected=frozenset(requests.values()))
            finish = FinishReason(self._refresh(request, RefreshMode.ONCE, start).finish_reason)
        run_monitor_once(self.folder, self.on_event, self.clock)

    def _handle_tick(self, progress: CrawlProgress) -> None:
        version, coordinator = self.store.get_version(), self.coordinator
        if coordinator is None:
            return
        if self.monitor is not None and self.monitor.error is not None:
            coordinator.stop(FinishReason.INTERRUPTED)  # raised by MonitorThread.stop()
        if version != self.store_version:
            self.store_version = version
            if self.store.have_watches_changed():
                self.watches = self.store.load_watches()
                self._apply_watches(coordinator)
            if self.monitor is not None:
                self._queue_controls(coordinator)
        if not progress.waiting and not progress.in_flight:
            self._record_baselines()
        if self.subscriber is not None:
            self._queue_announced(coordinator, self.subscriber)
            if progress.fetched != self.examined_count or self.clock() >= self.next_slow_tick:
                self.examined_count = progress.fetched
                self.hub_check_at = self.clock() + COMMIT_SECONDS
            if self.hub_check_at <= self.clock() and not progress.in_flight:
                self.hub_check_at = inf
                watched = [url for watch in self.watches.values() if not watch.paused for url in watch.urls]
                self.hub_topics.subscribe(self.subscriber, watched)
        if self.clock() >= self.next_slow_tick:
            self.next_slow_tick = self.clock() + SLOW_TICK_SECONDS
            self._postpone_inactive(coordinator)
            self._requeue_gone(coordinator)

    def _queue_announced(self, coordinator: Coordinator, subscriber: Subscriber) -> None:
        """Visit the known pages that hubs announced."""
        if urls := subscriber.take_announced():
            db = coordinator.context.db
            ids = [url_id for url in urls if (url_id := find_url_id(db, url))]
            with transaction(db):
                requeue_pages(db, ids)
            coordinator.context.log.write_message(f"hubs announced {len(ids)} known pages of {len(urls)}")

    def _queue_controls(self, coordinator: Coordinator) -> None:
        """Queue the control fetches that the monitor thread asked for, before all other pages of their hosts."""
        if requests := self.store.take_control_requests():
            coordinator.context.run.control_ids.update(requests)
            with transaction(coordinator.context.db):
                coordinator.context.frontier.requeue(requests, CONTROL_RANK)

    def _stop_if_backed_off(self, progress: CrawlProgress) -> None:
        """End a single run when all remaining hosts asked to wait: their pages stay due for the next run."""
        if self.coordinator is None or progress.in_flight or not progress.waiting:
            return
        if self.coordinator.context.frontier.hosts.are_all_backed_off(self.clock() + MAX_BACKOFF_WAIT):
            self.coordinator.stop(FinishReason.BACKED_OFF)

    def _apply_watches(self, coordinator: Coordinator) -> None:
        """Queue the pages of new watches, and set how often pages are checked."""
        context, now = coordinator.context, self.clock()
        add_watched_urls(context, build_watched_urls(self.watches), now)
        with transaction(context.db):
            context.revisit.schedule.set_intervals(INTERVAL_OWNER, build_interval_rules(self.watches), now)
        self._requeue_gone(coordinator)

    def _requeue_gone(self, coordinator: Coordinator) -> None:
        """Visit watched pages also while they are gone: the page may return."""
        db, now = coordinator.context.db, self.clock()
        by_interval: dict[float, list[int]] = {}
        for watch in self.watches.values():
            for url in watch.urls if not watch.paused and find_next_active_time(watch.active_hours, now) <= now else ():
                if url not in self.page_ids:
                    self.page_ids[url] = find_url_id(db, url)
                by_interval.setdefault(watch.every or SHORTEST_INTERVAL, []).append(self.page_ids[url])
        with transaction(db):
            for interval, ids in by_interval.items():
                requeue_pages(db, find_gone_pages_before(db, [id_ for id_ in ids if id_], now - interval))
        self.page_ids = {url: id_ for url, id_ in self.page_ids.items() if id_}

    def _record_baselines(self) -> None:
        """Record that all pages of a site are stored."""
        unfinished = [watch for watch in self.watches.values() if watch.pattern and not watch.baseline_at]
        for watch in unfinished:
            self.store.save_watch(replace(watch, baseline_at=self.clock()))
        if unfinished:
            self.watches = self.store.load_watches()

    def _postpone_inactive(self, coordinator: Coordinator) -> None:
        """Postpone pages outside the active hours of their watch."""
        context, now = coordinator.context, self.clock()
        for watch in self.watches.values():
            opening = find_next_active_time(watch.active_hours, now)
            if opening <= now:
                continue
            ids = [id_ for url in watch.urls if (id_ := find_url_id(context.db, url))]
            due = context.revisit.schedule.load_due_times(ids)
            early = [id_ for id_, due_at in due.items() if due_at < opening]
            with transaction(context.db):
                context.revisit.schedule.postpone(
                    early, opening, f"active hours {watch.days} {watch.hours}".replace("  ", " ")
                )


def build_watched_urls(watches: Mapping[int, Watch]) -> WatchedUrls:
    pages, seeds = (
        tuple(url for text in dict.fromkeys(texts) if (url := normalize_url(text)) is not None)
        for texts in (
            [url for watch in watches.values() if not watch.paused for url in watch.urls],
            [url for watch in watches.values() if not watch.paused for url in watch.sites],
        )
    )
    return WatchedUrls(pages, seeds)


def build_interval_rules(watches: Mapping[int, Watch]) -> list[IntervalRule]:
    """Return how often the pages of each watch are checked; pages of a paused watch alone are not."""
    active = {url for watch in watches.values() if not watch.paused for url in watch.urls}
    rules: dict[IntervalRule, None] = {}
    for watch in watches.values():
        every = inf if watch.paused else watch.every
        for url in watch.urls:
            if not watch.paused or url not in active:
                rules[IntervalRule(url, True, every=every, objective="delay")] = None
        if watch.pattern and not watch.paused:
            pattern = f"^{'.*'.join(map(re.escape, watch.pattern.split('*')))}$"
            rules[IntervalRule(pattern, every=every, objective="delay")] = None
    return list(rules)
