"""How much one may ask of the web: `5000/day`, `200MB/day`, `10/minute`."""

import re

from msgspec import Struct

from sanderling.errors import UsageError

SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800, "month": 2_592_000}
BYTES = {"b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "tb": 1000**4, "kib": 2**10, "mib": 2**20, "gib": 2**30}
SHAPE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*+([a-z]*+)\s*+/\s*+([a-z]++)")
EXAMPLES = "write requests or bytes per time, e.g. 5000/day, 200MB/day or 10/minute"


class Budget(Struct, frozen=True):
    """An allowance per second, of requests or of bytes."""

    per_second: float
    in_bytes: bool = False
    period: float = 60.0  # seconds it was given for: what is not spent in this time is lost

    def room(self, seconds: float) -> float:
        """What may be spent in this time; a clock that jumped back earns nothing."""
        return max(seconds, 0.0) * self.per_second

    def __str__(self) -> str:
        unit = "bytes" if self.in_bytes else "requests"
        return f"{self.per_second * SECONDS['day']:g} {unit} a day"


def parse_budget(text: str) -> Budget:
    """Read a budget as people write it, or say in one sentence why it cannot be one."""
    match = SHAPE.fullmatch(text.strip().lower())
    if match is None:
        raise UsageError(f"the budget {text!r} cannot be read: {EXAMPLES}")
    amount, unit, period = match.groups()
    if period not in SECONDS:
        raise UsageError(f"the budget {text!r} names no period of time I know ({', '.join(SECONDS)}): {EXAMPLES}")
    if unit not in BYTES and unit not in ("", "request", "requests", "page", "pages"):
        raise UsageError(f"the budget {text!r} is in {unit!r}, which is neither requests nor bytes: {EXAMPLES}")
    per_second = float(amount) * BYTES.get(unit, 1) / SECONDS[period]
    if per_second <= 0:
        raise UsageError(f"the budget {text!r} leaves nothing to visit: {EXAMPLES}")
    return Budget(per_second, unit in BYTES, SECONDS[period])
