"""Learned policy: visit when worth the price, by the rate distribution of the page and the clocks of its groups."""

from math import log

import msgspec

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.announcements import (
    apply_announcements,
    compute_announced_value,
    compute_dated_likelihood,
    compute_unannounced_likelihood,
)
from sanderling.revisit.model.announcer_trust import AnnouncerTrust
from sanderling.revisit.model.change_rate import DAY, RateTable, RateVector
from sanderling.revisit.model.periodicity import PERIODS, align_due_time, is_known_unchanged, update_periodicity
from sanderling.revisit.policies.policy import Assessment, PolicyView, RevisitPolicy
from sanderling.revisit.policies.sitemap_driven import get_class_seconds
from sanderling.revisit.visit_history import Observation, VisitHistory, record_observation

MAX_VOTE_INTERVALS = 4.0  # limits the influence of a page that was not visited for long
MIN_DRIVING_RECALL = 0.5  # from here visits follow announcements and are not a sample of the group


def update_history(history: VisitHistory, observation: Observation, view: PolicyView) -> VisitHistory:
    """Update the evidence of a page and the statistics of its site by a visit."""
    after = record_observation(history, observation)
    days = (observation.visited_at - history.last_visit) / DAY
    if days <= 0:
        return after  # the clock was set back, or the same moment twice
    clocks = view.site.compute_elapsed(view.url_groups, history.last_visit, observation.visited_at)
    evidence, prior = change_rate.unpack_evidence(history.rate_evidence), _get_prior(history, view)
    likelihood = _compute_likelihood(history, observation, view, view.site.blend_elapsed(clocks))
    updated = change_rate.update_evidence(evidence, prior, likelihood, change_rate.compute_forgetting(days))
    _update_site(history, observation, view, clocks, *change_rate.compute_posterior(evidence, prior))
    view.site.priors.update_weights(view.url_groups, evidence, likelihood)
    view.site.priors.update_priors(view.url_groups, updated, min(days * DAY / view.mean_interval, MAX_VOTE_INTERVALS))
    periodicity = update_periodicity(
        history.periodicity, history.last_visit, observation.visited_at, observation.has_changed
    )
    return msgspec.structs.replace(after, rate_evidence=change_rate.pack_evidence(updated), periodicity=periodicity)


def assess_page(history: VisitHistory, view: PolicyView) -> Assessment:
    """Compute when a visit is worth its price if groups continue at speed 1, and its value now."""
    weights, total = change_rate.compute_posterior(
        change_rate.unpack_evidence(history.rate_evidence), _get_prior(history, view)
    )
    elapsed, pace, trust = _compute_elapsed(history, view), 1.0, _find_announcer(history, view)
    if trust is not None:
        weights, total = apply_announcements(weights, trust, elapsed, history.announcement_count)
        pace = 1 - trust.recall
    if trust is not None and history.announcement_count:
        value = max(compute_announced_value(weights, trust, elapsed, history.announcement_count) / total, 1e-12)
        return view.now + view.mean_interval * log(view.price / value), value, view.due_slot
    slot = change_rate.find_due_slot(
        weights, view.value_table, view.price * total, view.due_slot or change_rate.get_slot(view.mean_interval / DAY)
    )
    due_at = view.now + (change_rate.get_slot_days(slot) - elapsed * pace) / pace * DAY
    value = (
        change_rate.dot(weights, view.value_table[change_rate.get_slot(elapsed * pace)]) / total if elapsed > 0 else 0.0
    )
    if history.periodicity:
        due_at = align_due_time(history.periodicity, history.last_visit, due_at)
        value = 0.0 if is_known_unchanged(history.periodicity, history.last_visit, view.now) else value
    return due_at, value, slot


def explain(history: VisitHistory, view: PolicyView) -> str:
    weights, total = change_rate.compute_posterior(
        change_rate.unpack_evidence(history.rate_evidence), _get_prior(history, view)
    )
    elapsed, days = _compute_elapsed(history, view), max(view.now - history.last_visit, 0.0) / DAY
    count_text = f"{history.changes} found in {history.visits} visits"
    parts = [
        f"changes about every {format_days(change_rate.compute_typical_interval(weights, total))} ({count_text})"
        if history.visits > 1
        else "seen once",
        f"last visit {format_days(days)} ago"
        + (f", as if {format_days(elapsed)} by the activity of related pages" if _is_different(elapsed, days) else ""),
    ]
    if history.announcement_count:
        parts.append("announced as changed")
    elif (trust := _find_announcer(history, view)) is not None:
        parts.append(f"not announced as changed, by a site that announces {trust.recall:.0%} of its changes")
    if any(period.is_known(history.periodicity) for period in PERIODS):
        parts.append("changes at a known hour or weekday")
    return "; ".join(parts)


def format_days(days: float) -> str:
    minutes = days * 1440
    if minutes < 90:
        return "1 minute" if round(minutes) == 1 else f"{minutes:.0f} minutes"
    return f"{minutes / 60:.0f} hours" if minutes < 2880 else f"{days:.0f} days"


def compute_base_price(interval: float, table: RateTable) -> float:
    return change_rate.dot(change_rate.WEB_PRIOR, table[change_rate.get_slot(interval / DAY)])


def _get_prior(history: VisitHistory, view: PolicyView) -> RateVector:
    """Return the rate prior of a page: that of its groups, mixed with its `changefreq`."""
    if not history.changefreq_class:
        return view.site.priors.get_prior(view.url_groups)
    trust, stated = view.site.changefreq_trust, change_rate.build_rate_prior(get_class_seconds(history) / DAY)
    return [
        (1 - trust) * own + trust * updated
        for own, updated in zip(view.site.priors.get_prior(view.url_groups), stated, strict=True)
    ]


def _compute_elapsed(history: VisitHistory, view: PolicyView) -> float:
    """Return days since the last visit on the clocks of the groups."""
    if history.last_visit >= view.now:
        return 0.0
    return view.site.blend_elapsed(view.site.compute_elapsed(view.url_groups, history.last_visit, view.now))


def _is_different(first: float, second: float) -> bool:
    return abs(first - second) > 0.1 * second


def _compute_likelihood(
    history: VisitHistory, observation: Observation, view: PolicyView, elapsed: float
) -> RateVector:
    """Return the likelihood of each rate; sharper if a trusted announcer or server dates the change."""
    pace = elapsed / (observation.visited_at - history.last_visit)
    trust = _find_announcer(history, view)
    if trust is not None and observation.has_changed:
        if history.announcement_count:
            return compute_dated_likelihood(
                trust.recall * pace * (min(history.announced_at, observation.visited_at) - history.last_visit)
            )
        return compute_unannounced_likelihood(trust.recall, elapsed)
    if (
        observation.has_changed
        and view.site.has_reliable_dates
        and history.last_visit < observation.modified_at <= observation.visited_at
    ):
        return compute_dated_likelihood(pace * (observation.visited_at - observation.modified_at))
    return (change_rate.get_changed_table() if observation.has_changed else change_rate.get_unchanged_table())[
        change_rate.get_slot(elapsed)
    ]


def _update_site(
    history: VisitHistory,
    observation: Observation,
    view: PolicyView,
    elapsed_days: list[float],
    weights: RateVector,
    total: float,
) -> None:
    """Update group weights, group activity, and trust in `changefreq`, dates and announcers."""
    table = change_rate.get_changed_table() if observation.has_changed else change_rate.get_unchanged_table()
    trust = _find_announcer(history, view)
    if trust is None or trust.recall < MIN_DRIVING_RECALL:
        view.site.update_weights(
            [change_rate.dot(weights, table[change_rate.get_slot(clock)]) for clock in elapsed_days]
        )
        view.site.record_observation(
            view.url_groups,
            history.last_visit,
            observation.visited_at,
            change_rate.compute_mean_rate(weights, total),
            observation.has_changed,
        )
    if history.changefreq_class:
        slot = table[change_rate.get_slot(elapsed_days[0])]
        stated = change_rate.build_rate_prior(get_class_seconds(history) / DAY)
        prior = view.site.priors.prior
        view.site.update_changefreq_trust(change_rate.dot(stated, slot), change_rate.dot(prior, slot) / sum(prior))
    if observation.modified_at > 0:
        view.site.update_date_trust(
            history.last_visit < observation.modified_at <= observation.visited_at, observation.has_changed
        )
    for announcer in _list_announcers(history, view):
        announcer.record_visit(
            history.announcement_count > 0, observation.has_changed, (observation.visited_at - history.last_visit) / DAY
        )


def _find_announcer(history: VisitHistory, view: PolicyView) -> AnnouncerTrust | None:
    """Return the trusted announcer with the best recall, or None."""
    if not history.announcer_bits:
        return None
    trusted = [trust for trust in _list_announcers(history, view) if trust.is_trusted]
    return max(trusted, key=lambda trust: trust.recall, default=None)


def _list_announcers(history: VisitHistory, view: PolicyView) -> list[AnnouncerTrust]:
    return [trust for bit, trust in enumerate(view.site.announcer_trusts) if history.announcer_bits >> bit & 1]


POLICY = RevisitPolicy(
    "learned",
    "by learned rates, related pages and what sitemaps announce",
    update_history,
    assess_page,
    explain,
    compute_base_price,
)
