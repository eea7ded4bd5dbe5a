"""The planner: what to visit now, and how each visit changes the plan. Rows live on a shelf; in memory are only sites.

A plan is made when something is learned of a page, and says when a visit will be worth its price. Plans grow old: the
price moves, related pages come to life. So `due` weighs a few rows for each one it picks, and `sweep` plans anew those
planned longest ago: bounded work per visit, and no plan is older than a fraction of the mean interval.
"""

import sys
from math import exp, log
from operator import itemgetter

import msgspec
from msgspec import Struct

from sanderling.revisit.budget import RevisitBudget
from sanderling.revisit.model.activity import BINS_PER_INTERVAL
from sanderling.revisit.model.announcer_trust import Announcer
from sanderling.revisit.model.change_rate import DAY, get_value_table
from sanderling.revisit.model.group_prior import UrlGroups, parse_url_groups
from sanderling.revisit.model.site_stats import SiteStats, restore_site
from sanderling.revisit.plan_store import PlanRow, PlanStore
from sanderling.revisit.policies.policy import PolicyView, RevisitPolicy
from sanderling.revisit.policies.sitemap_driven import RevisitHint, apply_announcement, apply_sitemap_hint
from sanderling.revisit.visit_history import Observation, VisitHistory, start_history

PRICE_STEP = 4.0  # how far the price follows what visits were worth, in one round of all pages
MAX_PRICE_STEP = 0.2  # and at one visit
MAX_LOG_RATIO = 1.0  # bound on what one visit says: a factor e


class VisitPrice(Struct):
    """A price in terms of par: it follows the worth of the visits that the budget lets happen."""

    factor: float = 1.0

    def adjust(self, value: float, page_count: int) -> None:
        """Learn that a visit was made that was worth so much, in terms of the price."""
        step = log(value) if value > 0 else -MAX_LOG_RATIO
        self.factor *= exp(
            min(PRICE_STEP / max(page_count, 1), MAX_PRICE_STEP) * min(max(step, -MAX_LOG_RATIO), MAX_LOG_RATIO)
        )


WEEK = 7 * DAY  # between visits of an unknown page where no budget is given
MIN_INTERVAL = 3600.0  # between two visits of a page
MAX_INTERVAL = 365 * DAY
AGE_WEIGHT = 0.1  # weight of age beside freshness, per mean interval: enough that nothing starves
CANDIDATE_FACTOR = 4  # rows weighed for every one visited
MAX_SCORED_ROWS = 400  # at a time; of a larger batch the earliest are taken as they are
REPLAN_FACTOR = 2  # rows planned anew for every one visited
MIN_REPLANNED_ROWS = (
    16  # rows planned anew even if nothing was visited: after a clock that jumped back, nothing may be due
)
MAX_SITES = 10_000  # in memory; those not visited for longest are forgotten
MAX_GROUPS = 16_384  # of pages, of all sites together: about 60 MB
GROUP_CHECK_PAGES = 1024  # new pages between two looks at how many groups there are
DEFAULT_COST_BYTES = 20_000.0  # bytes of a visit, until some were made
MAX_INTERVAL_DRIFT = 1.2  # of the mean interval, up to which tables and clocks stay as they are
MAX_TIME = sys.float_info.max


class VisitPlan(Struct, frozen=True):
    """When a page is due, what a visit now is worth in terms of its price, and why."""

    due_at: float
    urgency: float
    reason: str


class PlannerState(Struct, array_like=True):
    """What a planner keeps between runs, beside the rows."""

    price: float
    mean_cost: float
    last_planned_at: float
    sites: dict[str, bytes]
    fitted_interval: float = WEEK


class Planner:
    """Plans the visits of all pages on a shelf, by one policy, within one budget."""

    def __init__(self, policy: RevisitPolicy, plan_store: PlanStore, budget: RevisitBudget | None = None) -> None:
        self.policy = policy
        self.plan_store = plan_store
        self.budget = budget
        self.sites: dict[str, SiteStats] = {}
        self.price = VisitPrice()
        self.mean_cost = DEFAULT_COST_BYTES
        self.last_planned_at = 0.0  # plan; never goes back, even if the clock does
        self._added_pages = 0  # pages
        self._fit_interval(WEEK)

    @property
    def mean_interval(self) -> float:
        """Mean seconds between two visits of a page that the budget allows."""
        if self.budget is None:
            return WEEK
        each = self.mean_cost if self.budget.is_in_bytes else 1.0
        return max(len(self.plan_store), 1) * each / self.budget.per_second

    # What was learned

    def add_page(self, page_id: int, url: str, visited_at: float, cost: float = 0.0, weight: float = 1.0) -> PlanRow:
        """The row of a page that was just fetched for the first time."""
        kin = parse_url_groups(url)
        site = self._get_site(kin)
        site.last_visit_at = visited_at
        site.priors.add_page(kin)
        self._added_pages += 1
        if self._added_pages % GROUP_CHECK_PAGES == 0:
            self._limit_groups()
        return self._plan_row(PlanRow(page_id, url, start_history(visited_at, cost), weight=weight), visited_at)

    def record_visit(self, row: PlanRow, observation: Observation) -> PlanRow:
        """The row after a completed visit."""
        view = self._build_view(row, observation.visited_at)
        view.site.last_visit_at = observation.visited_at
        if observation.cost_bytes > 0:
            self.mean_cost += 0.01 * (observation.cost_bytes - self.mean_cost)
        return self.replace_history(
            row, self.policy.update_history(row.history, observation, view), observation.visited_at
        )

    def apply_hint(self, row: PlanRow, hint: RevisitHint | None, announcer: Announcer, now: float) -> PlanRow:
        """The row after a sitemap or feed was read: what it says of the page, or that it says nothing (any more)."""
        return self._replan_if_changed(row, apply_sitemap_hint(row.history, hint, announcer), now)

    def apply_announcement(self, row: PlanRow, changed_at: float, announcer: Announcer, now: float) -> PlanRow:
        """The row of a page that is said to have changed at a time."""
        return self._replan_if_changed(row, apply_announcement(row.history, changed_at, announcer), now)

    def replace_history(self, row: PlanRow, history: VisitHistory, now: float) -> PlanRow:
        """The row with another history, planned anew."""
        return self._plan_row(PlanRow(row.id, row.url, history, weight=row.weight, due_slot=row.due_slot), now)

    def remove_page(self, url: str) -> None:
        """A page is gone."""
        kin = parse_url_groups(url)
        self._get_site(kin).priors.remove_page(kin)

    # What to do

    def select_due(self, now: float, limit: int, include_early: bool = False) -> list[PlanRow]:
        """The rows to visit now, most urgent first; with `ahead` also what is not yet due, if there is room.

        Where there is a budget, more rows than there is room for are weighed, and the price follows those picked.
        """
        until = MAX_TIME if include_early else now
        if self.budget is None:
            return self.plan_store.load_due(limit, until)
        rows = self.plan_store.load_due(max(limit, min(CANDIDATE_FACTOR * limit, MAX_SCORED_ROWS)), until)
        weighed = sorted((self._score_row(row, now) for row in rows[:MAX_SCORED_ROWS]), key=itemgetter(0), reverse=True)
        for urgency, _ in weighed[:limit]:
            self.price.adjust(urgency, len(self.plan_store))
        self.plan_store.update_rows([row for _, row in weighed[limit:]])
        return [row for _, row in weighed[:limit]] + rows[MAX_SCORED_ROWS:limit]

    def replan_oldest(self, now: float, visit_count: int) -> None:
        """Plan anew what was planned longest ago, in proportion to the visits made, and a few if there were none."""
        self._limit_groups()
        self.plan_store.update_rows(
            [
                self._plan_row(row, now)
                for row in self.plan_store.load_oldest(max(REPLAN_FACTOR * visit_count, MIN_REPLANNED_ROWS))
            ]
        )

    def explain_row(self, row: PlanRow, now: float) -> VisitPlan:
        """Why a page is due when it is."""
        urgency, planned = self._score_row(row, now)
        return VisitPlan(planned.due_at, urgency, self.policy.explain(row.history, self._build_view(row, now)))

    # What is kept between runs

    def export_state(self) -> bytes:
        """All that is not in rows."""
        sites = {name: site.export_state() for name, site in self.sites.items()}
        return msgspec.msgpack.encode(
            PlannerState(self.price.factor, self.mean_cost, self.last_planned_at, sites, self._fitted_interval)
        )

    def restore_state(self, stored: bytes) -> None:
        """Go on where an exported planner stopped."""
        state = msgspec.msgpack.decode(stored, type=PlannerState)
        self.price, self.mean_cost, self.last_planned_at = (
            VisitPrice(state.price),
            state.mean_cost,
            state.last_planned_at,
        )
        self.sites = {name: restore_site(site) for name, site in state.sites.items()}
        self._fit_interval(state.fitted_interval)

    def _replan_if_changed(self, row: PlanRow, history: VisitHistory, now: float) -> PlanRow:
        return row if history == row.history else self.replace_history(row, history, now)

    def _plan_row(self, row: PlanRow, now: float) -> PlanRow:
        return self._score_row(row, now)[1]

    def _score_row(self, row: PlanRow, now: float) -> tuple[float, PlanRow]:
        """What a visit now is worth in terms of its price, and the row planned anew."""
        view = self._build_view(row, now)
        due_at, worth, ripe = self.policy.assess_page(row.history, view)
        last = min(row.history.last_visit, now)
        if due_at < last + MIN_INTERVAL:
            due_at = last + MIN_INTERVAL
        elif last + MAX_INTERVAL < due_at < MAX_TIME:
            due_at = last + MAX_INTERVAL
        self.last_planned_at = max(self.last_planned_at, now)
        return worth / view.price, PlanRow(row.id, row.url, row.history, due_at, self.last_planned_at, row.weight, ripe)

    def _build_view(self, row: PlanRow, now: float) -> PolicyView:
        interval = self.mean_interval
        if not self._fitted_interval / MAX_INTERVAL_DRIFT < interval < self._fitted_interval * MAX_INTERVAL_DRIFT:
            self._fit_interval(interval)
        kin = parse_url_groups(row.url)
        price = self.price.factor * self._base_price / max(row.weight, 1e-9)
        if self.budget is not None and self.budget.is_in_bytes and row.history.cost_bytes > 0:
            price *= row.history.cost_bytes / self.mean_cost
        return PolicyView(now, self._get_site(kin), kin, price, interval, self._value_table, row.due_slot)

    def _fit_interval(self, interval: float) -> None:
        """Make tables and clocks for another mean interval."""
        self._fitted_interval = interval
        self._value_table = get_value_table(AGE_WEIGHT * DAY / interval)
        self._base_price = self.policy.compute_base_price(interval, self._value_table)
        for site in self.sites.values():
            site.rescale_bins(interval)

    def _get_site(self, url_groups: UrlGroups) -> SiteStats:
        site = self.sites.get(url_groups.site)
        if site is None:
            if len(self.sites) >= MAX_SITES:
                self._drop_oldest_sites()
            site = self.sites[url_groups.site] = SiteStats(self._fitted_interval / BINS_PER_INTERVAL)
        return site

    def _limit_groups(self) -> None:
        """If there are too many groups, keep those of the sites that were visited last."""
        if sum(site.group_count for site in self.sites.values()) <= MAX_GROUPS:
            return
        room = MAX_GROUPS // 2
        for site in sorted(self.sites.values(), key=lambda site: site.last_visit_at, reverse=True):
            room -= site.group_count
            if room < 0:
                site.drop_groups()

    def _drop_oldest_sites(self) -> None:
        """Drop the half of the sites that was not visited for longest."""
        kept = sorted(self.sites.items(), key=lambda item: item[1].last_visit_at, reverse=True)
        self.sites = dict(kept[: MAX_SITES // 2])
