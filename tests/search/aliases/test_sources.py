"""Aliases from stored collections and files, by the command."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from sanderling.cli import main
from sanderling.search.aliases.anchors import (
    Anchor,
    Redirect,
    extract_url_words,
    find_anchor_mentions,
    find_redirect_mentions,
)
from sanderling.search.aliases.mentions import NameMatcher

PAGES = {
    "/": "<title>Cities</title><p>Mumbai, also <b>known\nas</b> Bombay, is large. <a href='/mumbai'>Mumbai</a>"
    "<a href='/Bombay_city'>old</a> <a href='/dreams'>dreams</a> <a href='/more'>more</a>",
    "/dreams": "<p><a href='/mumbai'>City of Dreams</a>",
    "/more": "<p>more of it <a href='/mumbai'>click here</a>",
    "/mumbai": "<title>Mumbai</title><p>Mumbai (formerly Bombay).",
}


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = PAGES.get(self.path, "").encode()
        self.send_response(302 if self.path == "/Bombay_city" else 200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Location", "/mumbai")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    folder = tmp_path_factory.mktemp("crawl") / "collection"
    url = f"http://127.0.0.1:{server.server_port}/"
    arguments = ["crawl", url, "-C", str(folder), "--allow-private", "--delay", "0", "--quiet", "--workers", "1"]
    try:
        assert main(arguments) == 0
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    return folder


def rows(output: str) -> dict[tuple[str, str], tuple[int, int]]:
    parsed = [json.loads(line) for line in output.splitlines()]
    return {(row["name"], row["alias"]): (row["count"], row["source_count"]) for row in parsed}


def test_aliases_are_found_in_stored_pages(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "Mumbai", "Nowhere", "-C", str(collection), "--json", "--workers", "1"]) == 0
    output = capsys.readouterr()
    assert rows(output.out) == {("Mumbai", "Bombay"): (2, 2)}
    assert "no alias of 'Nowhere' found" in output.err


def test_links_and_redirects_give_aliases(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", "Mumbai", "-C", str(collection), "--json", "--links", "--workers", "2"]) == 0
    assert set(rows(capsys.readouterr().out)) == {
        ("Mumbai", "Bombay"),
        ("Mumbai", "City of Dreams"),
        ("Mumbai", "Bombay city"),
    }


def test_text_files_and_a_file_of_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.txt").write_text("Aspirin, also\nknown as acetylsalicylic acid, helps.")
    (tmp_path / "names.txt").write_text("aspirin\n\naspirin\n")
    arguments = ["aliases", "--names", str(tmp_path / "names.txt"), "--text", str(tmp_path / "notes"), "--workers", "1"]
    assert main(arguments) == 0
    assert "acetylsalicylic acid" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no name given: sanderling aliases NAME, or --names FILE"),
        (["x", "--pattern", "aka"], "is not a pattern"),
        (["x", "--text", "/nowhere"], "there is no file or folder /nowhere to read"),
        (["--names", "/nowhere"], "cannot read the names in /nowhere: No such file or directory"),
        (["x", "-C", "/nowhere"], "there is no collection in /nowhere"),
    ],
)
def test_invalid_arguments_are_reported(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aliases", *arguments]) == 4
    assert message in capsys.readouterr().err


def test_anchor_texts_of_the_same_page_are_aliases() -> None:
    anchors = [
        Anchor("a", "1", "Big Apple"),
        Anchor("b", "1", "New York"),
        Anchor("c", "2", "Other"),
        Anchor("d", "1", "here"),
    ]
    found = find_anchor_mentions(lambda: anchors, NameMatcher(["new york"]))
    assert [(mention.name, mention.alias, mention.source) for mention in found] == [("new york", "Big Apple", "a")]


def test_redirects_are_aliases_in_both_directions() -> None:
    redirects = [Redirect("http://x/wiki/Big_Apple.html", "http://x/ny", "New York")]
    assert extract_url_words(redirects[0].source) == "Big Apple"
    for name, alias in (("New York", "Big Apple"), ("big apple", "New York")):
        assert [mention.alias for mention in find_redirect_mentions(redirects, NameMatcher([name]))] == [alias]
