"""Evaluate new visits for all watches: compare with the last good version, check conditions, store events.

Events and progress are stored in one transaction: after `kill -9` a visit is evaluated again, and its event is stored
once. Error pages, outages and logins are visits without a good version, so nothing is compared with them.
"""

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from sanderling.changes.change_groups import MIN_SHARED_PAGES
from sanderling.changes.change_store import ChangeStore
from sanderling.changes.changed_text import ChangedText, build_changed_text
from sanderling.changes.classify import ChangeKind, PageChange
from sanderling.changes.feed import ReportedChange
from sanderling.changes.noise_model import NoiseModel
from sanderling.changes.word_diff import DiffOperation, DiffPiece
from sanderling.content.soft_404 import is_outage_text
from sanderling.db.connection import transaction
from sanderling.errors import CollectionError
from sanderling.models import Outcome
from sanderling.monitor.conditions import WatchReading, are_conditions_met
from sanderling.monitor.minor_changes import WINDOW_SECONDS, MinorChange, MinorChanges, is_minor
from sanderling.monitor.watch import Watch
from sanderling.monitor.watch_store import PageWatchState, WatchStore
from sanderling.monitor.watched_version import WatchedVersion, compare_versions, read_watched_version
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
from sanderling.storage.queries import load_titles
from sanderling.urls.scope import get_site
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import read_record

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
        self._noise_store: ChangeStore | None = None
        self._noise_models: dict[str, NoiseModel] = {}
        self.load_watches()

    def load_watches(self) -> None:
        """Load the watches. Call it after they changed."""
        self.watches = self.store.load_watches()
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

    def evaluate_new_visits(self) -> int:
        """Evaluate all visits since the last call. Returns the number of events."""
        count, last_at = 0, 0.0
        while visits := load_visits_after(self.collection.db, self.store.load_progress()[0], BATCH_VISITS):
            noise, events = ChangeStore(self.collection.db), list[tuple[Watch, ReportedChange]]()
            with transaction(self.store.db):
                if self.store.load_progress()[0] >= visits[0].id:
                    continue  # another process evaluated them
                for visit in visits:
                    for watch_id in self._find_watches(visit.url):
                        event = self._evaluate_visit(watch_id, visit, noise)
                        if event is not None:
                            events.append((self.watches[watch_id], event))
                self.store.save_progress(visits[-1].id, visits[-1].at)
            for watch, event in events:
                self.on_event(watch, event)
            count += len(events)
            last_at = visits[-1].at
        return count + (self._store_shared_changes(last_at) if last_at else 0)

    def _store_shared_changes(self, now: float) -> int:
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

    def _evaluate_visit(self, watch_id: int, visit: StoredVisit, noise: ChangeStore) -> ReportedChange | None:
        watch = self.watches[watch_id]
        if visit.at < watch.added_at:
            return None
        state = self.store.load_state(watch_id, visit.url_id)
        event, new_state = None, state
        if visit.outcome == Outcome.FETCHED and 200 <= visit.status < 300 and visit.length:
            event, new_state = self._evaluate_body(watch_id, visit, state, noise)
            if state is not None and new_state is not None and _is_away(state) and not _is_away(new_state):
                returned = self._build_lifecycle_event(visit, ChangeKind.RETURNED, RETURNED_REMARK)
                event = _merge_events(returned, event) if event else returned
        elif visit.outcome == Outcome.NOT_MODIFIED and state is not None and _is_away(state):
            event = self._build_lifecycle_event(visit, ChangeKind.RETURNED, RETURNED_REMARK)
            new_state = replace(state, is_gone=False, is_moved=False)
        elif state is not None and visit.outcome == Outcome.GONE and not state.is_gone and self._is_gone(visit):
            event = self._build_lifecycle_event(visit, ChangeKind.GONE, "the page is gone")
            new_state = replace(state, is_gone=True)
        elif state is not None and visit.outcome == Outcome.REDIRECT and not state.is_moved:
            event = self._build_lifecycle_event(visit, ChangeKind.MOVED, "the page redirects elsewhere")
            new_state = replace(state, is_moved=True)
        if new_state is not None and new_state != state:
            self.store.save_state(watch_id, visit.url_id, new_state)
        if event is None or watch.paused or not _is_wanted(watch, event):
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

    def _evaluate_body(
        self, watch_id: int, visit: StoredVisit, state: PageWatchState | None, noise: ChangeStore
    ) -> tuple[ReportedChange | None, PageWatchState | None]:
        watch = self.watches[watch_id]
        new = self._read(visit, watch)
        if new is None:
            return None, state
        before = (
            load_visit(self.collection.db, state.visit_id)
            if state is not None and state.visit_id
            else load_last_body_visit(self.collection.db, visit.url_id, visit.id)
        )
        old = self._read(before, watch) if before is not None else None
        old_state = state or PageWatchState()
        if new.is_missing:
            event = None
            if old is not None and not old.is_missing and not old_state.is_missing:
                event = self._build_lifecycle_event(visit, ChangeKind.CONTENT, "the watched part is no longer there")
            return event, replace(old_state, is_missing=True)
        if old is not None and not new.is_part and is_outage_text(new.text) and not is_outage_text(old.text):
            return None, state  # a notice instead of the page; the next version is compared with the last good version
        new_state = self._record_value(watch_id, visit, old_state, new)
        if before is None and 0 < watch.baseline_at < visit.at:
            return self._build_lifecycle_event(visit, ChangeKind.NEW, "a new page"), new_state
        if old is None or before is None or old.is_missing:
            return None, new_state
        # The model has already learned from this visit and others of the run: a banner that came on all pages at once
        # would be a template. The outbox reports shared changes once.
        noise_model = self._load_noise_model(noise, get_site(visit.url))
        found = compare_versions(old, new, noise_model, visit.url_id, include_boilerplate=watch.includes_boilerplate)
        return self._decide(watch, visit, before, (old, new), found, (old_state, new_state))

    def _load_noise_model(self, noise: ChangeStore, site: str) -> NoiseModel:
        """Load the noise model of a site, once for each batch of visits."""
        if self._noise_store is not noise:
            self._noise_store, self._noise_models = noise, {}
        if site not in self._noise_models:
            self._noise_models[site] = noise.load_noise_model(site).without_templates()
        return self._noise_models[site]

    def _decide(
        self,
        watch: Watch,
        visit: StoredVisit,
        before: StoredVisit,
        versions: tuple[WatchedVersion, WatchedVersion],
        found: tuple[PageChange, tuple[ChangedText, ...]],
        states: tuple[PageWatchState, PageWatchState],
    ) -> tuple[ReportedChange | None, PageWatchState]:
        """Check conditions and significance, and build the event."""
        (old, new), (change, texts), (old_state, new_state) = versions, found, states
        if watch.parsed_conditions:
            readings = (
                WatchReading(old.text, old.values),
                WatchReading(new.text, new.values, old_state.low, old_state.high),
            )
            if not are_conditions_met(watch.parsed_conditions, *readings, old_state.reported):
                return None, new_state
            texts = texts or _describe_values(old, new)
            change = change if change.is_significant else PageChange((ChangeKind.CONTENT,), 1.0, 1.0)
        if not change.is_significant or not (texts or set(change.kinds) & set(watch.kinds)):
            return None, new_state  # a change without text, such as a class, counts only if its kind is asked for
        if new.values.number is not None:
            new_state = replace(new_state, reported=new.values.number)
        return self._build_event(visit, change, texts, before.at), new_state

    def _record_value(
        self, watch_id: int, visit: StoredVisit, state: PageWatchState, new: WatchedVersion
    ) -> PageWatchState:
        number = new.values.number
        state = replace(state, visit_id=visit.id, is_missing=False, is_gone=False, is_moved=False)
        if number is None:
            return state
        if number != state.number:
            self.store.add_value(watch_id, visit.url_id, visit.at, number, new.values.unit)
        return replace(
            state,
            number=number,
            low=number if state.low is None else min(state.low, number),
            high=number if state.high is None else max(state.high, number),
            reported=number if state.reported is None else state.reported,
        )

    def _read(self, visit: StoredVisit, watch: Watch) -> WatchedVersion | None:
        """Read a version; None if it is damaged or has no text."""
        try:
            record = read_record(self.collection.archive_folder, RecordLocation(visit.file, visit.start, visit.length))
        except CollectionError:
            return None
        return read_watched_version(record, watch)

    def _build_event(
        self, visit: StoredVisit, change: PageChange, texts: tuple[ChangedText, ...], previous_at: float
    ) -> ReportedChange:
        title = load_titles(self.collection.db, [visit.url_id]).get(visit.url_id, "")
        return ReportedChange(visit.url, visit.at, previous_at, change, title, visit.status, texts)

    def _build_lifecycle_event(self, visit: StoredVisit, kind: ChangeKind, remark: str) -> ReportedChange:
        text = ChangedText("more", (DiffPiece(DiffOperation.SAME, remark),))
        return self._build_event(visit, PageChange((kind,), 1.0, 1.0), (text,), 0.0)


def _is_away(state: PageWatchState) -> bool:
    return state.is_gone or state.is_moved


def _merge_events(first: ReportedChange, second: ReportedChange) -> ReportedChange:
    """Merge two events of a visit."""
    change = replace(second.change, kinds=(*first.change.kinds, *second.change.kinds))
    return replace(second, change=change, texts=(*first.texts, *second.texts))


def _describe_values(old: WatchedVersion, new: WatchedVersion) -> tuple[ChangedText, ...]:
    """Describe a change of values that is in no visible text, such as an availability in structured data."""
    pairs = [
        (f"{values.number or ''} {values.unit}".strip() if values.number is not None else "", values.availability)
        for values in (old.values, new.values)
    ]
    return tuple(build_changed_text(a, b) for a, b in zip(*pairs, strict=True) if a != b)


def _is_wanted(watch: Watch, event: ReportedChange) -> bool:
    kinds = {str(kind) for kind in event.change.kinds}
    return event.change.significance >= watch.min_significance and (not watch.kinds or bool(kinds & set(watch.kinds)))
