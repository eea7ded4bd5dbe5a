"""Change statistics of a site: prior of the change rates, age after birth, and recent activity of directories.

A page has a Gamma distribution over its rate, (prior shape + changes) / (prior scale + exposure). Time counts more
while pages are young, if young pages of the site change more, and in cells of time in which more changes were found in
the directory than expected. Two models, with and without activity, are weighted by how well they predict.
"""

from math import exp, expm1, lgamma, log

import msgspec
from msgspec import Struct

from sanderling.revisit.directory_activity import (
    CELLS,
    CELLS_PER_INTERVAL,
    DirectoryActivity,
    list_directories,
    pack_floats,
    unpack_floats,
)
from sanderling.revisit.visit_history import AGE_LIMITS, DAY, VisitHistory, find_age_class, split_by_age

MAX_SPREAD = 3.0  # changes counted for one visit
MIN_DIRECTORY_PAGES = 2  # smaller directories are merged with the one above
MAX_DIRECTORIES = 4096  # of a site
AGE_PRIOR = 5.0  # changes
BIRTH_DELAY = DAY  # after the first page of a site: pages found later are new
MODEL_MEMORY = 3000.0  # visits
MEMORY_DAYS = 1000.0  # changes of a page count less with time, because rates change
MAX_LOG_ODDS = 6.0
PRIOR_SHAPE, PRIOR_RATE = 0.4, 1 / 30  # of unknown sites; changes a day
SAMPLE_PAGES = 200  # to which the prior is fitted


class Elapsed(Struct, array_like=True):
    """Effective days between two times, with and without the activity of the directory."""

    active: float
    plain: float


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


class SiteModel:
    """Change statistics shared by the pages of a site."""

    def __init__(self, cell_seconds: float, started_at: float = 0.0) -> None:
        self.started_at = started_at
        self.last_visit_at = started_at
        self.shape, self.scale = PRIOR_SHAPE, PRIOR_SHAPE / PRIOR_RATE
        self.log_odds = 0.0  # of the model with activity
        self.cell_seconds = cell_seconds
        self.age_found = [0.0] * (len(AGE_LIMITS) + 1)
        self.age_expected = [0.0] * (len(AGE_LIMITS) + 1)
        self.age_factors = [1.0] * (len(AGE_LIMITS) + 1)
        self.page_counts: dict[str, int] = {}  # of directories and those above
        self.activities: dict[str, DirectoryActivity] = {}
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

    def drop_groups(self) -> None:
        self.activities, self.page_counts = {}, {}

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
                if counts[directory] <= 0:
                    del counts[directory]
                    self.activities.pop(directory, None)

    def find_directory(self, url: str) -> str:
        """Return the closest directory with enough pages; "" is the site."""
        counts = self.page_counts
        for directory in list_directories(url):
            if counts.get(directory, 0) >= MIN_DIRECTORY_PAGES:
                return directory
        return ""

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

    def compute_elapsed(self, activity: DirectoryActivity, history: VisitHistory, until: float) -> Elapsed:
        """Compute the effective days since the last visit."""
        since, width = history.last_visit, self.cell_seconds
        if until <= since:
            return Elapsed(0.0, 0.0)
        if not history.born_at or since - history.born_at >= AGE_LIMITS[-1] * DAY:
            factor = self.age_factors[-1]
            return Elapsed(
                factor * activity.compute_elapsed(since / width, until / width) * width / DAY,
                factor * (until - since) / DAY,
            )
        active = plain = 0.0
        for age_class, start, end in split_by_age(history.born_at, since, until):
            factor = self.age_factors[age_class]
            active += factor * activity.compute_elapsed(start / width, end / width) * width / DAY
            plain += factor * (end - start) / DAY
        return Elapsed(active, plain)

    def get_age_factor(self, history: VisitHistory, now: float) -> float:
        if not history.born_at:
            return self.age_factors[-1]
        return self.age_factors[find_age_class((now - history.born_at) / DAY)]

    def get_posterior(self, history: VisitHistory) -> tuple[float, float]:
        """Return shape and scale of the rate of a page."""
        return self.shape + history.evidence, self.scale + history.exposure

    def record_visit(
        self, activity: DirectoryActivity, history: VisitHistory, page_id: int, now: float, has_changed: bool
    ) -> tuple[float, float]:
        """Learn from a visit. Returns the new evidence and exposure of the page."""
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
        if not history.announcement_count:  # else visits follow announcements, and are no sample
            self._compare_models(shape, scale, elapsed, has_changed)
            z = min(rate * elapsed.active, 500.0)
            changes = min(MAX_SPREAD, z / -expm1(-z)) if has_changed and z > 0 else 0.0
            self._record_ages(history, now, rate, changes)
            width = self.cell_seconds
            start, end, cell_rate = history.last_visit / width, now / width, rate * width / DAY
            if activity.parent is not None:
                activity.parent.record_visit(start, end, cell_rate, changes)
            activity.record_visit(start, end, cell_rate, changes)
        self._sample_page(page_id, evidence, exposure)
        return evidence, exposure

    def _compare_models(self, shape: float, scale: float, elapsed: Elapsed, has_changed: bool) -> None:
        """Move the weights of both models by the likelihood that they gave to what was found."""
        active = (1 + elapsed.active / scale) ** -shape
        plain = (1 + elapsed.plain / scale) ** -shape
        if has_changed:
            active, plain = 1 - active, 1 - plain
        step = log(max(active, 1e-9) / max(plain, 1e-9))
        odds = self.log_odds * (1 - 1 / MODEL_MEMORY) + step
        self.log_odds = min(max(odds, -MAX_LOG_ODDS), MAX_LOG_ODDS)

    def _record_ages(self, history: VisitHistory, now: float, rate: float, changes: float) -> None:
        if not history.born_at or history.last_visit - history.born_at >= AGE_LIMITS[-1] * DAY:
            parts = [(len(AGE_LIMITS), (now - history.last_visit) / DAY)]
        else:
            parts = [
                (age, (end - start) / DAY) for age, start, end in split_by_age(history.born_at, history.last_visit, now)
            ]
        total = sum(self.age_factors[age] * days for age, days in parts)
        for age, days in parts:
            self.age_expected[age] += rate * days
            if changes and total:
                self.age_found[age] += changes * self.age_factors[age] * days / total
        mean = (AGE_PRIOR + sum(self.age_found)) / (AGE_PRIOR + sum(self.age_expected))
        for age, _ in parts:
            self.age_factors[age] = (AGE_PRIOR + self.age_found[age] / mean) / (AGE_PRIOR + self.age_expected[age])

    def _sample_page(self, page_id: int, changes: float, exposure: float) -> None:
        """Keep a sample of the pages, and fit the prior to it from time to time."""
        if hash_id(page_id) % self.sample_divisor == 0:
            self.sample[page_id] = (changes, exposure)
            if len(self.sample) > SAMPLE_PAGES:
                self.sample_divisor *= 2
                self.sample = {k: v for k, v in self.sample.items() if hash_id(k) % self.sample_divisor == 0}
        if self.visits >= self.next_fit:
            self.shape, self.scale = fit_prior(list(self.sample.values()), self.shape, self.scale)
            self.next_fit = self.visits + max(16, self.visits // 16)

    def forget_page(self, page_id: int, url: str) -> None:
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
                self.age_found,
                self.age_expected,
                self.page_counts,
                activities,
                sample,
                self.visits,
                self.announcements,
            )
        )


def restore_site(stored: bytes) -> SiteModel:
    state = msgspec.msgpack.decode(stored, type=SiteState)
    site = SiteModel(state.cell_seconds, state.started_at)
    site.last_visit_at, site.visits = state.last_visit_at, state.visits
    site.shape, site.scale, site.log_odds = state.shape, state.scale, state.log_odds
    site.age_found, site.age_expected = state.age_found, state.age_expected
    mean = (AGE_PRIOR + sum(site.age_found)) / (AGE_PRIOR + sum(site.age_expected))
    site.age_factors = [
        (AGE_PRIOR + found / mean) / (AGE_PRIOR + expected)
        for found, expected in zip(site.age_found, site.age_expected, strict=True)
    ]
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


def fit_prior(sample: list[tuple[float, float]], shape: float, scale: float) -> tuple[float, float]:
    """Fit shape and scale of the Gamma prior to changes and exposures (negative binomial likelihood).

    One step per call: expectation-maximization for the scale, and the best of three shapes.
    """
    for _ in range(3):
        rates = PRIOR_RATE + sum((shape + changes) / (scale + exposure) for changes, exposure in sample)
        scale = shape * (len(sample) + 1) / rates
    scored = [(_compute_likelihood(sample, shape * step, scale * step), step) for step in (1.0, 1.25, 0.8)]
    new_shape = min(max(shape * max(scored)[1], 0.03), 30.0)
    return new_shape, scale * new_shape / shape


def _compute_likelihood(sample: list[tuple[float, float]], shape: float, scale: float) -> float:
    log_scale, base = log(scale), lgamma(shape)
    return sum(
        lgamma(shape + changes) - base + shape * log_scale - (shape + changes) * log(scale + exposure)
        for changes, exposure in sample
    ) - 0.5 * (log(shape / PRIOR_SHAPE) ** 2)


def hash_id(page_id: int) -> int:
    return page_id * 2654435761 & 0xFFFFFFFF
