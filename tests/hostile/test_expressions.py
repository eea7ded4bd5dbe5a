"""Expressions that read the web take linear time on inputs for which they once took quadratic time."""

import re
import time

import pytest

from sanderling.pages import behaviour, counters, moments, robots_tag
from sanderling.publisher import reader
from sanderling.sources import markup

SIZE, GROWTH = 2000, 8
TOLERATED = 3.0  # linear expressions have 1, quadratic ones 8: time per character of the large input and the small one
INPUTS = {
    "attribute": (markup._ATTRIBUTE, "a", ""),
    "robots name": (robots_tag._NAMES.__self__, "a", ""),  # type: ignore[attr-defined]
    "last word": (counters.LAST, "a", "1"),
    "temperature": (moments.WARMTH, "0", "a"),
    "moment": (moments.MOMENT, " ", "x"),
    "string": (behaviour.TEXTS, '\\"', ""),
    "link": (reader.LN, "<rs:ln ", ""),
}


def _cost(pattern: re.Pattern[str] | re.Pattern[bytes], text: str) -> float:
    subject = text.encode() if isinstance(pattern.pattern, bytes) else text
    start = time.thread_time()
    list(pattern.finditer(subject))  # type: ignore[arg-type]
    return (time.thread_time() - start) / len(text)


@pytest.mark.parametrize("name", INPUTS)
def test_time_per_character_does_not_grow(name: str) -> None:
    pattern, unit, end = INPUTS[name]
    start = "12:00" if name == "moment" else ""
    small, large = (start + unit * (SIZE * times) + end for times in (1, GROWTH))
    ratios = (_cost(pattern, large) / min(_cost(pattern, small) for _ in range(3)) for _ in range(3))
    assert any(ratio < TOLERATED for ratio in ratios)
