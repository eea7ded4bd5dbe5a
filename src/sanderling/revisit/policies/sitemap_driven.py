"""Sitemap policy (MIG-9): fetch pages with a newer lastmod; without a date, by changefreq class."""

import math

from msgspec import Struct
from msgspec.structs import replace

from sanderling.revisit.model.announcer_trust import Announcer
from sanderling.revisit.policies import interval_based
from sanderling.revisit.policies.policy import Assessment, PolicyView, RevisitPolicy
from sanderling.revisit.visit_history import Observation, VisitHistory, record_observation

DAY = 86_400.0
CHANGEFREQ_SECONDS = {  # MIG-3: one list per class; `never` is visited once
    "always": 0.0,
    "hourly": 3600.0,
    "daily": DAY,
    "weekly": 7 * DAY,
    "monthly": 30 * DAY,
    "yearly": 365 * DAY,
    "never": math.inf,
}
CHANGEFREQ_CLASSES = ("", *CHANGEFREQ_SECONDS)  # histories store the index
DEFAULT_CHANGEFREQ = "weekly"


class RevisitHint(Struct, frozen=True, array_like=True):
    """Entry of a sitemap or feed for a page."""

    lastmod: float = 0.0  # 0: not given
    is_date_only: bool = False  # a date without the time of day
    changefreq: str = ""


def get_latest_change_time(hint: RevisitHint) -> float:
    """Return the latest time of the stated change: the end of the day for a date without time."""
    return hint.lastmod + (DAY if hint.is_date_only else 0.0)


def is_newer(hint: RevisitHint, last_visit: float) -> bool:
    """Whether the page was modified after the last visit."""
    return hint.lastmod > 0 and get_latest_change_time(hint) > last_visit


def get_changefreq_seconds(hint: RevisitHint) -> float:
    return CHANGEFREQ_SECONDS.get(hint.changefreq.strip().lower(), CHANGEFREQ_SECONDS[DEFAULT_CHANGEFREQ])


def compute_next_visit(hint: RevisitHint, last_visit: float | None, now: float) -> float:
    """Return now for a new or modified page, infinity if lastmod is older than the copy, else by class."""
    if last_visit is None or is_newer(hint, last_visit):
        return now
    if hint.lastmod > 0:
        return math.inf
    return last_visit + get_changefreq_seconds(hint)


def apply_sitemap_hint(history: VisitHistory, hint: RevisitHint | None, announcer: Announcer) -> VisitHistory:
    """Apply a sitemap entry to a history; None: the page is not listed."""
    bit = 1 << announcer
    if hint is None or hint.lastmod <= 0:
        rest = history.announcer_bits & ~bit
        history = replace(history, announcer_bits=rest, announcement_count=history.announcement_count if rest else 0)
    else:
        history = replace(history, announcer_bits=history.announcer_bits | bit)
    name = hint.changefreq.strip().lower() if hint else ""
    return replace(history, changefreq_class=CHANGEFREQ_CLASSES.index(name) if name in CHANGEFREQ_SECONDS else 0)


def apply_announcement(history: VisitHistory, changed_at: float, announcer: Announcer) -> VisitHistory:
    """Apply an announced change, unless it was seen or announced before."""
    if changed_at <= max(history.last_visit, history.announced_at):
        return history
    return replace(
        history,
        announcement_count=history.announcement_count + 1,
        announced_at=changed_at,
        announcer_bits=history.announcer_bits | 1 << announcer,
    )


def update_history(history: VisitHistory, observation: Observation, view: PolicyView) -> VisitHistory:  # noqa: ARG001 interface
    return record_observation(history, observation)


def assess_page(history: VisitHistory, view: PolicyView) -> Assessment:
    """Due at once if announced, never if dated and not announced, else by class."""
    if history.announcement_count:
        return min(history.last_visit, view.now), math.inf, 0
    if history.announcer_bits:
        return math.inf, 0.0, 0
    return interval_based.assess_page(replace(history, interval=get_class_seconds(history)), view)


def get_class_seconds(history: VisitHistory) -> float:
    return CHANGEFREQ_SECONDS[CHANGEFREQ_CLASSES[history.changefreq_class] or DEFAULT_CHANGEFREQ]


def explain(history: VisitHistory, view: PolicyView) -> str:  # noqa: ARG001 interface
    if history.announcement_count:
        return "the sitemap lists a change after the last visit"
    return (
        "the sitemap lists no change since the last visit"
        if history.announcer_bits
        else f"visited as {CHANGEFREQ_CLASSES[history.changefreq_class] or DEFAULT_CHANGEFREQ} pages are"
    )


POLICY = RevisitPolicy(
    "sitemap",
    "what the sitemap dates later, the rest by its class",
    update_history,
    assess_page,
    explain,
    interval_based.compute_base_price,
)
