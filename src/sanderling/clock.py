"""Real and simulated clocks, passed as arguments to time-dependent code."""

import time
from collections.abc import Callable
from datetime import UTC
from functools import lru_cache

Clock = Callable[[], float]
"""Returns seconds since 1970: `time.time` or a simulated clock."""

system_clock: Clock = time.time


class MonotonicClock:
    """A clock for timeouts; never goes backwards."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._last_time = self._offset = 0.0

    def __call__(self) -> float:
        now = self._clock()
        self._offset = max(self._offset, self._last_time - now)
        self._last_time = now + self._offset
        return self._last_time


@lru_cache(4096)  # many pages of a site share a Last-Modified date
def parse_http_date(text: str) -> float | None:
    """Parse an HTTP date, or return None. Without a zone it is GMT (RFC 9110, 5.6.7)."""
    from email.utils import parsedate_to_datetime  # slow import

    try:
        date = parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
