"""Learned policy: visit when worth the price, by the Gamma posterior of the page and the model of its site.

Two objectives. `freshness` values a visit by the days it wins for an up-to-date copy, at most 1/rate: pages that change
faster than the budget allows are given up. `delay` values it by the days that unreported changes have waited: nothing
is given up. With a budget, values are relative to the mean over all pages, and a pull towards the page not visited for
longest keeps the order close to oldest first while little is known.
"""

from collections.abc import Callable
from math import exp, lgamma, log, sqrt

from msgspec.structs import replace

from sanderling.revisit.announcements import (
    CERTAIN_ANNOUNCEMENT,
    apply_effective_time,
    compute_announced_changes,
    compute_sampled_share,
    record_result,
)
from sanderling.revisit.change_timing import PRIOR_RATE, PRIOR_SHAPE
from sanderling.revisit.intervals import EAGERNESS
from sanderling.revisit.policies.policy import (
    Assessment,
    PolicyView,
    RevisitPolicy,
    ValueScale,
    describe_checks,
    format_frequency,
)
from sanderling.revisit.site_model import Elapsed, SiteModel
from sanderling.revisit.visit_history import DAY, Observation, VisitHistory, record_observation

FAST_SHAPE, FAST_SCALE, FAST_SHARE = 0.5, 0.25, 0.05  # prior of fast pages: two changes a day on average
FAST_CONSTANT = log(FAST_SHARE / (1 - FAST_SHARE)) - lgamma(FAST_SHAPE) + FAST_SHAPE * log(FAST_SCALE)
ACCEPTED_DELAY = 0.1  # days; without a budget, a visit is due when it wins so much
ACCEPTED_CHANGES = 0.8  # expected since the last visit; pages that change hourly are checked about hourly
FIRST_CHECK = 4 * 3600.0  # after the first visit, without a budget
FIRST_CHECK_GROWTH = 3.0  # the time to the next check is at most so many times that since the first visit
SOLVER_STEPS = 4
MAX_STEP = 16.0  # factor of the time, in one step of the solver
MAX_SCALED_INTERVALS = 8.0
Continuation = tuple[float, float, float]
"""Days since the last visit, effective days per day from then on, and the factor of announcements in them."""
BASE_PRICE = 3.0  # value of a visit of all pages in turn, relative to the mean


def update_history(history: VisitHistory, observation: Observation, view: PolicyView) -> VisitHistory:
    """Update the history of a page and the model of its site by a visit."""
    after = record_observation(history, observation)
    now, site = observation.visited_at, view.site
    if now <= history.last_visit:
        return after  # the clock was set back, or the same moment twice
    elapsed = site.compute_elapsed(view.activity, history, now)
    if view.scale is not None:
        days = (now - history.last_visit) / DAY
        if days * DAY <= MAX_SCALED_INTERVALS * view.mean_interval:  # not after a pause of the crawler
            view.scale.record_visit(days, *_compute_values(history, view, elapsed, days))
    sampled = 1.0
    if history.announcer_bits:
        sampled = compute_sampled_share(history, site, elapsed)
        after = record_result(history, after, site, elapsed)
    evidence, exposure = site.record_visit(view.activity, history, view.page_id, observation, sampled)
    return replace(after, evidence=evidence, exposure=exposure)


def build_scale(mean_interval: float, objective: str) -> ValueScale:
    """Build the scale of pages of unknown sites that are visited in turn."""
    days = mean_interval / DAY
    value = PRIOR_RATE * days * days / 2
    if objective == "freshness":
        value = compute_value(PRIOR_SHAPE, PRIOR_SHAPE / PRIOR_RATE, days)
    return ValueScale(10 * days, 10 * days * value, 10 * days * value, 10 * days**3)


def estimate_rate(history: VisitHistory, site: SiteModel) -> float:
    """Estimate changes per day with a prior that has a share of fast pages, so that a few changes in a row suffice."""
    shape, scale = site.get_posterior(history)
    found, exposure = history.evidence, history.exposure
    log_odds = (
        FAST_CONSTANT
        + lgamma(FAST_SHAPE + found)
        - (FAST_SHAPE + found) * log(FAST_SCALE + exposure)
        - lgamma(shape)
        + shape * log(scale)
        - site.prior_constant
    )
    weight = 1 / (1 + exp(-min(max(log_odds, -50.0), 50.0)))
    return weight * (FAST_SHAPE + found) / (FAST_SCALE + exposure) + (1 - weight) * shape / scale


def compute_value(shape: float, scale: float, days: float) -> float:
    """Return the days of freshness won by a visit after so many effective days."""
    u = days / scale
    if u < 1e-3:
        return shape * u * days / 2
    shape_less_1 = shape - 1 if abs(shape - 1) > 1e-4 else 1e-4
    power: float = (1 + u) ** -shape
    return scale / shape_less_1 * (1 - (1 + u) * power) - days * power


def _compute_values(history: VisitHistory, view: PolicyView, elapsed: Elapsed, days: float) -> tuple[float, float]:
    """Return the value of a visit by the models with and without activity."""
    shape, scale = view.site.get_posterior(history)
    if view.objective == "delay":
        half = estimate_rate(history, view.site) * days / 2
        return half * elapsed.active, half * elapsed.plain
    return compute_value(shape, scale, elapsed.active), compute_value(shape, scale, elapsed.plain)


def assess_page(history: VisitHistory, view: PolicyView) -> Assessment:
    """Compute when a visit is worth its price, if directories continue at their long-run rate, and its value now."""
    site, is_delay, factor = view.site, view.objective == "delay", 1.0
    elapsed = site.compute_elapsed(view.activity, history, view.now, with_recent=is_delay)
    pace = site.get_age_factor(history, view.now)
    if history.announcer_bits:
        shape, scale = site.get_posterior(history)
        elapsed, factor = apply_effective_time(history, site, shape / scale, elapsed)
    days = max(view.now - history.last_visit, 0.0) / DAY
    build = _build_delay_score if is_delay else _build_freshness_score
    compute_score = build(history, view, elapsed, (days, factor * pace, factor))
    if view.scale is not None:
        price, unit = view.price * (1 + view.age_pull), 1 + view.age_pull
    else:
        price = ACCEPTED_DELAY * EAGERNESS[view.interval.eagerness]
        unit = price / view.price
    value = compute_score(days)
    if value >= price:
        is_announced = bool(history.announcement_count)  # a candidate at once, however old other plans are
        due_at = history.last_visit + (0 if is_announced else view.now - history.last_visit) * sqrt(price / value)
        return due_at, value / unit
    after = days * min(sqrt(price / value), MAX_STEP) if value > 0 else view.mean_interval / DAY
    for _ in range(SOLVER_STEPS):
        score = compute_score(after)
        if abs(score - price) < 0.02 * price:
            break
        after = max(days, after * min(max(sqrt(price / max(score, 1e-12)), 1 / MAX_STEP), MAX_STEP))
    due_at = history.last_visit + after * DAY
    return due_at if view.scale is not None else limit_first_checks(history, view, due_at), value / unit


def _build_freshness_score(
    history: VisitHistory, view: PolicyView, elapsed: Elapsed, continuation: Continuation
) -> Callable[[float], float]:
    """Return the value of a visit so many days after the last visit: of both models, and of the days themselves."""
    (days, pace, _), (shape, scale) = continuation, view.site.get_posterior(history)
    weight, pull, active_mean, plain_mean = view.site.activity_weight, 0.0, 1.0, 1.0
    if view.scale is not None:
        active_mean, plain_mean, square_mean = view.scale.means
        pull = view.age_pull / square_mean
    active_weight, plain_weight = weight / active_mean, (1 - weight) / plain_mean
    active, plain = elapsed.active, elapsed.plain

    def compute_score(after: float) -> float:
        more = pace * (after - days)
        value = active_weight * compute_value(shape, scale, active + more)
        return value + plain_weight * compute_value(shape, scale, plain + more) + pull * after * after

    return compute_score


def _build_delay_score(
    history: VisitHistory, view: PolicyView, elapsed: Elapsed, continuation: Continuation
) -> Callable[[float], float]:
    """Return the delay of the changes expected so many days after the last visit, by all models."""
    (days, pace, factor), site = continuation, view.site
    weights, rate, change_value, pull = site.delay_weights, estimate_rate(history, site), 0.0, 0.0
    active_mean = plain_mean = 1.0
    if view.scale is not None:
        active_mean, plain_mean, square_mean = view.scale.means
        pull = view.age_pull / square_mean
    else:
        eagerness = EAGERNESS[view.interval.eagerness]
        change_value = ACCEPTED_DELAY * eagerness / (ACCEPTED_CHANGES * sqrt(eagerness))
    active_weight = rate * weights.active / active_mean
    plain_weight, recent_weight = rate * weights.plain / plain_mean, rate * weights.recent / plain_mean
    active, plain, recent, last = elapsed.active, elapsed.plain, elapsed.recent, history.last_visit
    recent_now = recent if factor == 1.0 else site.compute_recent(history, last + days * DAY)

    def compute_score(after: float) -> float:
        more = pace * (after - days)
        expected = active_weight * (active + more) + plain_weight * (plain + more)
        later = site.compute_recent(history, last + after * DAY) - recent_now if after > days else 0.0
        expected += recent_weight * (recent + factor * later)
        return expected * max(after / 2, change_value) + pull * after * after

    return compute_score


def limit_first_checks(history: VisitHistory, view: PolicyView, due_at: float) -> float:
    """Check a new page after hours, then after days, whatever its site is like. Without a budget."""
    first = FIRST_CHECK * sqrt(EAGERNESS[view.interval.eagerness])
    since_first = history.last_visit - (history.born_at or history.first_visit)
    return min(due_at, history.last_visit + max(first, FIRST_CHECK_GROWTH * since_first))


def estimate_budget_factor(history: VisitHistory, view: PolicyView) -> float:
    """Estimate by how much the budget must grow to check a page as often as it changes.

    The value of a visit grows with the square of the time, so the price falls with the square of the budget.
    """
    now = history.last_visit + DAY / estimate_rate(history, view.site)
    value = assess_page(history, replace(view, now=now))[1] / view.price
    return 1 / sqrt(max(value, 1e-6))


def is_certain(history: VisitHistory, view: PolicyView) -> bool:
    """Whether announcements make a change so likely that a page is visited at once."""
    shape, scale = view.site.get_posterior(history)
    return compute_announced_changes(history, view.site, shape / scale) >= CERTAIN_ANNOUNCEMENT


def explain(history: VisitHistory, view: PolicyView) -> str:
    """Explain in a few words: `changed at 5 of 16 checks, about hourly`."""
    text = describe_checks(history)
    if history.changes:
        text += f", {format_frequency(1 / estimate_rate(history, view.site))}"
    if history.announcement_count:
        text += "; announced as changed"
    return text


def compute_base_price(interval: float) -> float:  # noqa: ARG001 interface
    return BASE_PRICE


POLICY = RevisitPolicy(
    "learned",
    "by the change rate of each page and the recent changes of its directory",
    update_history,
    assess_page,
    explain,
    compute_base_price,
)
