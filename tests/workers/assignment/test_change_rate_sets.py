"""Sets of migrants by how often pages change."""

import pytest

from sanderling.errors import UsageError
from sanderling.models import Host
from sanderling.workers.assignment.ahp_strategy import Ahp
from sanderling.workers.assignment.change_rate_sets import DAY, HOUR, Sets, class_of
from sanderling.workers.assignment.roster import Roster

NEWS, SHOP, BOOK = Host("http://news.example"), Host("http://shop.example"), Host("http://book.example")


def test_an_interval_has_the_class_that_is_nearest() -> None:
    intervals = (60.0, HOUR, DAY, 7 * DAY, 30 * DAY, 365 * DAY, 5000 * DAY)
    assert [class_of(i) for i in intervals] == ["always", "hourly", "daily", "weekly", "monthly", "yearly", "never"]


def test_lively_hosts_have_migrants_of_their_own() -> None:
    roster = Roster(Ahp(), sets=Sets(("daily", "hourly")))
    for name in ("a", "b", "c", "d"):
        roster.join(name)
    assert roster.sets.members == {"a": "hourly", "b": "daily", "c": "rest", "d": "hourly"}
    everyone = list(roster.members)
    assert [roster.reaches(m, NEWS) for m in everyone] == [True] * 4, "nothing is known of it yet"
    roster.sets.tell({NEWS: HOUR / 10, SHOP: DAY, BOOK: 90 * DAY})
    assert [m for m in everyone if roster.reaches(m, NEWS)] == ["a", "d"], "more often than hourly is hourly"
    assert [m for m in everyone if roster.reaches(m, SHOP)] == ["b"]
    assert [m for m in everyone if roster.reaches(m, BOOK)] == ["c"]
    assert roster.who(BOOK, ["a", "b"]) is None, "it waits for its own"


def test_a_set_that_lost_its_migrants_is_served_by_others() -> None:
    sets = Sets(("daily",))
    for name in ("a", "b"):
        sets.join(name)
    sets.tell({SHOP: DAY})
    assert not sets.serves("b", SHOP)
    sets.leave("a")
    assert sets.serves("b", SHOP)
    sets.join("c")
    assert sets.members == {"b": "rest", "c": "daily"}


def test_without_sets_anybody_goes_anywhere() -> None:
    sets = Sets()
    sets.join("a")
    sets.tell({SHOP: DAY})
    assert sets.serves("a", SHOP)


def test_a_class_that_is_not_known_is_refused() -> None:
    with pytest.raises(UsageError, match="no class of change frequency is called 'dayly'; there are: always, hourly"):
        Sets(("dayly",))
