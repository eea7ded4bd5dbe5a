"""Control fetches: a page that seems to have changed is fetched again at once, and what varies is learned.

The first version of a page gets one too. A page is fetched twice more at most; if it cannot be, the change is reported
as it was seen.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sanderling.changes.volatile_places import VolatilePlaces
from sanderling.changes.word_report import ComparableVersion
from sanderling.monitor.controlled_diff import ControlledDiff
from sanderling.monitor.watch import Watch
from sanderling.monitor.watch_store import PageWatchState, WatchStore
from sanderling.monitor.watched_version import WatchedVersion
from sanderling.storage.page_history import StoredVisit
from sanderling.urls.scope import get_site

CONTROL_SECONDS = 60.0  # after a visit, a control fetch is no longer at the same time
MAX_CONTROLS = 2  # per change; one on a site without volatile places
MAX_SITES = 200  # with places in memory


class CheckedVersions(Struct, frozen=True):
    """The last good version, a new one, and its control fetches so far."""

    old: WatchedVersion
    new: WatchedVersion
    controls: tuple[WatchedVersion, ...]
    visit: StoredVisit  # of the new version
    last_visit: StoredVisit  # of the last control fetch, or of the new version


class ControlFetches:
    """Requests control fetches, and keeps what they teach about each site."""

    def __init__(self, store: WatchStore) -> None:
        self.store = store
        self._places: dict[str, VolatilePlaces] = {}
        self._modified: set[str] = set()

    def request(self, visit: StoredVisit) -> None:
        """Ask the service to fetch a page again at once."""
        self.store.request_control(visit.url_id, visit.url, visit.at)

    def start_baseline(self, visit: StoredVisit, state: PageWatchState) -> PageWatchState:
        """Fetch a page for the second time, so that its volatile places are known before its first change."""
        self.request(visit)
        return replace(state, awaits_baseline=True)

    def learn_baseline(self, visit: StoredVisit, old: WatchedVersion, new: WatchedVersion) -> None:
        """Learn from the first two fetches of a page."""
        if old.comparable is not None and new.comparable is not None:
            self._load_places(visit.url).learn(old.comparable, new.comparable)
            self._modified.add(get_site(visit.url))

    def diff(self, checked: CheckedVersions, state: PageWatchState) -> ControlledDiff | None:
        """Compare versions as far as the control fetches allow; None if they are not compared as text."""
        old, new = checked.old.comparable, checked.new.comparable
        controls = [one.comparable for one in checked.controls]
        if old is None or new is None:
            return None
        places = self._load_places(checked.visit.url)
        return ControlledDiff(old, new, [one for one in controls if one is not None], places, state.moving)

    def needs_control(self, checked: CheckedVersions) -> bool:
        """Return whether another control fetch would say more."""
        if not checked.controls:
            return True
        is_calm = self._load_places(checked.visit.url).is_empty and all(
            _get_fingerprint(one.comparable) == _get_fingerprint(checked.new.comparable) for one in checked.controls
        )
        return len(checked.controls) < MAX_CONTROLS and not is_calm

    def learn(self, checked: CheckedVersions, controlled: ControlledDiff) -> None:
        """Learn from a finished comparison."""
        controlled.learn()
        self._modified.add(get_site(checked.visit.url))

    def save(self) -> None:
        """Save what was learned; call inside the transaction of the batch."""
        for site in self._modified:
            self.store.save_volatile_places(site, self._places[site].to_bytes())
        self._modified.clear()
        while len(self._places) > MAX_SITES:
            del self._places[next(iter(self._places))]

    def _load_places(self, url: str) -> VolatilePlaces:
        site = get_site(url)
        if site not in self._places:
            self._places[site] = VolatilePlaces.from_bytes(self.store.load_volatile_places(site))
        return self._places[site]


def are_controls_useful(watch: Watch, *versions: WatchedVersion) -> bool:
    """Return whether a change of a whole page is checked. A part or value that a watch asks for always counts."""
    return not watch.parsed_conditions and all(one.comparable is not None and not one.is_part for one in versions)


def load_checked_versions(
    visit: StoredVisit,
    versions: tuple[WatchedVersion, WatchedVersion],
    pending: Sequence[StoredVisit],
    read: Callable[[StoredVisit], WatchedVersion | None],
) -> CheckedVersions:
    """Return the versions since the last good one. `pending`: visits whose change was not decided yet."""
    old, new = versions
    if not pending or visit.at - pending[-1].at > CONTROL_SECONDS:
        return CheckedVersions(old, new, (), visit, visit)
    found = [(one, version) for one in pending if (version := read(one)) is not None and version.comparable is not None]
    if not found:
        return CheckedVersions(old, new, (), visit, visit)
    first_visit, first = found[0]
    return CheckedVersions(old, first, (*(version for _, version in found[1:]), new), first_visit, visit)


def _get_fingerprint(version: ComparableVersion | None) -> object:
    return version.fingerprint if version is not None else None
