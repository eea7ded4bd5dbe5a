"""Policies of other crawlers and papers: fixed, sitemap, self-adjusting, Nutch, Heritrix, Cho, LambdaCrawl.

Those with an interval per page are scaled to the budget by the price of a visit.
"""

import math
from collections.abc import Callable
from math import exp, expm1, log, sqrt

from msgspec.structs import replace

from sanderling.revisit.announcements import CHANGEFREQ_CLASSES, CHANGEFREQ_SECONDS, DEFAULT_CHANGEFREQ
from sanderling.revisit.policies.policy import Assessment, PolicyView, RevisitPolicy, describe_checks, format_frequency
from sanderling.revisit.visit_history import (
    DAY,
    FIRST_INTERVAL,
    Observation,
    VisitHistory,
    record_observation,
    set_interval,
)

ON_TIME_SHARE = 0.9  # of the interval; earlier visits adjust nothing
SAR_LOWER = 0.3  # SAR, p_l of the worked cases (the paper's sentence swaps the two names)
SAR_UPPER = 0.7  # SAR, p_g of the worked cases
SAR_MIN_INTERVAL, SAR_MAX_INTERVAL = 3600.0, 365 * DAY
NUTCH_INCREASE = 0.4  # nutch-default.xml: db.fetch.schedule.adaptive.inc_rate
NUTCH_DECREASE = 0.2  # nutch-default.xml: db.fetch.schedule.adaptive.dec_rate
NUTCH_SYNC_RATE = 0.3  # nutch-default.xml: db.fetch.schedule.adaptive.sync_delta_rate
NUTCH_MIN_INTERVAL, NUTCH_MAX_INTERVAL = 60.0, 365 * DAY
HERITRIX_FACTOR = 1.5  # WaitEvaluator
HERITRIX_MIN_WAIT, HERITRIX_MAX_WAIT = 3600.0, 28 * DAY
MAX_WAIT_INTERVALS = 8.0  # mean intervals; corrects a page given up by mistake


def compute_refresh_time(
    time: float,
    change_share: float,
    lower: float = SAR_LOWER,
    upper: float = SAR_UPPER,
    floor: float = 0.0,
    ceiling: float = math.inf,
) -> float:
    """Compute the next refresh time (SAR) from the last and the share of visits that found a change.

    Clamped: the formula is negative for share >= 2 * upper, and grows without limit if nothing changes.
    """
    if not 0 < lower < upper <= 1:
        raise ValueError(f"thresholds must satisfy 0 < lower < upper <= 1, not {lower} and {upper}")
    step = 0.0
    if change_share > upper:
        step = 1 - change_share / upper
    elif change_share < lower:
        step = 1 - change_share / lower
    return min(ceiling, max(floor, time + step * time))


def compute_nutch_interval(
    interval: float, has_changed: bool, unchanged_seconds: float, sync: bool = True
) -> tuple[float, float]:
    """Return the next interval of Nutch, and by how much to shorten it; `unchanged_seconds` is the age of the page."""
    interval *= 1 - NUTCH_DECREASE if has_changed else 1 + NUTCH_INCREASE
    early = 0.0
    if sync:
        interval = max(interval, unchanged_seconds)
        early = NUTCH_SYNC_RATE * unchanged_seconds
    return min(max(interval, NUTCH_MIN_INTERVAL), NUTCH_MAX_INTERVAL), early


def compute_heritrix_wait(wait: float, has_changed: bool) -> float:
    """Return the next wait of Heritrix in seconds."""
    return min(
        max(wait / HERITRIX_FACTOR if has_changed else wait * HERITRIX_FACTOR, HERITRIX_MIN_WAIT), HERITRIX_MAX_WAIT
    )


def estimate_rate(history: VisitHistory, view: PolicyView) -> float:
    """Estimate changes per day, bias-reduced (Cho and Garcia-Molina): -ln((n - X + 0.5) / (n + 0.5)) / I.

    I is the mean interval between n visits; before the second visit, that of all pages and half a change.
    """
    visits = history.visits - 1
    if visits <= 0 or history.last_visit <= history.first_visit:
        return 0.5 * DAY / view.mean_interval
    days = (history.last_visit - history.first_visit) / visits / DAY
    unchanged_share = (visits - history.changes + 0.5) / (visits + 0.5)
    return -log(unchanged_share) / days if history.changes else 0.5 / (visits + 0.5) / days


def compute_freshness_value(rate: float, days: float) -> float:
    """Return days of freshness won by a visit; equal for all pages in the optimal schedule."""
    x = rate * days
    return rate * days * days / 2 if x < 1e-4 else (-expm1(-x) - x * exp(-x)) / rate


def compute_harmonic_value(rate: float, days: float) -> float:
    """Return the price at which LambdaCrawl visits a page after so many days."""
    return rate * days * days / (1 + rate * days)


def compute_crawl_rate(rate: float, price: float) -> float:
    """Return visits per day of a page with this change rate, at this price; inverse of `compute_harmonic_value`."""
    return (-rate + sqrt(rate * rate + 4 * rate / price)) / 2


def _record_only(history: VisitHistory, observation: Observation, view: PolicyView) -> VisitHistory:  # noqa: ARG001 interface
    return record_observation(history, observation)


def _update_sar(history: VisitHistory, observation: Observation, view: PolicyView) -> VisitHistory:
    """Adjust the refresh time after a visit on time (corrects a comparison in the paper)."""
    after = record_observation(history, observation)
    if observation.visited_at - history.last_visit < ON_TIME_SHARE * view.price * history.interval:
        return after
    interval = compute_refresh_time(
        after.interval, after.change_share, floor=SAR_MIN_INTERVAL, ceiling=SAR_MAX_INTERVAL
    )
    return set_interval(after, interval)


def _update_nutch(history: VisitHistory, observation: Observation, view: PolicyView) -> VisitHistory:  # noqa: ARG001 interface
    after = record_observation(history, observation)
    unchanged_seconds = max(observation.visited_at - (observation.modified_at or after.changed_at), 0.0)
    return set_interval(after, compute_nutch_interval(after.interval, observation.has_changed, unchanged_seconds)[0])


def _update_heritrix(history: VisitHistory, observation: Observation, view: PolicyView) -> VisitHistory:  # noqa: ARG001 interface
    after = record_observation(history, observation)
    return set_interval(after, compute_heritrix_wait(after.interval, observation.has_changed))


def _assess_interval(history: VisitHistory, view: PolicyView) -> Assessment:
    """Due when the interval is over; the value is the elapsed share of it."""
    if history.interval <= 0:
        return history.last_visit, math.inf
    elapsed = max(view.now - history.last_visit, 0.0)
    return history.last_visit + view.price * history.interval, elapsed / history.interval


def _assess_nutch(history: VisitHistory, view: PolicyView) -> Assessment:
    """Assess by interval, from a little before the last visit, so that visits drift towards the change."""
    early = NUTCH_SYNC_RATE * max(history.last_visit - history.changed_at, 0.0)
    return _assess_interval(set_interval(history, max(history.interval - early, NUTCH_MIN_INTERVAL)), view)


def _assess_sitemap(history: VisitHistory, view: PolicyView) -> Assessment:
    """Due at once if announced, never if dated and not announced, else by class (MIG)."""
    if history.announcement_count:
        return min(history.last_visit, view.now), math.inf
    if history.announcer_bits:
        return math.inf, 0.0
    return _assess_interval(replace(history, interval=_get_class_seconds(history)), view)


def _assess_cho(history: VisitHistory, view: PolicyView) -> Assessment:
    """Due when a visit wins as many days of freshness as it costs, or after the longest wait."""
    rate, longest = estimate_rate(history, view), MAX_WAIT_INTERVALS * view.mean_interval / DAY
    low, high = 0.0, longest
    if compute_freshness_value(rate, longest) > view.price:
        while high - low > 0.01 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if compute_freshness_value(rate, middle) >= view.price else (middle, high)
    elapsed = max(view.now - history.last_visit, 0.0) / DAY
    value = max(compute_freshness_value(rate, elapsed), view.price if elapsed >= longest else 0.0)
    return history.last_visit + high * DAY, value


def _assess_lambda_crawl(history: VisitHistory, view: PolicyView) -> Assessment:
    rate = estimate_rate(history, view)
    due_at = history.last_visit + DAY / compute_crawl_rate(rate, view.price)
    return due_at, compute_harmonic_value(rate, max(view.now - history.last_visit, 0.0) / DAY)


def _get_class_seconds(history: VisitHistory) -> float:
    return CHANGEFREQ_SECONDS[CHANGEFREQ_CLASSES[history.changefreq_class] or DEFAULT_CHANGEFREQ]


def _explain_interval(history: VisitHistory, view: PolicyView) -> str:
    return f"{describe_checks(history)}; checked every {view.price * history.interval / DAY:.3g} days"


def _explain_rate(history: VisitHistory, view: PolicyView) -> str:
    return f"{describe_checks(history)}, {format_frequency(1 / estimate_rate(history, view))}"


def _explain_sitemap(history: VisitHistory, view: PolicyView) -> str:  # noqa: ARG001 interface
    if history.announcement_count:
        return "the sitemap lists a change after the last visit"
    if history.announcer_bits:
        return "the sitemap lists no change since the last visit"
    return f"visited as {CHANGEFREQ_CLASSES[history.changefreq_class] or DEFAULT_CHANGEFREQ} pages are"


Update = Callable[[VisitHistory, Observation, PolicyView], VisitHistory]
Assess = Callable[[VisitHistory, PolicyView], Assessment]


def _build_interval_policy(
    name: str, description: str, update: Update = _record_only, assess: Assess = _assess_interval
) -> RevisitPolicy:
    explain = _explain_sitemap if assess is _assess_sitemap else _explain_interval
    return RevisitPolicy(name, description, update, assess, explain, lambda interval: interval / FIRST_INTERVAL)


def _build_rate_policy(
    name: str, description: str, assess: Assess, compute_value: Callable[[float, float], float]
) -> RevisitPolicy:
    def compute_base_price(interval: float) -> float:
        return compute_value(0.5 * DAY / interval, interval / DAY)

    return RevisitPolicy(name, description, _record_only, assess, _explain_rate, compute_base_price)


CLASSIC_POLICIES = (
    _build_interval_policy("fixed", "every page at the same interval"),
    _build_interval_policy("sitemap", "what the sitemap dates later, the rest by its class", assess=_assess_sitemap),
    _build_interval_policy("self-adjusting", "sooner where most visits find a change, later where few do", _update_sar),
    _build_interval_policy("nutch", "the adaptive schedule of Apache Nutch", _update_nutch, _assess_nutch),
    _build_interval_policy("heritrix", "the adaptive revisit rule of Heritrix", _update_heritrix),
    _build_rate_policy("cho", "optimal for freshness, by each page's own rate", _assess_cho, compute_freshness_value),
    _build_rate_policy(
        "lambda-crawl",
        "optimal for harmonic staleness, by each page's own rate",
        _assess_lambda_crawl,
        compute_harmonic_value,
    ),
)
