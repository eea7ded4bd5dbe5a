"""Test robots.txt with google/robotstxt, protego, the examples of RFC 9309, and real files."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from sanderling.fetch.robots import (
    DAY,
    MAX_BODY_BYTES,
    MAX_CRAWL_DELAY,
    _parse_fields,
    build_robots_rules,
    compute_robots_expiry,
    decode_robots_body,
)
from sanderling.models import Host, RobotsTxt
from sanderling.urls.normalize import normalize_url

Case = dict[str, Any]

# Cases on which parsers differ and where we deviate from the suite, with our behavior.
ACCEPTED_DIFFERENCES = {
    "robots-google": {
        "GoogleOnly_AcceptUserAgentUpToFirstSpace": "an agent called `Foo Bar` has the token Foo",
        "ID_Encoding": "escaped or not, it is one path (RFC 9309, 2.2.2), so what is allowed is allowed",
        "GoogleOnly_LineTooLong": "a line is read whole; only the file has a limit",
    },
    "robots-protego": {
        "test_grouping_unknown_keys": "an unknown line does not end a group, as in google/robotstxt",
        "test_generosity": "no wildcards inside an agent's name: foo*bot is foo",
        "google_spec/test_user_agent_precedence": "hedwig-images is not hedwig: tokens are compared whole",
    },
    "robots-rfc9309": {
        "RFC9309 2.2.2 table: path / encoded path / URI": "an escaped slash or colon in a query is left as it is",
    },
}


def _get_body(case: Case) -> bytes:
    return b64decode(case["robots_base64"]) if "robots_base64" in case else case["robots"].encode()


def _build_robots_txt(body: bytes, status: int = 200) -> RobotsTxt:
    return RobotsTxt(Host("http://foo.bar"), status, body, 0.0, 0.0)


@pytest.mark.parametrize(("suite", "number"), [("robots-google", 145), ("robots-protego", 378), ("robots-rfc9309", 38)])
def test_cases_of_published_suites(suites: Path, suite: str, number: int) -> None:
    cases = json.loads((suites / suite / "cases.json").read_text())
    wrong = [
        c
        for c in cases
        if build_robots_rules(_build_robots_txt(_get_body(c)), c["agent"]).is_allowed(c["url"]) is not c["allowed"]
    ]
    assert [case for case in wrong if not case["policy"]] == []
    assert {case["name"] for case in wrong} == ACCEPTED_DIFFERENCES[suite].keys()
    assert len(cases) == number


def test_access_results_of_rfc_9309(suites: Path) -> None:
    results = {
        r["status"]: r["action"] for r in json.loads((suites / "robots-rfc9309/access_results.json").read_text())
    }
    closed = b"User-agent: *\nDisallow: /a"
    allowed = {
        status: build_robots_rules(_build_robots_txt(closed, status), "x").is_allowed("/a")
        for status in (200, 299, 302, 404, 499, 500, 0)
    }
    assert results.keys() == {"2xx", "3xx", "4xx", "5xx or network error", "parse error", "cache", "size limit"}
    assert allowed == {200: False, 299: False, 302: True, 404: True, 499: True, 500: False, 0: False}
    assert not build_robots_rules(_build_robots_txt(b"nonsense\n:::\n" + closed), "x").is_allowed("/a")
    assert compute_robots_expiry(200, {"cache-control": "max-age=1000000"}, 0.0) <= DAY
    assert MAX_BODY_BYTES >= 500 * 1024


def test_parse_cases_of_google(suites: Path) -> None:
    for case in json.loads((suites / "robots-google/parse_cases.json").read_text()):
        body = _get_body(case)
        if "valid_directives" in case:
            assert len(list(_parse_fields(decode_robots_body(body)))) == case["valid_directives"], case["name"]
        assert list(build_robots_rules(_build_robots_txt(body), "x").sitemaps) == case.get("sitemaps", [])


def test_supported_directives_are_parsed(suites: Path) -> None:
    followed = 0
    for case in json.loads((suites / "robots-protego/directives.json").read_text()):
        rules, expected = build_robots_rules(_build_robots_txt(_get_body(case)), case["agent"] or "*"), case["expected"]
        match case["query"]:
            case "crawl_delay":
                assert rules.get_crawl_delay() == expected
            case "request_rate":
                seconds = expected and min(expected["seconds"] / expected["requests"], MAX_CRAWL_DELAY)
                assert rules.get_crawl_delay() == seconds, case
            case "sitemaps":
                assert rules.sitemaps == tuple(s.request_url for s in map(normalize_url, expected) if s)
            case query:
                assert query == "visit_time"  # visit times are not supported: they are not part of any standard
                continue
        followed += 1
    assert followed == 20


def test_real_files_are_parsed(suites: Path) -> None:
    files = sorted((suites / "robots-real/files").iterdir())
    for file in files:
        rules = build_robots_rules(_build_robots_txt(file.read_bytes()), "sanderling")
        assert rules.is_allowed("http://foo.bar/robots.txt")
        rules.get_crawl_delay()
    assert len(files) == 420
