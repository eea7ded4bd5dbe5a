"""Sets of workers by change frequency."""

import pytest

from sanderling.errors import UsageError
from sanderling.models import Host
from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.change_rate_sets import DAY, HOUR, ChangeRateSets, classify_interval
from sanderling.workers.assignment.worker_assignment import WorkerAssignment

HOURLY, DAILY, RARE = Host("http://hourly.example"), Host("http://daily.example"), Host("http://rare.example")


def test_interval_has_the_nearest_class() -> None:
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


def test_frequently_changing_hosts_have_their_own_workers() -> None:
    assignment = WorkerAssignment(AhpStrategy(), change_rate_sets=ChangeRateSets(("daily", "hourly")))
    for name in ("a", "b", "c", "d"):
        assignment.add_worker(name)
    assert assignment.change_rate_sets.set_by_worker == {"a": "hourly", "b": "daily", "c": "rest", "d": "hourly"}
    workers = list(assignment.workers)
    assert [assignment.can_reach(m, HOURLY) for m in workers] == [True] * 4, "unknown host"
    assignment.change_rate_sets.set_intervals({HOURLY: HOUR / 10, DAILY: DAY, RARE: 90 * DAY})
    assert [m for m in workers if assignment.can_reach(m, HOURLY)] == ["a", "d"], "more often than hourly is hourly"
    assert [m for m in workers if assignment.can_reach(m, DAILY)] == ["b"]
    assert [m for m in workers if assignment.can_reach(m, RARE)] == ["c"]
    assert assignment.choose_worker(RARE, ["a", "b"]) is None, "it waits for its own set"


def test_empty_set_is_served_by_other_workers() -> None:
    sets = ChangeRateSets(("daily",))
    for name in ("a", "b"):
        sets.add_worker(name)
    sets.set_intervals({DAILY: DAY})
    assert not sets.can_serve("b", DAILY)
    sets.remove_worker("a")
    assert sets.can_serve("b", DAILY)
    sets.add_worker("c")
    assert sets.set_by_worker == {"b": "rest", "c": "daily"}


def test_without_sets_any_worker_can_serve_any_host() -> None:
    sets = ChangeRateSets()
    sets.add_worker("a")
    sets.set_intervals({DAILY: DAY})
    assert sets.can_serve("a", DAILY)


def test_unknown_class_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown change frequency 'dayly'; choose one of: always, hourly"):
        ChangeRateSets(("dayly",))
