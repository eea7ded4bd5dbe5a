"""What people type is understood, and nothing they type is an error."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.search.query import Filter, Span, Term, span_of, understand

NOW = 1_700_000_000.0


def day(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def test_words_phrases_and_exclusions_are_told_apart() -> None:
    asked = understand('tide "sand bank" -mud -"high water"', NOW)
    assert asked.wanted == ((Term("tide"),), (Term("sand bank", phrase=True),))
    assert asked.unwanted == (Term("mud"), Term("high water", phrase=True))


def test_or_joins_its_neighbours() -> None:
    assert understand("a OR b c", NOW).wanted == ((Term("a"), Term("b")), (Term("c"),))
    assert understand("OR a OR", NOW).wanted == ((Term("a"),),)


def test_joined_words_fall_apart() -> None:
    assert [g[0].text for g in understand("high-speed node.js foo_bar c++", NOW).wanted] == [
        "high", "speed", "node", "js", "foo", "bar", "c++"
    ]  # fmt: skip


def test_operators_become_filters_and_fields() -> None:
    asked = understand("site:Example.ORG -type:pdf lang:de intitle:tide inurl:docs", NOW)
    assert asked.filters == (Filter("site", "example.org"), Filter("type", "pdf", True), Filter("lang", "de"))
    assert asked.wanted == ((Term("tide", field="title"),), (Term("docs", field="url"),))


def test_the_path_of_a_site_keeps_its_case() -> None:
    asked = understand("site:HTTPS://Docs.Example.ORG/de-DE/ lang:DE", NOW)
    assert asked.filters == (Filter("site", "https://docs.example.org/de-DE/"), Filter("lang", "de"))


def test_an_unknown_operator_is_just_words() -> None:
    assert understand("std::vector http://x", NOW).wanted[0] == (Term("std"),)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("7d", NOW - 7 * 86400, NOW + 86400),
        ("2h", NOW - 7200, NOW + 86400),
        ("2023", day("2023-01-01"), day("2024-01-01")),
        ("2024-02", day("2024-02-01"), day("2024-03-01")),
        ("2024-02-29", day("2024-02-29"), day("2024-03-01")),
        ("2023-01..2023-03-15", day("2023-01-01"), day("2023-03-16")),
        ("..2023", 0, day("2024-01-01")),
        ("2023..", day("2023-01-01"), NOW + 86400),
    ],
)
def test_times_are_read(text: str, start: float, end: float) -> None:
    assert span_of(text, NOW) == Span(start, end)


@pytest.mark.parametrize("text", ["", "..", "2023-13", "2023-02-30", "yesterday", "2024..2023", "0000", "99999d"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert span_of(text, NOW) is None


def test_as_of_a_day_means_its_last_second() -> None:
    assert understand("asof:2023-05-01 tide", NOW).as_of == day("2023-05-02") - 1
    assert understand("asof:7d tide", NOW).as_of == NOW - 7 * 86400


@given(st.text(max_size=300))
def test_no_text_raises(text: str) -> None:
    understand(text, NOW)


def test_a_question_is_bounded() -> None:
    asked = understand("a b " * 100_000, NOW)
    assert len(asked.wanted) <= 64
