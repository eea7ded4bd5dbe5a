"""How much one may ask of the web: `5000/day`, `200MB/day`, `10/minute`."""

import re

from msgspec import Struct

from sanderling.errors import UsageError

PERIOD_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800, "month": 2_592_000}
BYTE_UNITS = {"b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "tb": 1000**4, "kib": 2**10, "mib": 2**20, "gib": 2**30}
BUDGET_PATTERN = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*+([a-z]*+)\s*+/\s*+([a-z]++)")
USAGE_HINT = "write requests or bytes per time, e.g. 5000/day, 200MB/day or 10/minute"


class RevisitBudget(Struct, frozen=True):
    """An allowance per second, of requests or of bytes."""

    per_second: float
    is_in_bytes: bool = False
    period_seconds: float = 60.0  # seconds it was given for: what is not spent in this time is lost

    def compute_allowance(self, seconds: float) -> float:
        """What may be spent in this time; a clock that jumped back earns nothing."""
        return max(seconds, 0.0) * self.per_second

    def __str__(self) -> str:
        unit = "bytes" if self.is_in_bytes else "requests"
        return f"{self.per_second * PERIOD_SECONDS['day']:g} {unit} a day"


def parse_budget(text: str) -> RevisitBudget:
    """Read a budget as people write it, or say in one sentence why it cannot be one."""
    match = BUDGET_PATTERN.fullmatch(text.strip().lower())
    if match is None:
        raise UsageError(f"the budget {text!r} cannot be read: {USAGE_HINT}")
    amount, unit, period = match.groups()
    if period not in PERIOD_SECONDS:
        raise UsageError(
            f"the budget {text!r} names no period of time I know ({', '.join(PERIOD_SECONDS)}): {USAGE_HINT}"
        )
    if unit not in BYTE_UNITS and unit not in ("", "request", "requests", "page", "pages"):
        raise UsageError(f"the budget {text!r} is in {unit!r}, which is neither requests nor bytes: {USAGE_HINT}")
    per_second = float(amount) * BYTE_UNITS.get(unit, 1) / PERIOD_SECONDS[period]
    if per_second <= 0:
        raise UsageError(f"the budget {text!r} leaves nothing to visit: {USAGE_HINT}")
    return RevisitBudget(per_second, unit in BYTE_UNITS, PERIOD_SECONDS[period])
