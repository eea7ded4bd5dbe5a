"""Check intervals per URL, by rules of the settings and of watches; budgets such as `5000/day` or `200MB/day`."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct

from sanderling.config.loader import parse_duration
from sanderling.config.settings import RevisitSettings
from sanderling.db.connection import Connection
from sanderling.errors import UsageError

SETTINGS_OWNER = "settings"  # rules of flags and of the settings file
SHORTEST_INTERVAL = 3600.0  # default; a site of 5,000 pages gets at most 1.4 requests per second
LONGEST_INTERVAL = 30 * 86_400.0  # default
EAGERNESS = {"thrifty": 4.0, "normal": 1.0, "fresh": 0.25}  # factor of the accepted delay
OBJECTIVES = ("delay", "freshness")
ADAPTIVE = "auto"  # instead of a duration
EVERY_HINT = "use for example 1h, auto, or a duration and a regular expression for URLs: '1h /prices/'"
PERIOD_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800, "month": 2_592_000}
BYTE_UNITS = {"b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "tb": 1000**4, "kib": 2**10, "mib": 2**20, "gib": 2**30}
BUDGET_PATTERN = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*+([a-z]*+)\s*+/\s*+([a-z]++)")
USAGE_HINT = "use requests or bytes per time, for example 5000/day, 200MB/day or 10/minute"


class IntervalRule(Struct, frozen=True):
    """How often the pages of a pattern are checked. 0 and "": not set by this rule."""

    pattern: str = ""  # regular expression searched in the URL; "": all pages
    is_exact: bool = False  # the pattern is one URL
    every: float = 0.0  # seconds; infinite: never
    shortest: float = 0.0  # bounds of the adaptive interval
    longest: float = 0.0
    eagerness: str = ""
    objective: str = ""


class CheckInterval(Struct, frozen=True):
    """The interval of a page, combined from all rules that match its URL."""

    every: float = 0.0  # 0: adaptive, between the bounds
    shortest: float = SHORTEST_INTERVAL
    longest: float = LONGEST_INTERVAL
    eagerness: str = "normal"
    objective: str = ""  # "": delay without a budget, freshness with one


DEFAULT_INTERVAL = CheckInterval()


class IntervalRules:
    """The interval rules of a collection, by owner: the settings, or the name of a watch.

    A rule for a URL or pattern precedes rules for all pages. Of several that match, the most demanding value counts.
    """

    def __init__(self, db: Connection) -> None:
        self.db = db
        self._by_url: dict[str, list[IntervalRule]] = {}
        self._by_pattern: list[IntervalRule] = []
        self._for_all: list[IntervalRule] = []
        self.load()

    def load(self) -> None:
        """Load the rules. Call it after another connection changed them."""
        self._by_url, self._by_pattern, self._for_all = {}, [], []
        sql = "SELECT pattern, is_exact, every, shortest, longest, eagerness, objective FROM intervals ORDER BY owner"
        for pattern, is_exact, *values in self.db.execute(sql).fetchall():
            rule = IntervalRule(pattern, bool(is_exact), *values)
            if rule.is_exact:
                self._by_url.setdefault(pattern, []).append(rule)
            else:
                (self._by_pattern if pattern else self._for_all).append(rule)

    def set_rules(self, owner: str, rules: Iterable[IntervalRule]) -> None:
        """Replace the rules of an owner. Raises UsageError for an invalid rule."""
        checked = [check_rule(rule) for rule in rules]
        self.db.execute("DELETE FROM intervals WHERE owner = ?", (owner,))
        self.db.executemany(
            "INSERT INTO intervals VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (owner, r.pattern, int(r.is_exact), r.every, r.shortest, r.longest, r.eagerness, r.objective)
                for r in checked
            ],
        )
        self.load()

    def load_owned(self, owner: str) -> list[IntervalRule]:
        """Load the rules of an owner."""
        sql = "SELECT pattern, is_exact, every, shortest, longest, eagerness, objective FROM intervals WHERE owner = ?"
        rows = self.db.execute(sql, (owner,)).fetchall()
        return [IntervalRule(pattern, bool(is_exact), *values) for pattern, is_exact, *values in rows]

    def find_interval(self, url: str) -> CheckInterval:
        """Return the interval of a URL."""
        if not self._by_url and not self._by_pattern:
            return combine_rules((), tuple(self._for_all)) if self._for_all else DEFAULT_INTERVAL
        own = [*self._by_url.get(url, ()), *(r for r in self._by_pattern if _compile_pattern(r.pattern).search(url))]
        return combine_rules(tuple(own), tuple(self._for_all))


@lru_cache(4096)
def combine_rules(own: tuple[IntervalRule, ...], general: tuple[IntervalRule, ...]) -> CheckInterval:
    """Combine matching rules: shortest times, most eager, `delay` before `freshness`."""

    def pick(name: str, order: Iterable[str] = ()) -> object:
        for rules in (own, general):
            values = [value for rule in rules if (value := getattr(rule, name))]
            if values:
                ranks = list(order)
                return min(values, key=ranks.index) if ranks else min(values)
        return None

    given = {name: pick(name) for name in ("every", "shortest", "longest")}
    given["eagerness"], given["objective"] = pick("eagerness", reversed(EAGERNESS)), pick("objective", OBJECTIVES)
    found = CheckInterval(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    if found.shortest > found.longest:  # one bound was set beyond the default of the other
        is_longest_set = given["longest"] is not None
        return CheckInterval(
            found.every,
            found.longest if is_longest_set else found.shortest,
            found.longest if is_longest_set else found.shortest,
            found.eagerness,
            found.objective,
        )
    return found


@lru_cache(1024)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def check_rule(rule: IntervalRule) -> IntervalRule:
    """Return the rule. Raises UsageError if it is invalid."""
    if not rule.is_exact:
        try:
            _compile_pattern(rule.pattern)
        except re.error as error:
            raise UsageError(f"invalid pattern {rule.pattern!r}: {error}") from None
    for name in ("every", "shortest", "longest"):
        if not getattr(rule, name) >= 0:
            raise UsageError(f"invalid interval: {name} must not be negative")
    if 0 < rule.longest < rule.shortest:
        raise UsageError("the shortest interval is longer than the longest interval")
    if rule.eagerness not in ("", *EAGERNESS):
        raise UsageError(f"eager must be one of {', '.join(EAGERNESS)}, not {rule.eagerness!r}")
    if rule.objective not in ("", *OBJECTIVES):
        raise UsageError(f"the objective must be one of {', '.join(OBJECTIVES)}, not {rule.objective!r}")
    return rule


def parse_every(text: str) -> IntervalRule:
    """Parse `1h`, or a duration and a URL pattern such as `1h /prices/`."""
    duration, _, pattern = text.strip().partition(" ")
    try:
        seconds = parse_duration(duration)
    except ValueError:
        raise UsageError(f"invalid interval {text!r}; {EVERY_HINT}") from None
    if seconds <= 0:
        raise UsageError(f"invalid interval {text!r}; it must be longer than 0")
    return check_rule(IntervalRule(pattern.strip(), every=seconds))


def build_setting_rules(settings: RevisitSettings, stored: Sequence[IntervalRule]) -> list[IntervalRule]:
    """Build the rules of the settings. Settings without a value stay as stored; `auto` ends stored intervals."""
    bounds = next((rule for rule in stored if not rule.pattern and not rule.every), IntervalRule())
    bounds = IntervalRule(
        shortest=settings.min_interval or bounds.shortest,
        longest=settings.max_interval or bounds.longest,
        eagerness=settings.eager or bounds.eagerness,
        objective=settings.objective or bounds.objective,
    )
    every = [rule for rule in stored if rule.every]
    if settings.every:
        every = [parse_every(text) for text in settings.every if text.strip() != ADAPTIVE]
    return every + [check_rule(bounds)] * (bounds != IntervalRule())


class RevisitBudget(Struct, frozen=True):
    """Allowance per second, in requests or bytes."""

    per_second: float
    is_in_bytes: bool = False
    period_seconds: float = 60.0  # unspent allowance expires after this time

    def compute_allowance(self, seconds: float) -> float:
        """Compute the allowance of a time span; 0 if the clock was set back."""
        return max(seconds, 0.0) * self.per_second

    def __str__(self) -> str:
        unit = "bytes" if self.is_in_bytes else "requests"
        return f"{round(self.per_second * PERIOD_SECONDS['day'], 3):.12g} {unit} a day"


def scale_budget(budget: RevisitBudget, factor: float) -> RevisitBudget:
    """Return a budget so many times as large, to two digits."""
    per_day = float(f"{budget.per_second * factor * PERIOD_SECONDS['day']:.2g}")
    return RevisitBudget(per_day / PERIOD_SECONDS["day"], budget.is_in_bytes, budget.period_seconds)


def parse_budget(text: str) -> RevisitBudget:
    match = BUDGET_PATTERN.fullmatch(text.strip().lower())
    if match is None:
        raise UsageError(f"invalid budget {text!r}; {USAGE_HINT}")
    amount, unit, period = match.groups()
    if period not in PERIOD_SECONDS:
        raise UsageError(
            f"invalid budget {text!r}; the period must be one of {', '.join(PERIOD_SECONDS)}; {USAGE_HINT}"
        )
    if unit not in BYTE_UNITS and unit not in ("", "request", "requests", "page", "pages"):
        raise UsageError(f"invalid budget {text!r}; {unit!r} is neither requests nor bytes; {USAGE_HINT}")
    per_second = float(amount) * BYTE_UNITS.get(unit, 1) / PERIOD_SECONDS[period]
    if per_second <= 0:
        raise UsageError(f"the budget {text!r} allows no visit; {USAGE_HINT}")
    return RevisitBudget(per_second, unit in BYTE_UNITS, PERIOD_SECONDS[period])
