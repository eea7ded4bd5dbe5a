"""Revisit budgets such as `5000/day`, `200MB/day` or `10/minute`."""

import re

from msgspec import Struct

from sanderling.errors import UsageError

PERIOD_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800, "month": 2_592_000}
BYTE_UNITS = {"b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "tb": 1000**4, "kib": 2**10, "mib": 2**20, "gib": 2**30}
BUDGET_PATTERN = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*+([a-z]*+)\s*+/\s*+([a-z]++)")
USAGE_HINT = "use requests or bytes per time, for example 5000/day, 200MB/day or 10/minute"


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
        return f"{self.per_second * PERIOD_SECONDS['day']:g} {unit} a day"


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
