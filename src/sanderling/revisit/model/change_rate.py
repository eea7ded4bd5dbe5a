"""How often a page changes: a belief over 32 rates, learned from looks that found it changed or not.

A belief is evidence, 32 likelihood ratios beside the prior of its site; the prior may move without touching any stored
page. A rate may switch: before each look a little of the evidence is forgotten, as if the rate were drawn anew once in
two years (the exact filter of a rate that jumps at random). All functions of rate x time are read from tables on a
logarithmic lattice of times, so that one look costs a few products of 32 numbers and no numpy.
"""

import struct
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import exp, expm1, log
from operator import mul

DAY = 86_400.0
MIN_RATE = 1 / 30_000  # changes a day: once in eighty years, which is never
MAX_RATE = 24.0  # changes a day: once an hour
RATE_COUNT = 32
RATES = [MIN_RATE * (MAX_RATE / MIN_RATE) ** (k / (RATE_COUNT - 1)) for k in range(RATE_COUNT)]
LOG_RATES = [log(rate) for rate in RATES]
RATE_CHANGE_DAYS = 730.0  # days after which a rate is expected to have become another one
TYPICAL_CHANGE_DAYS = (
    120.0  # days between two changes of a page, in the middle: "about four months" (Cho, Garcia-Molina, VLDB 2000)
)
LOG_SPREAD = (
    2.0  # of the logarithm: of twenty pages, nineteen change between once in two days and once in eighteen years
)
NO_EVIDENCE = [1.0] * RATE_COUNT  # no evidence
PRIOR_FLOOR = 0.02 / RATE_COUNT  # of every prior: no rate is ever impossible

MIN_DAYS = 1e-3  # days; first time of the lattice
SLOTS_PER_E = 32  # lattice points per factor e: times are rounded to 3 %
SLOT_COUNT = 516  # reaches 10,000 days

_HALF_FLOATS = struct.Struct(f"<{RATE_COUNT}e")

RateVector = list[float]


class RateTable(dict[int, RateVector]):
    """Rows by place of the lattice, each worked out when it is first asked for: a crawl asks for few."""

    def __init__(self, build_row: Callable[[int], RateVector]) -> None:
        super().__init__()
        self.build_row = build_row
        self.last_search: tuple[RateVector, float, int, int] = (
            [],
            0.0,
            0,
            0,
        )  # the last ripening: what was asked, and the answer

    def __missing__(self, slot: int) -> RateVector:
        row = self[slot] = self.build_row(slot)
        return row


def get_slot(days: float) -> int:
    """The place of a time on the lattice."""
    if days <= MIN_DAYS:
        return 0
    return min(int(log(days / MIN_DAYS) * SLOTS_PER_E + 0.5), SLOT_COUNT - 1)


def get_slot_days(slot: int) -> float:
    """The time at a place of the lattice, in days."""
    return MIN_DAYS * exp(slot / SLOTS_PER_E)


@cache
def get_unchanged_table() -> RateTable:
    """Chance of no change, by time and rate."""
    return RateTable(lambda place: [exp(-rate * get_slot_days(place)) for rate in RATES])


@cache
def get_changed_table() -> RateTable:
    """Chance of at least one change, by time and rate."""
    return RateTable(lambda place: [-expm1(-rate * get_slot_days(place)) for rate in RATES])


@lru_cache(4)
def get_value_table(age_weight: float) -> RateTable:
    """Worth of a visit, by time and rate: days of freshness won, and a little for the age of what is stale.

    V = (1 - (1 + x) e^-x) / rate and U = (x^2/2 + x e^-x - (1 - e^-x)) / rate^2 with x = rate * time: the marginal
    values of the two optimal schedules (Cho and Garcia-Molina; Olston and Pandey).
    """
    return RateTable(lambda place: [_compute_value(rate, get_slot_days(place), age_weight) for rate in RATES])


def _compute_value(rate: float, days: float, age_weight: float) -> float:
    x = rate * days
    if x < 1e-3:  # the first terms of the series, where the differences cancel
        return rate * days * days / 2 + age_weight * rate * days**3 / 3
    fresh, gone = exp(-x), -expm1(-x)
    return (gone - x * fresh) / rate + age_weight * (x * x / 2 + x * fresh - gone) / (rate * rate)


@lru_cache(16)
def build_rate_prior(days: float, spread: float = log(3.0)) -> RateVector:
    """The prior of a page that is said to change once in so many days: that rate, give or take a factor of three."""
    rate = min(max(1 / max(days, 1 / MAX_RATE), MIN_RATE), MAX_RATE)
    bump = [exp(-0.5 * (log(each / rate) / spread) ** 2) for each in RATES]
    total = sum(bump)
    return [(1 - PRIOR_FLOOR * RATE_COUNT) * each / total + PRIOR_FLOOR for each in bump]


WEB_PRIOR = build_rate_prior(
    TYPICAL_CHANGE_DAYS, LOG_SPREAD
)  # what is thought of a page before anything is known of its site


def update_evidence(
    evidence: Sequence[float], prior: RateVector, likelihood: RateVector, forgetting: float
) -> RateVector:
    """The evidence after one more look, scaled so that its mean under the prior is 1."""
    keep = 1 - forgetting
    told = [(keep * old + forgetting) * new for old, new in zip(evidence, likelihood, strict=True)]
    scale = sum(map(mul, told, prior))
    if scale <= 0:
        return NO_EVIDENCE
    return [ratio / scale for ratio in told]


def compute_forgetting(days: float) -> float:
    """Chance that the rate was drawn anew in this time."""
    return -expm1(-days / RATE_CHANGE_DAYS)


def compute_posterior(evidence: Sequence[float], prior: RateVector) -> tuple[RateVector, float]:
    """What evidence and prior say together: the weight of each rate, and the sum of the weights."""
    weights = prior if evidence is NO_EVIDENCE else list(map(mul, evidence, prior))
    total = sum(weights)
    return (weights, total) if total > 0 else (prior, sum(prior))


def compute_mean_rate(weights: RateVector, total: float) -> float:
    """The expected rate, in changes a day."""
    return dot(weights, RATES) / total


def compute_typical_interval(weights: RateVector, total: float) -> float:
    """The time between two changes, in days, that is in the middle of what is believed."""
    return exp(-dot(weights, LOG_RATES) / total)


def dot(weights: RateVector, values: RateVector) -> float:
    """The sum of products; the one hot line of this room."""
    return sum(map(mul, weights, values))  # type: ignore[no-any-return]


def find_due_slot(weights: RateVector, table: RateTable, price: float, guess: int) -> int:
    """The first time, as a place of the lattice, at which a visit is worth its price; `guess` is where to begin."""
    known, at_price, from_guess, answer = table.last_search
    if known is weights and at_price == price and from_guess == guess:  # pages that are new ask the same one by one
        return answer
    low, high = _bracket_slot(weights, table, price, guess)
    while high - low > 1:
        middle = (low + high) // 2
        if sum(map(mul, weights, table[middle])) >= price:
            high = middle
        else:
            low = middle
    table.last_search = weights, price, guess, high
    return high


def _bracket_slot(weights: RateVector, table: RateTable, price: float, guess: int) -> tuple[int, int]:
    """A place below the price and one at or above it (or the ends of the lattice), by strides that double."""
    low, high, stride = guess - 1, guess, 1
    while high < SLOT_COUNT - 1 and sum(map(mul, weights, table[high])) < price:
        low, high, stride = high, min(high + stride, SLOT_COUNT - 1), stride * 2
    if stride > 1:
        return low, high
    while low >= 0 and sum(map(mul, weights, table[low])) >= price:
        low, high, stride = low - stride, low, stride * 2
    return max(low, -1), high


def shift_prior(prior: RateVector, weights: RateVector, total: float, share: float) -> RateVector:
    """The prior, moved a little towards what one of its pages turned out to be."""
    rest, floor = share * (1 - PRIOR_FLOOR * RATE_COUNT) / total, share * PRIOR_FLOOR
    keep = 1 - share
    return [keep * old + rest * new + floor for old, new in zip(prior, weights, strict=True)]


def pack_evidence(evidence: Sequence[float]) -> bytes:
    """64 bytes, half precision: evidence is no finer than that."""
    return _HALF_FLOATS.pack(*[min(ratio, 6e4) for ratio in evidence])


def unpack_evidence(stored: bytes) -> Sequence[float]:
    """The evidence; nothing stored is no evidence."""
    return _HALF_FLOATS.unpack(stored) if len(stored) == _HALF_FLOATS.size else NO_EVIDENCE
