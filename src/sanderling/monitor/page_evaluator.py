"""Compare the versions of a page for a watch: values, conditions, and control fetches."""

from collections.abc import Mapping

from msgspec.structs import replace

from sanderling.changes.change_store import ChangeStore
from sanderling.changes.changed_text import ChangedText, build_changed_text
from sanderling.changes.classify import ChangeKind, PageChange
from sanderling.changes.feed import ReportedChange
from sanderling.changes.noise_model import NoiseModel
from sanderling.changes.word_diff import DiffOperation, DiffPiece
from sanderling.content.soft_404 import is_outage_text
from sanderling.errors import CollectionError
from sanderling.monitor.conditions import WatchReading, are_conditions_met
from sanderling.monitor.control_fetches import (
    CONTROL_SECONDS,
    CheckedVersions,
    ControlFetches,
    are_controls_useful,
    load_checked_versions,
)
from sanderling.monitor.watch import Watch
from sanderling.monitor.watch_store import PageWatchState, WatchStore
from sanderling.monitor.watched_version import WatchedVersion, compare_versions, read_watched_version
from sanderling.storage.collection import StoredCollection
from sanderling.storage.page_history import StoredVisit, load_last_body_visit, load_visit
from sanderling.storage.queries import load_titles
from sanderling.urls.scope import get_site
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import read_record


class PageEvaluator:
    """Compares the stored versions of pages for watches."""

    def __init__(self, collection: StoredCollection, store: WatchStore, watches: Mapping[int, Watch]) -> None:
        self.collection = collection
        self.store = store
        self.watches = watches
        self.controls = ControlFetches(store)
        self._noise_store: ChangeStore | None = None
        self._noise_models: dict[str, NoiseModel] = {}

    def evaluate_body(
        self, watch_id: int, visit: StoredVisit, state: PageWatchState | None, noise: ChangeStore
    ) -> tuple[ReportedChange | None, PageWatchState | None]:
        watch = self.watches[watch_id]
        before = (
            load_visit(self.collection.db, state.visit_id)
            if state is not None and state.visit_id
            else load_last_body_visit(self.collection.db, visit.url_id, visit.id)
        )
        old_state = state or PageWatchState()
        if before is not None and _is_same_body(before, visit, watch, old_state):
            return None, replace(
                old_state, visit_id=visit.id, is_gone=False, is_moved=False, awaits_baseline=False, moving=()
            )
        new = self.read(visit, watch)
        if new is None:
            return None, state
        old = self.read(before, watch) if before is not None else None
        if new.is_missing:
            event = None
            if old is not None and not old.is_missing and not old_state.is_missing:
                event = self.build_lifecycle_event(visit, ChangeKind.CONTENT, "the watched part is no longer there")
            return event, replace(old_state, is_missing=True)
        if old is not None and not new.is_part and is_outage_text(new.text) and not is_outage_text(old.text):
            return None, state  # a notice instead of the page; the next version is compared with the last good version
        new_state = self._record_value(watch_id, visit, old_state, new)
        if before is None and are_controls_useful(watch, new):
            new_state = self.controls.start_baseline(visit, new_state)
        if before is None and 0 < watch.baseline_at < visit.at:
            return self.build_lifecycle_event(visit, ChangeKind.NEW, "a new page"), new_state
        if old is None or before is None or old.is_missing:
            return None, new_state
        if old_state.awaits_baseline:
            new_state = replace(new_state, awaits_baseline=False)
            if visit.at - before.at <= CONTROL_SECONDS:
                self.controls.learn_baseline(visit, old, new)
                return None, new_state
        pending = [one for id_ in old_state.pending if (one := load_visit(self.collection.db, id_)) is not None]
        checked = load_checked_versions(visit, (old, new), pending, lambda one: self.read(one, watch))
        return self.check(watch_id, before, checked, (old_state, new_state), noise)

    def check(
        self,
        watch_id: int,
        before: StoredVisit,
        checked: CheckedVersions,
        states: tuple[PageWatchState, PageWatchState],
        noise: ChangeStore,
        *,
        may_wait: bool = True,
    ) -> tuple[ReportedChange | None, PageWatchState]:
        """Compare versions. Asks for a control fetch before a change is reported, if another one would say more."""
        watch, visit = self.watches[watch_id], checked.visit
        versions = checked.old, checked.new
        controlled = self.controls.diff(checked, states[0]) if are_controls_useful(watch, *versions) else None
        # The model has already learned from this visit and others of the run: a banner that came on all pages at once
        # would be a template. The outbox reports shared changes once.
        noise_model = self._load_noise_model(noise, get_site(visit.url))
        found = compare_versions(
            *versions,
            noise_model,
            visit.url_id,
            include_boilerplate=watch.includes_boilerplate,
            drop_noise=controlled.filter if controlled is not None else None,
        )
        event, new_state = self._decide(watch, visit, before, versions, found, states)
        if controlled is None:
            return event, new_state
        is_reported = event is not None and not watch.paused and is_wanted(watch, event)
        if is_reported and may_wait and self.controls.needs_control(checked):
            self.controls.request(checked.last_visit)
            return None, replace(new_state, visit_id=before.id, pending=(*states[0].pending, checked.last_visit.id))
        new_state = replace(new_state, moving=controlled.list_moving())
        self.controls.learn(checked, controlled)
        last_id = before.id if controlled.is_undecided and not is_reported else new_state.visit_id
        return event, replace(new_state, visit_id=last_id, pending=())

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
        return self.build_event(visit, change, texts, before.at), new_state

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

    def read(self, visit: StoredVisit, watch: Watch) -> WatchedVersion | None:
        """Read a version; None if it is damaged or has no text."""
        try:
            record = read_record(self.collection.archive_folder, RecordLocation(visit.file, visit.start, visit.length))
        except CollectionError:
            return None
        return read_watched_version(record, watch)

    def build_event(
        self, visit: StoredVisit, change: PageChange, texts: tuple[ChangedText, ...], previous_at: float
    ) -> ReportedChange:
        title = load_titles(self.collection.db, [visit.url_id]).get(visit.url_id, "")
        return ReportedChange(visit.url, visit.at, previous_at, change, title, visit.status, texts)

    def build_lifecycle_event(self, visit: StoredVisit, kind: ChangeKind, remark: str) -> ReportedChange:
        text = ChangedText("more", (DiffPiece(DiffOperation.SAME, remark),))
        return self.build_event(visit, PageChange((kind,), 1.0, 1.0), (text,), 0.0)


def _is_same_body(before: StoredVisit, visit: StoredVisit, watch: Watch, state: PageWatchState) -> bool:
    """Return whether a version needs no comparison: its bytes are those of the last good version."""
    is_settled = not (state.pending or state.is_missing or watch.parsed_conditions or is_away(state))
    return is_settled and state.visit_id == before.id and before.digest == visit.digest


def is_away(state: PageWatchState) -> bool:
    return state.is_gone or state.is_moved


def _describe_values(old: WatchedVersion, new: WatchedVersion) -> tuple[ChangedText, ...]:
    """Describe a change of values that is in no visible text, such as an availability in structured data."""
    pairs = [
        (f"{values.number or ''} {values.unit}".strip() if values.number is not None else "", values.availability)
        for values in (old.values, new.values)
    ]
    return tuple(build_changed_text(a, b) for a, b in zip(*pairs, strict=True) if a != b)


def is_wanted(watch: Watch, event: ReportedChange) -> bool:
    kinds = {str(kind) for kind in event.change.kinds}
    return event.change.significance >= watch.min_significance and (not watch.kinds or bool(kinds & set(watch.kinds)))
