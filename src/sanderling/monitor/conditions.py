"""Conditions of a watch: a number crosses a line, a text appears or disappears, a product is in stock again."""

import re
from collections.abc import Sequence

from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.monitor.page_values import IN_STOCK, OUT_OF_STOCK, PageValues, parse_number

NUMBER = r"(?P<number>[-−]?[\d.,]*\d)\s*(?:[^\d\s%]{1,3})?"
SUBJECT = r"(?:(?:price|number|value)\s*)?"
PATTERNS = {
    "below": rf"{SUBJECT}(?:below|under|less than|<=?)\s*{NUMBER}",
    "above": rf"{SUBJECT}(?:above|over|more than|>=?)\s*{NUMBER}",
    "percent": rf"{SUBJECT}(?:changed|changes|change) by (?P<number>[\d.,]*\d)\s*%",
    "amount": rf"{SUBJECT}(?:changed|changes|change) by {NUMBER}",
    "new low": rf"{SUBJECT}(?:new |all-time )?low(?:est)?",
    "new high": rf"{SUBJECT}(?:new |all-time )?high(?:est)?",
    "in stock": r"(?:back )?in stock(?: again)?",
    "out of stock": r"out of stock|sold out",
    "appears": r"(?:text )?appears?:?\s+(?P<text>.+)",
    "disappears": r"(?:text )?disappears?:?\s+(?P<text>.+)",
}
COMPILED = {kind: re.compile(pattern, re.IGNORECASE | re.DOTALL) for kind, pattern in PATTERNS.items()}
HELP = (
    "'below 100', 'above 100', 'changes by 5%', 'new low', 'new high', 'in stock', 'out of stock', 'appears TEXT'"
    " or 'disappears TEXT'"
)


class WatchCondition(Struct, frozen=True):
    kind: str
    number: float = 0.0
    text: str = ""


class WatchReading(Struct, frozen=True):
    """The watched text and values of a version. `low`, `high`: of all earlier versions."""

    text: str
    values: PageValues
    low: float | None = None
    high: float | None = None


def parse_condition(text: str) -> WatchCondition:
    """Parse a condition such as `below 100`. Raises UsageError if it is unknown."""
    for kind, pattern in COMPILED.items():
        match = pattern.fullmatch(text.strip())
        if match is None:
            continue
        groups = match.groupdict()
        number = parse_number(groups["number"]) if groups.get("number") else 0.0
        return WatchCondition(kind, number or 0.0, (groups.get("text") or "").strip().strip("\"'"))
    raise UsageError(f"{text!r} is not a condition; use {HELP}")


def are_conditions_met(
    conditions: Sequence[WatchCondition], old: WatchReading, new: WatchReading, reported: float | None
) -> bool:
    """Return whether all conditions hold, and a change made at least a single condition hold.

    `reported`: the number when the watch last fired, from which a change is counted.
    """
    results = [_check(condition, old, new, reported) for condition in conditions]
    return all(holds for holds, _ in results) and any(has_changed for _, has_changed in results)


def _check(
    condition: WatchCondition, old: WatchReading, new: WatchReading, reported: float | None
) -> tuple[bool, bool]:
    """Return whether a condition holds, and whether its subject changed."""
    if condition.kind in ("appears", "disappears"):
        was, is_there = (condition.text.lower() in one.text.lower() for one in (old, new))
        return is_there == (condition.kind == "appears"), was != is_there
    if condition.kind in ("in stock", "out of stock"):
        wanted = IN_STOCK if condition.kind == "in stock" else OUT_OF_STOCK
        return new.values.availability == wanted, old.values.availability != new.values.availability
    number = new.values.number
    if number is None:
        return False, False
    return _check_number(condition, number, new, reported), number != old.values.number


def _check_number(condition: WatchCondition, number: float, new: WatchReading, reported: float | None) -> bool:
    match condition.kind:
        case "below":
            return number < condition.number
        case "above":
            return number > condition.number
        case "new low":
            return new.low is not None and number < new.low
        case "new high":
            return new.high is not None and number > new.high
        case "amount":
            return reported is not None and abs(number - reported) >= condition.number
        case _:
            return reported is not None and abs(number - reported) >= abs(reported) * condition.number / 100
