"""sanderling changes, diff and dust as a person types them."""

import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from tests.support.site import Page, Site, html, redirect

from sanderling.changes import alerts
from sanderling.changes import versions as stored_versions
from sanderling.changes.feed import ReportedChange, build_feed_id
from sanderling.cli import main
from sanderling.cli.arguments import CommandCall
from sanderling.cli.commands import changes
from sanderling.models import Reason
from sanderling.storage.collection import open_collection_read_only

OLD = "The tide comes in twice a day and leaves behind what it brought, and the birds know it well."
NEW = "The tide comes in twice a night and leaves behind what it brought, and the birds know it well."


class Crawled:
    """A site crawled into a collection, again and again."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site = site
        self.folder = folder

    def crawl(self) -> None:
        flags = ["--delay", "0", "--allow-private", "--quiet", "--workers", "1", "--no-sitemaps"]
        assert main(["crawl", self.site.root + "/", "-C", str(self.folder), *flags]) == 0

    def __call__(self, *argv: str) -> int:
        return main([*argv, "-C", str(self.folder)])


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """A page whose words changed, one whose clock did, and one in two spellings."""
    twins = {f"/t{n}{end}": html(text=f"{OLD} {n}") for n in range(12) for end in ("", "?ref=home")}
    pages = {
        "/": html("/words", "/clock", *twins, text="the root"),
        "/words": html(text=OLD),
        "/clock": html(text="Rendered at 10:31:07"),
        **twins,
    }
    with Site(pages) as site:
        one = Crawled(site, tmp_path_factory.mktemp("changes") / "c")
        one.crawl()
        site.pages["/words"] = html(text=NEW)
        site.pages["/clock"] = html(text="Rendered at 23:02:55")
        one.crawl()
        yield one


def test_a_table_says_the_significance_once(crawled: Crawled, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert crawled("changes") == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["seen", "at", "significance", "url", "change"]
    assert rows
    assert not any("significance" in row for row in rows)


def objects(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_changes_lists_what_matters_and_no_noise(crawled: Crawled, capsys: pytest.CaptureFixture[str]) -> None:
    assert crawled("changes", "--json") == 0
    (found,) = objects(capsys)
    assert found["url"] == f"{crawled.site.root}/words"
    assert found["kinds"] == ["content"]
    assert found["paragraphs"] == [{"action": "changed", "size": 76, "main": True, "old": 0, "new": 0, "amount": 1.0}]
    written = (
        (Path(__file__).parents[3] / "docs" / "explanation" / "changes.md")
        .read_text()
        .partition("One line of `--json`:")[2]
    )
    assert list(found) == re.findall(r'"(\w+)"', re.sub(r"\{[^{}]*\}", "", written.split("```")[1].strip(" \n{}")))
    assert crawled("changes", "--json", "--noise") == 0
    assert [(one["url"], one["noise"]) for one in objects(capsys) if not one["kinds"]] == [
        (f"{crawled.site.root}/clock", ["volatile text"])
    ]


def test_changes_can_be_chosen(crawled: Crawled, capsys: pytest.CaptureFixture[str]) -> None:
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
        assert crawled("changes", "--json", *flags) == 0
        assert (flags, len(objects(capsys))) == (flags, count)
    assert crawled("changes", "--kind", "colour") == 4
    assert crawled("changes", "--words") == 0
    assert "content; significance" in capsys.readouterr().out


def test_a_damaged_version_keeps_nobody_from_hearing_of_other_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site({"/": html("/a", "/b"), "/a": html(text=OLD), "/b": html(text=f"{OLD} Twice.")}) as site:
        one = Crawled(site, tmp_path / "c")
        one.crawl()
        site.pages |= {"/a": html(text=NEW), "/b": html(text=f"{NEW} Twice.")}
        one.crawl()
    with open_collection_read_only(one.folder) as collection:
        (id_,) = collection.db.execute("SELECT id FROM urls WHERE path = '/a'").fetchone()
        place = stored_versions.list_versions(collection, id_)[-1].place
    with (one.folder / "archive" / place.file).open("r+b") as archive:
        archive.seek(place.offset + 20)
        archive.write(bytes(40))
    for flags in ((), ("--watch", "p")):
        assert one("changes", "--words", "--json", *flags) == 0
        out, err = capsys.readouterr()
        words = {found["url"].removeprefix(site.root): found["words"] for found in map(json.loads, out.splitlines())}
        assert {url: bool(lines) for url, lines in words.items()} == {"/a": False, "/b": True}
        assert f"damaged or missing in the archive: {site.root}/a\n" in err
    assert one("changes", "--feed", "atom") == 0
    assert one("diff", f"{site.root}/a") == 4


def test_pages_that_came_went_or_moved_are_told_where_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {"/": html("/a", "/b", "/c", "/words"), "/a": html(), "/b": html(), "/c": html(), "/words": html(text=OLD)}
    sent: list[str] = []

    class Mailbox:
        def notify(self, body: str, title: str) -> bool:
            sent.append(body)
            return True

    def told(*flags: str) -> dict[object, object]:
        assert one("changes", "--json", *flags) == 0
        return {str(found["url"]).removeprefix(site.root): found["kinds"] for found in objects(capsys)}

    monkeypatch.setattr(changes, "open_sender", lambda _: Mailbox())
    fates = ("--kind", "new", "--kind", "gone", "--kind", "moved")
    with Site(pages) as site:
        one = Crawled(site, tmp_path / "c")
        one.crawl()
        assert told(*fates) == told(*fates, "--since", "1d") == {}
        site.pages |= {"/": html("/new", text="now"), "/new": html(), "/words": html(text=NEW), "/b": redirect("/new")}
        del site.pages["/a"]
        one.crawl()
        assert told(*fates) == {"/new": ["new"], "/b": ["moved"]}  # one look does not tell that a page is gone
        one.crawl()
        assert told(*fates) == {"/a": ["gone"], "/new": ["new"], "/b": ["moved"]}
        assert told(*fates, "--url", "*/a") == {"/a": ["gone"]}
        assert told(*fates, "--since", "2100-01-01") == {}
        assert set(told()) == {"/", "/words"}
        assert one("changes") == 0
        said = capsys.readouterr().err
        assert "1 new (--kind new), 1 gone (--kind gone), 1 moved (--kind moved)" in said
        for _ in range(2):
            assert one("changes", "--since", "last", "--alert", "mailto://me", "--kind", "gone") == 0
        assert len(sent) == 1
        assert f"{site.root}/a" in sent[0]
        one.crawl()
        assert one("changes", "--since", "last", "--alert", "mailto://me", "--kind", "gone") == 0
        assert len(sent) == 1
        site.pages["/a"] = html()
        one.crawl()
        assert "/a" not in told("--kind", "gone")


@pytest.mark.parametrize(("kind", "tag"), [("atom", "{http://www.w3.org/2005/Atom}feed"), ("rss", "rss")])
def test_changes_come_as_a_feed(kind: str, tag: str, crawled: Crawled, capsys: pytest.CaptureFixture[str]) -> None:
    assert crawled("changes", "--feed", kind) == 0
    root = ElementTree.fromstring(capsys.readouterr().out)
    assert root.tag == tag
    assert "/words" in ElementTree.tostring(root, encoding="unicode")


def test_a_feed_has_a_name_wherever_it_is_asked_for(
    crawled: Crawled, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(crawled.folder)
    assert main(["changes", "--feed", "atom", "-C", "."]) == 0
    assert f"<id>urn:sanderling:{crawled.folder.name}</id>" in capsys.readouterr().out
    assert build_feed_id("my sites/ä") == "urn:sanderling:my%20sites%2F%C3%A4"


def test_nobody_hears_of_a_change_twice(
    crawled: Crawled, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sent: list[str] = []

    class Mailbox:
        def notify(self, body: str, title: str) -> bool:
            sent.append(body)
            return True

    def open_mailbox(targets: list[str]) -> alerts.AlertSender:
        assert targets == ["mailto://me"]
        return Mailbox()

    monkeypatch.setattr(changes, "open_sender", open_mailbox)
    for _ in range(2):
        assert crawled("changes", "--since", "last", "--alert", "mailto://me") == 0
    assert len(sent) == 1
    assert "/words" in sent[0]
    assert "twice a [-day-]{+night+} and leaves" in sent[0]
    assert "nothing to tell" in capsys.readouterr().err
    assert crawled("changes", "--since", "last", "--alert", "mailto://me", "--kind", "content") == 0
    assert len(sent) == 2  # who asks for something else has not heard of it


def test_alert_runs_at_the_same_time_send_one_message(crawled: Crawled, monkeypatch: pytest.MonkeyPatch) -> None:
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

    monkeypatch.setattr(changes, "open_sender", lambda _: Mailbox())
    monkeypatch.setattr(changes, "_send_alerts", send)
    with ThreadPoolExecutor(3) as runs:
        command = ("changes", "--since", "last", "--alert", "mailto://three")
        assert list(runs.map(lambda _: crawled(*command), range(3))) == [0, 0, 0]
    assert len(sent) == 1


@pytest.mark.parametrize("own", ["", "<!--{0}-->"])
def test_a_page_under_many_addresses_is_told_once(own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links = ["/a", "/a?from=b", "/a?from=c"]
    canonical = '<link rel="canonical" href="{1}">' if own else ""
    with Site({"/": html(*links, text="the root")}) as site:
        one = Crawled(site, tmp_path / "c")
        for words in (OLD, NEW, OLD):
            for link, other in zip(links, ["/a?from=b", "/a", "/a"], strict=True):
                site.pages[link] = Page(f"{canonical}<p>{words}</p>{own}".format(link, other).encode())
            one.crawl()
        capsys.readouterr()
        assert one("changes", "--feed", "atom") == 0
        assert capsys.readouterr().out.count("<entry>") == 2
        assert one("changes", "--json", "--no-group") == 0
        assert len(objects(capsys)) == 6


def test_a_user_says_what_counts(crawled: Crawled, capsys: pytest.CaptureFixture[str]) -> None:
    for flags, count in (
        (("--ignore", "p", "--ignore", "title"), 0),
        (("--ignore", "p"), 1),  # its title has other words too
        (("--ignore-text", "day|night"), 0),
        (("--watch", "p"), 1),
        (("--watch", "h1"), 0),
        (("--watch-text", "tide"), 1),
    ):
        assert crawled("changes", "--json", *flags) == 0
        assert (flags, len(objects(capsys))) == (flags, count)
    assert crawled("changes", "--watch", "p[") == 4
    assert "is not a valid CSS selector" in capsys.readouterr().err
    assert crawled("diff", f"{crawled.site.root}/words", "--ignore", "p", "--ignore", "title") == 0
    assert "no significant change" in capsys.readouterr().out


def test_watching_what_is_nowhere_is_said(crawled: Crawled, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (("changes",), ("diff", f"{crawled.site.root}/words")):
        for selector, said in (("p", False), ("#nowhere", True)):
            assert crawled(*command, "--watch", selector) == 0
            assert ("check the selector" in capsys.readouterr().err) is said


def test_changes_tell_the_words_if_asked(crawled: Crawled, capsys: pytest.CaptureFixture[str]) -> None:
    assert crawled("changes", "--words") == 0
    assert "twice a [-day-]{+night+} and leaves" in capsys.readouterr().out
    assert crawled("changes", "--words", "--json") == 0
    (found,) = objects(capsys)
    assert "{+night+}" in str(found["words"])


def test_diff_shows_words(crawled: Crawled, capsys: pytest.CaptureFixture[str]) -> None:
    page = f"{crawled.site.root}/words"
    assert crawled("diff", page) == 0
    assert "twice a [-day-]{+night+} and leaves" in capsys.readouterr().out
    assert crawled("diff", page, "2", "1") == 0
    assert "twice a [-night-]{+day+} and leaves" in capsys.readouterr().out
    assert crawled("diff", page, "--json") == 0
    (found,) = objects(capsys)
    assert found["url"] == page
    assert crawled("diff", page, "--html") == 0
    assert "<del>day</del>" in capsys.readouterr().out


def test_diff_lists_versions_and_refuses_what_is_not_there(
    crawled: Crawled, capsys: pytest.CaptureFixture[str]
) -> None:
    page = f"{crawled.site.root}/words"
    assert crawled("diff", page, "--versions", "--json") == 0
    assert [one["version"] for one in objects(capsys)] == [1, 2]
    assert crawled("diff", page, "1", "9") == 4
    assert "there are 1 to 2" in capsys.readouterr().err
    assert crawled("diff", page, "1") == 4
    assert crawled("diff", page, "2000-01-01", "2") == 4
    assert crawled("diff", f"{crawled.site.root}/t1") == 4
    assert "only one version" in capsys.readouterr().err


def test_a_version_is_found_by_the_time_it_is_listed_with(crawled: Crawled, capsys: pytest.CaptureFixture[str]) -> None:
    page = f"{crawled.site.root}/words"
    assert crawled("diff", page, "--versions", "--json") == 0
    times = [str(one["at"]) for one in objects(capsys)]
    for time, words in zip(times, ("day", "night"), strict=True):
        assert crawled("show", page, "--text", "--at", time) == 0
        assert f"twice a {words}" in capsys.readouterr().out
    assert crawled("diff", page, *times) == 0
    assert "twice a [-day-]{+night+}" in capsys.readouterr().out


def test_dust_is_learned_used_and_taken_back(crawled: Crawled, capsys: pytest.CaptureFixture[str]) -> None:
    assert crawled("url-rules", "--json") == 0
    (rule,) = objects(capsys)
    assert (rule["kind"], rule["name"], rule["conflict_count"]) == ("parameter", "ref", 0)
    assert crawled("url-rules", "--used", "--json") == 0
    assert objects(capsys) == []
    assert crawled("url-rules", "--use") == 0
    assert "parameter ref makes no difference" in capsys.readouterr().out
    assert crawled("url-rules", "--used", "--json") == 0
    assert objects(capsys) == [rule]
    assert crawled("url-rules", "--forget", "127.*") == 0
    capsys.readouterr()
    assert crawled("url-rules", "--used", "--json") == 0
    assert objects(capsys) == []


def test_what_answers_in_the_place_of_a_sitemap_is_no_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = {f"/t{n}{end}": html(text=f"{OLD} {n}") for n in range(12) for end in ("", "?ref=home")}
    lists = {f"/sitemap.xml{end}": html(text=f"{NEW} {end}") for end in ("", "?ref=home")}
    robots = "Sitemap: {0}/sitemap.xml\nSitemap: {0}/sitemap.xml?ref=home"
    with Site({"/": html(*pages, text=OLD), **pages, **lists}) as site:
        site.pages["/robots.txt"] = Page(robots.format(site.root).encode())
        one = Crawled(site, tmp_path / "c")
        assert (
            main(["crawl", site.root + "/", "-C", str(one.folder), "--delay", "0", "--allow-private", "--quiet"]) == 0
        )
        capsys.readouterr()
        assert one("url-rules", "--json") == 0
        assert [(rule["kind"], rule["conflict_count"]) for rule in objects(capsys)] == [("parameter", 0)]


def test_a_rule_can_be_said_by_hand_and_outlives_what_is_learned(
    crawled: Crawled, capsys: pytest.CaptureFixture[str]
) -> None:
    site = crawled.site.root.removeprefix("http://")
    assert crawled("url-rules", "--add", "slash") == 4
    assert "--add needs --site" in capsys.readouterr().err
    assert crawled("url-rules", "--add", "slope", "--site", site) == 4
    assert "'slope' is not a URL rule; use one of slash, case" in capsys.readouterr().err
    assert crawled("url-rules", "--add", "slash", "--site", site) == 0
    assert "a final slash makes no difference" in capsys.readouterr().out
    assert crawled("url-rules", "--use") == 0
    capsys.readouterr()
    assert crawled("url-rules", "--used", "--json") == 0
    assert [rule["kind"] for rule in objects(capsys)] == ["slash", "parameter"]
    for url, verdict, same_as in (("/new/?ref=7", "duplicate", "/new"), ("/new", "would be crawled", None)):
        assert crawled("check", "url", crawled.site.root + url, "--allow-private", "--json") == 0
        (found,) = objects(capsys)
        assert found["result"] == verdict
        assert found.get("same_as") == (same_as and crawled.site.root + same_as)
    assert crawled("url-rules", "--forget", "127.*") == 0


def test_a_site_is_known_by_its_address_too(crawled: Crawled, capsys: pytest.CaptureFixture[str]) -> None:
    for typed in ("https://WWW.Example.ORG/a?b=c", "www.Example.org", "example.org"):
        assert crawled("url-rules", "--add", "slash", "--site", typed, "--json") == 0
        assert [rule["site"] for rule in objects(capsys)] == ["example.org"]
        assert crawled("url-rules", "--used", "--site", typed.removeprefix("www."), "--json") == 0
        assert len(objects(capsys)) == 1
        assert crawled("url-rules", "--forget", "https://example.org/") == 0
        assert "1 rules removed, 0 left" in capsys.readouterr().err
    for wrong in ("http://[::", "", "*", "exam?le.org", "a b", "ftp://example.org/"):
        assert crawled("url-rules", "--add", "slash", "--site", wrong) == 4
        assert "the name of one site" in capsys.readouterr().err


def test_only_what_has_to_be_given_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff"]) == 4
    assert "required: url (see" in capsys.readouterr().err


@pytest.mark.parametrize("links", [["/d/{n}/"], ["/d/{n}"]])
def test_a_page_whose_server_wants_the_other_spelling_is_not_lost_to_a_rule(tmp_path: Path, links: list[str]) -> None:
    pages = {f"/d/{n}/": html(text=f"{OLD} {n}") for n in range(3)} | {
        f"/d/{n}": redirect(f"/d/{n}/") for n in range(3)
    }
    with Site({"/": html(*(link.format(n=n) for n in range(3) for link in links), text=OLD), **pages}) as site:
        one = Crawled(site, tmp_path / "c")
        one.folder.mkdir()
        assert one("url-rules", "--site", site.root.removeprefix("http://"), "--add", "slash") == 0
        one.crawl()
        with open_collection_read_only(one.folder) as collection:
            rows = collection.db.execute(
                "SELECT u.path FROM pages AS p JOIN urls AS u ON u.id = p.url WHERE status = 200"
            )
            assert {path for (path,) in rows} == {"/", "/d/0/", "/d/1/", "/d/2/"}


def test_a_server_that_leads_to_a_new_session_each_time_is_no_way_round_a_rule(tmp_path: Path) -> None:
    pages = {"/d": redirect("/d?sid=0123456789abcdef0123456789abcdef"), "/": html("/d", text=OLD)}
    with Site({**pages, "/d?sid=0123456789abcdef0123456789abcdef": html(text=NEW)}) as site:
        one = Crawled(site, tmp_path / "c")
        one.folder.mkdir()
        assert one("url-rules", "--site", site.root.removeprefix("http://"), "--add", "parameter=sid") == 0
        one.crawl()
        with open_collection_read_only(one.folder) as collection:
            rows = collection.db.execute("SELECT reason FROM urls WHERE path LIKE '/d?%'").fetchall()
        assert [reason for (reason,) in rows] == [Reason.TRAP]


def test_the_web_in_a_diff_stays_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": html(text=OLD)}) as site:
        one = Crawled(site, tmp_path / "c")
        one.crawl()
        site.pages["/"] = Page(f"<p>{OLD}</p><p>&lt;script&gt;x&lt;/script&gt; \x1b]0;y\x07</p>".encode())
        one.crawl()
        assert one("diff", site.root + "/", "--html") == 0
        assert "<script" not in capsys.readouterr().out
        assert one("diff", site.root + "/") == 0
        assert "\x1b" not in capsys.readouterr().out


def text(body: str, mime: str = "text/plain; charset=utf-8") -> Page:
    return Page(body.encode(), headers={"Content-Type": mime})


def test_texts_that_are_no_pages_are_compared_line_by_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {"/list.txt": "one\ntwo\nthree 5 EUR\n", "/rows.csv": "a,b\n1,2\n", "/data": '{"price": 5, "at": "10:30"}'}
    pages = {path: text(body, "application/json" if path == "/data" else "text/plain") for path, body in rows.items()}
    packed = Page(b"\0\1", headers={"Content-Type": "application/octet-stream"})
    with Site({"/": html(*pages, "/packed", text="the root"), "/packed": packed, **pages}) as site:
        one = Crawled(site, tmp_path / "c")
        one.crawl()
        site.pages["/list.txt"] = text("one\ntwo\nthree 6 EUR\n")
        site.pages["/rows.csv"] = text("a,b\r\n1,2\r\n")
        site.pages["/data"] = text('{"price":6,"at":"10:30"}', "application/json")
        site.pages["/packed"] = Page(b"\0\2", headers=packed.headers)
        one.crawl()
        capsys.readouterr()
        assert one("changes", "--json") == 0
        found = {str(change["url"]).removeprefix(site.root): change["counts"] for change in objects(capsys)}
        assert found == {"/list.txt": {"changed": 1}, "/data": {"changed": 1}, "/packed": {}}
        for path, shown in (
            ("/list.txt", "three [-5-]{+6+} EUR"),
            ("/data", '"price": [-5-]{+6+}'),
            ("/packed", "2 bytes"),
        ):
            assert one("diff", site.root + path) == 0
            assert shown in capsys.readouterr().out


def test_a_document_that_nobody_is_to_find_is_compared_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def letter(words: str) -> Page:
        with ZipFile(out := BytesIO(), "w") as file:
            file.writestr("word/document.xml", f"<w:p><w:t>{words}</w:t></w:p>")
        kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
        return Page(out.getvalue(), headers={"Content-Type": kind, "X-Robots-Tag": "noindex"})

    with Site({"/": html("/letter.docx"), "/letter.docx": letter(OLD)}) as site:
        one = Crawled(site, tmp_path / "c")
        one.crawl()
        site.pages["/letter.docx"] = letter(NEW)
        one.crawl()
        capsys.readouterr()
        assert one("diff", site.root + "/letter.docx") == 0
        assert "twice a [-day-]{+night+} and" in capsys.readouterr().out


def test_a_text_too_long_to_compare_is_a_change_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_versions, "MAX_TEXT", 100)
    with Site({"/": html("/log", text="the root"), "/log": text("line\n" * 50 + "old")}) as site:
        one = Crawled(site, tmp_path / "c")
        one.crawl()
        site.pages["/log"] = text("line\n" * 50 + "new")
        one.crawl()
        capsys.readouterr()
        assert one("changes", "--json") == 0
        assert [change["kinds"] for change in objects(capsys)] == [["content"]]


def test_what_is_watched_is_told_even_if_it_changes_at_every_visit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site({"/": html(text=OLD)}) as site:
        one = Crawled(site, tmp_path / "c")
        for level in "abcdef":
            site.pages["/"] = Page(f"<p>{OLD}</p><p id=level>Water level {level}</p>".encode())
            one.crawl()
        capsys.readouterr()
        assert one("changes", "--json") == 0
        out, err = capsys.readouterr()
        assert out == ""
        assert (
            f"left out, for it differs at every visit (--noise shows it, --watch follows it): a part of {site.root}/"
            in err
        )
        assert one("changes", "--json", "--watch", "#level") == 0
        assert len(objects(capsys)) == 5


def test_words_that_never_rest_are_left_out_of_what_is_told_beside_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site({"/": html(text=OLD)}) as site:
        one = Crawled(site, tmp_path / "c")
        for level, words in zip("abcdef", [OLD] * 5 + [NEW], strict=True):
            site.pages["/"] = Page(f"<p>{words}</p><p>All year</p><p>Water level {level}</p>".encode())
            one.crawl()
        capsys.readouterr()
        assert one("changes", "--words", "--json") == 0
        (found,) = objects(capsys)
        assert [line[:4] for line in found["words"]] == ["~ Th"]  # type: ignore[attr-defined]
        assert one("changes", "--words", "--noise", "--json", "--first", "1") == 0
        (found,) = objects(capsys)
        assert [line[:4] for line in found["words"]] == ["~ Th", "~ Wa"]  # type: ignore[attr-defined]
