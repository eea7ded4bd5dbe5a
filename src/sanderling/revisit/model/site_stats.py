"""What is known of a site as a whole: how often its pages change, how lively its groups are, whose word holds good."""

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

MAX_GROUPS = 4096  # of one site in memory; those quiet for longest are forgotten
SINGLE_GROUPS_PER_UNIT = 32  # groups of one page that need no more memory than another one
OBSERVATIONS_PER_VERSION = 64  # the clocks of the groups are read anew after so many looks


class SiteState(Struct, array_like=True):
    """A site as stored."""

    prior: list[float]
    weights: list[float]
    bin_seconds: float
    page_count: int
    date_scores: tuple[float, float]
    activities: list[tuple[str, str, int, bytes, bytes]]  # key, key above, first bin, found, expected
    announcer_trusts: list[tuple[float, float, float, float]]
    changefreq_trust: float
    group_priors: list[tuple[str, int, bytes]]  # key, pages, prior
    prior_weights: list[float]
    single_page_groups: bytes = b""  # four bytes for each group of one page


class SiteStats:
    """The memory of one site that all its pages share."""

    def __init__(self, bin_seconds: float) -> None:
        self.priors = SitePriors()
        self.kind_weights = [1 / len(GROUP_KINDS)] * len(GROUP_KINDS)
        self.bin_seconds = bin_seconds  # of a bin, in seconds
        self.activities: dict[str, GroupActivity] = {}
        self.announcer_trusts = [AnnouncerTrust() for _ in Announcer]
        self.correct_dates = 0.0  # changes that Last-Modified told
        self.wrong_dates = 0.5  # looks at which it told a change that was none, or none that was one
        self.changefreq_trust = 0.1  # how far the classes of its sitemap are believed, from 0 to 1
        self.observation_count = 0
        self.last_visit_at = 0.0  # of the last visit to any of its pages

    @property
    def group_count(self) -> int:
        """How many groups it has in memory."""
        return (
            len(self.activities)
            + len(self.priors.groups)
            + len(self.priors.single_page_groups) // SINGLE_GROUPS_PER_UNIT
        )

    def drop_groups(self) -> None:
        """Know nothing but the whole site."""
        self.activities, self.priors.groups, self.priors.single_page_groups = {}, {}, set()

    def rescale_bins(self, interval: float) -> None:
        """Follow the mean interval between visits; bins of another width begin empty, so what was learned may stay."""
        width, drift = interval / BINS_PER_INTERVAL, 1.0 if self.observation_count < OBSERVATIONS_PER_VERSION else 2.0
        if not self.bin_seconds / drift < width < self.bin_seconds * drift:
            self.bin_seconds, self.activities = width, {}

    def compute_elapsed(self, url_groups: UrlGroups, since: float, now: float) -> list[float]:
        """Days since a visit on the clock of each kind of group."""
        start, end, stamp = (
            min(since, now) / self.bin_seconds,
            now / self.bin_seconds,
            self.observation_count // OBSERVATIONS_PER_VERSION,
        )
        newest, days = int(end), self.bin_seconds / DAY
        clocks = []
        for key in url_groups.closest_groups:
            pulse = self.activities.get(key) or self._get_activity("", None, newest)
            pulse.update_clock(newest, stamp)
            clocks.append(pulse.compute_elapsed(start, end) * days)
        return clocks

    def blend_elapsed(self, elapsed_days: list[float]) -> float:
        """One elapsed time from those of the kinds, weighed by how well each foretold changes."""
        return change_rate.dot(self.kind_weights, elapsed_days)

    def record_observation(
        self, url_groups: UrlGroups, since: float, now: float, rate: float, has_changed: bool
    ) -> None:
        """Enter one look into every group of the page; the rate is in changes a day."""
        start, end, stamp = (
            since / self.bin_seconds,
            now / self.bin_seconds,
            self.observation_count // OBSERVATIONS_PER_VERSION,
        )
        newest, each = int(end), rate * self.bin_seconds / DAY
        for pulse in self._iter_activities(url_groups, newest):
            pulse.update_clock(newest, stamp)
            pulse.record_observation(start, end, each, has_changed)
        self.observation_count += 1

    def update_weights(self, likelihoods: list[float]) -> None:
        """Weigh the kinds of group by how probable each held what was found."""
        self.kind_weights = update_kind_weights(self.kind_weights, likelihoods)

    def update_changefreq_trust(self, changefreq_likelihood: float, prior_likelihood: float) -> None:
        """Learn whether the sitemap's classes foretold what was found better than what is known of the site."""
        right, wrong = self.changefreq_trust * changefreq_likelihood, (1 - self.changefreq_trust) * prior_likelihood
        if right + wrong > 0:
            moved = self.changefreq_trust + LEARNING_RATE * (right / (right + wrong) - self.changefreq_trust)
            self.changefreq_trust = min(max(moved, MIN_WEIGHT), 1 - MIN_WEIGHT)

    def update_date_trust(self, is_dated_newer: bool, has_changed: bool) -> None:
        """Learn whether Last-Modified can be believed here."""
        self.correct_dates = 0.99 * self.correct_dates + (is_dated_newer and has_changed)
        self.wrong_dates = 0.99 * self.wrong_dates + (is_dated_newer != has_changed)

    @property
    def has_reliable_dates(self) -> bool:
        """Four of five that tell something must tell the truth."""
        return self.correct_dates >= 4 * self.wrong_dates

    def _iter_activities(self, url_groups: UrlGroups, newest_bin: int) -> Iterator[GroupActivity]:
        """The page's groups: the site, its places outermost first, its ending, its name."""
        site = pulse = self._get_activity("", None, newest_bin)
        yield site
        for place in url_groups.directories:
            pulse = self._get_activity(place, pulse, newest_bin)
            yield pulse
        yield self._get_activity(url_groups.extension, site, newest_bin)
        yield self._get_activity(url_groups.file_stem, site, newest_bin)

    def _get_activity(self, key: str, parent: GroupActivity | None, newest_bin: int) -> GroupActivity:
        pulse = self.activities.get(key)
        if pulse is None:
            if len(self.activities) >= MAX_GROUPS:
                self._drop_quiet_groups()
            pulse = self.activities[key] = GroupActivity(parent, newest_bin)
        return pulse

    def _drop_quiet_groups(self) -> None:
        """Drop the half of the groups that was quiet for longest; what followed one of them follows the site."""
        site = self.activities.pop("")
        kept = sorted(self.activities.items(), key=lambda item: item[1].first_bin, reverse=True)[: MAX_GROUPS // 2]
        self.activities = {"": site, **dict(kept)}
        here = set(map(id, self.activities.values()))
        for _, pulse in kept:
            if id(pulse.parent) not in here:
                pulse.parent = site

    def export_state(self) -> bytes:
        """The site as bytes, to be stored between runs."""
        keys = {id(pulse): key for key, pulse in self.activities.items()}
        pulses = [
            (
                key,
                keys.get(id(pulse.parent), ""),
                pulse.first_bin,
                _pack_floats(pulse.found_changes),
                _pack_floats(pulse.expected_changes),
            )
            for key, pulse in sorted(self.activities.items(), key=lambda item: len(item[0]))
        ]
        dates = (self.correct_dates, self.wrong_dates)
        trusts = [
            (trust.true_count, trust.missed_count, trust.false_count, trust.observed_days)
            for trust in self.announcer_trusts
        ]
        usual = self.priors
        habits = [(key, habit.page_count, _pack_floats(array("d", habit.prior))) for key, habit in usual.groups.items()]
        return msgspec.msgpack.encode(
            SiteState(
                usual.prior,
                self.kind_weights,
                self.bin_seconds,
                usual.page_count,
                dates,
                pulses,
                trusts,
                self.changefreq_trust,
                habits,
                usual.kind_weights,
                array("I", usual.single_page_groups).tobytes(),
            )
        )


def restore_site(stored: bytes) -> SiteStats:
    """The site as it was when exported."""
    state = msgspec.msgpack.decode(stored, type=SiteState)
    site = SiteStats(state.bin_seconds)
    site.kind_weights, site.changefreq_trust, site.observation_count = (
        state.weights,
        state.changefreq_trust,
        OBSERVATIONS_PER_VERSION,
    )
    usual = site.priors
    usual.prior, usual.page_count, usual.kind_weights = state.prior, state.page_count, state.prior_weights
    usual.groups = {
        key: GroupPrior(pages, list(_unpack_floats(prior))) for key, pages, prior in state.group_priors if pages > 1
    }
    usual.single_page_groups = {
        *array("I", state.single_page_groups),
        *(hash_key(key) for key, pages, _ in state.group_priors if pages == 1),
    }
    site.correct_dates, site.wrong_dates = state.date_scores
    for key, above, first, found, expected in state.activities:
        pulse = site.activities[key] = GroupActivity(site.activities[above] if key else None, first + BIN_COUNT - 1)
        pulse.found_changes, pulse.expected_changes = _unpack_floats(found), _unpack_floats(expected)
    site.announcer_trusts = [AnnouncerTrust(*trust) for trust in state.announcer_trusts]
    return site


def _pack_floats(numbers: "array[float]") -> bytes:
    return array("f", numbers).tobytes()


def _unpack_floats(stored: bytes) -> "array[float]":
    return array("d", array("f", stored))
