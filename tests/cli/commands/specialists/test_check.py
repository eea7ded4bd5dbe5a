import re
from pathlib import Path

import pytest
from tests.support.output import read_json_lines
from tests.support.site import Page, Site, html, redirect

from sanderling.cli import main
from sanderling.cli.commands import COMMANDS


def test_decision_about_a_url_is_explained(crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    folder = crawled_site[1]
    main(["check", "url", "HTTP://X.org:80/%7Ea#b", "--seed", "x.org", "--json", "-C", folder])
    (found,) = read_json_lines(capsys)
    assert (found["url"], found["result"], found["in_collection"]) == (
        "http://x.org/~a",
        "would be crawled",
        "unknown",
    )
    main(["check", "url", "http://y.org/", "--seed", "http://x.org/", "--json"])
    main(["check", "url", "http://y.org/", "--json", "-C", folder])
    assert [found["result"] for found in read_json_lines(capsys)] == ["out_of_scope"] * 2
    with Site({"/": html("/x", text="hello")}) as site:
        main(["check", "parse", site.root, "--allow-private", "--json"])
        (page,) = read_json_lines(capsys)
        assert (page["title"], page["status"]) == ("hello", 200)
        main(["check", "robots", site.root, "--allow-private", "--json"])
        (found,) = read_json_lines(capsys)
        assert (found["allowed"], found["why"]) == (True, "there is no robots.txt (status 404): no rules")
    assert main(["check", "parse", "http://127.0.0.1:1/"]) == 4
    assert "private address" in capsys.readouterr().err


def test_robots_txt_and_headers_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = {
        "/": html("/no"),
        "/robots.txt": Page(b"User-agent: *\nDisallow: /no"),
        "/quiet": Page(b"<a href=/x>x</a>", headers={"Content-Type": "text/html", "X-Robots-Tag": "noindex, nofollow"}),
    }
    with Site(pages) as site:
        private = ["--allow-private", "-C", str(tmp_path)]
        main(["crawl", site.root, "--delay", "0", "--quiet", "--workers", "1", *private])
        main(["check", "url", site.root + "/no", "--json", *private])
        (found,) = read_json_lines(capsys)
        assert (found["result"], found["robots"]) == ("robots", "forbidden")
        main(["check", "robots", site.root + "/nothing", "--json", *private])
        assert read_json_lines(capsys)[0]["why"] == "Disallow: /no (User-agent: *)"
        main(["check", "parse", site.root + "/quiet", "--json", *private])
        (page,) = read_json_lines(capsys)
        assert (page["noindex"], page["nofollow"]) == (True, True)


@pytest.mark.parametrize(
    "url", ["http://2130706433/", "http://[::1]/", "http://169.254.169.254/latest/", "http://localhost:80/"]
)
def test_private_addresses_are_rejected(url: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(["check", "url", url, "--json", "-C", str(tmp_path / "none")])
    main(["check", "url", url, "--json", "-C", str(tmp_path / "none"), "--allow-private"])
    assert [found["result"] for found in read_json_lines(capsys)] == ["private_address", "would be crawled"]


@pytest.mark.parametrize(
    ("host", "decision"), [("notlocalhost", "would be crawled"), ("a.localhost.", "private_address")]
)
def test_only_names_below_localhost_are_local(
    host: str, decision: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    main(["check", "url", f"http://{host}/", "--json", "-C", str(tmp_path / "none")])
    assert read_json_lines(capsys)[0]["result"] == decision


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS)], ids=lambda words: "".join(words) or "all")
def test_comments_of_pasted_examples_are_rejected_with_a_hint(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    is_example = re.compile(r"  (\S+=\S+ |source <\(|mkdir .*)?sanderling ").match
    shown = [line for line in capsys.readouterr().out.splitlines() if is_example(line)]
    assert shown
    assert not [line for line in shown if re.search(r"\S {3,}[^#\s]", line)]


def test_parsed_page_is_printed_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    private = ["--allow-private", "-C", str(tmp_path / "none")]
    page = Page(b"<title>t</title><a href='/a' rel=nofollow>paid</a><a href='/b'>free</a>")
    with Site({"/": page}) as site:
        main(["check", "parse", site.root, *private])
        main(["check", "robots", site.root, *private])
    output = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert {
        "noindex: no",
        "canonical: -",
        "dropped count: 0",
        "/a paid nofollow",
        "/b free",
        "allowed: yes",
        "crawl delay: -",
    } <= set(output)


def test_sitemap_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": html()}) as site:
        site.pages["/sitemap.xml"] = Page(f"<urlset><url><loc>{site.root}/a</loc></url><url>".encode())
        main(["check", "sitemap", site.root + "/sitemap.xml", "--allow-private", "--json"])
        (found,) = read_json_lines(capsys)
        assert (found["kind"], found["pages"], found["with_lastmod"]) == ("urlset", 1, 0)
        assert found["problems"]


def test_images_and_language_versions_of_a_sitemap_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": html()}) as site:
        site.pages["/sitemap.xml"] = Page(
            f"<urlset><url><loc>{site.root}/a</loc><image:image><image:loc>{site.root}/a.png</image:loc>"
            f"<image:title>Pier</image:title></image:image>"
            f'<xhtml:link rel="alternate" hreflang="de" href="{site.root}/de"/></url></urlset>'.encode()
        )
        main(["check", "sitemap", site.root + "/sitemap.xml", "--allow-private", "--json"])
        (found,) = read_json_lines(capsys)
        assert found["extensions"] == [
            {"kind": "image", "page": f"{site.root}/a", "loc": f"{site.root}/a.png", "title": "Pier"},
            {"kind": "language", "page": f"{site.root}/a", "language": "de", "href": f"{site.root}/de"},
        ]


def test_sitemap_entries_of_other_sites_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": html(), "/moved.xml": redirect("/a/map.txt")}) as site:
        listed = f"{site.root}/a/in\n{site.root}/out\nhttp://other.example/\n".encode()
        site.pages["/a/map.txt"] = Page(listed, headers={"Content-Type": "text/plain"})
        main(["check", "sitemap", site.root + "/a/map.txt", "--allow-private", "--json"])
        (found,) = read_json_lines(capsys)
        assert (found["pages"], found["outside_its_folder"], found["of_other_hosts"]) == (3, 2, 1)
        main(["check", "sitemap", site.root + "/moved.xml", "--allow-private", "--json"])
        (found,) = read_json_lines(capsys)
        assert (found["outcome"], found["location"]) == ("redirect", site.root + "/a/map.txt")
