"""What is known of a site as a whole: how often its pages change, how lively its groups are, whose word holds good."""

from array import array
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.activity import BINS, PER_INTERVAL, Pulse
from sanderling.revisit.model.announcer_trust import Kind, Trust
from sanderling.revisit.model.change_rate import DAY
from sanderling.revisit.model.group_prior import KINDS, LEAST, PACE, Habit, Habits, Kin, judged, mark_of

MOST_GROUPS = 4096  # of one site in memory; those quiet for longest are forgotten
LIGHT = 32  # groups of one page that need no more memory than another one
LOOKS_PER_STAMP = 64  # the clocks of the groups are read anew after so many looks


class SiteState(Struct, array_like=True):
    """A site as stored."""

    prior: list[float]
    weights: list[float]
    width: float
    pages: int
    dates: tuple[float, float]
    pulses: list[tuple[str, str, int, bytes, bytes]]  # key, key above, first bin, found, expected
    trusts: list[tuple[float, float, float, float]]
    classes: float
    habits: list[tuple[str, int, bytes]]  # key, pages, prior
    knowing: list[float]
    single: bytes = b""  # four bytes for each group of one page


class Site:
    """The memory of one site that all its pages share."""

    def __init__(self, width: float) -> None:
        self.habits = Habits()
        self.weights = [1 / len(KINDS)] * len(KINDS)
        self.width = width  # of a bin, in seconds
        self.pulses: dict[str, Pulse] = {}
        self.trusts = [Trust() for _ in Kind]
        self.dates_right = 0.0  # changes that Last-Modified told
        self.dates_wrong = 0.5  # looks at which it told a change that was none, or none that was one
        self.classes = 0.1  # how far the classes of its sitemap are believed, from 0 to 1
        self.looks = 0
        self.seen_at = 0.0  # of the last visit to any of its pages

    @property
    def size(self) -> int:
        """How many groups it has in memory."""
        return len(self.pulses) + len(self.habits.groups) + len(self.habits.single) // LIGHT

    def forget_groups(self) -> None:
        """Know nothing but the whole site."""
        self.pulses, self.habits.groups, self.habits.single = {}, {}, set()

    def rescale(self, interval: float) -> None:
        """Follow the mean interval between visits; bins of another width begin empty, so what was learned may stay."""
        width, drift = interval / PER_INTERVAL, 1.0 if self.looks < LOOKS_PER_STAMP else 2.0
        if not self.width / drift < width < self.width * drift:
            self.width, self.pulses = width, {}

    def elapsed(self, kin: Kin, since: float, now: float) -> list[float]:
        """Days since a visit on the clock of each kind of group."""
        start, end, stamp = min(since, now) / self.width, now / self.width, self.looks // LOOKS_PER_STAMP
        newest, days = int(end), self.width / DAY
        clocks = []
        for key in kin.leaves:
            pulse = self.pulses.get(key) or self._pulse("", None, newest)
            pulse.read(newest, stamp)
            clocks.append(pulse.elapsed(start, end) * days)
        return clocks

    def blend(self, clocks: list[float]) -> float:
        """One elapsed time from those of the kinds, weighed by how well each foretold changes."""
        return change_rate.dot(self.weights, clocks)

    def tell(self, kin: Kin, since: float, now: float, rate: float, changed: bool) -> None:
        """Enter one look into every group of the page; the rate is in changes a day."""
        start, end, stamp = since / self.width, now / self.width, self.looks // LOOKS_PER_STAMP
        newest, each = int(end), rate * self.width / DAY
        for pulse in self._groups(kin, newest):
            pulse.read(newest, stamp)
            pulse.tell(start, end, each, changed)
        self.looks += 1

    def judge(self, chances: list[float]) -> None:
        """Weigh the kinds of group by how probable each held what was found."""
        self.weights = judged(self.weights, chances)

    def judge_classes(self, said: float, own: float) -> None:
        """Learn whether the sitemap's classes foretold what was found better than what is known of the site."""
        right, wrong = self.classes * said, (1 - self.classes) * own
        if right + wrong > 0:
            moved = self.classes + PACE * (right / (right + wrong) - self.classes)
            self.classes = min(max(moved, LEAST), 1 - LEAST)

    def judge_date(self, told: bool, changed: bool) -> None:
        """Learn whether Last-Modified can be believed here."""
        self.dates_right = 0.99 * self.dates_right + (told and changed)
        self.dates_wrong = 0.99 * self.dates_wrong + (told != changed)

    @property
    def has_honest_dates(self) -> bool:
        """Four of five that tell something must tell the truth."""
        return self.dates_right >= 4 * self.dates_wrong

    def _groups(self, kin: Kin, newest: int) -> Iterator[Pulse]:
        """The page's groups: the site, its places outermost first, its ending, its name."""
        site = pulse = self._pulse("", None, newest)
        yield site
        for place in kin.places:
            pulse = self._pulse(place, pulse, newest)
            yield pulse
        yield self._pulse(kin.ending, site, newest)
        yield self._pulse(kin.name, site, newest)

    def _pulse(self, key: str, above: Pulse | None, newest: int) -> Pulse:
        pulse = self.pulses.get(key)
        if pulse is None:
            if len(self.pulses) >= MOST_GROUPS:
                self._forget()
            pulse = self.pulses[key] = Pulse(above, newest)
        return pulse

    def _forget(self) -> None:
        """Drop the half of the groups that was quiet for longest; what followed one of them follows the site."""
        site = self.pulses.pop("")
        kept = sorted(self.pulses.items(), key=lambda item: item[1].first, reverse=True)[: MOST_GROUPS // 2]
        self.pulses = {"": site, **dict(kept)}
        here = set(map(id, self.pulses.values()))
        for _, pulse in kept:
            if id(pulse.above) not in here:
                pulse.above = site

    def export(self) -> bytes:
        """The site as bytes, to be stored between runs."""
        keys = {id(pulse): key for key, pulse in self.pulses.items()}
        pulses = [
            (key, keys.get(id(pulse.above), ""), pulse.first, _narrow(pulse.found), _narrow(pulse.expected))
            for key, pulse in sorted(self.pulses.items(), key=lambda item: len(item[0]))
        ]
        dates = (self.dates_right, self.dates_wrong)
        trusts = [(trust.hit, trust.missed, trust.false, trust.days) for trust in self.trusts]
        usual = self.habits
        habits = [(key, habit.pages, _narrow(array("d", habit.prior))) for key, habit in usual.groups.items()]
        return msgspec.msgpack.encode(
            SiteState(
                usual.prior, self.weights, self.width, usual.pages, dates, pulses, trusts, self.classes, habits,
                usual.weights, array("I", usual.single).tobytes(),
            )
        )  # fmt: skip


def restore(stored: bytes) -> Site:
    """The site as it was when exported."""
    state = msgspec.msgpack.decode(stored, type=SiteState)
    site = Site(state.width)
    site.weights, site.classes, site.looks = state.weights, state.classes, LOOKS_PER_STAMP
    usual = site.habits
    usual.prior, usual.pages, usual.weights = state.prior, state.pages, state.knowing
    usual.groups = {key: Habit(pages, list(_wide(prior))) for key, pages, prior in state.habits if pages > 1}
    usual.single = {*array("I", state.single), *(mark_of(key) for key, pages, _ in state.habits if pages == 1)}
    site.dates_right, site.dates_wrong = state.dates
    for key, above, first, found, expected in state.pulses:
        pulse = site.pulses[key] = Pulse(site.pulses[above] if key else None, first + BINS - 1)
        pulse.found, pulse.expected = _wide(found), _wide(expected)
    site.trusts = [Trust(*trust) for trust in state.trusts]
    return site


def _narrow(numbers: "array[float]") -> bytes:
    return array("f", numbers).tobytes()


def _wide(stored: bytes) -> "array[float]":
    return array("d", array("f", stored))
