"""Dates of HTTP."""

import time
from collections.abc import Iterator

import pytest

from sanderling.clock import MonotonicClock, SimulatedClock, parse_http_date


@pytest.fixture
def far_from_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("far_from_greenwich")
@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784111777.0),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784111777.0),
        ("Sun Nov  6 08:49:37 1994", 784111777.0),
        ("Sun, 06 Nov 1994 08:49:37 -0000", 784111777.0),
        *((nonsense, None) for nonsense in ("", "0", "yesterday", "Sun, 99 Nov 1994 08:49:37 GMT")),
    ],
)
def test_every_form_of_an_http_date_is_in_gmt(text: str, at: float | None) -> None:
    assert parse_http_date(text) == at


def test_a_steady_clock_goes_on_where_the_other_is_set_back() -> None:
    clock = SimulatedClock(100.0)
    steady = MonotonicClock(clock)
    shown = []
    for step in (5.0, -60.0, 5.0, -1.0, 100.0):
        clock.advance(step)
        shown.append(steady())
    assert shown == [105.0, 105.0, 110.0, 110.0, 210.0]
