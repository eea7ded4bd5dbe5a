"""Interval rules: parsing, combination, and their effect on due times."""

import math
import sqlite3
from collections.abc import Iterator

import pytest

from sanderling.db.schema.revisit import MIGRATIONS
from sanderling.errors import UsageError
from sanderling.revisit.intervals import (
    DEFAULT_INTERVAL,
    SETTINGS_OWNER,
    CheckInterval,
    IntervalRule,
    IntervalRules,
    RevisitBudget,
    parse_budget,
    parse_every,
)
from sanderling.revisit.policies import DEFAULT_POLICY, POLICIES
from sanderling.revisit.schedule import RevisitSchedule, VisitFacts

HOUR, DAY, NOW = 3600.0, 86_400.0, 1_700_000_000.0
PRICES = "http://shop.test/prices/tea"


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE hosts (id INTEGER PRIMARY KEY, name TEXT)")
    db.execute("CREATE TABLE urls (id INTEGER PRIMARY KEY, host INTEGER, path TEXT, role TEXT, state TEXT)")
    for script in MIGRATIONS:
        db.executescript(script)
    db.execute("INSERT INTO hosts VALUES (1, 'http://shop.test')")
    rows = [(1, "/"), (2, "/prices/tea"), (3, "/prices/soup")]
    db.executemany("INSERT INTO urls VALUES (?, 1, ?, 'page', 'visited')", rows)
    yield db
    db.close()


@pytest.fixture
def schedule(db: sqlite3.Connection) -> RevisitSchedule:
    schedule = RevisitSchedule(db, POLICIES[DEFAULT_POLICY])
    paths = {1: "/", 2: "/prices/tea", 3: "/prices/soup"}
    schedule.schedule_visits([VisitFacts(id_, "shop.test", path, NOW, 0.0, False) for id_, path in paths.items()])
    return schedule


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("1h", IntervalRule(every=HOUR)),
        ("1h30m", IntervalRule(every=1.5 * HOUR)),
        ("1h /prices/", IntervalRule("/prices/", every=HOUR)),
    ],
)
def test_every_is_parsed(text: str, rule: IntervalRule) -> None:
    assert parse_every(text) == rule


@pytest.mark.parametrize("text", ["", "soon", "/prices/ 1h", "0s", "1h ["])
def test_invalid_every_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_every(text)


def test_bounds_in_the_wrong_order_are_refused(db: sqlite3.Connection) -> None:
    with pytest.raises(UsageError, match="longer"):
        IntervalRules(db).set_rules(SETTINGS_OWNER, [IntervalRule(shortest=DAY, longest=HOUR)])


def test_most_demanding_matching_rule_counts(db: sqlite3.Connection) -> None:
    rules = IntervalRules(db)
    assert rules.find_interval(PRICES) is DEFAULT_INTERVAL
    rules.set_rules(SETTINGS_OWNER, [IntervalRule(every=DAY, eagerness="thrifty")])
    rules.set_rules("watch:tea", [IntervalRule(PRICES, is_exact=True, every=2 * HOUR, objective="freshness")])
    rules.set_rules("watch:prices", [IntervalRule("/prices/", every=HOUR, objective="delay")])
    assert IntervalRules(db).find_interval(PRICES) == CheckInterval(HOUR, eagerness="thrifty", objective="delay")
    assert rules.find_interval("http://shop.test/about").every == DAY
    rules.set_rules("watch:prices", [])
    assert rules.find_interval(PRICES).every == 2 * HOUR
    assert rules.load_owned("watch:prices") == []


def test_bound_beyond_the_other_default_moves_it(db: sqlite3.Connection) -> None:
    rules = IntervalRules(db)
    rules.set_rules(SETTINGS_OWNER, [IntervalRule(longest=600.0)])
    assert rules.find_interval(PRICES).shortest == rules.find_interval(PRICES).longest == 600.0


def test_rules_set_due_times_of_matching_pages(schedule: RevisitSchedule) -> None:
    adaptive = schedule.load_due_times([1, 2, 3])
    schedule.set_intervals("watch:prices", [IntervalRule("/prices/", every=HOUR)], NOW + 60)
    assert schedule.load_due_times([2, 3]) == {2: NOW + HOUR, 3: NOW + HOUR}
    assert schedule.load_due_times([1]) == {1: adaptive[1]}
    schedule.set_intervals("watch:prices", [], NOW + 60)
    assert schedule.load_due_times([2])[2] > NOW + HOUR


def test_rule_of_one_url_can_pause_it(schedule: RevisitSchedule) -> None:
    schedule.set_intervals("watch:tea", [IntervalRule(PRICES, is_exact=True, every=math.inf)], NOW)
    assert schedule.load_due_times([2]) == {2: math.inf}


def test_interval_is_kept_after_a_visit(schedule: RevisitSchedule) -> None:
    schedule.set_intervals("watch:tea", [IntervalRule(PRICES, is_exact=True, every=600.0)], NOW)
    schedule.schedule_visits([VisitFacts(2, "shop.test", "/prices/tea", NOW + 700, NOW, False)])
    assert schedule.load_due_times([2]) == {2: NOW + 1300}


@pytest.mark.parametrize(
    ("text", "per_day", "in_bytes"),
    [
        ("5000/day", 5000, False),
        ("10/minute", 14_400, False),
        ("200MB/day", 200_000_000, True),
        (" 1.5 GiB / week ", 1.5 * 2**30 / 7, True),
        ("7 requests/hour", 168, False),
    ],
)
def test_budget_is_parsed(text: str, per_day: float, in_bytes: bool) -> None:
    budget = parse_budget(text)
    assert budget.compute_allowance(86_400) == pytest.approx(per_day)
    assert budget.is_in_bytes is in_bytes


@pytest.mark.parametrize(
    "text", ["", "5000", "x/day", "5000/fortnight", "5 apples/day", "0/day", "-3/day", "1e9/day", "/day"]
)
def test_invalid_budget_is_rejected_with_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"5000/day"):
        parse_budget(text)


def test_clock_set_back_earns_nothing() -> None:
    assert RevisitBudget(1.0).compute_allowance(-100) == 0


def test_budget_is_formatted_per_day() -> None:
    assert str(parse_budget("10/minute")) == "14400 requests a day"
