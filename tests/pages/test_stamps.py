"""What changes by itself on a page."""

import pytest

from sanderling.pages.stamps import reduce, steady


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("This page last modified on 2022-01-08 05:02:57 UTC", "This page last modified on 2024-11-30 21:14:01 UTC"),
        ("8:38 AM", "11:05 PM"),
        ("Sunday, Aug 9th 2026", "Monday, Aug 10th 2026"),
        ("updated 3 hours ago", "updated 12 minutes ago"),
        ("1,234 views", "1,235 views"),
        ("Comments (12)", "Comments (13)"),
        ("Page generated in 0.051 seconds", "Page generated in 1.2 seconds"),
        ("\u00a9 1999-2025 Birds Inc.", "\u00a9 1999-2026 Birds Inc."),
        ("Incident Number: 18.cdb01302.1784119050", "Incident Number: 18.aa01302.1784119099"),
        ("Build 20240501.3", "Build 20240502.1"),
        ("csrf 5f2b8a9cdeadbeef0011", "csrf 99aa8a9cdeadbeef0022"),
        ("lundi 16 novembre 2026", "mardi 17 novembre 2026"),
        ("Montag, 16. November", "Mittwoch, 18. November"),
        ("il y a 3 heures", "il y a 2 jours"),
        ("vor 59 Minuten", "vor 1 Stunde"),
        ("3 dagen geleden", "1 week geleden"),
        ("5分前", "2日前"),
        ("12 out of 40 found this helpful", "13 out of 41 found this helpful"),
    ],
)
def test_stamps_are_taken_out(old: str, new: str) -> None:
    assert reduce(old) == reduce(new) != old


@pytest.mark.parametrize(
    "line",
    [
        "Last updated 2026-02-26",
        "Effective 22 May 2024",
        "Royalties of less than 5000 JPY",
        "The server listens on port 8080",
        "Section 3.14 says",
        "Version 17.0.19+10",
        "10 members of staff",
        "Psalm 23:4",
        "java.lang.String",
        "no digits at all",
    ],
)
def test_what_an_author_wrote_stays(line: str) -> None:
    assert reduce(line) == line


def test_a_time_in_a_long_paragraph_is_content() -> None:
    line = "The meeting starts at 10:45 in the big hall of the town. " * 4
    assert reduce(line) == line


def test_references_lose_builds_and_cache_busters() -> None:
    assert steady("/static/app.78c92fac7aa8fdd8.js?v=12#x") == steady("/static/app.11112fac7aa8fdd9.js")
    assert steady("/static/app.js") != steady("/static/other.js")
