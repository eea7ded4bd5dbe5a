"""Every command as a person types it."""

import csv
import errno
import io
import json
import os
import re
import shlex
import subprocess
from itertools import takewhile
from pathlib import Path
from typing import cast

import pytest
from tests.support.site import Page, Site, html, redirect, tree

from sanderling import __version__
from sanderling.cli import COMMAND_GROUPS, COMMANDS, main
from sanderling.cli.arguments import build_parser, fill_parser, import_command, parse_call
from sanderling.cli.seeds import read_seed_file, read_seeds
from sanderling.config.loader import load_all_settings
from sanderling.db.connection import Connection
from sanderling.discovery.sitemap_parser import parse_sitemap
from sanderling.errors import build_write_error


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A small crawled site: its address and the collection."""
    folder = str(tmp_path_factory.mktemp("c") / "collection")
    pages = {
        "/": html("/a", "/old", "http://elsewhere.example/", text="the root"),
        "/a": html("/", text="page a"),
        "/old": redirect("/a"),
    }
    with Site(pages) as site:
        code = main(
            ["crawl", site.root + "/", "-C", folder, "--delay", "0", "--allow-private", "--quiet", "--workers", "1"]
        )
        assert code == 0
        return site.root, folder


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_help_teaches_by_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "sanderling crawl https://example.org/" in text
    assert all(name in text for name in COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_examples_of_every_command_can_be_pasted_into_a_shell(name: str) -> None:
    parser = build_parser(f"sanderling {name}")
    fill_parser(parser, import_command(name))
    for line in (parser.epilog or "").splitlines():
        if line.startswith("  sanderling "):
            assert not re.search(r"\S {2,}[^#\s]", line), f"what stands behind this example is a part of it: {line}"
            _, *words = takewhile(lambda word: word not in ("&&", "|", ">"), shlex.split(line, comments=True))
            parse_call(words, COMMAND_GROUPS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert f"sanderling {name}" in text
    assert "--collection" in text
    assert import_command(name).HELP


def test_wrong_usage_gets_one_sentence_and_code_4(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for argv in (
        ["crwl"],
        ["crawl"],
        ["crawl", "ftp://x/"],
        ["crawl", "http://x/", "--scope", "galaxy"],
        ["crawl", "http://x/", "--include", "(", "-C", str(tmp_path / "c")],
        ["pages", "-C", str(tmp_path / "none")],
        ["pages", "--frst", "1"],
        ["pages", "--skipped", "--reason", "robot"],
    ):
        assert main(argv) == 4, argv
        assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_the_summary_is_the_last_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with Site({"/": html(text="alone")}) as site:
        main(["crawl", site.root, "-C", str(tmp_path), "--delay", "0", "--allow-private", "--json", "--workers", "1"])
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert list(summary) == [
        "finish_reason", "pages", "fetched", "not_modified", "duplicates", "failed", "skipped", "bytes", "seconds",
        "pages_per_second",
    ]  # fmt: skip
    assert (summary["finish_reason"], summary["pages"]) == ("done", 1)


def test_a_seed_file_may_come_from_any_editor_and_its_wrong_lines_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "seeds.txt"
    file.write_bytes(b"\xef\xbb\xbfhttp://a.example/\r\n# no\r\n\r\nhttp://b.example/\r\n")
    assert read_seed_file(str(file)) == ["http://a.example/", "http://b.example/"]
    file.write_text("http://a.example/\nnot a url\n")
    assert main(["crawl", "--seed-file", str(file), "-C", str(tmp_path / "c")]) == 4
    assert "line 2" in capsys.readouterr().err


def test_what_is_said_behind_a_seed_is_no_part_of_it(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_text(
        "http://a.example/#top  # the old one\nb.example\t# bare\n  # nothing\n\thttp://c.example/\tits title\n"
    )
    assert read_seed_file(str(file)) == ["http://a.example/#top", "b.example", "http://c.example/"]


def test_a_dash_among_the_seeds_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"http://b.example/\nhttp://c.example/\n")))
    assert read_seeds(["http://a.example/", "-"], None) == tuple(f"http://{name}.example/" for name in "abc")


def test_a_crawl_that_brings_nothing_home_says_why_and_returns_9(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["crawl", "http://127.0.0.1:9/", "-C", str(tmp_path), "--delay", "0", "--workers", "1"]) == 9
    assert "private_address" in (told := capsys.readouterr().err)
    assert "--allow-private" in told


def test_who_is_asked_for_a_password_or_a_cookie_hears_how_to_give_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with Site({"/": Page(b"who?", 401), "/round": redirect("/round")}) as site:
        for path, advice in (("/", "--basic-auth HOST=USER:PASSWORD"), ("/round", "--cookies")):
            line = ["crawl", site.root + path, "-C", str(tmp_path / path[1:]), "--delay", "0", "--workers", "1"]
            assert main([*line, "--allow-private"]) == 9
            assert advice in capsys.readouterr().err


def test_a_crawl_that_is_turned_away_says_so_even_where_pages_are_stored(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with Site({"/": html()}) as site:
        common = ["crawl", site.root, "-C", str(tmp_path), "--delay", "0", "--workers", "1", "--no-sitemaps"]
        assert main([*common, "--allow-private"]) == 0
        assert main(common) == 9
        assert "--allow-private lets us in" in capsys.readouterr().err
        assert main([*common, "--allow-private"]) == 0


@pytest.mark.parametrize("command", ["sitemap", "completion zsh", "experiment list", "settings", "pages", "status"])
def test_json_is_for_every_command(command: str, crawled: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--json", "-C", crawled[1]]) == 0
    assert all(isinstance(found, dict) for found in lines(capsys))


def test_who_asks_hears_of_trouble_or_of_every_visit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with Site({"/": html("/missing")}) as site:
        common = ["crawl", site.root, "--delay", "0", "--allow-private", "--workers", "1", "--no-sitemaps"]
        main([*common, "-C", str(tmp_path / "a"), "-v"])
        told = capsys.readouterr().err
        assert f"{site.root}/missing" in told
        assert f"{site.root}/ " not in told
        main([*common, "-C", str(tmp_path / "b"), "-vv"])
        assert f"{site.root}/ " in capsys.readouterr().err


def test_pages_are_listed(crawled: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    root, folder = crawled
    assert main(["pages", "-C", folder, "--json"]) == 0
    found = lines(capsys)
    assert {row["url"] for row in found} == {f"{root}/", f"{root}/a"}
    assert {"url", "status", "mime", "title", "depth", "first_seen", "last_visit", "digest", "bytes"} <= set(found[0])
    main(["pages", "-C", folder, "--json", "--status", "302"])
    assert [row["location"] for row in lines(capsys)] == [f"{root}/a"]
    main(["pages", "-C", folder, "--json", "--url", "*/a"])
    assert [row["title"] for row in lines(capsys)] == ["page a"]
    main(["pages", "-C", folder, "--first", "1"])
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_skipped_urls_are_listed_with_reasons(crawled: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["pages", "-C", crawled[1], "--skipped", "--json"])
    assert [(row["url"], row["reason"]) for row in lines(capsys)] == [("http://elsewhere.example/", "out_of_scope")]


def test_a_page_is_shown(crawled: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    root, folder = crawled
    main(["show", f"{root}/a", "-C", folder, "--text"])
    assert "page a" in capsys.readouterr().out
    main(["show", f"{root}/a", "-C", folder, "--headers"])
    assert "Content-Type: text/html" in capsys.readouterr().out
    main(["show", f"{root}/a", "-C", folder, "--json"])
    assert lines(capsys)[0]["status"] == 200
    assert main(["show", f"{root}/unknown", "-C", folder]) == 4
    assert main(["show", "http://elsewhere.example/", "-C", folder]) == 4
    assert "out_of_scope" in capsys.readouterr().err


def test_a_page_that_was_confirmed_is_shown_as_it_came(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = Page("Caf\u00e9".encode("latin-1"), headers={"Content-Type": "text/plain; charset=iso-8859-1"}, etag=True)
    with Site({"/": words}) as site:
        line = [site.root + "/", "-C", str(tmp_path)]
        for _ in range(2):
            assert main(["crawl", *line, "--delay", "0", "--allow-private", "--workers", "1", "--quiet"]) == 0
        assert main(["show", *line, "--json"]) == 0
    (shown,) = lines(capsys)
    assert (shown["status"], shown["text"]) == (200, "Caf\u00e9")
    assert ["Content-Type", "text/plain; charset=iso-8859-1"] in cast(list[list[str]], shown["headers"])


def test_a_stored_page_is_found_without_its_scheme(
    crawled: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    root, folder = crawled
    assert main(["show", f"{root.removeprefix('http://')}/a", "--text", "-C", folder]) == 0
    assert "page a" in capsys.readouterr().out


def test_a_stored_redirect_says_where_it_leads(crawled: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    root, folder = crawled
    assert main(["show", f"{root}/old", "-C", folder]) == 0
    assert f"{root}/old leads to /a (status 302)" in capsys.readouterr().err


def test_a_page_that_never_came_has_no_versions(crawled: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "http://elsewhere.example/", "-C", crawled[1]]) == 4
    assert "no version of http://elsewhere.example/ is stored" in capsys.readouterr().err


def test_rules_that_find_no_room_are_one_sentence(
    crawled: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fill(db: Connection, _rules: object) -> None:
        db.execute("PRAGMA max_page_count = 1")
        db.execute("INSERT INTO blobs VALUES ('much', zeroblob(10000000))")

    monkeypatch.setattr("sanderling.cli.commands.url_rules.save_rules", fill)
    assert main(["url-rules", "--use", "-C", crawled[1]]) == 3
    assert capsys.readouterr().err.count("\n") == 1


def test_links_go_both_ways(crawled: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    root, folder = crawled
    main(["links", f"{root}/a", "-C", folder, "--json"])
    (found,) = lines(capsys)
    assert found["forward"] == [{"url": f"{root}/", "anchor": "to /", "nofollow": False}]
    assert found["back"] == [f"{root}/"]


def test_the_catalogue_is_exported(
    crawled: tuple[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, folder = crawled
    main(["export", "-C", folder, "--format", "csv", "--quiet"])
    assert len(list(csv.DictReader(io.StringIO(capsys.readouterr().out)))) == 3
    main(["export", "-C", folder, "-o", str(tmp_path / "x.jsonl")])
    assert len((tmp_path / "x.jsonl").read_text().splitlines()) == 3
    parquet = pytest.importorskip("pyarrow.parquet")
    main(["export", "-C", folder, "--format", "parquet", "-o", str(tmp_path / "x.parquet")])
    assert parquet.read_table(tmp_path / "x.parquet").num_rows == 3
    for name in ("csv", "parquet"):
        assert main(["export", "-C", folder, "--format", name, "-o", str(tmp_path / "none" / "x")]) == 4
        assert "No such file or directory" in capsys.readouterr().err


def test_status_says_what_is_there(crawled: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["status", "-C", crawled[1], "--json"])
    (state,) = lines(capsys)
    assert (state["pages"], state["complete"], state["skipped"], state["out_of_scope"]) == (2, True, {}, 1)
    main(["status", "-C", crawled[1]])
    seen = capsys.readouterr().out
    assert "2 pages" in seen
    assert re.search(r"last run  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: done", seen)
    assert max(len(line) for line in seen.splitlines()[1:]) <= 80


@pytest.mark.parametrize(
    ("flags", "warned"),
    [([], True), (["--contact", "me@x.test"], False), (["--user-agent", "Bot/1 (+https://x.test)"], False)],
)
def test_a_crawl_of_a_public_host_says_where_we_can_be_reached(
    flags: list[str], warned: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nobody = ["--proxy", "http://127.0.0.1:1", "--time-limit", "0.1", "--workers", "1", "--no-index"]
    main(["crawl", "http://public.test/", "-C", str(tmp_path), *nobody, *flags])
    assert ("no --contact is set" in capsys.readouterr().err) == warned


@pytest.mark.parametrize(
    ("flags", "code", "finish"),
    [
        (["--exclude", "/busy", "--limit", "2"], 0, "limit"),
        (["--exclude", "/busy", "--size-limit", "1kB"], 14, "size_limit"),
        (["--exclude", "/busy", "--time-limit", "300ms", "--delay", "1"], 15, "time_limit"),
        (["--include", "/busy", "--delay", "0"], 18, "held"),
    ],
)
def test_the_exit_code_says_how_a_crawl_ended(
    flags: list[str], code: int, finish: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site({**tree(30), "/": html("/busy", *(f"/p{n}" for n in range(1, 30)))}) as site:
        site.pages["/busy"] = Page(b"", 429, {"Retry-After": "3600"})
        common = ["crawl", site.root, "-C", str(tmp_path), "--allow-private", "--workers", "1", "--no-sitemaps"]
        assert main([*common, "--delay", "0.01", "--json", *flags]) == code
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["finish_reason"] == finish


def test_sites_hear_who_asks_and_how_to_reach_them(tmp_path: Path) -> None:
    with Site({"/": html()}) as site:
        common = ["crawl", site.root, "-C", str(tmp_path), "--allow-private", "--delay", "0", "--workers", "1"]
        main([*common, "--contact", "https://me.example/bot", "--quiet"])
        agents = {headers["user-agent"] for _, headers in site.requests}
    assert agents == {f"sanderling/{__version__} (+https://me.example/bot)"}  # robots.txt and sitemaps too


def test_flags_of_every_command_may_stand_before_it(
    crawled: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-C", crawled[1], "--json", "status"]) == 0
    assert lines(capsys)[0]["pages"] == 2
    assert main(["-C", "status"]) == 4
    assert "there is no command '-C'" in capsys.readouterr().err


def test_check_explains(crawled: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    folder = crawled[1]
    main(["check", "url", "HTTP://X.org:80/%7Ea#b", "--seed", "x.org", "--json", "-C", folder])
    (found,) = lines(capsys)
    assert (found["url"], found["result"], found["in_collection"]) == (
        "http://x.org/~a",
        "would be crawled",
        "unknown",
    )
    main(["check", "url", "http://y.org/", "--seed", "http://x.org/", "--json"])
    main(["check", "url", "http://y.org/", "--json", "-C", folder])
    assert [found["result"] for found in lines(capsys)] == ["out_of_scope"] * 2
    with Site({"/": html("/x", text="hello")}) as site:
        main(["check", "parse", site.root, "--allow-private", "--json"])
        (page,) = lines(capsys)
        assert (page["title"], page["status"]) == ("hello", 200)
        main(["check", "robots", site.root, "--allow-private", "--json"])
        (found,) = lines(capsys)
        assert (found["allowed"], found["why"]) == (True, "there is no robots.txt (status 404): no rules")
    assert main(["check", "parse", "http://127.0.0.1:1/"]) == 4
    assert "private address" in capsys.readouterr().err


def test_check_heeds_robots_txt_and_headers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = {
        "/": html("/no"),
        "/robots.txt": Page(b"User-agent: *\nDisallow: /no"),
        "/quiet": Page(b"<a href=/x>x</a>", headers={"Content-Type": "text/html", "X-Robots-Tag": "noindex, nofollow"}),
    }
    with Site(pages) as site:
        private = ["--allow-private", "-C", str(tmp_path)]
        main(["crawl", site.root, "--delay", "0", "--quiet", "--workers", "1", *private])
        main(["check", "url", site.root + "/no", "--json", *private])
        (found,) = lines(capsys)
        assert (found["result"], found["robots"]) == ("robots", "forbidden")
        main(["check", "robots", site.root + "/nothing", "--json", *private])
        assert lines(capsys)[0]["why"] == "Disallow: /no (User-agent: *)"
        main(["check", "parse", site.root + "/quiet", "--json", *private])
        (page,) = lines(capsys)
        assert (page["noindex"], page["nofollow"]) == (True, True)


@pytest.mark.parametrize(
    "url", ["http://2130706433/", "http://[::1]/", "http://169.254.169.254/latest/", "http://localhost:80/"]
)
def test_check_knows_which_addresses_are_refused(url: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(["check", "url", url, "--json", "-C", str(tmp_path / "none")])
    main(["check", "url", url, "--json", "-C", str(tmp_path / "none"), "--allow-private"])
    assert [found["result"] for found in lines(capsys)] == ["private_address", "would be crawled"]


@pytest.mark.parametrize(
    ("host", "verdict"), [("notlocalhost", "would be crawled"), ("a.localhost.", "private_address")]
)
def test_a_name_that_only_ends_like_this_machine_is_another(
    host: str, verdict: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    main(["check", "url", f"http://{host}/", "--json", "-C", str(tmp_path / "none")])
    assert lines(capsys)[0]["result"] == verdict


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS)], ids=lambda words: "".join(words) or "all")
def test_examples_can_be_pasted_with_their_remarks(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    is_example = re.compile(r"  (\S+=\S+ |source <\(|mkdir .*)?sanderling ").match
    shown = [line for line in capsys.readouterr().out.splitlines() if is_example(line)]
    assert shown
    assert not [line for line in shown if re.search(r"\S {3,}[^#\s]", line)]


def test_where_settings_are_read_from_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["settings", "--help"])
    assert "SANDERLING_SETTINGS=" in capsys.readouterr().out
    assert "SANDERLING_SETTINGS" in (Path(__file__).parents[2] / "docs" / "reference" / "settings.md").read_text()


def test_a_reason_asks_for_skipped_urls_and_a_status_must_be_one(
    crawled: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["pages", "--reason", "out_of_scope", "--json", "-C", crawled[1]])
    assert [row["url"] for row in lines(capsys)] == ["http://elsewhere.example/"]
    assert main(["pages", "--status", "2x", "-C", crawled[1]]) == 4
    assert "write 404, 4xx or all" in capsys.readouterr().err


def test_what_a_terminal_would_obey_never_reaches_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b]0;mine\x07\x1b[31m\x9b"
    page = Page(f"<title>t{evil}</title><p>said{evil} <a href=/a>to{evil}</a>".encode())
    page.headers["X-Odd"] = "\x1b[31m"
    with Site({"/": page, "/a": html(text="page a")}) as site:
        main(["crawl", site.root, "--delay", "0", "--quiet", "--workers", "1", "--allow-private", "-C", str(tmp_path)])
        main(["check", "parse", site.root, "--allow-private"])
    for command in (["show", "--text"], ["show", "--headers"], ["links"], ["pages"]):
        main([command[0], *([] if command == ["pages"] else [site.root + "/"]), *command[1:], "-C", str(tmp_path)])
    said = capsys.readouterr().out
    assert all(word in said for word in ("said", "-> ", "X-Odd"))
    assert not set(said) & {"\x1b", "\x07", "\x9b"}


def test_what_is_checked_is_said_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    private = ["--allow-private", "-C", str(tmp_path / "none")]
    page = Page(b"<title>t</title><a href='/a' rel=nofollow>paid</a><a href='/b'>free</a>")
    with Site({"/": page}) as site:
        main(["check", "parse", site.root, *private])
        main(["check", "robots", site.root, *private])
    said = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert {
        "noindex: no",
        "canonical: -",
        "dropped count: 0",
        "/a paid nofollow",
        "/b free",
        "allowed: yes",
        "crawl delay: -",
    } <= set(said)


def test_a_sitemap_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": html()}) as site:
        site.pages["/sitemap.xml"] = Page(f"<urlset><url><loc>{site.root}/a</loc></url><url>".encode())
        main(["check", "sitemap", site.root + "/sitemap.xml", "--allow-private", "--json"])
        (found,) = lines(capsys)
        assert (found["kind"], found["pages"], found["with_lastmod"]) == ("urlset", 1, 0)
        assert found["problems"]


def test_a_sitemap_is_checked_for_pages_it_may_not_speak_for(capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": html(), "/moved.xml": redirect("/a/map.txt")}) as site:
        listed = f"{site.root}/a/in\n{site.root}/out\nhttp://other.example/\n".encode()
        site.pages["/a/map.txt"] = Page(listed, headers={"Content-Type": "text/plain"})
        main(["check", "sitemap", site.root + "/a/map.txt", "--allow-private", "--json"])
        (found,) = lines(capsys)
        assert (found["pages"], found["outside_its_folder"], found["of_other_hosts"]) == (3, 2, 1)
        main(["check", "sitemap", site.root + "/moved.xml", "--allow-private", "--json"])
        (found,) = lines(capsys)
        assert (found["outcome"], found["location"]) == ("redirect", site.root + "/a/map.txt")


def test_what_a_sitemap_says_of_a_page_is_told_wherever_the_page_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "<lastmod>2026-11-01T10:00:00Z</lastmod><changefreq>hourly</changefreq><priority>0.9</priority>"
    with Site({"/": html("/a", text="root"), "/a": html(text="a")}) as site:
        site.pages["/sitemap.xml"] = Page(f"<urlset><url><loc>{site.root}/a</loc>{said}</url></urlset>".encode())
        main(["crawl", site.root, "-C", str(tmp_path), "--delay", "0", "--allow-private", "--workers", "1", "--quiet"])
        main(["check", "sitemap", site.root + "/sitemap.xml", "--allow-private", "--json", "-C", str(tmp_path)])
        (entry,) = json.loads(capsys.readouterr().out.splitlines()[-1])["first"]
        assert (entry["changefreq"], entry["priority"]) == ("hourly", "0.9")
    for command in (["pages", "--json"], ["export"]):
        main([*command, "-C", str(tmp_path)])
        root, page = map(json.loads, capsys.readouterr().out.splitlines())
        names = ("sitemap_lastmod", "sitemap_changefreq", "sitemap_priority")
        assert [page[name] for name in names] == ["2026-11-01T10:00:00.000000+00:00", "hourly", "0.9"]
        assert [root[name] for name in names] == ["", "", ""]
    main(["history", site.root + "/a", "-C", str(tmp_path), "--json"])
    assert json.loads(capsys.readouterr().out)["class"] == "hourly"


def test_a_sitemap_is_written_and_can_be_read(
    crawled: tuple[str, str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    root, folder = crawled
    assert main(["sitemap", "-C", folder]) == 0
    report = parse_sitemap([capfdbinary.readouterr().out])
    assert {entry.loc for entry in report.entries} == {f"{root}/", f"{root}/a"}
    assert all(entry.lastmod for entry in report.entries)


def test_a_page_that_never_changed_is_as_old_as_its_server_says(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    dated = {"Content-Type": "text/html", "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT"}
    with Site({"/": Page(b"<p>old", headers=dated)}) as site:
        main(["crawl", site.root, "-C", str(tmp_path), "--delay", "0", "--allow-private", "--no-sitemaps"])
    capfdbinary.readouterr()
    assert main(["sitemap", "-C", str(tmp_path)]) == 0
    assert [entry.lastmod for entry in parse_sitemap([capfdbinary.readouterr().out]).entries] == [1_700_000_000.0]


@pytest.mark.parametrize("command", ["export -o", "export --format parquet -o", "sitemap -o"])
def test_a_disk_without_room_for_what_is_written_out_is_a_full_disk(
    crawled: tuple[str, str], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    pytest.importorskip("pyarrow")
    monkeypatch.setattr("sanderling.cli.commands.export.os.replace", refuse)
    monkeypatch.setattr("sanderling.cli.commands.sitemap.Path.write_bytes", refuse)
    assert main([*command.split(), str(tmp_path / "out"), "-C", crawled[1]]) == 3
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("command", ["export -o", "export --format parquet -o"])
def test_a_place_that_cannot_be_written_to_is_one_sentence(
    crawled: tuple[str, str], command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "taken.part").mkdir()
    for name in ("x" * 252, "taken"):
        assert main([*command.split(), str(tmp_path / name), "-C", crawled[1]]) == 4
        assert capsys.readouterr().err.count("cannot write") == 1


def test_an_error_without_a_number_says_what_it_says() -> None:
    assert str(build_write_error("x", OSError("no such thing"))) == "cannot write x: no such thing"


def test_the_history_of_a_page_is_told(crawled: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    root, folder = crawled
    main(["history", f"{root}/a", "-C", folder, "--json"])
    (found,) = lines(capsys)
    assert isinstance(found["visits"], list)
    assert [visit["outcome"] for visit in found["visits"]] == ["fetched"]
    main(["history", f"{root}/a", "-C", folder])
    seen = capsys.readouterr().out
    assert "1 visit, 0 changes" in seen
    assert seen.splitlines()[-1].split()[2:4] == ["fetched", "200"]
    assert seen.splitlines()[-1].endswith("first version")


def test_every_setting_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["settings", "--json"])
    assert {row["name"] for row in lines(capsys)} == set(load_all_settings())


def test_settings_are_shown_as_the_file_spells_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('exclude = ["/a/", "/b/"]\n')
    main(["settings", "--settings", str(file)])
    shown = {
        line.split()[0]: line.split("  --")[0].split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines()
    }
    assert [shown[name].strip() for name in ("cookies", "sitemaps", "include", "exclude", "query", "delay")] == [
        "false", "true", "-", "/a/, /b/", "-", "1.0"
    ]  # fmt: skip


@pytest.mark.parametrize(("words", "found"), [("--scope d", "domain"), ("--engine r", "ray"), ("--sco", "--scope")])
def test_completion_knows_the_values_of_settings(words: str, found: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    ask = f"COMP_WORDS=(sanderling crawl {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _shtab_sanderling"
    script = f"{capsys.readouterr().out}\n{ask}\necho ${{COMPREPLY[@]}}"
    shell = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert shell.stdout.split() == [found]


def test_completion_knows_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    script = capsys.readouterr().out
    assert all(name in script for name in COMMANDS)


def test_clean_never_deletes_without_a_yes(
    crawled: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
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
def test_a_slip_of_the_pen_beside_clean_costs_nothing(
    wrong: list[str], crawled: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    root, folder = crawled
    assert main(["crawl", root + "/", *wrong, "-C", folder, "--clean", "--yes", "--allow-private"]) == 4
    capsys.readouterr()
    assert main(["pages", "-C", folder, "--json"]) == 0
    assert len(lines(capsys)) == 2


@pytest.mark.parametrize(
    "away",
    [
        ["--migrant", "http://127.0.0.1:1", "--key", "KEY"], ["--engine", "ray", "--address", "127.0.0.1:1"],
        ["--migrant", "https://127.0.0.1:1", "--key", "KEY", "--migrant-ca", "none"],
        ["--store", "postgresql://nobody@127.0.0.1:1/x"], ["--store", "postgresql://u:pw@[x/y"],
    ],
    ids=["migrant", "cluster", "certificates", "store", "address"],
)  # fmt: skip
def test_a_crawl_that_cannot_begin_costs_nothing_beside_clean(
    away: list[str], crawled: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, folder = crawled
    for part in {"--key": "cryptography", "--engine": "ray", "--store": "psycopg"}.items():
        if part[0] in away:
            pytest.importorskip(part[1])
    if "--key" in away:
        assert main(["migrant", "keygen", str(tmp_path / "KEY")]) == 0
    words = [str(tmp_path / "KEY") if word == "KEY" else word for word in away]
    assert main(["crawl", root + "/", *words, "-C", folder, "--clean", "--yes", "--allow-private"]) in (4, 17)
    assert "pw" not in capsys.readouterr().err
    assert main(["pages", "-C", folder, "--json"]) == 0
    assert len(lines(capsys)) == 2


def test_a_store_that_is_none_is_not_remembered(tmp_path: Path) -> None:
    with Site({"/": html()}) as site:
        line = ["crawl", site.root + "/", "-C", str(tmp_path), "--delay", "0", "--allow-private", "--workers", "1"]
        assert main([*line, "--store", "mysql://x"]) == 4
        assert main(line) == 0


def test_who_lost_a_part_of_the_archive_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": html("/a"), "/a": html()}) as site:
        line = ["crawl", site.root + "/", "-C", str(tmp_path), "--delay", "0", "--allow-private", "--workers", "1"]
        assert main(line) == 0
        (file,) = (tmp_path / "archive").glob("*.gz")
        os.truncate(file, file.stat().st_size - 5)
        capsys.readouterr()
        assert main(line) == 0
    assert f"warning: {file.name} is shorter than its committed length" in capsys.readouterr().err
    assert f"{file.name} lacks" in (tmp_path / "logs" / "crawl.log").read_text()


def test_a_page_that_was_not_there_yet_is_said_to_have_come_later(
    crawled: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    site, folder = crawled
    assert main(["show", f"{site}/a", "--at", "1d", "-C", folder]) == 4
    assert "at that time: it was first seen at 20" in capsys.readouterr().err
