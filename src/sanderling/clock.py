"""What time it is: real, or simulated. Everything that decides by the time is handed one of these."""

import time
from collections.abc import Callable
from datetime import UTC
from functools import lru_cache

Clock = Callable[[], float]
"""Seconds since 1970, as a plain function: pass `time.time`, or a simulated clock."""

system_clock: Clock = time.time


class SimulatedClock:
    """A clock that stands still until it is told to move."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> float:
        """Move the clock and say what it shows now."""
        self.now += seconds
        return self.now


class MonotonicClock:
    """A clock for waiting: where the other is set back, it goes on from what it showed."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._last_time = self._offset = 0.0

    def __call__(self) -> float:
        now = self._clock()
        self._offset = max(self._offset, self._last_time - now)
        self._last_time = now + self._offset
        return self._last_time


@lru_cache(4096)  # many pages of a site were written at once
def parse_http_date(text: str) -> float | None:
    """Read a date of HTTP; the form without a zone means GMT too (RFC 9110, 5.6.7). None if it is no date."""
    from email.utils import parsedate_to_datetime  # takes a while to load

    try:
        when = parsedate_to_datetime(text)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
