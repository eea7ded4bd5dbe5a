"""Parsing of the query language."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.search.query import QueryFilter, QueryTerm, TimeRange, parse_query, parse_time_range

NOW = 1_700_000_000.0


def timestamp(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def test_words_phrases_and_exclusions() -> None:
    query = parse_query('tide "sand bank" -mud -"high water"', NOW)
    assert query.term_groups == ((QueryTerm("tide"),), (QueryTerm("sand bank", is_phrase=True),))
    assert query.excluded_terms == (QueryTerm("mud"), QueryTerm("high water", is_phrase=True))


def test_or_joins_adjacent_terms() -> None:
    assert parse_query("a OR b c", NOW).term_groups == ((QueryTerm("a"), QueryTerm("b")), (QueryTerm("c"),))
    assert parse_query("OR a OR", NOW).term_groups == ((QueryTerm("a"),),)


def test_compound_words_are_split() -> None:
    assert [g[0].text for g in parse_query("high-speed node.js foo_bar c++", NOW).term_groups] == [
        "high", "speed", "node", "js", "foo", "bar", "c++"
    ]  # fmt: skip


def test_operators_become_filters_and_field_terms() -> None:
    query = parse_query("site:Example.ORG -type:pdf lang:de intitle:tide inurl:docs", NOW)
    assert query.filters == (
        QueryFilter("site", "example.org"),
        QueryFilter("type", "pdf", True),
        QueryFilter("lang", "de"),
    )
    assert query.term_groups == ((QueryTerm("tide", field="title"),), (QueryTerm("docs", field="url"),))


def test_site_path_keeps_its_case() -> None:
    query = parse_query("site:HTTPS://Docs.Example.ORG/de-DE/ lang:DE", NOW)
    assert query.filters == (QueryFilter("site", "https://docs.example.org/de-DE/"), QueryFilter("lang", "de"))


def test_unknown_operator_is_parsed_as_words() -> None:
    assert parse_query("std::vector http://x", NOW).term_groups[0] == (QueryTerm("std"),)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("7d", NOW - 7 * 86400, NOW + 86400),
        ("2h", NOW - 7200, NOW + 86400),
        ("2023", timestamp("2023-01-01"), timestamp("2024-01-01")),
        ("2024-02", timestamp("2024-02-01"), timestamp("2024-03-01")),
        ("2024-02-29", timestamp("2024-02-29"), timestamp("2024-03-01")),
        ("2023-01..2023-03-15", timestamp("2023-01-01"), timestamp("2023-03-16")),
        ("..2023", 0, timestamp("2024-01-01")),
        ("2023..", timestamp("2023-01-01"), NOW + 86400),
    ],
)
def test_valid_time_ranges(text: str, start: float, end: float) -> None:
    assert parse_time_range(text, NOW) == TimeRange(start, end)


@pytest.mark.parametrize("text", ["", "..", "2023-13", "2023-02-30", "yesterday", "2024..2023", "0000", "99999d"])
def test_invalid_time_range_is_none(text: str) -> None:
    assert parse_time_range(text, NOW) is None


def test_asof_day_is_its_last_second() -> None:
    assert parse_query("asof:2023-05-01 tide", NOW).as_of == timestamp("2023-05-02") - 1
    assert parse_query("asof:7d tide", NOW).as_of == NOW - 7 * 86400


@given(st.text(max_size=300))
def test_any_text_can_be_parsed(text: str) -> None:
    parse_query(text, NOW)


def test_number_of_terms_is_bounded() -> None:
    query = parse_query("a b " * 100_000, NOW)
    assert len(query.term_groups) <= 64
