"""Preferences of owners: what is denied for the purpose of a crawl is skipped."""

import gzip
import json
from pathlib import Path

import pytest
from tests.support.site import Page, Site, html

from sanderling.cli import main
from sanderling.fetch.usage_preferences import Purpose, find_denial, parse_preferences, parse_robots_preferences
from sanderling.models import Host, RobotsTxt

HOST = Host("https://a.test")
PURPOSES: tuple[Purpose, ...] = ("search", "archive", "ai-input", "ai-train")


def find_denied(body: str, path: str = "/page", agent: str = "sanderling") -> list[str]:
    """Return the purposes that a robots.txt denies for a path."""
    rules = parse_robots_preferences(RobotsTxt(HOST, 200, body.encode(), 0.0, 1e12), agent)
    return [purpose for purpose in PURPOSES if find_denial(rules, HOST + path, purpose)]


@pytest.mark.parametrize(
    ("body", "denied"),
    [
        ("User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /", ["ai-train"]),
        ("User-Agent: *\nContent-Usage: train-ai=n", ["ai-train"]),
        ("Content-Signal: ai-input=no", ["ai-input"]),
        ("User-agent: *\nContent-Usage: bots=n, search=y", ["archive", "ai-input", "ai-train"]),
        ("User-agent: *\nContent-Usage: tdm=n, train-ai=y", ["ai-input"]),
        ("User-agent: *\nContent-Usage: train-ai=maybe, unknown=n", []),
        ("User-agent: *\nContent-Signal: ai-train=no\nContent-Signal: ai-train=yes", ["ai-train"]),
        ("User-agent: other\nContent-Signal: ai-train=no", []),
        ("User-agent: other\nUser-agent: Sanderling\nContent-Signal: search=no", ["search"]),
        (
            "User-agent: sanderling\nContent-Signal: ai-train=no\n\nUser-agent: *\nContent-Signal: search=no",
            ["ai-train"],
        ),
        ("User-agent: sanderling\nAllow: /\n\nUser-agent: *\nContent-Signal: search=no", ["search"]),
        ("User-agent: *\nDisallow: /x", []),
        ("# Content-Signal: ai-train=no", []),
    ],
)
def test_preferences_of_robots_txt(body: str, denied: list[str]) -> None:
    assert find_denied(body) == denied


def test_longest_path_decides() -> None:
    body = "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /open/ train-ai=y\n"
    assert find_denied(body, "/page") == ["ai-train"]
    assert find_denied(body, "/open/page") == []


def test_denial_wins_over_a_contradiction() -> None:
    assert parse_preferences("ai-train=yes, ai-train=no") == parse_preferences("ai-train=no,ai-train=yes")


def test_error_page_has_no_preferences() -> None:
    assert parse_robots_preferences(RobotsTxt(HOST, 404, b"Content-Signal: search=no", 0.0, 1e12), "sanderling") == ()


def test_denied_pages_are_skipped_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = {"Content-Type": "text/html"}
    robots = Page(b"User-agent: *\nContent-Usage: /closed/ train-ai=n\n", headers={"Content-Type": "text/plain"})
    pages = {
        "/robots.txt": robots,
        "/": html("/closed/a", "/header", "/tdm", "/meta", "/noai", "/open"),
        "/closed/a": html(),
        "/header": Page(b"<p>secret header", headers={**plain, "Content-Usage": "train-ai=n"}),
        "/tdm": Page(b"<p>secret tdm", headers={**plain, "TDM-Reservation": "1"}),
        "/meta": Page(b"<meta name=tdm-reservation content=1><p>secret meta"),
        "/noai": Page(b"<meta name=robots content='index, noai'><p>secret noai"),
        "/open": html(text="open"),
    }
    arguments = ["--allow-private", "--delay", "0", "--quiet"]
    with Site(pages) as site:
        folder = tmp_path / "train"
        assert main(["crawl", site.root, *arguments, "--purpose", "ai-train", "-C", str(folder)]) == 0
        requests = site.hits.total()
        assert "/closed/a" not in site.hits
        assert main(["status", "--json", "-C", str(folder)]) == 0
        capsys.readouterr()
        assert main(["pages", "--skipped", "-C", str(folder)]) == 0
        skipped = capsys.readouterr().out
        assert main(["explain", site.root + "/tdm", "-C", str(folder)]) == 0
        assert "tdm-reservation: 1" in capsys.readouterr().out
        stored = b"".join(gzip.decompress(path.read_bytes()) for path in folder.glob("archive/*.gz"))
        assert main(["crawl", site.root, *arguments, "-C", str(folder)]) == 0  # for search, nothing is denied
        assert site.hits.total() > requests
        assert "/closed/a" in site.hits
        assert main(["check", "robots", site.root + "/closed/a", "--allow-private", "--purpose", "ai-train"]) == 0
        assert "train-ai=n" in capsys.readouterr().out
    assert skipped.count("usage") >= 5
    assert b"secret" not in stored
    assert b"open" in stored


def test_path_patterns() -> None:
    body = "RSL-Usage: /images/*.png$ ai-train=n\nTDM-Usage: /a/*/b ai-input=n, ai-train=n"
    assert find_denied(body, "/images/x.png") == ["ai-train"]
    assert find_denied(body, "/images/x.png?a") == []
    assert find_denied(body, "/a/x/b/c") == ["ai-input", "ai-train"]


def test_permission_of_one_source_does_not_lift_the_denial_of_another() -> None:
    body = "Content-Usage: ai-train=n\nRSL-Usage: /open/page ai-train=y\nTDM-Usage: / ai-input=n, ai-train=n"
    assert find_denied(body, "/open/page") == ["ai-input", "ai-train"]
    assert find_denied("Content-Usage: ai-train=n\nRSL-Usage: / ai-train=y") == ["ai-train"]


LICENSE = b"<rsl><content url='/paid/'><license><permits type='usage'>search</permits></license></content></rsl>"
RESERVATIONS = b'[{"location": "/mine/*", "tdm-reservation": 1}]'


def test_licenses_and_reservations_are_read_with_robots_txt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = {"Content-Type": "text/plain"}
    pages = {
        "/robots.txt": Page(b"User-agent: *\nAllow: /\nLicense: /license.xml\n", headers=text),
        "/license.xml": Page(LICENSE, headers={"Content-Type": "application/rsl+xml"}),
        "/.well-known/tdmrep.json": Page(RESERVATIONS, headers={"Content-Type": "application/json"}),
        "/": html("/paid/a", "/mine/b", "/linked", "/open"),
        "/paid/a": html(),
        "/mine/b": html(),
        "/linked": html(head="<link rel=license type='application/rsl+xml' href=/x.xml>"),
        "/open": html(text="open"),
    }
    arguments = ["--allow-private", "--delay", "0", "--quiet", "--workers", "1"]
    with Site(pages) as site:
        folder = str(tmp_path / "c")
        assert main(["crawl", site.root, *arguments, "--purpose", "ai-train", "-C", folder]) == 0
        assert site.hits["/paid/a"] == site.hits["/mine/b"] == 0
        assert site.hits["/license.xml"] == site.hits["/.well-known/tdmrep.json"] == 1
        capsys.readouterr()
        assert main(["pages", "--reason", "usage", "-C", folder]) == 0
        skipped = capsys.readouterr().out
        assert all(path in skipped for path in ("/paid/a", "/mine/b", "/linked"))
        assert main(["explain", site.root + "/mine/b", "-C", folder]) == 0
        assert "TDM-Usage: /mine/*" in capsys.readouterr().out
        assert main(["check", "robots", site.root + "/paid/a", "--allow-private"]) == 0
        assert "ai-train: RSL-Usage: /paid/" in capsys.readouterr().out
        other = str(tmp_path / "d")
        assert main(["crawl", site.root, *arguments, "-C", other]) == 0  # search: only the license concerns it
        assert site.hits["/.well-known/tdmrep.json"] == 2  # by check robots, which reads all files
        assert site.hits["/paid/a"] == 1
        assert site.hits["/linked"] == 2  # also by the first crawl, which read the link in it
        capsys.readouterr()
        assert main(["export", "--usage", "-C", other]) == 0
        rows = {row["url"]: row["denied_usage"] for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert set(rows[site.root + "/paid/a"]) == {"ai-input", "ai-train"}
    assert rows[site.root + "/linked"] == {
        "ai-input": "link: application/rsl+xml",
        "ai-train": "link: application/rsl+xml",
    }
    assert rows[site.root + "/open"] == {}


def test_license_that_cannot_be_read_permits_no_use_by_ai(tmp_path: Path) -> None:
    pages = {
        "/robots.txt": Page(b"License: /missing.xml\n", headers={"Content-Type": "text/plain"}),
        "/": html("/next"),
        "/next": html(),
    }
    with Site(pages) as site:
        arguments = ["--allow-private", "--delay", "0", "--quiet"]
        main(["crawl", site.root, *arguments, "--purpose", "ai-input", "-C", str(tmp_path / "a")])
        assert site.hits["/"] == 0
        main(["crawl", site.root, *arguments, "-C", str(tmp_path / "b")])
        assert site.hits["/next"] == 1
