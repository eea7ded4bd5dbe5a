"""Regular expressions for web input run in linear time on inputs that once took quadratic time."""

import re
import time

import pytest

from sanderling.content import policy_notices
from sanderling.content.volatile import counters, timestamps
from sanderling.content.word_lists import compile_lowercase
from sanderling.discovery import xml_scanner
from sanderling.fingerprint import scripts
from sanderling.html import robots_meta
from sanderling.publisher import body_digest, changelist_parser

SIZE, GROWTH = 2000, 8
TOLERATED = 3.0  # ratio of time per character, large to small input: linear 1, quadratic 8
INPUTS = {
    "attribute": (xml_scanner._ATTRIBUTE, "a", ""),
    "robots name": (robots_meta._find_names.__self__, "a", ""),  # type: ignore[attr-defined]
    "last word": (counters.LAST_WORD, "a", "1"),
    "temperature": (timestamps.TEMPERATURE, "0", "a"),
    "moment": (compile_lowercase(timestamps.TIMESTAMP), " ", "x"),
    "string": (scripts.STRING_LITERAL, '\\"', ""),
    "email address": (policy_notices.has_email_address.__self__, "a", ""),  # type: ignore[attr-defined]
    "phone number": (policy_notices.has_phone_number.__self__, "+1 ", ""),  # type: ignore[attr-defined]
    "postal code": (policy_notices.has_postal_code.__self__, "1, ", ""),  # type: ignore[attr-defined]
    "unclosed comment": (body_digest._VOLATILE_PATTERNS[0], "<!--a", ""),
    "unclosed script": (body_digest._VOLATILE_PATTERNS[1], "<script ", ""),
    "unclosed style": (body_digest._VOLATILE_PATTERNS[2], "<style ", ""),
    "link": (changelist_parser.LINK_TAG_PATTERN, "<rs:ln ", ""),
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
