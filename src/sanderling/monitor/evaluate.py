"""Evaluate new visits for all watches: compare with the last good version, check conditions, store events.

Events and progress are stored in one transaction: after `kill -9` a visit is evaluated again, and its event is stored
once. Error pages, outages and logins are visits without a good version, so nothing is compared with them.
"""

import math
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from sanderling.changes.change_groups import MIN_SHARED_PAGES
from sanderling.changes.change_store import ChangeStore
from sanderling.changes.classify import ChangeKind
from sanderling.changes.feed import ReportedChange
from sanderling.db.connection import transaction
from sanderling.models import Outcome
from sanderling.monitor.control_fetches import (
    CONTROL_SECONDS,
    load_checked_versions,
)
from sanderling.monitor.minor_changes import WINDOW_SECONDS, MinorChange, MinorChanges, is_minor
from sanderling.monitor.page_evaluator import PageEvaluator, is_away, is_wanted
from sanderling.monitor.watch import Watch
from sanderling.monitor.watch_store import PageWatchState, WatchStore
from sanderling.storage.catalog import MISSES_UNTIL_GONE
from sanderling.storage.collection import StoredCollection
from sanderling.storage.page_history import (
    StoredVisit,
    find_last_visit_id,
    load_last_body_visit,
    load_visit,
    load_visits,
    load_visits_after,
)

BATCH_VISITS = 200
GROUP_SECONDS = 20.0  # a watch of several pages waits so long, to report a shared change once
RETURNED_REMARK = "the page has returned"
EventHandler = Callable[[Watch, ReportedChange], None]


class WatchEvaluator:
    """Evaluates the visits stored since its last call."""

    def __init__(
        self,
        collection: StoredCollection,
        store: WatchStore,
        on_event: EventHandler,
        hold_seconds: float = GROUP_SECONDS,
    ) -> None:
        self.collection = collection
        self.store = store
        self.on_event = on_event
        self.hold_seconds = hold_seconds
        self.watches: dict[int, Watch] = {}
        self._by_url: dict[str, list[int]] = {}
        self._patterns: list[int] = []
        self._minor_changes = MinorChanges()
        self.pages = PageEvaluator(collection, store, self.watches)
        self.load_watches()

    def load_watches(self) -> None:
        """Load the watches. Call it after they changed."""
        self.watches.clear()
        self.watches.update(self.store.load_watches())
        self._by_url, self._patterns = {}, []
        for id_, watch in self.watches.items():
            for url in watch.urls:
                self._by_url.setdefault(url, []).append(id_)
            if watch.pattern:
                self._patterns.append(id_)

    def start(self) -> None:
        """Find the last evaluated visit again if it was lost in a power failure, or deleted; load held changes."""
        for held in self.store.load_held_events():
            self._minor_changes.add(MinorChange(*held))
        last_id, last_at = self.store.load_progress()
        visit = load_visit(self.collection.db, last_id) if last_id else None
        if last_id and (visit is None or visit.at != last_at):
            with transaction(self.store.db):
                self.store.save_progress(find_last_visit_id(self.collection.db, last_at), last_at)

    def evaluate_new_visits(self, *, reports_shared: bool = True) -> int:
        """Evaluate all visits since the last call. Returns the number of events."""
        count, last_at = 0, 0.0
        while visits := load_visits_after(self.collection.db, self.store.load_progress()[0], BATCH_VISITS):
            noise, events = ChangeStore(self.collection.db), list[tuple[Watch, ReportedChange]]()
            with transaction(self.store.db):
                if self.store.load_progress()[0] >= visits[0].id:
                    continue  # another process evaluated them
                for visit in visits:
                    for watch_id in self._find_watches(visit.url):
                        found = self._evaluate_visit(watch_id, visit, noise)
                        events += [(self.watches[watch_id], event) for event in found]
                    self.store.end_control(visit.url_id, visit.at)
                self.pages.controls.save()
                self.store.save_progress(visits[-1].id, visits[-1].at)
            for watch, event in events:
                self.on_event(watch, event)
            count += len(events)
            last_at = visits[-1].at
        return count + (self.report_shared_changes(last_at) if last_at and reports_shared else 0)

    def report_unconfirmed(self, now: float, wait: float = CONTROL_SECONDS) -> int:
        """Report the changes of pages that were not fetched again in time. Returns the number of events."""
        overdue = self.store.load_overdue_controls(now - wait)
        if not overdue:
            return 0
        noise, events = ChangeStore(self.collection.db), list[tuple[Watch, ReportedChange]]()
        with transaction(self.store.db):
            for url_id, url in overdue:
                for watch_id in self._find_watches(url):
                    state = self.store.load_state(watch_id, url_id)
                    found = self._finish_pending(watch_id, url_id, state, noise) if state and state.pending else ()
                    events += [(self.watches[watch_id], event) for event in found]
                self.store.end_control(url_id, math.inf)
            self.pages.controls.save()
        for watch, event in events:
            self.on_event(watch, event)
        return len(events)

    def _finish_pending(
        self, watch_id: int, url_id: int, state: PageWatchState, noise: ChangeStore
    ) -> list[ReportedChange]:
        """Report a change without further control fetches. Returns the event, if it is new."""
        watch, event = self.watches[watch_id], None
        found = (load_visit(self.collection.db, id_) for id_ in (state.visit_id, *state.pending))
        before, *pending = (visit for visit in found if visit is not None)
        new_state = replace(state, visit_id=state.pending[-1], pending=())
        old = self.pages.read(before, watch) if before is not None and pending else None
        new = self.pages.read(pending[-1], watch) if old is not None else None
        if old is not None and new is not None:
            checked = load_checked_versions(
                pending[-1], (old, new), pending[:-1], lambda one: self.pages.read(one, watch)
            )
            event, new_state = self.pages.check(watch_id, before, checked, (state, new_state), noise, may_wait=False)
        self.store.save_state(watch_id, url_id, new_state)
        stored = self._store_event(watch_id, pending[-1], event) if event is not None else None
        return [stored] if stored is not None else []

    def report_shared_changes(self, now: float) -> int:
        """Store changes outside the main content that several pages share. Returns their number."""
        shared = [one for one in self._minor_changes.take_shared(now) if one.watch_id in self.watches]
        ready_at = {one.watch_id: now + max(self.watches[one.watch_id].digest, self.hold_seconds) for one in shared}
        with transaction(self.store.db):
            self.store.drop_held_events_before(now - WINDOW_SECONDS)
            for one in shared:
                self.store.drop_held_event(one.watch_id, one.url_id, one.visit_id)
            stored = [
                one
                for one in shared
                if self.store.add_event(one.watch_id, one.url_id, one.visit_id, ready_at[one.watch_id], one.event)
            ]
        for one in stored:
            self.on_event(self.watches[one.watch_id], one.event)
        return len(stored)

    def _find_watches(self, url: str) -> Iterable[int]:
        return [*self._by_url.get(url, ()), *(id_ for id_ in self._patterns if self.watches[id_].matches(url))]

    def _evaluate_visit(self, watch_id: int, visit: StoredVisit, noise: ChangeStore) -> list[ReportedChange]:
        """Evaluate a visit for a watch. Returns its events; the first may be of an earlier visit."""
        watch, events = self.watches[watch_id], list[ReportedChange]()
        if visit.at < watch.added_at:
            return []
        state = self.store.load_state(watch_id, visit.url_id)
        if state is not None and state.pending and not self._is_control(visit, state):
            events = self._finish_pending(watch_id, visit.url_id, state, noise)
            state = self.store.load_state(watch_id, visit.url_id)
        event, new_state = self._evaluate_outcome(watch_id, visit, state, noise)
        if new_state is not None and new_state != state:
            self.store.save_state(watch_id, visit.url_id, new_state)
        stored = self._store_event(watch_id, visit, event) if event is not None else None
        return [*events, stored] if stored is not None else events

    def _is_control(self, visit: StoredVisit, state: PageWatchState) -> bool:
        """Return whether a visit shows the page of the last visit again."""
        last = load_visit(self.collection.db, state.pending[-1])
        is_page = visit.outcome == Outcome.NOT_MODIFIED or (visit.outcome == Outcome.FETCHED and visit.status < 300)
        return is_page and last is not None and visit.at - last.at <= CONTROL_SECONDS

    def _evaluate_outcome(
        self, watch_id: int, visit: StoredVisit, state: PageWatchState | None, noise: ChangeStore
    ) -> tuple[ReportedChange | None, PageWatchState | None]:
        event, new_state = None, state
        if state is not None and visit.outcome == Outcome.NOT_MODIFIED and (state.pending or state.awaits_baseline):
            last = load_last_body_visit(self.collection.db, visit.url_id, visit.id)
            if last is not None:
                event, new_state = self.pages.evaluate_body(watch_id, replace(last, at=visit.at), state, noise)
        elif visit.outcome == Outcome.FETCHED and 200 <= visit.status < 300 and visit.length:
            event, new_state = self.pages.evaluate_body(watch_id, visit, state, noise)
            if state is not None and new_state is not None and is_away(state) and not is_away(new_state):
                returned = self.pages.build_lifecycle_event(visit, ChangeKind.RETURNED, RETURNED_REMARK)
                event = _merge_events(returned, event) if event else returned
        elif visit.outcome == Outcome.NOT_MODIFIED and state is not None and is_away(state):
            event = self.pages.build_lifecycle_event(visit, ChangeKind.RETURNED, RETURNED_REMARK)
            new_state = replace(state, is_gone=False, is_moved=False)
        elif state is not None and visit.outcome == Outcome.GONE and not state.is_gone and self._is_gone(visit):
            event = self.pages.build_lifecycle_event(visit, ChangeKind.GONE, "the page is gone")
            new_state = replace(state, is_gone=True)
        elif state is not None and visit.outcome == Outcome.REDIRECT and not state.is_moved:
            event = self.pages.build_lifecycle_event(visit, ChangeKind.MOVED, "the page redirects elsewhere")
            new_state = replace(state, is_moved=True)
        return event, new_state

    def _store_event(self, watch_id: int, visit: StoredVisit, event: ReportedChange) -> ReportedChange | None:
        """Store an event, or hold it. Returns it if it is new and reported."""
        watch = self.watches[watch_id]
        if watch.paused or not is_wanted(watch, event):
            return None
        has_pages = self.store.count_pages(watch_id) >= MIN_SHARED_PAGES
        if watch.includes_boilerplate and is_minor(event.change) and has_pages:
            self._minor_changes.add(MinorChange(watch_id, visit.url_id, visit.id, event))
            self.store.hold_event(watch_id, visit.url_id, visit.id, event)
            return None
        hold = 0.0 if watch.is_single_page else self.hold_seconds
        ready_at = visit.at + max(watch.digest, hold)
        return event if self.store.add_event(watch_id, visit.url_id, visit.id, ready_at, event) else None

    def _is_gone(self, visit: StoredVisit) -> bool:
        """Return whether the page was missing at enough visits in a row; a notice with status 200 does not count."""
        if visit.status < 400:
            return False
        past = [one.outcome for one in load_visits(self.collection.db, visit.url_id) if one.at <= visit.at]
        return past[-MISSES_UNTIL_GONE:] == [Outcome.GONE] * MISSES_UNTIL_GONE


def _merge_events(first: ReportedChange, second: ReportedChange) -> ReportedChange:
    """Merge two events of a visit."""
    change = replace(second.change, kinds=(*first.change.kinds, *second.change.kinds))
    return replace(second, change=change, texts=(*first.texts, *second.texts))
