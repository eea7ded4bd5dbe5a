"""Dates of HTTP."""

import time
from collections.abc import Iterator

import pytest

from sanderling.clock import http_time


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
    assert http_time(text) == at
