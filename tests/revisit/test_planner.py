"""The planner keeps to the budget, weighs by the price, and learns from pages that change together."""

from random import Random

import msgspec
import pytest

from sanderling.revisit.budget import RevisitBudget
from sanderling.revisit.model.announcer_trust import Announcer
from sanderling.revisit.model.site_stats import OBSERVATIONS_PER_VERSION, SiteState, restore_site
from sanderling.revisit.plan_store import MemoryPlanStore
from sanderling.revisit.planner import Planner
from sanderling.revisit.policies.policy_registry import DEFAULT_POLICY, POLICIES
from sanderling.revisit.policies.sitemap_driven import RevisitHint
from sanderling.revisit.visit_history import Observation

DAY = 86_400.0


class World:
    """Pages that change at times of our choosing, visited within a budget."""

    def __init__(self, changes: dict[str, list[float]], every: float, policy: str = DEFAULT_POLICY) -> None:
        self.changes, self.names = changes, list(changes)
        self.shelf = MemoryPlanStore()
        self.planner = Planner(POLICIES[policy], self.shelf, RevisitBudget(len(changes) / (every * DAY)))
        self.shelf.update_rows(
            [self.planner.add_page(n, f"http://a.org/{name}", 0.0) for n, name in enumerate(self.names)]
        )
        self.seen = dict.fromkeys(range(len(changes)), 0.0)
        self.visits: list[tuple[float, str]] = []

    def run(self, begin: float, days: float, room: int) -> None:
        for day in range(int(begin), int(begin + days)):
            now = (day + 1) * DAY
            rows = self.planner.select_due(now, room, include_early=True)
            assert len({row.id for row in rows}) == len(rows) == room
            for row in rows:
                name = self.names[row.id]
                changed = any(self.seen[row.id] < at <= now for at in self.changes[name])
                self.shelf.update_rows([self.planner.record_visit(row, Observation(now, changed))])
                self.seen[row.id] = now
                self.visits.append((now, name))
            self.planner.replan_oldest(now, len(rows))


def test_lively_pages_get_more_of_the_budget_than_quiet_ones() -> None:
    dice = Random(1)
    lively = {f"news/{n}": [dice.uniform(0, 400) * DAY for _ in range(20)] for n in range(20)}
    world = World(lively | {f"legal/{n}": [] for n in range(20)}, 20)
    world.run(0, 400, 2)
    late = [name for at, name in world.visits if at > 200 * DAY]
    assert sum(name.startswith("news") for name in late) > 0.6 * len(late)
    assert {name for name in late if name.startswith("legal")} == {f"legal/{n}" for n in range(20)}


def test_a_change_found_makes_its_kin_due_sooner() -> None:
    batches = [30.0 * DAY * n for n in range(1, 20)]
    together = {f"doc/{n}.html": batches for n in range(20)}
    world = World(together | {f"blog/{n}.html": [] for n in range(20)}, 20)
    world.run(0, 300, 2)
    begin = len(world.visits)
    world.run(300, 10, 2)  # the pages of doc/ changed on day 300
    after = [name for _, name in world.visits[begin:]]
    assert sum(name.startswith("doc") for name in after) >= 12


def test_an_announced_page_goes_first_and_a_silent_one_waits() -> None:
    planner = Planner(POLICIES[DEFAULT_POLICY], shelf := MemoryPlanStore(), RevisitBudget(10 / (20 * DAY)))
    rows = [planner.add_page(n, f"http://a.org/{n}.html", 0.0) for n in range(10)]
    shelf.update_rows([planner.apply_hint(row, RevisitHint(1.0), Announcer.SITEMAP, 0.0) for row in rows])
    now = 15 * DAY
    shelf.update_rows([planner.apply_announcement(shelf.rows[7], now, Announcer.SITEMAP, now)])
    assert [row.id for row in planner.select_due(now, 1, include_early=True)] == [7]
    silent = planner.explain_row(shelf.rows[3], now)
    assert silent.urgency < planner.explain_row(rows[3], now).urgency
    assert "not announced" in silent.reason
    assert "announced as changed" in planner.explain_row(shelf.rows[7], now).reason


def test_the_same_announcement_twice_is_no_news() -> None:
    planner = Planner(POLICIES[DEFAULT_POLICY], MemoryPlanStore())
    row = planner.add_page(1, "http://a.org/", 0.0)
    once = planner.apply_announcement(row, DAY, Announcer.FEED, 2 * DAY)
    assert once.history.announcement_count == 1
    assert planner.apply_announcement(once, DAY, Announcer.FEED, 3 * DAY) == once
    assert (
        planner.apply_announcement(
            planner.record_visit(once, Observation(4 * DAY)), DAY, Announcer.FEED, 5 * DAY
        ).history.announcement_count
        == 0
    )


def test_important_pages_are_visited_more_often() -> None:
    planner = Planner(POLICIES[DEFAULT_POLICY], MemoryPlanStore(), RevisitBudget(1 / DAY))
    plain = planner.add_page(1, "http://a.org/1", 0.0)
    dear = planner.add_page(2, "http://a.org/2", 0.0, weight=4.0)
    assert dear.due_at < plain.due_at


def test_with_a_budget_in_bytes_large_pages_are_visited_less_often() -> None:
    planner = Planner(POLICIES[DEFAULT_POLICY], MemoryPlanStore(), RevisitBudget(1000 / DAY, is_in_bytes=True))
    small = planner.add_page(1, "http://a.org/1", 0.0, cost=1000)
    large = planner.add_page(2, "http://a.org/2", 0.0, cost=100_000)
    assert small.due_at < large.due_at


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_what_was_learned_survives_a_restart(name: str) -> None:
    dice = Random(2)
    world = World({f"d{n % 3}/{n}.html": [dice.uniform(0, 90) * DAY for _ in range(5)] for n in range(20)}, 10, name)
    world.run(0, 90, 2)
    again = Planner(POLICIES[name], world.shelf, world.planner.budget)
    again.restore_state(world.planner.export_state())
    for site in world.planner.sites.values():
        site.observation_count += (
            OBSERVATIONS_PER_VERSION  # its clocks are read anew, as those of one just restored are
        )
    for row in world.shelf.rows.values():
        before, after = (p.explain_row(row, 91 * DAY) for p in (world.planner, again))
        assert after.due_at == pytest.approx(before.due_at, abs=DAY)
        assert after.urgency == pytest.approx(before.urgency, rel=0.2)


def test_after_a_clock_that_jumped_back_visits_go_on() -> None:
    world = World({f"{n}.html": [] for n in range(10)}, 5)
    world.run(100, 10, 2)
    before = len(world.visits)
    world.run(20, 10, 2)
    assert len(world.visits) == before + 20


def test_memory_is_bounded_whatever_the_number_of_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.revisit.planner.MAX_SITES", 8)
    monkeypatch.setattr("sanderling.revisit.planner.MAX_GROUPS", 20)
    planner = Planner(POLICIES[DEFAULT_POLICY], MemoryPlanStore())
    for n in range(40):
        row = planner.add_page(n, f"http://h{n}.org/a/b.html", 0.0)
        planner.record_visit(row, Observation(DAY * (n + 1), True))
        planner.replan_oldest(DAY * (n + 1), 1)
    assert len(planner.sites) <= 8
    assert sum(len(site.activities) for site in planner.sites.values()) <= 20


def test_memory_is_bounded_while_pages_are_met_for_the_first_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.revisit.planner.MAX_GROUPS", 20)
    monkeypatch.setattr("sanderling.revisit.planner.GROUP_CHECK_PAGES", 10)
    planner = Planner(POLICIES[DEFAULT_POLICY], MemoryPlanStore())
    for n in range(400):
        planner.add_page(n, f"http://h{n // 100}.org/d{n % 50}/index.html", float(n))
    assert sum(len(site.priors.groups) for site in planner.sites.values()) <= 20 + 10
    assert not planner.sites["http://h0.org"].priors.groups, "those met longest ago go first"


def test_groups_of_one_page_that_were_stored_one_by_one_are_read() -> None:
    planner = Planner(POLICIES[DEFAULT_POLICY], MemoryPlanStore())
    for n, name in enumerate(("tide", "wave")):
        planner.add_page(n, f"http://a.org/a/{name}.html", 0.0)
    site = planner.sites["http://a.org"]
    state = msgspec.msgpack.decode(site.export_state(), type=SiteState)
    singles = [(key, 1, state.group_priors[0][2]) for key in ("tide.*", "wave.*")]
    older = msgspec.structs.replace(state, group_priors=[*state.group_priors, *singles], single_page_groups=b"")
    again = restore_site(msgspec.msgpack.encode(older)).priors
    assert again.single_page_groups == site.priors.single_page_groups != set()
    assert again.groups.keys() == site.priors.groups.keys()
