"""Forms are queried in a crawl: what is sent, stored, shown, and never requested."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from benchmarks.lib.form_databases import TRIPWIRES, Catalog, FormSite, Record, WordSearch, build_records
from tests.support.site import Page, Site, html

from sanderling.cli import main

RECORDS = build_records(5)[::25]
OPTIONS = ["--allow-private", "--delay", "0", "--workers", "1", "--quiet", "--no-index", "--no-sitemaps"]


def crawl(site: FormSite | Site, folder: Path, *options: str) -> int:
    return main(["crawl", site.root + "/", *OPTIONS, "-C", str(folder), *options])


def read_json(capsys: pytest.CaptureFixture[str], *command: str) -> list[dict[str, object]]:
    capsys.readouterr()
    assert main([*command, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def list_shown(site: FormSite) -> set[int]:
    return {number for _, numbers in site.shown for number in numbers}


def test_all_records_are_found_and_nothing_unsafe_is_requested(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Catalog(RECORDS) as site:
        assert crawl(site, tmp_path / "c", "--forms", "select", "--exclude", "/record/") == 0
    assert list_shown(site) == {record.number for record in RECORDS}
    assert len(site.shown) < 40
    assert site.trips == []
    forms = read_json(capsys, "pages", "--forms", "-C", str(tmp_path / "c"))
    assert [form["state"] for form in forms] == ["done"] + ["skipped"] * 12
    assert {"password field", "token field", "method post: needs a recipe"} <= {str(form["reason"]) for form in forms}
    (status,) = read_json(capsys, "status", "-C", str(tmp_path / "c"))
    described = status["forms"]
    assert isinstance(described, dict)
    assert described["records"] == len(RECORDS)
    url = site.root + next(target for target, _ in site.shown if "&page=" not in target)
    (explained,) = read_json(capsys, "explain", url, "-C", str(tmp_path / "c"))
    assert explained["source"] == "form"
    assert "new records" in str(explained["form"])
    assert main(["verify", "-C", str(tmp_path / "c")]) == 0
    assert {str(row["reason"]) for row in read_json(capsys, "pages", "--skipped", "--url", "*/trip/*", "-C",
                                                    str(tmp_path / "c"))} == {"unsafe"}  # fmt: skip


def test_forms_are_off_by_default(tmp_path: Path) -> None:
    with Catalog(RECORDS) as site:
        assert crawl(site, tmp_path, "--exclude", "/trip|/record/") == 0
    assert site.shown == []


def test_words_of_the_site_are_searched_within_the_limit(tmp_path: Path) -> None:
    with WordSearch(build_records(5)[::4]) as site:
        assert crawl(site, tmp_path, "--forms", "search", "--form-limit", "30", "--exclude", "/record/") == 0
        assert len(site.shown) == 30
        assert len(list_shown(site)) > 40
        known = {target for target, _ in site.shown}
        assert crawl(site, tmp_path, "--forms", "search", "--form-limit", "40", "--exclude", "/record/") == 0
    assert len({target for target, _ in site.shown} - known) == 10  # a higher limit goes on


class Limited(Catalog):
    """Answers the fourth query with a rate limit."""

    status = 429

    def answer(
        self, target: str, path: str, parameters: Mapping[str, list[str]], headers: dict[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        if path == "/search" and len(self.shown) >= 3:
            self.shown.append((target, []))
            return self.status, headers, b"slow down"
        return super().answer(target, path, parameters, headers)


@pytest.mark.parametrize("status", [429, 503])
def test_first_rate_limit_stops_all_forms(status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Limited(RECORDS) as site:
        site.status = status
        crawl(site, tmp_path, "--forms", "select", "--exclude", "/record/", "--backoff", "1s", "--concurrency", "1")
    assert len([numbers for _, numbers in site.shown if not numbers]) == 1
    forms = read_json(capsys, "pages", "--forms", "-C", str(tmp_path))
    assert (forms[0]["state"], forms[0]["reason"]) == ("stopped", f"status {status}")


def test_robots_and_scope_hold_for_forms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    form = b"<form action=/closed><select name=a><option>1<option>2<option>3</select></form>"
    foreign = b"<form action=http://other.test/s><select name=a><option>1<option>2</select></form>"
    robots = Page(b"User-agent: *\nDisallow: /closed\n", headers={"Content-Type": "text/plain"})
    with Site({"/": Page(form + foreign), "/robots.txt": robots}) as site:
        assert crawl(site, tmp_path, "--forms", "select") == 0
    assert not [path for path in site.hits if path.startswith("/closed")]
    forms = read_json(capsys, "pages", "--forms", "-C", str(tmp_path))
    assert {(form["state"], form["reason"]) for form in forms} == {("stopped", "robots"), ("skipped", "out_of_scope")}


def test_nofollow_pages_have_no_forms(tmp_path: Path) -> None:
    body = "<form action=/s><select name=a><option>1<option>2</select></form>"
    with Site({"/": html(head="<meta name=robots content=nofollow>" + body)}) as site:
        assert crawl(site, tmp_path, "--forms", "select") == 0
    assert not [path for path in site.hits if path.startswith("/s?")]


class PostSearch(FormSite):
    """A search by POST."""

    form = "<form action=/search method=post><input name=q></form>"

    def __init__(self, records: list[Record]) -> None:
        super().__init__(records)
        self.bodies: list[bytes] = []
        handler, site = self.server.RequestHandlerClass, self

        def do_post(request: object) -> None:
            body = request.rfile.read(int(request.headers["Content-Length"]))  # type: ignore[attr-defined]
            site.bodies.append(body)
            answer = b"<p>found <a href=/record/" + body.rpartition(b"=")[2] + b">it</a>"
            request.send_response(200)  # type: ignore[attr-defined]
            request.send_header("Content-Type", "text/html")  # type: ignore[attr-defined]
            request.send_header("Content-Length", str(len(answer)))  # type: ignore[attr-defined]
            request.end_headers()  # type: ignore[attr-defined]
            request.wfile.write(answer)  # type: ignore[attr-defined]

        handler.do_POST = do_post  # type: ignore[attr-defined]


def test_post_is_sent_only_by_a_recipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with PostSearch(RECORDS) as site:
        site.form += "<a href='/search?__wb_method=POST&q=evil'>x</a>"
        assert crawl(site, tmp_path / "c", "--forms", "search", "--exclude", "/record/") == 0
        assert site.bodies == []
        recipe = tmp_path / "recipe.toml"
        recipe.write_text(f"[[form]]\nurl = '{site.root}/search'\nfields = {{ lang = 'en', q = ['1', '2', '3'] }}\n")
        assert crawl(site, tmp_path / "d", "--recipe", str(recipe), "--exclude", "/record/") == 0
        assert sorted(site.bodies) == [b"lang=en&q=1", b"lang=en&q=2", b"lang=en&q=3"]
    (form,) = read_json(capsys, "pages", "--forms", "-C", str(tmp_path / "d"))
    assert (form["state"], form["requests"]) == ("done", 3)
    assert main(["verify", "-C", str(tmp_path / "d")]) == 0
    assert main(["show", f"{site.root}/search?__wb_method=POST&lang=en&q=2", "-C", str(tmp_path / "d")]) == 0
    assert "/record/2" in capsys.readouterr().out


def test_tripwires_have_no_effect_on_ordinary_crawls(tmp_path: Path) -> None:
    with Site({"/": Page(TRIPWIRES.encode())}) as site:
        assert crawl(site, tmp_path) == 0
    assert not [path for path in site.hits if "trip/login" in path]  # forms are not sent, links are followed
    assert site.hits["/trip/logout"] == 1
