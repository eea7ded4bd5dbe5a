"""The planner: selects pages to visit now, and updates plans after visits. Only site statistics are in memory.

A plan is made when something is learned about a page, and says when a visit will be worth its price. Plans become
outdated: the price moves, directories become active. So `select_due` scores a few rows for each it picks, and
`replan_oldest` replans the oldest rows: bounded work per visit, and no plan older than a fraction of the mean interval.
"""

import sys
from collections.abc import Callable
from operator import itemgetter

import msgspec
from msgspec import Struct

from sanderling.revisit.announcements import Announcer, RevisitHint, apply_announcement, apply_sitemap_hint
from sanderling.revisit.change_timing import CELLS_PER_INTERVAL, find_site_name
from sanderling.revisit.intervals import DEFAULT_INTERVAL, CheckInterval, RevisitBudget, scale_budget
from sanderling.revisit.plan_store import PlanRow, PlanStore
from sanderling.revisit.policies.learned import POLICY, build_scale, estimate_budget_factor, estimate_rate, is_certain
from sanderling.revisit.policies.policy import PolicyView, RevisitPolicy, ValueScale, VisitPrice, describe_limit
from sanderling.revisit.site_model import BIRTH_DELAY, SiteModel, restore_site
from sanderling.revisit.visit_history import DAY, Observation, VisitHistory, start_history

WEEK = 7 * DAY  # mean interval without a budget
MAX_INTERVAL = 365 * DAY
AGE_PULLS = {"freshness": 0.1, "delay": 0.0}  # weight of the age of a copy; with `delay` nothing starves without it
FIRST_AGE_PULL = 0.3  # more of it before many visits
CANDIDATE_FACTOR = 3  # rows scored per visit
MAX_SCORED_ROWS = 400  # of a larger batch the earliest rows are taken unscored
REPLAN_FACTOR = 2  # rows replanned per visit
MIN_REPLANNED_ROWS = 16  # even without visits: nothing may be due after the clock was set back
MAX_SITES = 10_000  # in memory; those visited longest ago are dropped
MAX_GROUPS = 16_384  # of all sites, about 60 MB
GROUP_CHECK_PAGES = 1024  # new pages between checks of MAX_GROUPS
DEFAULT_COST_BYTES = 20_000.0  # before the first visit
MAX_INTERVAL_DRIFT = 1.2  # factor up to which cells are reused
MAX_SCALE_DRIFT = 2.0  # factor up to which mean values are kept
FOLLOWED_CHANGES = 1.5  # between two checks
MAX_TIME = sys.float_info.max


class VisitPlan(Struct, frozen=True):
    """Due time of a page, value of a visit now relative to its price, and the reason."""

    due_at: float
    urgency: float
    reason: str


class PlannerState(Struct, array_like=True):
    """Planner state stored between runs, apart from rows."""

    price: float
    mean_cost: float
    last_planned_at: float
    sites: dict[str, bytes]
    fitted_interval: float = WEEK
    scales: dict[str, ValueScale] = {}
    revisits: int = 0


class Planner:
    """Plans the visits of all pages in a store, by a policy, within a budget."""

    def __init__(
        self,
        policy: RevisitPolicy,
        plan_store: PlanStore,
        budget: RevisitBudget | None = None,
        find_interval: Callable[[str], CheckInterval] = lambda _: DEFAULT_INTERVAL,
    ) -> None:
        self.find_interval = find_interval  # by URL
        self.policy = policy
        self.plan_store = plan_store
        self.budget = budget
        self.sites: dict[str, SiteModel] = {}
        self.price = VisitPrice()
        self.age_pulls = dict(AGE_PULLS)
        self.mean_cost = DEFAULT_COST_BYTES
        self.last_planned_at = 0.0  # monotonic
        self.revisits = 0
        self._added_pages = 0
        self._scales: dict[str, ValueScale] = {}  # by objective
        self._fitted_interval = WEEK
        self._fit_interval(WEEK)

    @property
    def mean_interval(self) -> float:
        """Mean seconds between two visits of a page within the budget."""
        if self.budget is None:
            return WEEK
        unit_cost = self.mean_cost if self.budget.is_in_bytes else 1.0
        return max(len(self.plan_store), 1) * unit_cost / self.budget.per_second

    def add_page(self, page_id: int, url: str, visited_at: float, cost: float = 0.0, weight: float = 1.0) -> PlanRow:
        """Return the plan of a page that was fetched for the first time."""
        site = self._get_site(url, visited_at)
        site.last_visit_at = visited_at
        site.count_page(url, 1)
        self._added_pages += 1
        if self._added_pages % GROUP_CHECK_PAGES == 0:
            self._limit_groups()
        born_at = visited_at if visited_at > site.started_at + BIRTH_DELAY else 0.0
        return self._plan_row(
            PlanRow(page_id, url, start_history(visited_at, cost, born_at), weight=weight), visited_at
        )

    def record_visit(self, row: PlanRow, observation: Observation) -> PlanRow:
        """Return the plan after a completed visit."""
        view = self._build_view(row, observation.visited_at)
        self.revisits += 1
        if observation.cost_bytes > 0:
            self.mean_cost += 0.01 * (observation.cost_bytes - self.mean_cost)
        return self.replace_history(
            row, self.policy.update_history(row.history, observation, view), observation.visited_at
        )

    def apply_hint(self, row: PlanRow, hint: RevisitHint | None, announcer: Announcer, now: float) -> PlanRow:
        """Return the plan after a sitemap or feed was read. None: the page is not listed."""
        return self._replan_if_changed(row, apply_sitemap_hint(row.history, hint, announcer), now)

    def apply_announcement(self, row: PlanRow, changed_at: float, announcer: Announcer, now: float) -> PlanRow:
        """Return the plan after an announced change."""
        return self._replan_if_changed(row, apply_announcement(row.history, changed_at, announcer), now)

    def is_announcement_certain(self, row: PlanRow, now: float) -> bool:
        """Whether announcements make a change so likely that the page is visited at once."""
        return is_certain(row.history, self._build_view(row, now))

    def replace_history(self, row: PlanRow, history: VisitHistory, now: float) -> PlanRow:
        return self._plan_row(PlanRow(row.id, row.url, history, weight=row.weight), now)

    def remove_page(self, row: PlanRow) -> None:
        """Remove a page that is gone from the statistics of its site."""
        self._get_site(row.url, row.history.last_visit).delete_page(row.id, row.url)

    def select_due(self, now: float, limit: int, include_early: bool = False) -> list[PlanRow]:
        """Select rows to visit now, most urgent first; with `include_early` also rows that are not due yet.

        With a budget, more candidates than the limit are scored, and the price follows the selected ones.
        """
        until = MAX_TIME if include_early else now
        if self.budget is None:
            return self.plan_store.load_due(limit, until)
        rows = self.plan_store.load_due(max(limit, min(CANDIDATE_FACTOR * limit, MAX_SCORED_ROWS)), until)
        scored = sorted((self._score_row(row, now) for row in rows[:MAX_SCORED_ROWS]), key=itemgetter(0), reverse=True)
        for urgency, _ in scored[:limit]:
            self.price.adjust(urgency, len(self.plan_store))
        self.plan_store.update_rows([row for _, row in scored[limit:]])
        return [row for _, row in scored[:limit]] + rows[MAX_SCORED_ROWS:limit]

    def replan_oldest(self, now: float, visit_count: int) -> None:
        """Replan the oldest rows in proportion to the visits made, and always a few."""
        self._limit_groups()
        self.plan_store.update_rows(
            [
                self._plan_row(row, now)
                for row in self.plan_store.load_oldest(max(REPLAN_FACTOR * visit_count, MIN_REPLANNED_ROWS))
            ]
        )

    def explain_row(self, row: PlanRow, now: float) -> VisitPlan:
        urgency, planned = self._score_row(row, now)
        view = self._build_view(row, now)
        limit = describe_limit(
            view.interval, self.budget, row.history, planned.due_at, self._find_wanted_budget(planned, view)
        )
        reasons = [self.policy.explain(row.history, view), limit]
        return VisitPlan(planned.due_at, urgency, "; ".join(filter(None, reasons)))

    def _find_wanted_budget(self, row: PlanRow, view: PolicyView) -> RevisitBudget | None:
        """Return the budget that would check a page as often as it changes; None: it is, or it is not known."""
        history = row.history
        if self.budget is None or self.policy.name != POLICY.name or history.changes < 2:
            return None
        days = (row.due_at - history.last_visit) / DAY
        if days * estimate_rate(history, view.site) <= FOLLOWED_CHANGES:
            return None
        return scale_budget(self.budget, estimate_budget_factor(history, view))

    def estimate_rate(self, row: PlanRow, now: float) -> float:
        """Estimate the changes of a page per day."""
        return estimate_rate(row.history, self._build_view(row, now).site)

    def export_state(self) -> bytes:
        """Serialize everything that is not in rows."""
        sites = {name: site.export_state() for name, site in self.sites.items()}
        return msgspec.msgpack.encode(
            PlannerState(
                self.price.factor,
                self.mean_cost,
                self.last_planned_at,
                sites,
                self._fitted_interval,
                self._scales,
                self.revisits,
            )
        )

    def restore_state(self, stored: bytes) -> None:
        state = msgspec.msgpack.decode(stored, type=PlannerState)
        self.price, self.mean_cost, self.last_planned_at = (
            VisitPrice(state.price),
            state.mean_cost,
            state.last_planned_at,
        )
        self.sites = {name: restore_site(site) for name, site in state.sites.items()}
        self._fit_interval(state.fitted_interval)
        self._scales, self.revisits = state.scales, state.revisits

    def _replan_if_changed(self, row: PlanRow, history: VisitHistory, now: float) -> PlanRow:
        return row if history == row.history else self.replace_history(row, history, now)

    def _plan_row(self, row: PlanRow, now: float) -> PlanRow:
        return self._score_row(row, now)[1]

    def _score_row(self, row: PlanRow, now: float) -> tuple[float, PlanRow]:
        """Return the value of a visit now relative to its price, and the replanned row."""
        view = self._build_view(row, now)
        self.last_planned_at = max(self.last_planned_at, now)
        last, interval = min(row.history.last_visit, now), view.interval
        if interval.every:
            due_at = last + interval.every
            urgency = sys.float_info.max if due_at <= now else 0.0
        else:
            due_at, value = self.policy.assess_page(row.history, view)
            urgency = value / view.price
            longest = MAX_INTERVAL if self.budget is not None else interval.longest
            if due_at < last + interval.shortest and not (self.budget is None and row.history.announcement_count):
                due_at = last + interval.shortest
            elif last + longest < due_at < MAX_TIME:
                due_at = last + longest
        return urgency, PlanRow(row.id, row.url, row.history, due_at, self.last_planned_at, row.weight)

    def _build_view(self, row: PlanRow, now: float) -> PolicyView:
        mean_interval, interval = self.mean_interval, self.find_interval(row.url)
        if not self._fitted_interval / MAX_INTERVAL_DRIFT < mean_interval < self._fitted_interval * MAX_INTERVAL_DRIFT:
            self._fit_interval(mean_interval)
        price = self.price.factor * self._base_price / max(row.weight, 1e-9)
        if self.budget is not None and self.budget.is_in_bytes and row.history.cost_bytes > 0:
            price *= row.history.cost_bytes / self.mean_cost
        objective = interval.objective or ("delay" if self.budget is None else "freshness")
        site = self._get_site(row.url, now)
        return PolicyView(
            now,
            site,
            site.get_activity(row.url, now),
            price,
            mean_interval,
            row.id,
            interval,
            self._get_scale(objective) if self.budget is not None else None,
            self._compute_age_pull(objective),
            objective,
        )

    def _get_scale(self, objective: str) -> ValueScale:
        scale = self._scales.get(objective)
        if scale is None:
            scale = self._scales[objective] = build_scale(self._fitted_interval, objective)
        return scale

    def _compute_age_pull(self, objective: str) -> float:
        pages, pull = max(len(self.plan_store), 1), self.age_pulls[objective]
        return pull + FIRST_AGE_PULL * pages / (self.revisits + pages / 4) if pull else 0.0

    def _fit_interval(self, interval: float) -> None:
        """Adapt cells and mean values to another mean interval."""
        drift = max(interval, self._fitted_interval) / min(interval, self._fitted_interval)
        if drift > MAX_SCALE_DRIFT:
            self._scales = {}
        self._fitted_interval = interval
        self._base_price = self.policy.compute_base_price(interval)
        for site in self.sites.values():
            site.rescale_cells(interval)

    def _get_site(self, url: str, now: float) -> SiteModel:
        name = find_site_name(url)
        site = self.sites.get(name)
        if site is None:
            if len(self.sites) >= MAX_SITES:
                self._drop_oldest_sites()
            site = self.sites[name] = SiteModel(self._fitted_interval / CELLS_PER_INTERVAL, now)
        return site

    def _limit_groups(self) -> None:
        """Drop groups of the sites visited longest ago if there are too many."""
        if sum(site.group_count for site in self.sites.values()) <= MAX_GROUPS:
            return
        remaining = MAX_GROUPS // 2
        for site in sorted(self.sites.values(), key=lambda site: site.last_visit_at, reverse=True):
            remaining -= site.group_count
            if remaining < 0:
                site.drop_groups()

    def _drop_oldest_sites(self) -> None:
        newest_sites = sorted(self.sites.items(), key=lambda item: item[1].last_visit_at, reverse=True)
        self.sites = dict(newest_sites[: MAX_SITES // 2])
