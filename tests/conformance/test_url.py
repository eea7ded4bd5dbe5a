"""Test URLs with web platform tests, RFC 3986, purell, and IDNA."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sanderling.models import Reason
from sanderling.urls.dust import get_site_name, parse_rules, rewrite_url
from sanderling.urls.normalize import LENGTH_LIMIT, NormalizedUrl, find_rejection_reason, normalize_url, resolve_url

Case = dict[str, Any]


def _load_cases(path: Path) -> list[Case]:
    return [case for case in json.loads(path.read_text()) if isinstance(case, dict)]


def _normalize(raw: str) -> NormalizedUrl:
    normalized = normalize_url(raw)
    assert normalized is not None
    return normalized


def _get_expected_url(case: Case) -> str | None:
    """Return the expected request URL: http or https, without fragment and credentials."""
    href: str = case.get("href", "")
    if case.get("failure") or case["protocol"] not in ("http:", "https:"):
        return None
    href = href.partition("#")[0]
    start = len(case["protocol"]) + 2
    host: str = case["host"]
    return href[:start] + host + href[href.index("/", start) :]


@pytest.mark.parametrize("name", ["urltestdata.json", "ada_extra_urltestdata.json", "ada_long_urltestdata.json"])
def test_parse_cases_of_web_platform_tests(suites: Path, name: str) -> None:
    wrong, http = [], 0
    for case in _load_cases(suites / "url-wpt" / name):
        base, expected = case.get("base"), _get_expected_url(case)
        http += expected is not None
        normalized = resolve_url(base, case["input"]) if base else normalize_url(case["input"])
        if base and not normalize_url(base) and normalized and not expected:
            continue  # absolute links are accepted on a page with an invalid URL; the standard has no such case
        if expected and len(expected) > LENGTH_LIMIT:
            assert find_rejection_reason(case["input"]) is Reason.TOO_LONG
        elif (normalized.request_url if normalized else None) != expected:
            wrong.append((case["input"], base, expected, normalized))
    assert wrong == []
    assert http


@pytest.mark.parametrize("name", ["toascii.json", "IdnaTestV2.json", "IdnaTestV2-removed.json"])
def test_host_names_of_idna_tests(suites: Path, name: str) -> None:
    wrong = []
    for case in _load_cases(suites / "url-wpt" / name):
        if not case["input"]:
            continue  # `https:///x` has the host x, where the suite expects no host
        normalized = normalize_url(f"https://{case['input']}/x")
        expected = f"https://{case['output']}/x" if case["output"] is not None else None
        if (normalized.request_url if normalized else None) != expected:
            wrong.append((case, normalized))
    assert wrong == []


def test_percent_encoding_of_web_platform_tests(suites: Path) -> None:
    wrong = []
    for case in _load_cases(suites / "url-wpt" / "percent-encoding.json"):
        for encoding, expected in case["output"].items():
            normalized = resolve_url("https://x/", f"?{case['input']}", encoding)
            if normalized is None or normalized.request_url != f"https://x/?{expected}":
                wrong.append((case["input"], encoding))
    # Python's codecs accept two characters that the standard rejects.
    assert wrong == [("\x0eA", "iso-2022-jp"), ("\ue5e5", "gb18030")]


def test_resolution_of_rfc_3986(suites: Path) -> None:
    for case in json.loads((suites / "url-rfc3986" / "cases.json").read_text())["resolve"]:
        normalized = resolve_url(case["base"], case["ref"])
        accepted = [case["expected"], case.get("also_acceptable", "")]
        if not any(url.startswith("http://") for url in accepted):
            assert normalized is None  # g:h is not an http URL
            continue
        accepted_urls = [_normalize(url) for url in accepted if url.startswith("http://")]
        assert normalized in accepted_urls, case


def test_equivalence_of_rfc_3986(suites: Path) -> None:
    for case in json.loads((suites / "url-rfc3986" / "cases.json").read_text())["equivalence"]:
        # a case uses the scheme `example`
        a, b = (re.sub("^example:", "http:", case[side], flags=re.IGNORECASE) for side in "ab")
        assert (_normalize(a).url == _normalize(b).url) is case["equivalent"], case


def test_dot_segments_of_rfc_3986(suites: Path) -> None:
    for case in json.loads((suites / "url-rfc3986" / "cases.json").read_text())["remove_dot_segments"]:
        assert _normalize("http://x/" + case["input"].lstrip("/")).url == "http://x/" + case["expected"].lstrip("/")


DISTINCT_URLS = {  # cases whose rules may merge different pages, and our reason
    "RFC 3986, 6.2.3: an empty query may name another resource": [
        *("RemoveEmptyQuerySeparator", "Standard-9", "StandardCasesAddTrailingSlash"),
    ],
    "http and https are two hosts, with two robots.txt": ["ForceHTTP", "Unsafe", "SourceModified"],
    "an empty segment is a segment": ["RemoveDuplicateSlashes", "RemoveDuplicateSlashes2", "Slashes-21", "Slashes-22"],
    "www is another host": ["RemoveWWW", "RemoveWWW2", "AddWWW", "AddTrailingSlashBug"],
    "the order of parameters may matter": ["SortQuery"],
    "a final dot is an absolute name, another virtual host": [f"UnnecessaryHostDots-{n}" for n in range(1, 6)],
    "another path (RFC 3986, 6.2.4)": ["AddTrailingSlash2", "AddTrailingSlash3"],
    "lossy rule N8, off by default": [
        *("RemoveTrailingSlash2", "RemoveTrailingSlash3", "RemoveDirectoryIndex", "UsuallySafe", "UsuallySafe2"),
    ],
    "WHATWG: not an address with two final dots": ["OctalIP-4", "DWORDIP-4", "HexIP-4"],
}
NOT_HTTP = {"FTP", "Relative", "Relative-1", "Relative-2", "Relative-3", "Relative-4", "Issue-#24"}
INVALID_HOSTS = {"DWORDIP-1", "HexIP-1"}  # WHATWG: a host that ends in a number must be a valid address


def test_shared_purell_rules_give_the_same_key(suites: Path) -> None:
    distinct_names = []
    for case in _load_cases(suites / "url-purell" / "cases.json"):
        a, b = normalize_url(case["input"]), normalize_url(case["expected"])
        if case["name"] in NOT_HTTP | INVALID_HOSTS:
            assert a is None, case
        elif a is None or b is None or a.url != b.url:
            distinct_names.append(case["name"])
    assert sorted(distinct_names) == sorted(name for names in DISTINCT_URLS.values() for name in names)


@pytest.mark.parametrize(
    ("flag", "rule"),
    [
        ("FlagRemoveTrailingSlash", "slash"),
        ("FlagRemoveDirectoryIndex", "index"),
        ("FlagsUsuallySafeGreedy", "slash"),
    ],
)
def test_lossy_rules_match_purell(suites: Path, flag: str, rule: str) -> None:
    for case in _load_cases(suites / "url-purell" / "cases.json"):
        if case["flags"] == [flag] and case["name"] not in NOT_HTTP:
            url = _normalize(case["input"]).url
            assert rewrite_url(url, parse_rules(get_site_name(url), rule)) == _normalize(case["expected"]).url
