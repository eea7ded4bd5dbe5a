"""Change statistics of a site: prior of the change rates, age after birth, and recent activity of directories.

A page has a Gamma distribution over its rate, (prior shape + changes) / (prior scale + exposure). Time counts more
while pages are young, if young pages of the site change more, and in cells of time in which more changes were found in
the directory than expected. Two models, with and without activity, are weighted by how well they predict.
"""

from math import exp, expm1, lgamma, log

import msgspec
from msgspec import Struct

from sanderling.revisit.change_timing import (
    AGE_CLASSES,
    CELLS,
    CELLS_PER_INTERVAL,
    PRIOR_RATE,
    PRIOR_SHAPE,
    AgeFactors,
    DirectoryActivity,
    find_age_class,
    fit_prior,
    list_directories,
    list_recent_parts,
    pack_floats,
    split_by_age,
    unpack_floats,
)
from sanderling.revisit.visit_history import DAY, Observation, VisitHistory

MAX_SPREAD = 3.0  # changes counted for one visit
MIN_DIRECTORY_PAGES = 2  # smaller directories are merged with the one above
MAX_DIRECTORIES = 4096  # of a site
BIRTH_DELAY = DAY  # after the first page of a site: pages found later are new
MODEL_MEMORY = 3000.0  # visits
MEMORY_DAYS = 1000.0  # changes of a page count less with time, because rates change
MAX_LOG_ODDS = 6.0
RECENT_LOG_ODDS = -2.0  # before the first visits
SAMPLE_PAGES = 200  # to which the prior is fitted


class Elapsed(Struct, array_like=True):
    """Effective days between two times, by three models of when pages change."""

    active: float  # by the age of the page and the activity of its directory
    plain: float  # by the age of the page
    recent: float = 0.0  # by the time since its last change


class SiteState(Struct, array_like=True):
    """Stored form of SiteModel."""

    started_at: float
    last_visit_at: float
    shape: float
    scale: float
    log_odds: float
    cell_seconds: float
    age_found: list[float]
    age_expected: list[float]
    page_counts: dict[str, int]
    activities: list[tuple[str, int, bytes, bytes]]  # directory, first cell, found, expected
    sample: tuple[int, list[int], bytes, bytes]  # divisor, page ids, changes, exposures
    visits: int
    announcements: list[float]
    recent_log_odds: float = 0.0
    recent_found: list[float] = []
    recent_expected: list[float] = []


class SiteModel:
    """Change statistics shared by the pages of a site."""

    def __init__(self, cell_seconds: float, started_at: float = 0.0) -> None:
        self.started_at = started_at
        self.last_visit_at = started_at
        self.set_prior(PRIOR_SHAPE, PRIOR_SHAPE / PRIOR_RATE)
        self.log_odds = 0.0  # of the model with activity
        self.recent_log_odds = RECENT_LOG_ODDS  # of the model with the time since the last change
        self.cell_seconds = cell_seconds
        self.ages = AgeFactors([0.0] * AGE_CLASSES, [0.0] * AGE_CLASSES)
        self.recent = AgeFactors([0.0] * 2 * AGE_CLASSES, [0.0] * 2 * AGE_CLASSES)
        self.page_counts: dict[str, int] = {}  # of directories and those above
        self.activities: dict[str, DirectoryActivity] = {}
        self.closest_groups: dict[str, str] = {}  # cache of find_directory
        self.sample_divisor = 1
        self.sample: dict[int, tuple[float, float]] = {}  # page id: changes and exposure
        self.visits = 0
        self.next_fit = 16
        # false announcements and days, changes found and expected on pages without an announcement
        self.announcements = [0.0, 0.0, 0.0, 0.0]

    @property
    def group_count(self) -> int:
        return len(self.activities) + len(self.page_counts) // 16

    @property
    def activity_weight(self) -> float:
        """Weight of the model with activity."""
        return 1 / (1 + exp(-self.log_odds))

    @property
    def delay_weights(self) -> Elapsed:
        """Weights of all three models."""
        active, recent = exp(self.log_odds), exp(self.recent_log_odds)
        total = active + recent + 1
        return Elapsed(active / total, 1 / total, recent / total)

    def set_prior(self, shape: float, scale: float) -> None:
        """Set the distribution of the rates of unknown pages."""
        self.shape, self.scale = shape, scale
        self.prior_constant = shape * log(scale) - lgamma(shape)

    def drop_groups(self) -> None:
        self.activities, self.page_counts, self.closest_groups = {}, {}, {}

    def rescale_cells(self, interval: float) -> None:
        """Adapt the cell width to the mean interval; discards the activity measured in cells of another width."""
        width, drift = interval / CELLS_PER_INTERVAL, 1.0 if self.visits < 64 else 2.0
        if not self.cell_seconds / drift < width < self.cell_seconds * drift:
            self.cell_seconds, self.activities = width, {}

    def count_page(self, url: str, step: int) -> None:
        """Add a page to its directories, or remove it with step -1."""
        counts = self.page_counts
        for directory in list_directories(url):
            if directory in counts or (step > 0 and len(counts) < MAX_DIRECTORIES):
                counts[directory] = counts.get(directory, 0) + step
                if MIN_DIRECTORY_PAGES - 1 <= counts[directory] <= MIN_DIRECTORY_PAGES:
                    self.closest_groups = {}
                if counts[directory] <= 0:
                    del counts[directory]
                    self.activities.pop(directory, None)

    def find_directory(self, url: str) -> str:
        """Return the closest directory with enough pages; "" is the site."""
        folder = url.partition("#")[0].partition("?")[0].rpartition("/")[0]
        found = self.closest_groups.get(folder)
        if found is None:
            counts = self.page_counts
            groups = (name for name in list_directories(url) if counts.get(name, 0) >= MIN_DIRECTORY_PAGES)
            if len(self.closest_groups) >= MAX_DIRECTORIES:
                self.closest_groups = {}
            found = self.closest_groups[folder] = next(groups, "")
        return found

    def get_activity(self, url: str, now: float) -> DirectoryActivity:
        """Return the activity of the directory of a URL, up to now."""
        newest = int(now / self.cell_seconds)
        site = self._advance_activity("", None, newest)
        key = self.find_directory(url)
        return self._advance_activity(key, site, newest) if key else site

    def _advance_activity(self, key: str, parent: DirectoryActivity | None, newest_cell: int) -> DirectoryActivity:
        activity = self.activities.get(key)
        if activity is None:
            activity = self.activities[key] = DirectoryActivity(newest_cell, parent)
        elif newest_cell - activity.first_cell >= CELLS:
            activity.advance(newest_cell)
        return activity

    def compute_elapsed(
        self, activity: DirectoryActivity, history: VisitHistory, until: float, *, with_recent: bool = True
    ) -> Elapsed:
        """Compute the effective days since the last visit."""
        since, width = history.last_visit, self.cell_seconds
        if until <= since:
            return Elapsed(0.0, 0.0, 0.0)
        active = plain = 0.0
        for age_class, start, end in split_by_age(history.born_at, since, until):
            factor = self.ages.factors[age_class]
            active += factor * activity.compute_elapsed(start / width, end / width) * width / DAY
            plain += factor * (end - start) / DAY
        return Elapsed(active, plain, self.compute_recent(history, until) if with_recent else plain)

    def compute_recent(self, history: VisitHistory, until: float) -> float:
        """Compute the effective days since the last visit by the time since the last change."""
        return self.recent.compute_elapsed(list_recent_parts(history, until))

    def get_age_factor(self, history: VisitHistory, now: float) -> float:
        return self.ages.factors[find_age_class((now - history.born_at) / DAY)]

    def get_posterior(self, history: VisitHistory) -> tuple[float, float]:
        """Return shape and scale of the rate of a page."""
        return self.shape + history.evidence, self.scale + history.exposure

    def record_visit(
        self, activity: DirectoryActivity, history: VisitHistory, page_id: int, seen: Observation, sampled: float
    ) -> tuple[float, float]:
        """Learn from a visit that samples a share of the changes. Returns the new evidence and exposure of the page."""
        now, has_changed = seen.visited_at, seen.has_changed
        elapsed = self.compute_elapsed(activity, history, now)
        shape, scale = self.get_posterior(history)
        if elapsed.plain <= 0.0:
            return history.evidence, history.exposure
        rate, keep = shape / scale, exp((history.last_visit - now) / (MEMORY_DAYS * DAY))
        x = min(rate * elapsed.plain, 500.0)
        exposure = keep * history.exposure + (1 / rate - elapsed.plain / expm1(x) if has_changed else elapsed.plain)
        evidence = keep * history.evidence + has_changed
        self.visits += 1
        self.last_visit_at = now
        if sampled > 0:
            self._compare_models(shape, scale / sampled, elapsed, has_changed)
            rate *= sampled
            z = min(rate * elapsed.active, 500.0)
            changes = min(MAX_SPREAD, z / -expm1(-z)) if has_changed and z > 0 else 0.0
            self.ages.record_visit(split_by_age(history.born_at, history.last_visit, now), rate, changes)
            self.recent.record_visit(list_recent_parts(history, now), rate, changes)
            width = self.cell_seconds
            start, end, cell_rate = history.last_visit / width, now / width, rate * width / DAY
            if activity.parent is not None:
                activity.parent.record_visit(start, end, cell_rate, changes)
            activity.record_visit(start, end, cell_rate, changes)
        self._sample_page(page_id, evidence, exposure)
        return evidence, exposure

    def _compare_models(self, shape: float, scale: float, elapsed: Elapsed, has_changed: bool) -> None:
        """Move the weights of the models by the likelihood that they gave to the result."""
        active = (1 + elapsed.active / scale) ** -shape
        plain = (1 + elapsed.plain / scale) ** -shape
        recent = (1 + elapsed.recent / scale) ** -shape
        if has_changed:
            active, plain, recent = 1 - active, 1 - plain, 1 - recent
        self.log_odds = _move_odds(self.log_odds, active, plain)
        self.recent_log_odds = _move_odds(self.recent_log_odds, recent, plain)

    def _sample_page(self, page_id: int, changes: float, exposure: float) -> None:
        """Keep a sample of the pages, and fit the prior to it from time to time."""
        if hash_id(page_id) % self.sample_divisor == 0:
            self.sample[page_id] = (changes, exposure)
            if len(self.sample) > SAMPLE_PAGES:
                self.sample_divisor *= 2
                self.sample = {k: v for k, v in self.sample.items() if hash_id(k) % self.sample_divisor == 0}
        if self.visits >= self.next_fit:
            self.set_prior(*fit_prior(list(self.sample.values()), self.shape, self.scale))
            self.next_fit = self.visits + max(16, self.visits // 16)

    def delete_page(self, page_id: int, url: str) -> None:
        """Remove a page that is gone."""
        self.count_page(url, -1)
        self.sample.pop(page_id, None)

    def export_state(self) -> bytes:
        activities = [
            (key, a.first_cell, pack_floats(a.found), pack_floats(a.expected)) for key, a in self.activities.items()
        ]
        changes, exposures = ([pair[k] for pair in self.sample.values()] for k in (0, 1))
        sample = (self.sample_divisor, list(self.sample), pack_floats(changes), pack_floats(exposures))
        return msgspec.msgpack.encode(
            SiteState(
                self.started_at,
                self.last_visit_at,
                self.shape,
                self.scale,
                self.log_odds,
                self.cell_seconds,
                self.ages.found,
                self.ages.expected,
                self.page_counts,
                activities,
                sample,
                self.visits,
                self.announcements,
                self.recent_log_odds,
                self.recent.found,
                self.recent.expected,
            )
        )


def restore_site(stored: bytes) -> SiteModel:
    state = msgspec.msgpack.decode(stored, type=SiteState)
    site = SiteModel(state.cell_seconds, state.started_at)
    site.last_visit_at, site.visits = state.last_visit_at, state.visits
    site.set_prior(state.shape, state.scale)
    site.log_odds = state.log_odds
    site.ages = AgeFactors(state.age_found, state.age_expected)
    if state.recent_found:
        site.recent, site.recent_log_odds = AgeFactors(state.recent_found, state.recent_expected), state.recent_log_odds
    site.page_counts, site.announcements = state.page_counts, state.announcements
    for key, first_cell, found, expected in sorted(state.activities):  # the site is first
        parent = site.activities.get("") if key else None
        activity = site.activities[key] = DirectoryActivity(first_cell + CELLS - 1, parent)
        activity.found, activity.expected = unpack_floats(found), unpack_floats(expected)
        activity.update_clock()
    site.sample_divisor, ids, changes, exposures = state.sample
    site.sample = dict(zip(ids, zip(unpack_floats(changes), unpack_floats(exposures), strict=True), strict=True))
    site.next_fit = site.visits + 16
    return site


def _move_odds(log_odds: float, likelihood: float, reference: float) -> float:
    step = log(max(likelihood, 1e-9) / max(reference, 1e-9))
    return min(max(log_odds * (1 - 1 / MODEL_MEMORY) + step, -MAX_LOG_ODDS), MAX_LOG_ODDS)


def hash_id(page_id: int) -> int:
    return page_id * 2654435761 & 0xFFFFFFFF
