"""Test the summary of a crawl: failures, URLs out of scope, guessed sitemaps."""

import json
from pathlib import Path

import pytest
from tests.support.site import Site, free_port, html

from sanderling.cli import main
from sanderling.web.crawl_view import CollectionCrawlView

FLAGS = ["--delay", "0", "--allow-private", "--workers", "1"]


def test_links_to_other_sites_are_not_counted_as_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": html("https://other.example/a", "/missing", text="home")}) as site:
        assert main(["crawl", site.root + "/", *FLAGS, "--json", "-C", str(tmp_path)]) == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (summary["skipped"], summary["out_of_scope"]) == (0, 1)
    main(["status", "--json", "-C", str(tmp_path)])
    status = json.loads(capsys.readouterr().out)
    assert (status["skipped"], status["out_of_scope"]) == ({}, 1)
    errors = CollectionCrawlView(tmp_path).list_errors(9)
    assert [row.url for row in errors] == [site.root + "/missing"], "guessed sitemaps are no errors"


def test_refused_connection_is_a_failure_and_the_crawl_is_not_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sanderling.frontier.hosts.compute_backoff", lambda *_: 0.01)
    assert main(["crawl", f"http://127.0.0.1:{free_port()}/", *FLAGS, "-C", str(tmp_path)]) == 9
    out = capsys.readouterr().out
    assert out.startswith("nothing could be fetched: ")
    assert out.split("failed")[1].split()[0] == "1"
    assert out.split("skipped")[1].split()[0] == "0"
    main(["pages", "--skipped", "--json", "-C", str(tmp_path)])
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (row["state"], row["reason"]) == ("failed", "robots_unreachable")
