"""URLs against the suites of others: web platform tests, RFC 3986, purell, IDNA."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sanderling.models import Reason
from sanderling.urls.dust import get_site_name, parse_rules, rewrite_url
from sanderling.urls.normalize import LENGTH_LIMIT, NormalizedUrl, find_rejection_reason, normalize_url, resolve_url

Case = dict[str, Any]


def _cases(path: Path) -> list[Case]:
    return [case for case in json.loads(path.read_text()) if isinstance(case, dict)]


def _spelt(raw: str) -> NormalizedUrl:
    spelling = normalize_url(raw)
    assert spelling is not None
    return spelling


def _wire(case: Case) -> str | None:
    """What the expected href is on the wire: http or https, without fragment and credentials."""
    href: str = case.get("href", "")
    if case.get("failure") or case["protocol"] not in ("http:", "https:"):
        return None
    href = href.partition("#")[0]
    start = len(case["protocol"]) + 2
    host: str = case["host"]
    return href[:start] + host + href[href.index("/", start) :]


@pytest.mark.parametrize("name", ["urltestdata.json", "ada_extra_urltestdata.json", "ada_long_urltestdata.json"])
def test_every_parse_case_of_the_web_platform_tests_holds(suites: Path, name: str) -> None:
    wrong, http = [], 0
    for case in _cases(suites / "url-wpt" / name):
        base, expected = case.get("base"), _wire(case)
        http += expected is not None
        spelling = resolve_url(base, case["input"]) if base else normalize_url(case["input"])
        if base and not normalize_url(base) and spelling and not expected:
            continue  # we read an absolute link on a page whose own address is useless; the standard has no such page
        if expected and len(expected) > LENGTH_LIMIT:
            assert find_rejection_reason(case["input"]) is Reason.TOO_LONG
        elif (spelling.request_url if spelling else None) != expected:
            wrong.append((case["input"], base, expected, spelling))
    assert wrong == []
    assert http


@pytest.mark.parametrize("name", ["toascii.json", "IdnaTestV2.json", "IdnaTestV2-removed.json"])
def test_every_host_name_of_the_idna_tests_holds(suites: Path, name: str) -> None:
    wrong = []
    for case in _cases(suites / "url-wpt" / name):
        if not case["input"]:
            continue  # `https:///x` has a host, x, where the suite asks for none at all
        spelling = normalize_url(f"https://{case['input']}/x")
        expected = f"https://{case['output']}/x" if case["output"] is not None else None
        if (spelling.request_url if spelling else None) != expected:
            wrong.append((case, spelling))
    assert wrong == []


def test_every_case_of_the_percent_encoding_tests_holds(suites: Path) -> None:
    wrong = []
    for case in _cases(suites / "url-wpt" / "percent-encoding.json"):
        for encoding, expected in case["output"].items():
            spelling = resolve_url("https://x/", f"?{case['input']}", encoding)
            if spelling is None or spelling.request_url != f"https://x/?{expected}":
                wrong.append((case["input"], encoding))
    # Python's codecs take two characters that those of the standard refuse.
    assert wrong == [("\x0eA", "iso-2022-jp"), ("\ue5e5", "gb18030")]


def test_every_resolution_of_rfc_3986_holds(suites: Path) -> None:
    for case in json.loads((suites / "url-rfc3986" / "cases.json").read_text())["resolve"]:
        spelling = resolve_url(case["base"], case["ref"])
        answers = [case["expected"], case.get("also_acceptable", "")]
        if not any(answer.startswith("http://") for answer in answers):
            assert spelling is None  # g:h is no web page
            continue
        spelled = [_spelt(answer) for answer in answers if answer.startswith("http://")]
        assert spelling in spelled, case


def test_every_equivalence_of_rfc_3986_holds(suites: Path) -> None:
    for case in json.loads((suites / "url-rfc3986" / "cases.json").read_text())["equivalence"]:
        # one case is about a scheme `example`; ours are http and https
        a, b = (re.sub("^example:", "http:", case[side], flags=re.IGNORECASE) for side in "ab")
        assert (_spelt(a).url == _spelt(b).url) is case["equivalent"], case


def test_every_dot_segment_of_rfc_3986_goes(suites: Path) -> None:
    for case in json.loads((suites / "url-rfc3986" / "cases.json").read_text())["remove_dot_segments"]:
        assert _spelt("http://x/" + case["input"].lstrip("/")).url == "http://x/" + case["expected"].lstrip("/")


KEPT_APART = {  # cases whose rules may merge different pages, and why we do not
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
    "WHATWG: with two final dots it is no address": ["OctalIP-4", "DWORDIP-4", "HexIP-4"],
}
NO_WEB_PAGE = {"FTP", "Relative", "Relative-1", "Relative-2", "Relative-3", "Relative-4", "Issue-#24"}
NO_HOST = {"DWORDIP-1", "HexIP-1"}  # WHATWG: a host that ends in a number is an address, and this is none


def test_every_purell_rule_we_have_gives_the_same_key(suites: Path) -> None:
    kept_apart = []
    for case in _cases(suites / "url-purell" / "cases.json"):
        a, b = normalize_url(case["input"]), normalize_url(case["expected"])
        if case["name"] in NO_WEB_PAGE | NO_HOST:
            assert a is None, case
        elif a is None or b is None or a.url != b.url:
            kept_apart.append(case["name"])
    assert sorted(kept_apart) == sorted(name for names in KEPT_APART.values() for name in names)


@pytest.mark.parametrize(
    ("flag", "rule"),
    [
        ("FlagRemoveTrailingSlash", "slash"),
        ("FlagRemoveDirectoryIndex", "index"),
        ("FlagsUsuallySafeGreedy", "slash"),
    ],
)
def test_the_lossy_rules_do_what_purell_does(suites: Path, flag: str, rule: str) -> None:
    for case in _cases(suites / "url-purell" / "cases.json"):
        if case["flags"] == [flag] and case["name"] not in NO_WEB_PAGE:
            url = _spelt(case["input"]).url
            assert rewrite_url(url, parse_rules(get_site_name(url), rule)) == _spelt(case["expected"]).url
