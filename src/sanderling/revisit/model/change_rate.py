"""Estimate the change rate of a page: a distribution over 32 rates, updated by every visit.

A page stores evidence, 32 likelihood ratios relative to the prior of its site, so the prior can move without touching
stored pages. Rates may switch: before each visit some evidence is forgotten, as if the rate were redrawn once in two
years. All functions of rate x time are tables over a logarithmic grid of times, so that a visit costs a few products of
32 numbers and no numpy.
"""

import struct
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import exp, expm1, log
from operator import mul

DAY = 86_400.0
MIN_RATE = 1 / 30_000  # per day: once in 80 years
MAX_RATE = 24.0  # per day: once an hour
RATE_COUNT = 32
RATES = [MIN_RATE * (MAX_RATE / MIN_RATE) ** (k / (RATE_COUNT - 1)) for k in range(RATE_COUNT)]
LOG_RATES = [log(rate) for rate in RATES]
RATE_CHANGE_DAYS = 730.0  # mean time between switches of the rate
TYPICAL_CHANGE_DAYS = 120.0  # "about four months" (Cho, Garcia-Molina, VLDB 2000)
LOG_SPREAD = 2.0  # 95 % of pages change between once in two days and once in 18 years
NO_EVIDENCE = [1.0] * RATE_COUNT
PRIOR_FLOOR = 0.02 / RATE_COUNT  # no rate is impossible

MIN_DAYS = 1e-3  # first time of the grid
SLOTS_PER_E = 32  # grid points per factor e: times are rounded to 3 %
SLOT_COUNT = 516  # reaches 10,000 days

_HALF_FLOATS = struct.Struct(f"<{RATE_COUNT}e")

RateVector = list[float]


class RateTable(dict[int, RateVector]):
    """Rows by grid slot, computed on first use."""

    def __init__(self, build_row: Callable[[int], RateVector]) -> None:
        super().__init__()
        self.build_row = build_row
        self.last_search: tuple[RateVector, float, int, int] = ([], 0.0, 0, 0)  # weights, price, guess, result

    def __missing__(self, slot: int) -> RateVector:
        row = self[slot] = self.build_row(slot)
        return row


def get_slot(days: float) -> int:
    """Return the grid slot of a time."""
    if days <= MIN_DAYS:
        return 0
    return min(int(log(days / MIN_DAYS) * SLOTS_PER_E + 0.5), SLOT_COUNT - 1)


def get_slot_days(slot: int) -> float:
    """Return the time of a grid slot, in days."""
    return MIN_DAYS * exp(slot / SLOTS_PER_E)


@cache
def get_unchanged_table() -> RateTable:
    """Return P(no change) by time and rate."""
    return RateTable(lambda slot: [exp(-rate * get_slot_days(slot)) for rate in RATES])


@cache
def get_changed_table() -> RateTable:
    """Return P(at least one change) by time and rate."""
    return RateTable(lambda slot: [-expm1(-rate * get_slot_days(slot)) for rate in RATES])


@lru_cache(4)
def get_value_table(age_weight: float) -> RateTable:
    """Return the value of a visit by time and rate: days of freshness won, plus a little for the age of stale copies.

    V = (1 - (1 + x) e^-x) / rate and U = (x^2/2 + x e^-x - (1 - e^-x)) / rate^2 with x = rate * time: the marginal
    values of the two optimal schedules (Cho and Garcia-Molina; Olston and Pandey).
    """
    return RateTable(lambda slot: [_compute_value(rate, get_slot_days(slot), age_weight) for rate in RATES])


def _compute_value(rate: float, days: float, age_weight: float) -> float:
    x = rate * days
    if x < 1e-3:  # series expansion, where the differences cancel
        return rate * days * days / 2 + age_weight * rate * days**3 / 3
    fresh, gone = exp(-x), -expm1(-x)
    return (gone - x * fresh) / rate + age_weight * (x * x / 2 + x * fresh - gone) / (rate * rate)


@lru_cache(16)
def build_rate_prior(days: float, spread: float = log(3.0)) -> RateVector:
    """Build a prior around one change in so many days, within a factor of three."""
    rate = min(max(1 / max(days, 1 / MAX_RATE), MIN_RATE), MAX_RATE)
    bump = [exp(-0.5 * (log(each / rate) / spread) ** 2) for each in RATES]
    total = sum(bump)
    return [(1 - PRIOR_FLOOR * RATE_COUNT) * each / total + PRIOR_FLOOR for each in bump]


WEB_PRIOR = build_rate_prior(TYPICAL_CHANGE_DAYS, LOG_SPREAD)  # of pages of unknown sites


def update_evidence(
    evidence: Sequence[float], prior: RateVector, likelihood: RateVector, forgetting: float
) -> RateVector:
    """Update evidence by a visit, scaled to mean 1 under the prior."""
    keep = 1 - forgetting
    updated = [(keep * old + forgetting) * new for old, new in zip(evidence, likelihood, strict=True)]
    scale = sum(map(mul, updated, prior))
    if scale <= 0:
        return NO_EVIDENCE
    return [ratio / scale for ratio in updated]


def compute_forgetting(days: float) -> float:
    """Return the probability that the rate was redrawn in this time."""
    return -expm1(-days / RATE_CHANGE_DAYS)


def compute_posterior(evidence: Sequence[float], prior: RateVector) -> tuple[RateVector, float]:
    """Return the weight of each rate, and the sum of the weights."""
    weights = prior if evidence is NO_EVIDENCE else list(map(mul, evidence, prior))
    total = sum(weights)
    return (weights, total) if total > 0 else (prior, sum(prior))


def compute_mean_rate(weights: RateVector, total: float) -> float:
    """Return the expected rate, in changes per day."""
    return dot(weights, RATES) / total


def compute_typical_interval(weights: RateVector, total: float) -> float:
    """Return the geometric mean interval between changes, in days."""
    return exp(-dot(weights, LOG_RATES) / total)


def dot(weights: RateVector, values: RateVector) -> float:
    """Return the dot product; the hot path of this package."""
    return sum(map(mul, weights, values))  # type: ignore[no-any-return]


def find_due_slot(weights: RateVector, table: RateTable, price: float, guess: int) -> int:
    """Find the first slot at which a visit is worth its price, starting at `guess`."""
    known_weights, known_price, known_guess, known_slot = table.last_search
    if known_weights is weights and known_price == price and known_guess == guess:  # new pages repeat the same search
        return known_slot
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
    """Find a slot below the price and a slot at or above it, with doubling strides."""
    low, high, stride = guess - 1, guess, 1
    while high < SLOT_COUNT - 1 and sum(map(mul, weights, table[high])) < price:
        low, high, stride = high, min(high + stride, SLOT_COUNT - 1), stride * 2
    if stride > 1:
        return low, high
    while low >= 0 and sum(map(mul, weights, table[low])) >= price:
        low, high, stride = low - stride, low, stride * 2
    return max(low, -1), high


def shift_prior(prior: RateVector, weights: RateVector, total: float, share: float) -> RateVector:
    """Move a prior towards the posterior of a page."""
    rest, floor = share * (1 - PRIOR_FLOOR * RATE_COUNT) / total, share * PRIOR_FLOOR
    keep = 1 - share
    return [keep * old + rest * new + floor for old, new in zip(prior, weights, strict=True)]


def pack_evidence(evidence: Sequence[float]) -> bytes:
    """Pack evidence into 64 bytes of half-precision floats."""
    return _HALF_FLOATS.pack(*[min(ratio, 6e4) for ratio in evidence])


def unpack_evidence(stored: bytes) -> Sequence[float]:
    """Unpack evidence; empty bytes: no evidence."""
    return _HALF_FLOATS.unpack(stored) if len(stored) == _HALF_FLOATS.size else NO_EVIDENCE
