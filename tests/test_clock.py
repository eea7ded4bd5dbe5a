"""HTTP dates and clocks."""

import time
from collections.abc import Iterator

import pytest
from tests.support.simulated_clock import SimulatedClock

from sanderling.clock import MonotonicClock, parse_http_date


@pytest.fixture
def tokyo_time_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("tokyo_time_zone")
@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784111777.0),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784111777.0),
        ("Sun Nov  6 08:49:37 1994", 784111777.0),
        ("Sun, 06 Nov 1994 08:49:37 -0000", 784111777.0),
        *((invalid, None) for invalid in ("", "0", "yesterday", "Sun, 99 Nov 1994 08:49:37 GMT")),
    ],
)
def test_http_date_without_zone_is_gmt(text: str, at: float | None) -> None:
    assert parse_http_date(text) == at


def test_monotonic_clock_continues_after_wrapped_clock_is_set_back() -> None:
    clock = SimulatedClock(100.0)
    monotonic = MonotonicClock(clock)
    times = []
    for step in (5.0, -60.0, 5.0, -1.0, 100.0):
        clock.advance(step)
        times.append(monotonic())
    assert times == [105.0, 105.0, 110.0, 110.0, 210.0]
