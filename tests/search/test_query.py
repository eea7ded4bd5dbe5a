"""What people type is understood, and nothing they type is an error."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.search.query import QueryFilter, QueryTerm, TimeRange, parse_query, parse_time_range

NOW = 1_700_000_000.0


def day(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def test_words_phrases_and_exclusions_are_told_apart() -> None:
    asked = parse_query('tide "sand bank" -mud -"high water"', NOW)
    assert asked.term_groups == ((QueryTerm("tide"),), (QueryTerm("sand bank", is_phrase=True),))
    assert asked.excluded_terms == (QueryTerm("mud"), QueryTerm("high water", is_phrase=True))


def test_or_joins_its_neighbours() -> None:
    assert parse_query("a OR b c", NOW).term_groups == ((QueryTerm("a"), QueryTerm("b")), (QueryTerm("c"),))
    assert parse_query("OR a OR", NOW).term_groups == ((QueryTerm("a"),),)


def test_joined_words_fall_apart() -> None:
    assert [g[0].text for g in parse_query("high-speed node.js foo_bar c++", NOW).term_groups] == [
        "high", "speed", "node", "js", "foo", "bar", "c++"
    ]  # fmt: skip


def test_operators_become_filters_and_fields() -> None:
    asked = parse_query("site:Example.ORG -type:pdf lang:de intitle:tide inurl:docs", NOW)
    assert asked.filters == (
        QueryFilter("site", "example.org"),
        QueryFilter("type", "pdf", True),
        QueryFilter("lang", "de"),
    )
    assert asked.term_groups == ((QueryTerm("tide", field="title"),), (QueryTerm("docs", field="url"),))


def test_the_path_of_a_site_keeps_its_case() -> None:
    asked = parse_query("site:HTTPS://Docs.Example.ORG/de-DE/ lang:DE", NOW)
    assert asked.filters == (QueryFilter("site", "https://docs.example.org/de-DE/"), QueryFilter("lang", "de"))


def test_an_unknown_operator_is_just_words() -> None:
    assert parse_query("std::vector http://x", NOW).term_groups[0] == (QueryTerm("std"),)


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
    assert parse_time_range(text, NOW) == TimeRange(start, end)


@pytest.mark.parametrize("text", ["", "..", "2023-13", "2023-02-30", "yesterday", "2024..2023", "0000", "99999d"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert parse_time_range(text, NOW) is None


def test_as_of_a_day_means_its_last_second() -> None:
    assert parse_query("asof:2023-05-01 tide", NOW).as_of == day("2023-05-02") - 1
    assert parse_query("asof:7d tide", NOW).as_of == NOW - 7 * 86400


@given(st.text(max_size=300))
def test_no_text_raises(text: str) -> None:
    parse_query(text, NOW)


def test_a_question_is_bounded() -> None:
    asked = parse_query("a b " * 100_000, NOW)
    assert len(asked.term_groups) <= 64
