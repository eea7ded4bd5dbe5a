import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support.output import read_json_lines
from tests.support.recrawled import NEW, OLD, RecrawledSite
from tests.support.site import Page, Site, html, redirect

from sanderling.api.operations import change_report
from sanderling.changes import alerts
from sanderling.changes import versions as stored_versions
from sanderling.changes.feed import ReportedChange, build_feed_id
from sanderling.cli import main
from sanderling.cli.arguments import CommandCall
from sanderling.cli.commands.everyday import changes
from sanderling.storage.collection import open_collection_read_only


def test_significance_is_a_column_of_the_table(
    recrawled_site: RecrawledSite, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert recrawled_site("changes") == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["seen", "at", "significance", "url", "change"]
    assert rows
    assert not any("significance" in row for row in rows)


def test_significant_changes_are_listed_without_noise(
    recrawled_site: RecrawledSite, capsys: pytest.CaptureFixture[str]
) -> None:
    assert recrawled_site("changes", "--json") == 0
    (found,) = read_json_lines(capsys)
    assert found["url"] == f"{recrawled_site.site.root}/words"
    assert found["kinds"] == ["content"]
    assert found["paragraphs"] == [{"action": "changed", "size": 76, "main": True, "old": 0, "new": 0, "amount": 1.0}]
    written = (
        (Path(__file__).parents[4] / "docs" / "explanation" / "changes.md")
        .read_text()
        .partition("One line of `--json`:")[2]
    )
    assert list(found) == re.findall(r'"(\w+)"', re.sub(r"\{[^{}]*\}", "", written.split("```")[1].strip(" \n{}")))
    assert recrawled_site("changes", "--json", "--noise") == 0
    assert [(one["url"], one["noise"]) for one in read_json_lines(capsys) if not one["kinds"]] == [
        (f"{recrawled_site.site.root}/clock", ["volatile text"])
    ]


def test_changes_are_filtered_by_flags(recrawled_site: RecrawledSite, capsys: pytest.CaptureFixture[str]) -> None:
    for flags, count in (
        (("--kind", "content"), 1),
        (("--kind", "media"), 0),
        (("--noise",), 2),
        (("--noise", "--min-significance", "0.5"), 1),
        (("--url", "*/words"), 1),
        (("--url", "*/clock"), 0),
        (("--since", "1d"), 1),
        (("--since", "2100-01-01"), 0),
        (("--first", "0"), 0),
    ):
        assert recrawled_site("changes", "--json", *flags) == 0
        assert (flags, len(read_json_lines(capsys))) == (flags, count)
    assert recrawled_site("changes", "--kind", "colour") == 4
    assert recrawled_site("changes", "--words") == 0
    assert "content; significance" in capsys.readouterr().out


def test_damaged_version_does_not_hide_changes_of_other_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site({"/": html("/a", "/b"), "/a": html(text=OLD), "/b": html(text=f"{OLD} Twice.")}) as site:
        one = RecrawledSite(site, tmp_path / "c")
        one.crawl()
        site.pages |= {"/a": html(text=NEW), "/b": html(text=f"{NEW} Twice.")}
        one.crawl()
    with open_collection_read_only(one.folder) as collection:
        (id_,) = collection.db.execute("SELECT id FROM urls WHERE path = '/a'").fetchone()
        place = stored_versions.list_versions(collection, id_)[-1].place
    with (one.folder / "archive" / place.file).open("r+b") as archive:
        archive.seek(place.offset + 20)
        archive.write(bytes(40))
    for flags in ((), ("--selector", "p")):
        assert one("changes", "--words", "--json", *flags) == 0
        out, err = capsys.readouterr()
        words = {found["url"].removeprefix(site.root): found["words"] for found in map(json.loads, out.splitlines())}
        assert {url: bool(lines) for url, lines in words.items()} == {"/a": False, "/b": True}
        assert f"damaged or missing in the archive: {site.root}/a\n" in err
    assert one("changes", "--feed", "atom") == 0
    assert one("diff", f"{site.root}/a") == 4


def test_new_gone_and_moved_pages_are_listed_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {"/": html("/a", "/b", "/c", "/words"), "/a": html(), "/b": html(), "/c": html(), "/words": html(text=OLD)}
    sent: list[str] = []

    class Mailbox:
        def notify(self, body: str, title: str) -> bool:
            sent.append(body)
            return True

    def list_kinds(*flags: str) -> dict[object, object]:
        assert one("changes", "--json", *flags) == 0
        return {str(found["url"]).removeprefix(site.root): found["kinds"] for found in read_json_lines(capsys)}

    monkeypatch.setattr(change_report, "open_sender", lambda _: Mailbox())
    fates = ("--kind", "new", "--kind", "gone", "--kind", "moved")
    with Site(pages) as site:
        one = RecrawledSite(site, tmp_path / "c")
        one.crawl()
        assert list_kinds(*fates) == list_kinds(*fates, "--since", "1d") == {}
        site.pages |= {"/": html("/new", text="now"), "/new": html(), "/words": html(text=NEW), "/b": redirect("/new")}
        del site.pages["/a"]
        one.crawl()
        assert list_kinds(*fates) == {"/new": ["new"], "/b": ["moved"]}  # one look does not tell that a page is gone
        one.crawl()
        assert list_kinds(*fates) == {"/a": ["gone"], "/new": ["new"], "/b": ["moved"]}
        assert list_kinds(*fates, "--url", "*/a") == {"/a": ["gone"]}
        assert list_kinds(*fates, "--since", "2100-01-01") == {}
        assert set(list_kinds()) == {"/", "/words"}
        assert one("changes") == 0
        printed = capsys.readouterr().err
        assert "1 new (--kind new), 1 gone (--kind gone), 1 moved (--kind moved)" in printed
        for _ in range(2):
            assert one("changes", "--since", "last", "--alert", "mailto://me", "--kind", "gone") == 0
        assert len(sent) == 1
        assert f"{site.root}/a" in sent[0]
        one.crawl()
        assert one("changes", "--since", "last", "--alert", "mailto://me", "--kind", "gone") == 0
        assert len(sent) == 1
        site.pages["/a"] = html()
        one.crawl()
        assert "/a" not in list_kinds("--kind", "gone")


@pytest.mark.parametrize(("kind", "tag"), [("atom", "{http://www.w3.org/2005/Atom}feed"), ("rss", "rss")])
def test_changes_are_printed_as_a_feed(
    kind: str, tag: str, recrawled_site: RecrawledSite, capsys: pytest.CaptureFixture[str]
) -> None:
    assert recrawled_site("changes", "--feed", kind) == 0
    root = ElementTree.fromstring(capsys.readouterr().out)
    assert root.tag == tag
    assert "/words" in ElementTree.tostring(root, encoding="unicode")


def test_feed_id_is_the_same_in_every_working_directory(
    recrawled_site: RecrawledSite, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(recrawled_site.folder)
    assert main(["changes", "--feed", "atom", "-C", "."]) == 0
    assert f"<id>urn:sanderling:{recrawled_site.folder.name}</id>" in capsys.readouterr().out
    assert build_feed_id("my sites/ä") == "urn:sanderling:my%20sites%2F%C3%A4"


def test_alert_sends_each_change_once(
    recrawled_site: RecrawledSite, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sent: list[str] = []

    class Mailbox:
        def notify(self, body: str, title: str) -> bool:
            sent.append(body)
            return True

    def open_mailbox(targets: list[str]) -> alerts.AlertSender:
        assert targets == ["mailto://me"]
        return Mailbox()

    monkeypatch.setattr(change_report, "open_sender", open_mailbox)
    for _ in range(2):
        assert recrawled_site("changes", "--since", "last", "--alert", "mailto://me") == 0
    assert len(sent) == 1
    assert "/words" in sent[0]
    assert "twice a [-day-]{+night+} and leaves" in sent[0]
    assert "nothing to tell" in capsys.readouterr().err
    assert recrawled_site("changes", "--since", "last", "--alert", "mailto://me", "--kind", "content") == 0
    assert len(sent) == 2  # another filter has its own state


def test_alert_runs_at_the_same_time_send_one_message(
    recrawled_site: RecrawledSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three runs read the changes before the first of them has sent its message."""
    sent: list[str] = []
    everybody_has_read, everybody_sends = threading.Barrier(3), threading.Barrier(3)
    wait_and_send = changes._send_alerts

    class Mailbox:
        def notify(self, body: str, title: str) -> bool:
            sent.append(body)
            with suppress(threading.BrokenBarrierError):  # the others come only where nothing keeps them from sending
                everybody_sends.wait(1)
            return True

    def send(call: CommandCall, found: list[ReportedChange]) -> int:
        everybody_has_read.wait(60)
        return wait_and_send(call, found)

    monkeypatch.setattr(change_report, "open_sender", lambda _: Mailbox())
    monkeypatch.setattr(changes, "_send_alerts", send)
    with ThreadPoolExecutor(3) as runs:
        command = ("changes", "--since", "last", "--alert", "mailto://three")
        assert list(runs.map(lambda _: recrawled_site(*command), range(3))) == [0, 0, 0]
    assert len(sent) == 1


@pytest.mark.parametrize("own", ["", "<!--{0}-->"])
def test_page_with_several_urls_is_listed_once(own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links = ["/a", "/a?from=b", "/a?from=c"]
    canonical = '<link rel="canonical" href="{1}">' if own else ""
    with Site({"/": html(*links, text="the root")}) as site:
        one = RecrawledSite(site, tmp_path / "c")
        for words in (OLD, NEW, OLD):
            for link, other in zip(links, ["/a?from=b", "/a", "/a"], strict=True):
                site.pages[link] = Page(f"{canonical}<p>{words}</p>{own}".format(link, other).encode())
            one.crawl()
        capsys.readouterr()
        assert one("changes", "--feed", "atom") == 0
        assert capsys.readouterr().out.count("<entry>") == 2
        assert one("changes", "--json", "--no-group") == 0
        assert len(read_json_lines(capsys)) == 6


def test_watch_and_ignore_rules_select_changes(
    recrawled_site: RecrawledSite, capsys: pytest.CaptureFixture[str]
) -> None:
    for flags, count in (
        (("--ignore", "p", "--ignore", "title"), 0),
        (("--ignore", "p"), 1),  # its title has other words too
        (("--ignore-text", "day|night"), 0),
        (("--selector", "p"), 1),
        (("--selector", "h1"), 0),
        (("--selector-text", "tide"), 1),
    ):
        assert recrawled_site("changes", "--json", *flags) == 0
        assert (flags, len(read_json_lines(capsys))) == (flags, count)
    assert recrawled_site("changes", "--selector", "p[") == 4
    assert "is not a valid CSS selector" in capsys.readouterr().err
    assert recrawled_site("diff", f"{recrawled_site.site.root}/words", "--ignore", "p", "--ignore", "title") == 0
    assert "no significant change" in capsys.readouterr().out


def test_selector_without_a_match_is_reported(
    recrawled_site: RecrawledSite, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (("changes",), ("diff", f"{recrawled_site.site.root}/words")):
        for selector, printed in (("p", False), ("#nowhere", True)):
            assert recrawled_site(*command, "--selector", selector) == 0
            assert ("matches --selector" in capsys.readouterr().err) is printed


def test_changed_words_are_printed_on_request(
    recrawled_site: RecrawledSite, capsys: pytest.CaptureFixture[str]
) -> None:
    assert recrawled_site("changes", "--words") == 0
    assert "twice a [-day-]{+night+} and leaves" in capsys.readouterr().out
    assert recrawled_site("changes", "--words", "--json") == 0
    (found,) = read_json_lines(capsys)
    assert "{+night+}" in str(found["words"])


def test_watched_part_that_always_changes_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": html(text=OLD)}) as site:
        one = RecrawledSite(site, tmp_path / "c")
        for level in "abcdef":
            site.pages["/"] = Page(f"<p>{OLD}</p><p id=level>Water level {level}</p>".encode())
            one.crawl()
        capsys.readouterr()
        assert one("changes", "--json") == 0
        out, err = capsys.readouterr()
        assert out == ""
        assert (
            f"left out, for it differs at every visit (--noise shows it, --selector shows it): a part of {site.root}/"
            in err
        )
        assert one("changes", "--json", "--selector", "#level") == 0
        assert len(read_json_lines(capsys)) == 5


def test_always_changing_words_are_left_out_of_the_changed_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site({"/": html(text=OLD)}) as site:
        one = RecrawledSite(site, tmp_path / "c")
        for level, words in zip("abcdef", [OLD] * 5 + [NEW], strict=True):
            site.pages["/"] = Page(f"<p>{words}</p><p>All year</p><p>Water level {level}</p>".encode())
            one.crawl()
        capsys.readouterr()
        assert one("changes", "--words", "--json") == 0
        (found,) = read_json_lines(capsys)
        assert [line[:4] for line in found["words"]] == ["~ Th"]  # type: ignore[attr-defined]
        assert one("changes", "--words", "--noise", "--json", "--first", "1") == 0
        (found,) = read_json_lines(capsys)
        assert [line[:4] for line in found["words"]] == ["~ Th", "~ Wa"]  # type: ignore[attr-defined]
