"""Tests of stripping volatile text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.content.rule import IGNORED, KEPT, Example
from sanderling.content.volatile.relative_time import find_relative_time_lines
from sanderling.content.volatile.strip import (
    VOLATILE_RULES,
    VolatileRule,
    flag_volatile_lines,
    strip_build_id,
    strip_volatile_text,
)
from sanderling.html.text import normalize_text

PIECES = (
    *("12:30", "8:38 AM", "9 pm", "14h05", "5 May 2027", "2022-01-08", "Monday", "Updated", "Last modified on", "now"),
    *("3 hours ago", "vor 2 Tagen", "yesterday", "(c) 2024", "Copyright 2024", "\u00a9 2024", "C 2024", "1,234 views"),
    *("4.5 (231)", "4.5 out of 5", "3 + 4 =", "7 plus 2?", "Your IP: 203.0.113.7", "Posts: 12", "Load time: 3 s"),
    *("Comments (12)", "5f2b8a9cdeadbeef0011", "csrf", "sqlite3_blob_read16", "Build 20240501.3", "took 12 ms"),
    *(
        "the gull",
        "of 12",
        "\u201cgull\u201d",
        "\u2013",
        "gull\u2019s",
        "5分前",
        "٣",
        "",
        "a_b-c_d-e_f-g",
        "Request id",
    ),
)

EXAMPLES = [
    pytest.param(example, id=f"{rule.name}-{example.language}-{example.old}")
    for rule in VOLATILE_RULES
    for example in rule.examples
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_of_volatile_text(example: Example) -> None:
    old, new = strip_volatile_text(example.old), strip_volatile_text(example.new)
    if example.kind == KEPT:
        assert old == example.old
    else:
        assert (old == new) is (example.kind == IGNORED)
    if example.kind == IGNORED:
        assert old != example.old


@pytest.mark.parametrize("example", EXAMPLES)
def test_ignored_line_without_digits_is_found_among_many(example: Example) -> None:
    for line in (example.old, example.new) if example.kind == IGNORED else ():
        compact = normalize_text(line)
        assert any(map(str.isdecimal, line)) or find_relative_time_lines([compact], compact) == {0}


@pytest.mark.parametrize("rule", VOLATILE_RULES, ids=lambda rule: rule.name)
def test_each_rule_has_examples(rule: VolatileRule) -> None:
    assert {example.kind for example in rule.examples} >= {IGNORED}


@pytest.mark.parametrize(
    "line",
    [
        "This page last modified on 2022-01-08 05:02:57 UTC",
        "updated: 2027-05-05 11:58",
        "Generated on 5 May 2027, 10:31",
    ],
)
def test_update_line_is_stripped_completely(line: str) -> None:
    assert strip_volatile_text(line) == ""


def test_label_of_clock_time_is_kept() -> None:
    assert strip_volatile_text("Server time: 11:58") == "Server time: "


def test_a_time_in_a_long_paragraph_is_content() -> None:
    line = "The meeting starts at 10:45 in the big hall of the town. " * 4
    assert strip_volatile_text(line) == line


def test_asset_urls_lose_build_ids_and_cache_busters() -> None:
    assert strip_build_id("/static/app.78c92fac7aa8fdd8.js?v=12#x") == strip_build_id("/static/app.11112fac7aa8fdd9.js")
    assert strip_build_id("/static/app.js") != strip_build_id("/static/other.js")
    assert strip_build_id("/static/app.a1b2c3.js") == strip_build_id("/static/app.d4e5f6.js")
    assert strip_build_id("/static/v123/app.js") == strip_build_id("/static/v124/app.js")
    assert strip_build_id("/_x/Xk3LmZ9QpR7sT1uV2wY4a/a.js") == strip_build_id("/_x/Qw8ErTyUiOpAsDfGhJk1z/a.js")
    assert strip_build_id("/lib/3.6.0/lib.js") != strip_build_id("/lib/3.7.0/lib.js")
    assert strip_build_id("/decade/facade.js") != strip_build_id("/facade/decade.js")


@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=4), min_size=1, max_size=6),
    st.sampled_from((" ", "\u00a0", "")),
)
def test_flagging_many_lines_misses_no_volatile_text(rows: list[list[str]], separator: str) -> None:
    lines = [separator.join(row) for row in rows]
    assert [
        line
        for line, flag in zip(lines, flag_volatile_lines(lines), strict=True)
        if not flag and strip_volatile_text(line) != line
    ] == []


def test_lines_without_triggers_are_not_flagged() -> None:
    lines = [
        "Chapter 12",
        "73.7.\u00a0Heap-Only Tuples",
        "sqlite3_bind_text64",
        "In 2024 the gulls came \u2013 and stayed",
    ]
    assert flag_volatile_lines([*lines, "12:30", "12 " * 100]) == [False, False, False, False, True, False]
