"""The planner keeps to the budget, weighs by the price, and learns from pages that change together."""

from random import Random

import msgspec
import pytest

from sanderling.revisit.budget import Budget
from sanderling.revisit.model.announcer_trust import Kind
from sanderling.revisit.model.site_stats import LOOKS_PER_STAMP, SiteState, restore
from sanderling.revisit.plan_store import MemoryShelf
from sanderling.revisit.planner import Planner
from sanderling.revisit.policies.policy_registry import DEFAULT, POLICIES
from sanderling.revisit.policies.sitemap_driven import Hint
from sanderling.revisit.visit_history import Look

DAY = 86_400.0


class World:
    """Pages that change at times of our choosing, visited within a budget."""

    def __init__(self, changes: dict[str, list[float]], every: float, policy: str = DEFAULT) -> None:
        self.changes, self.names = changes, list(changes)
        self.shelf = MemoryShelf()
        self.planner = Planner(POLICIES[policy], self.shelf, Budget(len(changes) / (every * DAY)))
        self.shelf.put([self.planner.enter(n, f"http://a.org/{name}", 0.0) for n, name in enumerate(self.names)])
        self.seen = dict.fromkeys(range(len(changes)), 0.0)
        self.visits: list[tuple[float, str]] = []

    def run(self, begin: float, days: float, room: int) -> None:
        for day in range(int(begin), int(begin + days)):
            now = (day + 1) * DAY
            rows = self.planner.due(now, room, ahead=True)
            assert len({row.id for row in rows}) == len(rows) == room
            for row in rows:
                name = self.names[row.id]
                changed = any(self.seen[row.id] < at <= now for at in self.changes[name])
                self.shelf.put([self.planner.seen(row, Look(now, changed))])
                self.seen[row.id] = now
                self.visits.append((now, name))
            self.planner.sweep(now, len(rows))


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
    planner = Planner(POLICIES[DEFAULT], shelf := MemoryShelf(), Budget(10 / (20 * DAY)))
    rows = [planner.enter(n, f"http://a.org/{n}.html", 0.0) for n in range(10)]
    shelf.put([planner.hinted(row, Hint(1.0), Kind.SITEMAP, 0.0) for row in rows])
    now = 15 * DAY
    shelf.put([planner.announced(shelf.rows[7], now, Kind.SITEMAP, now)])
    assert [row.id for row in planner.due(now, 1, ahead=True)] == [7]
    silent = planner.explain(shelf.rows[3], now)
    assert silent.urgency < planner.explain(rows[3], now).urgency
    assert "not announced" in silent.why
    assert "announced as changed" in planner.explain(shelf.rows[7], now).why


def test_the_same_announcement_twice_is_no_news() -> None:
    planner = Planner(POLICIES[DEFAULT], MemoryShelf())
    row = planner.enter(1, "http://a.org/", 0.0)
    once = planner.announced(row, DAY, Kind.FEED, 2 * DAY)
    assert once.history.signals == 1
    assert planner.announced(once, DAY, Kind.FEED, 3 * DAY) == once
    assert planner.announced(planner.seen(once, Look(4 * DAY)), DAY, Kind.FEED, 5 * DAY).history.signals == 0


def test_important_pages_are_visited_more_often() -> None:
    planner = Planner(POLICIES[DEFAULT], MemoryShelf(), Budget(1 / DAY))
    plain = planner.enter(1, "http://a.org/1", 0.0)
    dear = planner.enter(2, "http://a.org/2", 0.0, weight=4.0)
    assert dear.due_at < plain.due_at


def test_with_a_budget_in_bytes_large_pages_are_visited_less_often() -> None:
    planner = Planner(POLICIES[DEFAULT], MemoryShelf(), Budget(1000 / DAY, in_bytes=True))
    small = planner.enter(1, "http://a.org/1", 0.0, cost=1000)
    large = planner.enter(2, "http://a.org/2", 0.0, cost=100_000)
    assert small.due_at < large.due_at


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_what_was_learned_survives_a_restart(name: str) -> None:
    dice = Random(2)
    world = World({f"d{n % 3}/{n}.html": [dice.uniform(0, 90) * DAY for _ in range(5)] for n in range(20)}, 10, name)
    world.run(0, 90, 2)
    again = Planner(POLICIES[name], world.shelf, world.planner.budget)
    again.restore(world.planner.export())
    for site in world.planner.sites.values():
        site.looks += LOOKS_PER_STAMP  # its clocks are read anew, as those of one just restored are
    for row in world.shelf.rows.values():
        before, after = (p.explain(row, 91 * DAY) for p in (world.planner, again))
        assert after.due_at == pytest.approx(before.due_at, abs=DAY)
        assert after.urgency == pytest.approx(before.urgency, rel=0.2)


def test_after_a_clock_that_jumped_back_visits_go_on() -> None:
    world = World({f"{n}.html": [] for n in range(10)}, 5)
    world.run(100, 10, 2)
    before = len(world.visits)
    world.run(20, 10, 2)
    assert len(world.visits) == before + 20


def test_memory_is_bounded_whatever_the_number_of_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.revisit.planner.MOST_SITES", 8)
    monkeypatch.setattr("sanderling.revisit.planner.MOST_GROUPS", 20)
    planner = Planner(POLICIES[DEFAULT], MemoryShelf())
    for n in range(40):
        row = planner.enter(n, f"http://h{n}.org/a/b.html", 0.0)
        planner.seen(row, Look(DAY * (n + 1), True))
        planner.sweep(DAY * (n + 1), 1)
    assert len(planner.sites) <= 8
    assert sum(len(site.pulses) for site in planner.sites.values()) <= 20


def test_memory_is_bounded_while_pages_are_met_for_the_first_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.revisit.planner.MOST_GROUPS", 20)
    monkeypatch.setattr("sanderling.revisit.planner.LOOKED_AFTER", 10)
    planner = Planner(POLICIES[DEFAULT], MemoryShelf())
    for n in range(400):
        planner.enter(n, f"http://h{n // 100}.org/d{n % 50}/index.html", float(n))
    assert sum(len(site.habits.groups) for site in planner.sites.values()) <= 20 + 10
    assert not planner.sites["http://h0.org"].habits.groups, "those met longest ago go first"


def test_groups_of_one_page_that_were_stored_one_by_one_are_read() -> None:
    planner = Planner(POLICIES[DEFAULT], MemoryShelf())
    for n, name in enumerate(("tide", "wave")):
        planner.enter(n, f"http://a.org/a/{name}.html", 0.0)
    site = planner.sites["http://a.org"]
    state = msgspec.msgpack.decode(site.export(), type=SiteState)
    singles = [(key, 1, state.habits[0][2]) for key in ("tide.*", "wave.*")]
    older = msgspec.structs.replace(state, habits=[*state.habits, *singles], single=b"")
    again = restore(msgspec.msgpack.encode(older)).habits
    assert again.single == site.habits.single != set()
    assert again.groups.keys() == site.habits.groups.keys()
