"""Statistics of a site: change rates, group activity, and trust in its announcements and dates."""

from array import array
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.activity import BIN_COUNT, BINS_PER_INTERVAL, GroupActivity
from sanderling.revisit.model.announcer_trust import Announcer, AnnouncerTrust
from sanderling.revisit.model.change_rate import DAY
from sanderling.revisit.model.group_prior import (
    GROUP_KINDS,
    LEARNING_RATE,
    MIN_WEIGHT,
    GroupPrior,
    SitePriors,
    UrlGroups,
    hash_key,
    update_kind_weights,
)

MAX_GROUPS = 4096  # of one site in memory
SINGLE_GROUPS_PER_UNIT = 32  # single-page groups that need as much memory as one group
OBSERVATIONS_PER_VERSION = 64  # group clocks are recomputed after so many visits


class SiteState(Struct, array_like=True):
    """Stored form of SiteStats."""

    prior: list[float]
    weights: list[float]
    bin_seconds: float
    page_count: int
    date_scores: tuple[float, float]
    activities: list[tuple[str, str, int, bytes, bytes]]  # key, parent key, first bin, found, expected
    announcer_trusts: list[tuple[float, float, float, float]]
    changefreq_trust: float
    group_priors: list[tuple[str, int, bytes]]  # key, pages, prior
    prior_weights: list[float]
    single_page_groups: bytes = b""  # 4-byte hashes


class SiteStats:
    """Statistics shared by all pages of a site."""

    def __init__(self, bin_seconds: float) -> None:
        self.priors = SitePriors()
        self.kind_weights = [1 / len(GROUP_KINDS)] * len(GROUP_KINDS)
        self.bin_seconds = bin_seconds
        self.activities: dict[str, GroupActivity] = {}
        self.announcer_trusts = [AnnouncerTrust() for _ in Announcer]
        self.correct_dates = 0.0  # changes that Last-Modified reported
        self.wrong_dates = 0.5  # visits at which it was wrong
        self.changefreq_trust = 0.1  # 0 to 1
        self.observation_count = 0
        self.last_visit_at = 0.0  # of any page

    @property
    def group_count(self) -> int:
        """Number of groups in memory."""
        return (
            len(self.activities)
            + len(self.priors.groups)
            + len(self.priors.single_page_groups) // SINGLE_GROUPS_PER_UNIT
        )

    def drop_groups(self) -> None:
        self.activities, self.priors.groups, self.priors.single_page_groups = {}, {}, set()

    def rescale_bins(self, interval: float) -> None:
        """Adapt the bin width to the mean interval. Discards activities of another width."""
        width, drift = interval / BINS_PER_INTERVAL, 1.0 if self.observation_count < OBSERVATIONS_PER_VERSION else 2.0
        if not self.bin_seconds / drift < width < self.bin_seconds * drift:
            self.bin_seconds, self.activities = width, {}

    def compute_elapsed(self, url_groups: UrlGroups, since: float, now: float) -> list[float]:
        """Return the days since a visit on the clock of each group kind."""
        start, end, version = (
            min(since, now) / self.bin_seconds,
            now / self.bin_seconds,
            self.observation_count // OBSERVATIONS_PER_VERSION,
        )
        newest, days = int(end), self.bin_seconds / DAY
        clocks = []
        for key in url_groups.closest_groups:
            activity = self.activities.get(key) or self._get_activity("", None, newest)
            activity.update_clock(newest, version)
            clocks.append(activity.compute_elapsed(start, end) * days)
        return clocks

    def blend_elapsed(self, elapsed_days: list[float]) -> float:
        """Average elapsed times, weighted by how well each group kind predicts changes."""
        return change_rate.dot(self.kind_weights, elapsed_days)

    def record_observation(
        self, url_groups: UrlGroups, since: float, now: float, rate: float, has_changed: bool
    ) -> None:
        """Add a visit to all groups of a page; the rate is per day."""
        start, end, version = (
            since / self.bin_seconds,
            now / self.bin_seconds,
            self.observation_count // OBSERVATIONS_PER_VERSION,
        )
        newest, each = int(end), rate * self.bin_seconds / DAY
        for activity in self._iter_activities(url_groups, newest):
            activity.update_clock(newest, version)
            activity.record_observation(start, end, each, has_changed)
        self.observation_count += 1

    def update_weights(self, likelihoods: list[float]) -> None:
        self.kind_weights = update_kind_weights(self.kind_weights, likelihoods)

    def update_changefreq_trust(self, changefreq_likelihood: float, prior_likelihood: float) -> None:
        """Learn whether `changefreq` predicts changes better than the site prior."""
        right, wrong = self.changefreq_trust * changefreq_likelihood, (1 - self.changefreq_trust) * prior_likelihood
        if right + wrong > 0:
            trust = self.changefreq_trust + LEARNING_RATE * (right / (right + wrong) - self.changefreq_trust)
            self.changefreq_trust = min(max(trust, MIN_WEIGHT), 1 - MIN_WEIGHT)

    def update_date_trust(self, is_dated_newer: bool, has_changed: bool) -> None:
        """Learn whether Last-Modified is reliable."""
        self.correct_dates = 0.99 * self.correct_dates + (is_dated_newer and has_changed)
        self.wrong_dates = 0.99 * self.wrong_dates + (is_dated_newer != has_changed)

    @property
    def has_reliable_dates(self) -> bool:
        """Whether four of five informative dates are correct."""
        return self.correct_dates >= 4 * self.wrong_dates

    def _iter_activities(self, url_groups: UrlGroups, newest_bin: int) -> Iterator[GroupActivity]:
        """Yield the groups of a page: site, directories outermost first, extension, file name."""
        site = activity = self._get_activity("", None, newest_bin)
        yield site
        for directory in url_groups.directories:
            activity = self._get_activity(directory, activity, newest_bin)
            yield activity
        yield self._get_activity(url_groups.extension, site, newest_bin)
        yield self._get_activity(url_groups.file_stem, site, newest_bin)

    def _get_activity(self, key: str, parent: GroupActivity | None, newest_bin: int) -> GroupActivity:
        activity = self.activities.get(key)
        if activity is None:
            if len(self.activities) >= MAX_GROUPS:
                self._drop_quiet_groups()
            activity = self.activities[key] = GroupActivity(parent, newest_bin)
        return activity

    def _drop_quiet_groups(self) -> None:
        """Drop the half of the groups that was inactive longest; orphans follow the site."""
        site = self.activities.pop("")
        kept = sorted(self.activities.items(), key=lambda item: item[1].first_bin, reverse=True)[: MAX_GROUPS // 2]
        self.activities = {"": site, **dict(kept)}
        kept_ids = set(map(id, self.activities.values()))
        for _, activity in kept:
            if id(activity.parent) not in kept_ids:
                activity.parent = site

    def export_state(self) -> bytes:
        keys = {id(activity): key for key, activity in self.activities.items()}
        activities = [
            (
                key,
                keys.get(id(activity.parent), ""),
                activity.first_bin,
                _pack_floats(activity.found_changes),
                _pack_floats(activity.expected_changes),
            )
            for key, activity in sorted(self.activities.items(), key=lambda item: len(item[0]))
        ]
        dates = (self.correct_dates, self.wrong_dates)
        trusts = [
            (trust.true_count, trust.missed_count, trust.false_count, trust.observed_days)
            for trust in self.announcer_trusts
        ]
        priors = self.priors
        group_priors = [
            (key, group.page_count, _pack_floats(array("d", group.prior))) for key, group in priors.groups.items()
        ]
        return msgspec.msgpack.encode(
            SiteState(
                priors.prior,
                self.kind_weights,
                self.bin_seconds,
                priors.page_count,
                dates,
                activities,
                trusts,
                self.changefreq_trust,
                group_priors,
                priors.kind_weights,
                array("I", priors.single_page_groups).tobytes(),
            )
        )


def restore_site(stored: bytes) -> SiteStats:
    state = msgspec.msgpack.decode(stored, type=SiteState)
    site = SiteStats(state.bin_seconds)
    site.kind_weights, site.changefreq_trust, site.observation_count = (
        state.weights,
        state.changefreq_trust,
        OBSERVATIONS_PER_VERSION,
    )
    priors = site.priors
    priors.prior, priors.page_count, priors.kind_weights = state.prior, state.page_count, state.prior_weights
    priors.groups = {
        key: GroupPrior(pages, list(_unpack_floats(prior))) for key, pages, prior in state.group_priors if pages > 1
    }
    priors.single_page_groups = {
        *array("I", state.single_page_groups),
        *(hash_key(key) for key, pages, _ in state.group_priors if pages == 1),
    }
    site.correct_dates, site.wrong_dates = state.date_scores
    for key, parent_key, first, found, expected in state.activities:
        activity = site.activities[key] = GroupActivity(
            site.activities[parent_key] if key else None, first + BIN_COUNT - 1
        )
        activity.found_changes, activity.expected_changes = _unpack_floats(found), _unpack_floats(expected)
    site.announcer_trusts = [AnnouncerTrust(*trust) for trust in state.announcer_trusts]
    return site


def _pack_floats(numbers: "array[float]") -> bytes:
    return array("f", numbers).tobytes()


def _unpack_floats(stored: bytes) -> "array[float]":
    return array("d", array("f", stored))
