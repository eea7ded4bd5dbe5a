"""Whatever a host says, what is believed stays within bounds."""

import math

import pytest

from sanderling.models import FetchTask, Host, Link, Outcome, Reason, RobotsTxt, Url, Visit
from sanderling.workers.migrant.messages import FilteredMessage, MissedMessage, RobotsMessage
from sanderling.workers.migrant.validation import sanitize_line, validate_filtered, validate_missed, validate_robots

HOST = Host("http://a.example")
STOP = FetchTask(7, 3, Url("http://a.example/x"))


@pytest.mark.parametrize(
    ("fetched", "expires"), [(math.nan, math.nan), (0.0, math.inf), (-math.inf, math.inf), (9.0, 1.0), (0.0, 1e300)]
)
def test_rules_are_believed_for_a_day_at_most_by_our_clock(fetched: float, expires: float) -> None:
    found = validate_robots(RobotsMessage(RobotsTxt(HOST, 2**60, b"x" * 10**6, fetched, expires)), 1000.0)
    assert (found.status, found.fetched_at, found.expires_at) == (0, 1000.0, 1000.0 + 86400)
    assert len(found.body) == 500 * 1024
    assert validate_robots(RobotsMessage(RobotsTxt(HOST, 200, b"", 5.0, 65.0)), 1000.0).expires_at == 1060.0


@pytest.mark.parametrize("outcome", Outcome)
def test_a_page_that_was_not_brought_is_neither_fetched_nor_gone_nor_as_it_was(outcome: Outcome) -> None:
    said, reason, note = validate_missed(MissedMessage(0, outcome, Reason.ROBOTS, "a\nb\x1b[0m" + "c" * 10**6))
    assert said in (Outcome.SKIPPED, Outcome.FAILED, Outcome.RETRY)
    if said is outcome:
        assert reason is Reason.ROBOTS
        assert note.startswith("a b [0mccc")
    assert len(note) <= 200


def test_of_a_page_that_is_told_only_title_structure_and_links_count() -> None:
    lie = Visit(
        2**64,
        0,
        Url("x"),
        Outcome.FETCHED,
        math.nan,
        status=2**64,
        duration_seconds=math.nan,
        size=-1,
        title="t\n" * 10**5,
        links=(
            Link(Url("no url")),
            Link(Url("http://A.example:80/b/../c")),
            Link(Url("javascript:x"), "http://b.example/"),
        ),
        fingerprints={"structure": b"s" * 10**6, "minhash": b"x"},
        digest=b"d",
        response_record=b"r",
    )
    told = validate_filtered(FilteredMessage(0, lie), STOP, 5.0, "host has it")
    assert (told.id, told.token, told.url, told.outcome, told.visited_at) == (7, 3, STOP.url, Outcome.PARKED, 5.0)
    assert [link.url for link in told.links] == ["http://a.example/c", "http://b.example/"]
    assert (told.status, told.duration_seconds, told.digest, told.response_record) == (200, 0.0, b"", b"")
    assert len(told.title) <= 500
    assert set(told.fingerprints) == {"structure"}


def test_a_note_is_one_line() -> None:
    assert sanitize_line(" a\r\n\tb\x00c ") == "a b c"
