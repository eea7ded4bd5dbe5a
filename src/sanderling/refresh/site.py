"""What is known of a site as a whole: how often its pages change, how lively its groups are, whose word holds good."""

from array import array
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from . import rates
from .kin import KINDS, Kin
from .pulse import BINS, PER_INTERVAL, Pulse, Span, elapsed, tell
from .rates import FLAT, Row
from .trust import Kind, Trust

MOST_GROUPS = 4096  # of one site in memory; those quiet for longest are forgotten
LOOKS_PER_STAMP = 16  # the clocks of the groups are read anew after so many looks
PACE = 0.01  # how fast the best kind of group is learned
LEAST = 0.01  # weight a kind of group keeps, so that it can come back


class SiteState(Struct, array_like=True):
    """A site as stored."""

    prior: list[float]
    weights: list[float]
    width: float
    pages: int
    pulses: list[tuple[str, str, int, bytes, bytes]]  # key, key above, first bin, found, expected
    trusts: list[tuple[float, float, float, float]]


class Site:
    """The memory of one site that all its pages share."""

    def __init__(self, width: float, prior: Row = FLAT) -> None:
        self.prior = prior
        self.weights = [1 / len(KINDS)] * len(KINDS)
        self.width = width  # of a bin, in seconds
        self.pulses: dict[str, Pulse] = {}
        self.trusts = [Trust() for _ in Kind]
        self.pages = 0  # known here
        self.looks = 0

    def rescale(self, interval: float) -> None:
        """Follow the mean interval between visits; bins of another width begin empty."""
        width = interval / PER_INTERVAL
        if not self.width / 2 < width < self.width * 2:
            self.width, self.pulses = width, {}

    def elapsed(self, kin: Kin, since: float, now: float) -> list[float]:
        """Days since a visit on the clock of each kind of group."""
        span = Span(min(since, now), now, self.width)
        stamp = self.looks // LOOKS_PER_STAMP
        return [elapsed(pulse, span, stamp) for pulse in self._leaves(kin, span.newest)]

    def blend(self, clocks: list[float]) -> float:
        """One elapsed time from those of the kinds, weighed by how well each foretold changes."""
        return sum(weight * days for weight, days in zip(self.weights, clocks, strict=True))

    def tell(self, kin: Kin, since: float, now: float, rate: float, changed: bool) -> None:
        """Enter one look into every group of the page."""
        span = Span(min(since, now), now, self.width)
        stamp = self.looks // LOOKS_PER_STAMP
        for pulse in self._groups(kin, span.newest):
            tell(pulse, span, rate, changed, stamp)
        self.looks += 1

    def judge(self, chances: list[float]) -> None:
        """Weigh the kinds of group by how probable each held what was found."""
        said = [weight * chance for weight, chance in zip(self.weights, chances, strict=True)]
        total = sum(said)
        if total > 0:
            moved = [
                max(weight * (1 - PACE) + PACE * word / total, LEAST)
                for weight, word in zip(self.weights, said, strict=True)
            ]
            self.weights = [weight / sum(moved) for weight in moved]

    def learn_prior(self, weights: Row, share: float) -> None:
        """Move the prior of the site towards one of its pages."""
        self.prior = rates.moved(self.prior, weights, share)

    def _leaves(self, kin: Kin, newest: int) -> list[Pulse]:
        *_, place, ending, name = self._groups(kin, newest)
        return [place, ending, name]

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
            pulse = self.pulses[key] = Pulse(above, newest - BINS + 1)
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
        trusts = [(trust.hit, trust.missed, trust.false, trust.days) for trust in self.trusts]
        return msgspec.msgpack.encode(SiteState(self.prior, self.weights, self.width, self.pages, pulses, trusts))


def restore(stored: bytes) -> Site:
    """The site as it was when exported."""
    state = msgspec.msgpack.decode(stored, type=SiteState)
    site = Site(state.width, state.prior)
    site.weights, site.pages = state.weights, state.pages
    for key, above, first, found, expected in state.pulses:
        pulse = site.pulses[key] = Pulse(site.pulses[above] if key else None, first)
        pulse.found, pulse.expected = _wide(found), _wide(expected)
    site.trusts = [Trust(*trust) for trust in state.trusts]
    return site


def _narrow(numbers: list[float]) -> bytes:
    return array("f", numbers).tobytes()


def _wide(stored: bytes) -> list[float]:
    return array("f", stored).tolist()
