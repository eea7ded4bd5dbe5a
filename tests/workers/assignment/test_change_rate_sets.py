"""Sets of migrants by how often pages change."""

import pytest

from sanderling.errors import UsageError
from sanderling.models import Host
from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.change_rate_sets import DAY, HOUR, ChangeRateSets, classify_interval
from sanderling.workers.assignment.worker_assignment import WorkerAssignment

NEWS, SHOP, BOOK = Host("http://news.example"), Host("http://shop.example"), Host("http://book.example")


def test_an_interval_has_the_class_that_is_nearest() -> None:
    intervals = (60.0, HOUR, DAY, 7 * DAY, 30 * DAY, 365 * DAY, 5000 * DAY)
    assert [classify_interval(i) for i in intervals] == [
        "always",
        "hourly",
        "daily",
        "weekly",
        "monthly",
        "yearly",
        "never",
    ]


def test_lively_hosts_have_migrants_of_their_own() -> None:
    roster = WorkerAssignment(AhpStrategy(), change_rate_sets=ChangeRateSets(("daily", "hourly")))
    for name in ("a", "b", "c", "d"):
        roster.add_worker(name)
    assert roster.change_rate_sets.set_by_worker == {"a": "hourly", "b": "daily", "c": "rest", "d": "hourly"}
    everyone = list(roster.workers)
    assert [roster.can_reach(m, NEWS) for m in everyone] == [True] * 4, "nothing is known of it yet"
    roster.change_rate_sets.set_intervals({NEWS: HOUR / 10, SHOP: DAY, BOOK: 90 * DAY})
    assert [m for m in everyone if roster.can_reach(m, NEWS)] == ["a", "d"], "more often than hourly is hourly"
    assert [m for m in everyone if roster.can_reach(m, SHOP)] == ["b"]
    assert [m for m in everyone if roster.can_reach(m, BOOK)] == ["c"]
    assert roster.choose_worker(BOOK, ["a", "b"]) is None, "it waits for its own"


def test_a_set_that_lost_its_migrants_is_served_by_others() -> None:
    sets = ChangeRateSets(("daily",))
    for name in ("a", "b"):
        sets.add_worker(name)
    sets.set_intervals({SHOP: DAY})
    assert not sets.can_serve("b", SHOP)
    sets.remove_worker("a")
    assert sets.can_serve("b", SHOP)
    sets.add_worker("c")
    assert sets.set_by_worker == {"b": "rest", "c": "daily"}


def test_without_sets_anybody_goes_anywhere() -> None:
    sets = ChangeRateSets()
    sets.add_worker("a")
    sets.set_intervals({SHOP: DAY})
    assert sets.can_serve("a", SHOP)


def test_a_class_that_is_not_known_is_refused() -> None:
    with pytest.raises(UsageError, match="no class of change frequency is called 'dayly'; there are: always, hourly"):
        ChangeRateSets(("dayly",))
