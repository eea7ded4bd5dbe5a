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

from sanderling.revisit.budget import Budget
from sanderling.revisit.model.activity import PER_INTERVAL
from sanderling.revisit.model.announcer_trust import Kind
from sanderling.revisit.model.change_rate import DAY, value_table
from sanderling.revisit.model.group_prior import Kin, kin_of
from sanderling.revisit.model.site_stats import Site, restore
from sanderling.revisit.plan_store import Row, Shelf
from sanderling.revisit.policies.policy import Policy, View
from sanderling.revisit.policies.sitemap_driven import Hint, announced, listed
from sanderling.revisit.visit_history import History, Look, begin

PACE = 4.0  # how far the price follows what visits were worth, in one round of all pages
QUICKEST = 0.2  # and at one visit
WIDEST = 1.0  # bound on what one visit says: a factor e


class Price(Struct):
    """A price in terms of par: it follows the worth of the visits that the budget lets happen."""

    base: float = 1.0

    def steer(self, worth: float, pages: int) -> None:
        """Learn that a visit was made that was worth so much, in terms of the price."""
        step = log(worth) if worth > 0 else -WIDEST
        self.base *= exp(min(PACE / max(pages, 1), QUICKEST) * min(max(step, -WIDEST), WIDEST))


WEEK = 7 * DAY  # between visits of an unknown page where no budget is given
SOONEST = 3600.0  # between two visits of a page
LATEST = 365 * DAY
AGE = 0.1  # weight of age beside freshness, per mean interval: enough that nothing starves
CHOICE = 4  # rows weighed for every one visited
MOST_WEIGHED = 400  # at a time; of a larger batch the earliest are taken as they are
SWEEP = 2  # rows planned anew for every one visited
FEW = 16  # rows planned anew even if nothing was visited: after a clock that jumped back, nothing may be due
MOST_SITES = 10_000  # in memory; those not visited for longest are forgotten
MOST_GROUPS = 16_384  # of pages, of all sites together: about 60 MB
LOOKED_AFTER = 1024  # new pages between two looks at how many groups there are
TYPICAL_COST = 20_000.0  # bytes of a visit, until some were made
DRIFT = 1.2  # of the mean interval, up to which tables and clocks stay as they are
FOREVER = sys.float_info.max


class Plan(Struct, frozen=True):
    """When a page is due, what a visit now is worth in terms of its price, and why."""

    due_at: float
    urgency: float
    why: str


class PlannerState(Struct, array_like=True):
    """What a planner keeps between runs, beside the rows."""

    price: float
    cost: float
    newest: float
    sites: dict[str, bytes]
    scale: float = WEEK


class Planner:
    """Plans the visits of all pages on a shelf, by one policy, within one budget."""

    def __init__(self, policy: Policy, shelf: Shelf, budget: Budget | None = None) -> None:
        self.policy = policy
        self.shelf = shelf
        self.budget = budget
        self.sites: dict[str, Site] = {}
        self.price = Price()
        self.cost = TYPICAL_COST
        self.newest = 0.0  # plan; never goes back, even if the clock does
        self._entered = 0  # pages
        self._fit(WEEK)

    @property
    def interval(self) -> float:
        """Mean seconds between two visits of a page that the budget allows."""
        if self.budget is None:
            return WEEK
        each = self.cost if self.budget.in_bytes else 1.0
        return max(len(self.shelf), 1) * each / self.budget.per_second

    # What was learned

    def enter(self, id: int, url: str, at: float, cost: float = 0.0, weight: float = 1.0) -> Row:
        """The row of a page that was just fetched for the first time."""
        kin = kin_of(url)
        site = self._site(kin)
        site.seen_at = at
        site.habits.enter(kin)
        self._entered += 1
        if self._entered % LOOKED_AFTER == 0:
            self._bound()
        return self._plan(Row(id, url, begin(at, cost), weight=weight), at)

    def seen(self, row: Row, look: Look) -> Row:
        """The row after a completed visit."""
        view = self._view(row, look.at)
        view.site.seen_at = look.at
        if look.cost > 0:
            self.cost += 0.01 * (look.cost - self.cost)
        return self.keep(row, self.policy.learn(row.history, look, view), look.at)

    def hinted(self, row: Row, hint: Hint | None, kind: Kind, now: float) -> Row:
        """The row after a sitemap or feed was read: what it says of the page, or that it says nothing (any more)."""
        return self._renewed(row, listed(row.history, hint, kind), now)

    def announced(self, row: Row, at: float, kind: Kind, now: float) -> Row:
        """The row of a page that is said to have changed at a time."""
        return self._renewed(row, announced(row.history, at, kind), now)

    def keep(self, row: Row, history: History, now: float) -> Row:
        """The row with another history, planned anew."""
        return self._plan(Row(row.id, row.url, history, weight=row.weight, ripe=row.ripe), now)

    def left(self, url: str) -> None:
        """A page is gone."""
        kin = kin_of(url)
        self._site(kin).habits.leave(kin)

    # What to do

    def due(self, now: float, room: int, ahead: bool = False) -> list[Row]:
        """The rows to visit now, most urgent first; with `ahead` also what is not yet due, if there is room.

        Where there is a budget, more rows than there is room for are weighed, and the price follows those picked.
        """
        until = FOREVER if ahead else now
        if self.budget is None:
            return self.shelf.earliest(room, until)
        rows = self.shelf.earliest(max(room, min(CHOICE * room, MOST_WEIGHED)), until)
        weighed = sorted((self._weigh(row, now) for row in rows[:MOST_WEIGHED]), key=itemgetter(0), reverse=True)
        for urgency, _ in weighed[:room]:
            self.price.steer(urgency, len(self.shelf))
        self.shelf.put([row for _, row in weighed[room:]])
        return [row for _, row in weighed[:room]] + rows[MOST_WEIGHED:room]

    def sweep(self, now: float, visits: int) -> None:
        """Plan anew what was planned longest ago, in proportion to the visits made, and a few if there were none."""
        self._bound()
        self.shelf.put([self._plan(row, now) for row in self.shelf.oldest(max(SWEEP * visits, FEW))])

    def explain(self, row: Row, now: float) -> Plan:
        """Why a page is due when it is."""
        urgency, planned = self._weigh(row, now)
        return Plan(planned.due_at, urgency, self.policy.why(row.history, self._view(row, now)))

    # What is kept between runs

    def export(self) -> bytes:
        """All that is not in rows."""
        sites = {name: site.export() for name, site in self.sites.items()}
        return msgspec.msgpack.encode(PlannerState(self.price.base, self.cost, self.newest, sites, self._scale))

    def restore(self, stored: bytes) -> None:
        """Go on where an exported planner stopped."""
        state = msgspec.msgpack.decode(stored, type=PlannerState)
        self.price, self.cost, self.newest = Price(state.price), state.cost, state.newest
        self.sites = {name: restore(site) for name, site in state.sites.items()}
        self._fit(state.scale)

    def _renewed(self, row: Row, history: History, now: float) -> Row:
        return row if history == row.history else self.keep(row, history, now)

    def _plan(self, row: Row, now: float) -> Row:
        return self._weigh(row, now)[1]

    def _weigh(self, row: Row, now: float) -> tuple[float, Row]:
        """What a visit now is worth in terms of its price, and the row planned anew."""
        view = self._view(row, now)
        due_at, worth, ripe = self.policy.assess(row.history, view)
        last = min(row.history.last, now)
        if due_at < last + SOONEST:
            due_at = last + SOONEST
        elif last + LATEST < due_at < FOREVER:
            due_at = last + LATEST
        self.newest = max(self.newest, now)
        return worth / view.price, Row(row.id, row.url, row.history, due_at, self.newest, row.weight, ripe)

    def _view(self, row: Row, now: float) -> View:
        interval = self.interval
        if not self._scale / DRIFT < interval < self._scale * DRIFT:
            self._fit(interval)
        kin = kin_of(row.url)
        price = self.price.base * self._par / max(row.weight, 1e-9)
        if self.budget is not None and self.budget.in_bytes and row.history.cost > 0:
            price *= row.history.cost / self.cost
        return View(now, self._site(kin), kin, price, interval, self._table, row.ripe)

    def _fit(self, interval: float) -> None:
        """Make tables and clocks for another mean interval."""
        self._scale = interval
        self._table = value_table(AGE * DAY / interval)
        self._par = self.policy.par(interval, self._table)
        for site in self.sites.values():
            site.rescale(interval)

    def _site(self, kin: Kin) -> Site:
        site = self.sites.get(kin.site)
        if site is None:
            if len(self.sites) >= MOST_SITES:
                self._forget()
            site = self.sites[kin.site] = Site(self._scale / PER_INTERVAL)
        return site

    def _bound(self) -> None:
        """If there are too many groups, keep those of the sites that were visited last."""
        if sum(site.size for site in self.sites.values()) <= MOST_GROUPS:
            return
        room = MOST_GROUPS // 2
        for site in sorted(self.sites.values(), key=lambda site: site.seen_at, reverse=True):
            room -= site.size
            if room < 0:
                site.forget_groups()

    def _forget(self) -> None:
        """Drop the half of the sites that was not visited for longest."""
        kept = sorted(self.sites.items(), key=lambda item: item[1].seen_at, reverse=True)
        self.sites = dict(kept[: MOST_SITES // 2])
