"""Values received from a migrant are limited."""

import math

import pytest

from sanderling.models import FetchTask, Host, Link, Outcome, Reason, RobotsTxt, Url, Visit
from sanderling.page_fingerprints import PageFingerprints
from sanderling.workers.migrant.messages import FilteredMessage, MissedMessage, RobotsMessage
from sanderling.workers.migrant.validation import sanitize_line, validate_filtered, validate_missed, validate_robots

HOST = Host("http://a.example")
TASK = FetchTask(7, 3, Url("http://a.example/x"))


@pytest.mark.parametrize(
    ("fetched", "expires"), [(math.nan, math.nan), (0.0, math.inf), (-math.inf, math.inf), (9.0, 1.0), (0.0, 1e300)]
)
def test_robots_txt_expires_after_a_day_by_our_clock(fetched: float, expires: float) -> None:
    robots = validate_robots(RobotsMessage(RobotsTxt(HOST, 2**60, b"x" * 10**6, fetched, expires)), 1000.0)
    assert (robots.status, robots.fetched_at, robots.expires_at) == (0, 1000.0, 1000.0 + 86400)
    assert len(robots.body) == 500 * 1024
    assert validate_robots(RobotsMessage(RobotsTxt(HOST, 200, b"", 5.0, 65.0)), 1000.0).expires_at == 1060.0


@pytest.mark.parametrize("outcome", Outcome)
def test_missed_page_is_skipped_failed_or_retried(outcome: Outcome) -> None:
    accepted, reason, detail = validate_missed(MissedMessage(0, outcome, Reason.ROBOTS, "a\nb\x1b[0m" + "c" * 10**6))
    assert accepted in (Outcome.SKIPPED, Outcome.FAILED, Outcome.RETRY)
    if accepted is outcome:
        assert reason is Reason.ROBOTS
        assert detail.startswith("a b [0mccc")
    assert len(detail) <= 200


def test_filtered_page_keeps_only_title_structure_and_links() -> None:
    received = Visit(
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
        fingerprints=PageFingerprints(structure=b"s" * 10**6, minhash=b"x"),
        digest=b"d",
        response_record=b"r",
    )
    visit = validate_filtered(FilteredMessage(0, received), TASK, 5.0, "not similar")
    assert (visit.id, visit.token, visit.url, visit.outcome, visit.visited_at) == (7, 3, TASK.url, Outcome.PARKED, 5.0)
    assert [link.url for link in visit.links] == ["http://a.example/c", "http://b.example/"]
    assert (visit.status, visit.duration_seconds, visit.digest, visit.response_record) == (200, 0.0, b"", b"")
    assert len(visit.title) <= 500
    assert visit.fingerprints == PageFingerprints(structure=visit.fingerprints.structure)


def test_detail_is_a_single_printable_line() -> None:
    assert sanitize_line(" a\r\n\tb\x00c ") == "a b c"
