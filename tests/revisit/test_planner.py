"""The planner: budget, price, and related pages."""

from random import Random

import pytest
from benchmarks.lib.memory_plan_store import MemoryPlanStore

from sanderling.revisit.announcements import Announcer, RevisitHint
from sanderling.revisit.intervals import RevisitBudget
from sanderling.revisit.planner import Planner
from sanderling.revisit.policies import DEFAULT_POLICY, POLICIES
from sanderling.revisit.visit_history import Observation

DAY = 86_400.0


class Simulation:
    """Pages that change at given times, visited within a budget."""

    def __init__(self, changes: dict[str, list[float]], every: float, policy: str = DEFAULT_POLICY) -> None:
        self.changes, self.names = changes, list(changes)
        self.store = MemoryPlanStore()
        self.planner = Planner(POLICIES[policy], self.store, RevisitBudget(len(changes) / (every * DAY)))
        self.store.update_rows(
            [self.planner.add_page(n, f"http://a.org/{name}", 0.0) for n, name in enumerate(self.names)]
        )
        self.seen = dict.fromkeys(range(len(changes)), 0.0)
        self.visits: list[tuple[float, str]] = []

    def run(self, begin: float, days: float, limit: int) -> None:
        for day in range(int(begin), int(begin + days)):
            now = (day + 1) * DAY
            rows = self.planner.select_due(now, limit, include_early=True)
            assert len({row.id for row in rows}) == len(rows) == limit
            for row in rows:
                name = self.names[row.id]
                changed = any(self.seen[row.id] < at <= now for at in self.changes[name])
                self.store.update_rows([self.planner.record_visit(row, Observation(now, changed))])
                self.seen[row.id] = now
                self.visits.append((now, name))
            self.planner.replan_oldest(now, len(rows))


def test_changing_pages_get_more_budget() -> None:
    random = Random(1)
    active = {f"blog/{n}": [random.uniform(0, 400) * DAY for _ in range(20)] for n in range(20)}
    simulation = Simulation(active | {f"legal/{n}": [] for n in range(20)}, 20)
    simulation.run(0, 400, 2)
    late = [name for at, name in simulation.visits if at > 200 * DAY]
    assert sum(name.startswith("blog") for name in late) > 0.6 * len(late)
    assert {name for name in late if name.startswith("legal")} == {f"legal/{n}" for n in range(20)}


def test_change_makes_related_pages_due_sooner() -> None:
    batches = [30.0 * DAY * n for n in range(1, 20)]
    together = {f"doc/{n}.html": batches for n in range(20)}
    simulation = Simulation(together | {f"blog/{n}.html": [] for n in range(20)}, 20)
    simulation.run(0, 300, 2)
    begin = len(simulation.visits)
    simulation.run(300, 10, 2)  # the pages of doc/ changed on day 300
    after = [name for _, name in simulation.visits[begin:]]
    assert sum(name.startswith("doc") for name in after) >= 12


def test_announced_page_is_first_and_silent_page_waits() -> None:
    planner = Planner(POLICIES[DEFAULT_POLICY], store := MemoryPlanStore(), RevisitBudget(10 / (20 * DAY)))
    rows = [planner.add_page(n, f"http://a.org/{n}.html", 0.0) for n in range(10)]
    store.update_rows([planner.apply_hint(row, RevisitHint(1.0), Announcer.SITEMAP, 0.0) for row in rows])
    now = 15 * DAY
    store.update_rows([planner.apply_announcement(store.rows[7], now, Announcer.SITEMAP, now)])
    assert [row.id for row in planner.select_due(now, 1, include_early=True)] == [7]
    assert "announced as changed" in planner.explain_row(store.rows[7], now).reason


def test_repeated_announcement_is_ignored() -> None:
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


def test_important_pages_are_due_sooner() -> None:
    planner = Planner(POLICIES[DEFAULT_POLICY], MemoryPlanStore(), RevisitBudget(1 / DAY))
    plain = planner.add_page(1, "http://a.org/1", 0.0)
    important = planner.add_page(2, "http://a.org/2", 0.0, weight=4.0)
    assert important.due_at < plain.due_at


def test_byte_budget_delays_large_pages() -> None:
    planner = Planner(POLICIES[DEFAULT_POLICY], MemoryPlanStore(), RevisitBudget(1000 / DAY, is_in_bytes=True))
    small = planner.add_page(1, "http://a.org/1", 0.0, cost=1000)
    large = planner.add_page(2, "http://a.org/2", 0.0, cost=100_000)
    assert small.due_at < large.due_at


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_planner_state_survives_restart(name: str) -> None:
    random = Random(2)
    simulation = Simulation(
        {f"d{n % 3}/{n}.html": [random.uniform(0, 90) * DAY for _ in range(5)] for n in range(20)}, 10, name
    )
    simulation.run(0, 90, 2)
    again = Planner(POLICIES[name], simulation.store, simulation.planner.budget)
    again.restore_state(simulation.planner.export_state())
    for site in simulation.planner.sites.values():
        for activity in site.activities.values():
            activity.update_clock()  # like a restored site
    for row in simulation.store.rows.values():
        before, after = (p.explain_row(row, 91 * DAY) for p in (simulation.planner, again))
        assert after.due_at == pytest.approx(before.due_at, abs=DAY)
        assert after.urgency == pytest.approx(before.urgency, rel=0.2)


def test_visits_continue_if_clock_is_set_back() -> None:
    simulation = Simulation({f"{n}.html": [] for n in range(10)}, 5)
    simulation.run(100, 10, 2)
    before = len(simulation.visits)
    simulation.run(20, 10, 2)
    assert len(simulation.visits) == before + 20


def test_memory_is_limited_for_many_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.revisit.planner.MAX_SITES", 8)
    monkeypatch.setattr("sanderling.revisit.planner.MAX_GROUPS", 20)
    planner = Planner(POLICIES[DEFAULT_POLICY], MemoryPlanStore())
    for n in range(40):
        row = planner.add_page(n, f"http://h{n}.org/a/b.html", 0.0)
        planner.record_visit(row, Observation(DAY * (n + 1), True))
        planner.replan_oldest(DAY * (n + 1), 1)
    assert len(planner.sites) <= 8
    assert sum(len(site.activities) for site in planner.sites.values()) <= 20


def test_memory_is_limited_for_new_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.revisit.planner.MAX_GROUPS", 20)
    monkeypatch.setattr("sanderling.revisit.planner.GROUP_CHECK_PAGES", 10)
    monkeypatch.setattr("sanderling.revisit.site_model.MAX_DIRECTORIES", 100)
    planner = Planner(POLICIES[DEFAULT_POLICY], MemoryPlanStore())
    for n in range(1600):
        planner.add_page(n, f"http://h{n // 400}.org/d{n % 200}/index.html", float(n))
    assert all(len(site.page_counts) <= 100 for site in planner.sites.values())
    assert sum(site.group_count for site in planner.sites.values()) <= 20 + 10
    assert not planner.sites["h0.org"].page_counts, "the oldest sites are dropped first"
