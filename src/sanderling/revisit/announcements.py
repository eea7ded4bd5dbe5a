"""Announced changes (sitemaps, feeds, change lists) as effective time, by how often they were wrong or missing.

Of the changes of a page, the share `1 - unannounced` is announced, and `false_rate` false announcements are made per
day (Busa-Fekete et al., WWW 2025). Both are estimated from visits, of the page and of its site: a site that stamps
every page daily has no effect, and a page that is left out counts as before.
"""

import math
from enum import IntEnum
from math import log1p, sqrt

from msgspec import Struct
from msgspec.structs import replace

from sanderling.revisit.site_model import Elapsed, SiteModel
from sanderling.revisit.visit_history import DAY, VisitHistory

CHANGEFREQ_SECONDS = {  # MIG: one list per class; `never` is visited once
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
MAX_ANNOUNCED = 4.0  # expected changes
MIN_RECALL = 0.3  # in the effect of an announcement, because recall is underestimated at first
PRIOR_FALSE_RATE = 1 / 300  # per day
PRIOR_DAYS = 100.0  # with which the false rate of a page is shrunk to that of its site
PRIOR_EXPECTED = 2.0  # changes with which the recall of a page is shrunk to that of its site
SITE_MEMORY = 0.995  # per visit
CERTAIN_ANNOUNCEMENT = 0.25  # expected changes from which a page is visited at once, without a budget


class Announcer(IntEnum):
    """Source of announcements."""

    SITEMAP = 0
    FEED = 1
    PUBLISHER = 2


class RevisitHint(Struct, frozen=True, array_like=True):
    """Entry of a sitemap or feed for a page."""

    lastmod: float = 0.0  # 0: not given
    is_date_only: bool = False  # a date without the time of day
    changefreq: str = ""


def get_latest_change_time(hint: RevisitHint) -> float:
    """Return the latest time of the stated change: the end of the day for a date without time."""
    return hint.lastmod + (DAY if hint.is_date_only else 0.0)


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


def estimate_unannounced(history: VisitHistory, site: SiteModel) -> float:
    """Estimate the share of changes that are not announced: changes found on silent pages against those expected.

    Of the site it is an upper bound: silence counts only after enough visits to silent pages.
    """
    found, expected = site.announcements[2], site.announcements[3]
    of_site = min(1.0, (found + 1 + sqrt(found + 1)) / (expected + PRIOR_EXPECTED))
    return min(
        1.0,
        (PRIOR_EXPECTED * of_site + history.silent_changes) / (PRIOR_EXPECTED + history.silent_expected),
    )


def estimate_false_rate(history: VisitHistory, site: SiteModel) -> float:
    """Estimate the false announcements of a page per day."""
    false, days = site.announcements[0], site.announcements[1]
    of_site = (PRIOR_DAYS * PRIOR_FALSE_RATE + false) / (PRIOR_DAYS + days)
    return (PRIOR_DAYS * of_site + history.false_announcements) / (PRIOR_DAYS + history.covered_days)


def compute_announced_changes(history: VisitHistory, site: SiteModel, rate: float) -> float:
    """Return the expected changes because of the announcements since the last visit."""
    if not history.announcement_count:
        return 0.0
    recall = max(1 - estimate_unannounced(history, site), MIN_RECALL)
    gain = log1p(recall * rate / estimate_false_rate(history, site))
    return min(history.announcement_count * gain, MAX_ANNOUNCED)


def apply_effective_time(
    history: VisitHistory, site: SiteModel, rate: float, elapsed: Elapsed
) -> tuple[Elapsed, float]:
    """Return the elapsed time with announcements, and the pace at which it continues until the next announcement.

    By each model announcements are the more likely true, the more changes it expected since the last visit.
    """
    pace = estimate_unannounced(history, site)

    def add_announced(active: float) -> float:
        likelier = active / elapsed.plain if elapsed.plain > 0 else 1.0
        return pace * active + compute_announced_changes(history, site, rate * likelier) / rate

    return Elapsed(add_announced(elapsed.active), add_announced(elapsed.plain), add_announced(elapsed.recent)), pace


def compute_sampled_share(history: VisitHistory, site: SiteModel, elapsed: Elapsed) -> float:
    """Return the share of the changes of a page of which a visit is a sample: none if it follows announcements.

    Of a silent page only unannounced changes can be found; dates that mean nothing are no reason for a visit.
    """
    if not history.announcement_count:
        return estimate_unannounced(history, site)
    shape, scale = site.get_posterior(history)
    expected = shape / scale * elapsed.plain
    return float(compute_announced_changes(history, site, shape / scale) <= expected)


def record_result(history: VisitHistory, after: VisitHistory, site: SiteModel, elapsed: Elapsed) -> VisitHistory:
    """Update the error rates of announcements by a visit."""
    days = max(after.last_visit - history.last_visit, 0.0) / DAY
    has_changed = after.changes > history.changes
    shape, scale = site.get_posterior(history)
    z = min(shape / scale * elapsed.plain, 500.0)
    true = z / -math.expm1(-z) if has_changed and z > 0 else 0.0  # expected changes, at least one
    false = max(history.announcement_count - true, 0.0)  # all dates of a page that is stamped daily
    found = expected = 0.0
    if not history.announcement_count:
        found, expected = float(has_changed), 1 - (1 + elapsed.plain / scale) ** -shape
    site.announcements = [
        SITE_MEMORY * old + new for old, new in zip(site.announcements, (false, days, found, expected), strict=True)
    ]
    return replace(
        after,
        false_announcements=history.false_announcements + false,
        covered_days=history.covered_days + days,
        silent_changes=history.silent_changes + found,
        silent_expected=history.silent_expected + expected,
    )
