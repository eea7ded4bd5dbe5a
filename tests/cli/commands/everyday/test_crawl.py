"""Test `sanderling crawl`."""

import json
from pathlib import Path

import pytest
from tests.support.output import read_json_lines
from tests.support.site import Page, Site, free_port, html, redirect, tree

from sanderling import __version__
from sanderling.api.reports.crawl_view import CollectionCrawlView
from sanderling.cli import main
from sanderling.errors import UsageError

FLAGS = ["--delay", "0", "--allow-private", "--workers", "1"]


def test_summary_is_the_last_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with Site({"/": html(text="alone")}) as site:
        main(["crawl", site.root, "-C", str(tmp_path), "--delay", "0", "--allow-private", "--json", "--workers", "1"])
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert list(summary) == [
        "finish_reason", "pages", "fetched", "not_modified", "duplicates", "failed", "skipped", "bytes", "seconds",
        "pages_per_second",
    ]  # fmt: skip
    assert (summary["finish_reason"], summary["pages"]) == ("done", 1)


def test_crawl_without_a_page_prints_the_reason_and_returns_9(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["crawl", "http://127.0.0.1:9/", "-C", str(tmp_path), "--delay", "0", "--workers", "1"]) == 9
    assert "private_address" in (output := capsys.readouterr().err)
    assert "--allow-private" in output


def test_password_or_cookie_request_prints_the_option_for_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with Site({"/": Page(b"who?", 401), "/round": redirect("/round")}) as site:
        for path, advice in (("/", "--basic-auth HOST=env:NAME"), ("/round", "--cookies")):
            line = ["crawl", site.root + path, "-C", str(tmp_path / path[1:]), "--delay", "0", "--workers", "1"]
            assert main([*line, "--allow-private"]) == 9
            assert advice in capsys.readouterr().err


def test_refused_crawl_is_reported_although_pages_are_stored(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with Site({"/": html()}) as site:
        common = ["crawl", site.root, "-C", str(tmp_path), "--delay", "0", "--workers", "1", "--no-sitemaps"]
        assert main([*common, "--allow-private"]) == 0
        assert main(common) == 9
        assert "crawl private addresses with --allow-private" in capsys.readouterr().err
        assert main([*common, "--allow-private"]) == 0


def test_verbose_crawl_prints_failures_or_all_requests(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with Site({"/": html("/missing")}) as site:
        common = ["crawl", site.root, "--delay", "0", "--allow-private", "--workers", "1", "--no-sitemaps"]
        main([*common, "-C", str(tmp_path / "a"), "-v"])
        output = capsys.readouterr().err
        assert f"{site.root}/missing" in output
        assert f"{site.root}/ " not in output
        main([*common, "-C", str(tmp_path / "b"), "-vv"])
        assert f"{site.root}/ " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "warned"),
    [([], True), (["--contact", "me@x.test"], False), (["--user-agent", "Bot/1 (+https://x.test)"], False)],
)
def test_public_host_without_contact_is_warned_about(
    flags: list[str], warned: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unreachable = ["--proxy", "http://127.0.0.1:1", "--time-limit", "0.1", "--workers", "1", "--no-index"]
    main(["crawl", "http://public.test/", "-C", str(tmp_path), *unreachable, *flags])
    assert ("no --contact is set" in capsys.readouterr().err) == warned


@pytest.mark.parametrize(
    ("flags", "code", "finish"),
    [
        (["--exclude", "/busy", "--limit", "2"], 0, "limit"),
        (["--exclude", "/busy", "--size-limit", "1kB"], 14, "size_limit"),
        (["--exclude", "/busy", "--time-limit", "300ms", "--delay", "1"], 15, "time_limit"),
        (["--include", "/busy", "--delay", "0"], 18, "backed_off"),
    ],
)
def test_exit_code_names_how_the_crawl_ended(
    flags: list[str], code: int, finish: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site({**tree(30), "/": html("/busy", *(f"/p{n}" for n in range(1, 30)))}) as site:
        site.pages["/busy"] = Page(b"", 429, {"Retry-After": "3600"})
        common = ["crawl", site.root, "-C", str(tmp_path), "--allow-private", "--workers", "1", "--no-sitemaps"]
        assert main([*common, "--delay", "0.01", "--json", *flags]) == code
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["finish_reason"] == finish


def test_user_agent_names_program_and_contact(tmp_path: Path) -> None:
    with Site({"/": html()}) as site:
        common = ["crawl", site.root, "-C", str(tmp_path), "--allow-private", "--delay", "0", "--workers", "1"]
        main([*common, "--contact", "https://me.example/bot", "--quiet"])
        agents = {headers["user-agent"] for _, headers in site.requests}
    assert agents == {f"sanderling/{__version__} (+https://me.example/bot)"}  # robots.txt and sitemaps too


def test_clean_deletes_only_after_confirmation(
    crawled_site: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site({"/": html()}) as site:
        common = [site.root, "-C", str(tmp_path), "--delay", "0", "--allow-private", "--quiet", "--workers", "1"]
        main(["crawl", *common])
        (tmp_path / "mine.txt").write_text("keep me")
        assert main(["crawl", *common, "--clean"]) == 4
        assert site.hits["/"] == 1
        assert main(["crawl", *common, "--clean", "--yes"]) == 0
        assert (tmp_path / "mine.txt").read_text() == "keep me"


@pytest.mark.parametrize(
    "wrong",
    [
        ["--migrant", "http://127.0.0.1:1"], ["--migrant", "http://127.0.0.1:1", "--key", "none"],
        ["--migrant-ca", "none", "--migrant", "https://127.0.0.1:1", "--key", "none"],
        ["ftp://x/"], ["--depth", "deep"], ["--include", "*.html"], ["--order", "best"], ["--policy", "none"],
        ["--budget", "much"], ["--proxy", "none"], ["--header", "none"], ["--sets", "none"], ["--criteria", "none"],
        ["--judgements", "none"], ["--store", "mysql://x"], ["--like-text", "none"],
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_clean_with_a_usage_error_deletes_nothing(
    wrong: list[str], crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    root, folder = crawled_site
    assert main(["crawl", root + "/", *wrong, "-C", folder, "--clean", "--yes", "--allow-private"]) == 4
    capsys.readouterr()
    assert main(["pages", "-C", folder, "--json"]) == 0
    assert len(read_json_lines(capsys)) == 2


@pytest.mark.parametrize(
    "away",
    [
        ["--migrant", "http://127.0.0.1:1", "--key", "KEY"], ["--engine", "ray", "--address", "127.0.0.1:1"],
        ["--migrant", "https://127.0.0.1:1", "--key", "KEY", "--migrant-ca", "none"],
        ["--store", "postgresql://nobody@127.0.0.1:1/x"], ["--store", "postgresql://u:pw@[x/y"],
    ],
    ids=["migrant", "cluster", "certificates", "store", "address"],
)  # fmt: skip
def test_clean_deletes_nothing_if_the_crawl_cannot_start(
    away: list[str], crawled_site: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, folder = crawled_site
    for part in {"--key": "cryptography", "--engine": "ray", "--store": "psycopg"}.items():
        if part[0] in away:
            pytest.importorskip(part[1])
    if "--key" in away:
        assert main(["migrant", "keygen", str(tmp_path / "KEY")]) == 0
    words = [str(tmp_path / "KEY") if word == "KEY" else word for word in away]
    assert main(["crawl", root + "/", *words, "-C", folder, "--clean", "--yes", "--allow-private"]) in (4, 17)
    assert "pw" not in capsys.readouterr().err
    assert main(["pages", "-C", folder, "--json"]) == 0
    assert len(read_json_lines(capsys)) == 2


def test_invalid_store_is_not_saved(tmp_path: Path) -> None:
    with Site({"/": html()}) as site:
        line = ["crawl", site.root + "/", "-C", str(tmp_path), "--delay", "0", "--allow-private", "--workers", "1"]
        assert main([*line, "--store", "mysql://x"]) == 4
        assert main(line) == 0


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--order", "galaxy"], "unknown ordering 'galaxy'; choose from breadth, depth, pvalue"),
        (["--order", "pagerank+depth"], "depth cannot be mixed with other orderings; choose from: breadth"),
        (["--order", "fish"], "needs a topic: --query"),
        (["--order", "popularity"], "--access-log FILE"),
        (["--query", ""], "--query is empty"),
        (["--query", "of the"], "contains no usable word; write for example --query"),
        (["--like-text", "nowhere.txt"], "cannot read --like-text nowhere.txt"),
        (["--depth", "deep"], "give a number of levels such as 3, poisson:10"),
        (["--depth", "poisson:99"], "between 0 and 35, not 99: give a number of levels"),
        (["--keep", "many"], "not a whole number"),
    ],
)
def test_invalid_order_is_a_usage_error_with_the_alternatives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], sentence: str
) -> None:
    code = main(["crawl", "http://127.0.0.1:9/", "--allow-private", "-C", str(tmp_path / "c"), *flags])
    assert code == UsageError.exit_code
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    assert not (tmp_path / "c").exists()


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
    folder = tmp_path / "new"
    assert main(["crawl", f"http://127.0.0.1:{free_port()}/", *FLAGS, "-C", str(folder)]) == 9
    out, err = capsys.readouterr()
    assert out.startswith("nothing could be fetched: ")
    assert out.split("failed")[1].split()[0] == "1"
    assert out.split("skipped")[1].split()[0] == "0"
    assert f"{folder} was not created" in out
    assert "robots_unreachable" in err
    assert "--skipped" not in out
    assert not folder.exists()


def test_crawl_that_fetched_nothing_deletes_only_what_it_created(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "notes.txt").write_text("mine")
    (tmp_path / "empty").mkdir()
    for name in ("used", "empty"):
        assert main(["crawl", "http://127.0.0.1:9/", "-C", str(tmp_path / name), "--delay", "0", "--workers", "1"]) == 9
    assert (tmp_path / "used" / "notes.txt").read_text() == "mine"
    assert list((tmp_path / "empty").iterdir()) == []
    assert main(["pages", "--skipped", "-C", str(tmp_path / "used")]) == 0
    assert "private_address" in capsys.readouterr().out


def test_summary_without_skipped_urls_has_no_hint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": html("/print?id=1", text="home")}) as site:
        for flags, is_hinted in (((), False), (("--exclude", "print"), True)):
            assert main(["crawl", site.root + "/", *FLAGS, *flags, "-C", str(tmp_path / str(is_hinted))]) == 0
            assert ("--skipped" in capsys.readouterr().out) == is_hinted
