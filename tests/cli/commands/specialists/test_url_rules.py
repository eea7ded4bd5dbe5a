from pathlib import Path

import pytest
from tests.support.output import read_json_lines
from tests.support.recrawled import NEW, OLD, RecrawledSite
from tests.support.site import Page, Site, html, redirect

from sanderling.cli import main
from sanderling.db.connection import Connection
from sanderling.models import Reason
from sanderling.storage.collection import open_collection_read_only


def test_full_disk_while_saving_rules_is_reported(
    crawled_site: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fill(db: Connection, _rules: object) -> None:
        db.execute("PRAGMA max_page_count = 1")
        db.execute("INSERT INTO blobs VALUES ('much', zeroblob(10000000))")

    monkeypatch.setattr("sanderling.api.operations.dust_rules.save_rules", fill)
    assert main(["url-rules", "--use", "-C", crawled_site[1]]) == 3
    assert capsys.readouterr().err.count("\n") == 1


def test_rule_is_learned_applied_and_removed(recrawled_site: RecrawledSite, capsys: pytest.CaptureFixture[str]) -> None:
    assert recrawled_site("url-rules", "--json") == 0
    (rule,) = read_json_lines(capsys)
    assert (rule["kind"], rule["name"], rule["conflict_count"]) == ("parameter", "ref", 0)
    assert recrawled_site("url-rules", "--used", "--json") == 0
    assert read_json_lines(capsys) == []
    assert recrawled_site("url-rules", "--use") == 0
    assert "parameter ref makes no difference" in capsys.readouterr().out
    assert recrawled_site("url-rules", "--used", "--json") == 0
    assert read_json_lines(capsys) == [rule]
    assert recrawled_site("url-rules", "--delete", "127.*") == 0
    capsys.readouterr()
    assert recrawled_site("url-rules", "--used", "--json") == 0
    assert read_json_lines(capsys) == []


def test_generic_answers_to_sitemap_urls_are_no_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = {f"/t{n}{end}": html(text=f"{OLD} {n}") for n in range(12) for end in ("", "?ref=home")}
    lists = {f"/sitemap.xml{end}": html(text=f"{NEW} {end}") for end in ("", "?ref=home")}
    robots = "Sitemap: {0}/sitemap.xml\nSitemap: {0}/sitemap.xml?ref=home"
    with Site({"/": html(*pages, text=OLD), **pages, **lists}) as site:
        site.pages["/robots.txt"] = Page(robots.format(site.root).encode())
        one = RecrawledSite(site, tmp_path / "c")
        assert (
            main(["crawl", site.root + "/", "-C", str(one.folder), "--delay", "0", "--allow-private", "--quiet"]) == 0
        )
        capsys.readouterr()
        assert one("url-rules", "--json") == 0
        assert [(rule["kind"], rule["conflict_count"]) for rule in read_json_lines(capsys)] == [("parameter", 0)]


def test_rule_of_the_user_outlives_learning(recrawled_site: RecrawledSite, capsys: pytest.CaptureFixture[str]) -> None:
    site = recrawled_site.site.root.removeprefix("http://")
    assert recrawled_site("url-rules", "--add", "slash") == 4
    assert "--add needs --site" in capsys.readouterr().err
    assert recrawled_site("url-rules", "--add", "slope", "--site", site) == 4
    assert "'slope' is not a URL rule; use one of slash, case" in capsys.readouterr().err
    assert recrawled_site("url-rules", "--add", "slash", "--site", site) == 0
    assert "a final slash makes no difference" in capsys.readouterr().out
    assert recrawled_site("url-rules", "--use") == 0
    capsys.readouterr()
    assert recrawled_site("url-rules", "--used", "--json") == 0
    assert [rule["kind"] for rule in read_json_lines(capsys)] == ["slash", "parameter"]
    for url, decision, same_as in (("/new/?ref=7", "duplicate", "/new"), ("/new", "would be crawled", None)):
        assert recrawled_site("check", "url", recrawled_site.site.root + url, "--allow-private", "--json") == 0
        (found,) = read_json_lines(capsys)
        assert found["result"] == decision
        assert found.get("same_as") == (same_as and recrawled_site.site.root + same_as)
    assert recrawled_site("url-rules", "--delete", "127.*") == 0


def test_site_is_accepted_as_url(recrawled_site: RecrawledSite, capsys: pytest.CaptureFixture[str]) -> None:
    for typed in ("https://WWW.Example.ORG/a?b=c", "www.Example.org", "example.org"):
        assert recrawled_site("url-rules", "--add", "slash", "--site", typed, "--json") == 0
        assert [rule["site"] for rule in read_json_lines(capsys)] == ["example.org"]
        assert recrawled_site("url-rules", "--used", "--site", typed.removeprefix("www."), "--json") == 0
        assert len(read_json_lines(capsys)) == 1
        assert recrawled_site("url-rules", "--delete", "https://example.org/") == 0
        assert "1 rules deleted, 0 left" in capsys.readouterr().err
    for wrong in ("http://[::", "", "*", "exam?le.org", "a b", "ftp://example.org/"):
        assert recrawled_site("url-rules", "--add", "slash", "--site", wrong) == 4
        assert "the name of one site" in capsys.readouterr().err


@pytest.mark.parametrize("links", [["/d/{n}/"], ["/d/{n}"]])
def test_page_whose_server_redirects_to_the_other_variant_is_kept(tmp_path: Path, links: list[str]) -> None:
    pages = {f"/d/{n}/": html(text=f"{OLD} {n}") for n in range(3)} | {
        f"/d/{n}": redirect(f"/d/{n}/") for n in range(3)
    }
    with Site({"/": html(*(link.format(n=n) for n in range(3) for link in links), text=OLD), **pages}) as site:
        one = RecrawledSite(site, tmp_path / "c")
        one.folder.mkdir()
        assert one("url-rules", "--site", site.root.removeprefix("http://"), "--add", "slash") == 0
        one.crawl()
        with open_collection_read_only(one.folder) as collection:
            rows = collection.db.execute(
                "SELECT u.path FROM pages AS p JOIN urls AS u ON u.id = p.url WHERE status = 200"
            )
            assert {path for (path,) in rows} == {"/", "/d/0/", "/d/1/", "/d/2/"}


def test_redirects_to_new_sessions_do_not_bypass_a_rule(tmp_path: Path) -> None:
    pages = {"/d": redirect("/d?sid=0123456789abcdef0123456789abcdef"), "/": html("/d", text=OLD)}
    with Site({**pages, "/d?sid=0123456789abcdef0123456789abcdef": html(text=NEW)}) as site:
        one = RecrawledSite(site, tmp_path / "c")
        one.folder.mkdir()
        assert one("url-rules", "--site", site.root.removeprefix("http://"), "--add", "parameter=sid") == 0
        one.crawl()
        with open_collection_read_only(one.folder) as collection:
            rows = collection.db.execute("SELECT reason FROM urls WHERE path LIKE '/d?%'").fetchall()
        assert [reason for (reason,) in rows] == [Reason.TRAP]
