"""More like this, as a person asks for it: `sanderling similar` and `sanderling templates`."""

import csv
import io
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.site import Page, Site, redirect

from sanderling.cli import main

CHROME = """<title>{title}</title><body><header class=top><nav class=menu><ul class=links>
<li><a href=/>Home</a><li><a href=/c/chairs.html>Chairs</a><li><a href=/c/tables.html>Tables</a>
<li><a href=/news/0.html>News</a></ul></nav></header><main>{main}</main><footer class=foot></footer>"""
FLAGS = ["--delay", "0", "--allow-private", "--quiet", "--workers", "1"]


def page(title: str, main_: str) -> Page:
    return Page(CHROME.format(title=title, main=main_).encode())


def product(kind: str, n: int) -> Page:
    sale = "<div class=badge>Sale</div>" if n % 3 == 0 else ""
    return page(
        f"{kind} {n}", f"<div class=product><h1>{kind} number {n}</h1>{sale}<div class=price>€ {n + 1}.50</div></div>"
    )


def listing(kind: str, count: int) -> Page:
    cards = "".join(f"<div class=card><h3><a href=/p/{kind}-{n}.html>{kind} {n}</a></h3></div>" for n in range(count))
    return page(f"All {kind}", f"<h1>{kind}</h1><div class=grid>{cards}</div>")


def news(n: int) -> Page:
    return page(
        f"News {n}",
        f"<article class=story><h1>Day {n}</h1><div class=by></div><a href=/news/{n + 1}.html>next</a></article>",
    )


def shop() -> dict[str, Page]:
    site = {"/": page("Shop", "<div class=hero></div>"), "/moved.html": redirect("/p/chairs-1.html")}
    for kind in ("chairs", "tables"):
        site[f"/c/{kind}.html"] = listing(kind, 15)
        site |= {f"/p/{kind}-{n}.html": product(kind, n) for n in range(15)}
    site |= {f"/news/{n}.html": news(n) for n in range(25)}
    site["/empty.html"] = Page(b"<body>")
    site["/paper.pdf"] = Page(b"%PDF-1.4 ...", headers={"Content-Type": "application/pdf"})
    site["/robots.txt"] = Page(b"User-agent: *\nDisallow: /p/tables-13.html\n", headers={"Content-Type": "text/plain"})
    return site


PRODUCTS = {f"/p/{kind}-{n}.html" for kind in ("chairs", "tables") for n in range(15)} - {"/p/tables-13.html"}


SAMPLES = ("/p/chairs-3.html", "/p/tables-4.html", "/p/chairs-7.html")


def samples_of(server: Site) -> list[str]:
    return [server.root + path for path in SAMPLES]


@pytest.fixture(scope="module")
def server() -> Iterator[Site]:
    with Site(shop()) as site:
        yield site


@pytest.fixture(scope="module")
def stored(server: Site, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("like") / "c")
    seeds = [server.root + path for path in ("/", "/moved.html", "/empty.html", "/paper.pdf")]
    assert main(["crawl", *seeds, "-C", folder, *FLAGS]) == 0
    return folder


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def paths(found: list[dict[str, object]], root: str) -> set[str]:
    return {str(item["url"]).removeprefix(root) for item in found if "url" in item}


def test_stored_pages_of_the_samples_kind_are_found_and_no_others(
    server: Site, stored: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["similar", *samples_of(server), "--stored", "--json", "-C", stored]) == 0
    found = [item for item in lines(capsys) if "url" in item]
    assert paths(found, server.root) == PRODUCTS
    assert list(found[0]) == ["url", "probability", "from"]
    assert {item["from"] for item in found} == {"store"}


def test_looking_in_the_store_asks_the_web_nothing(
    server: Site, stored: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sum(server.hits.values())
    main(["similar", f"{server.root}/news/3.html", "--stored", "-C", stored])
    assert sum(server.hits.values()) == before
    assert "/news/24.html" in capsys.readouterr().out


def test_a_limit_and_a_threshold_narrow_the_list(server: Site, stored: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["similar", *samples_of(server), "--stored", "--json", "--limit", "4", "-C", stored])
    assert len([item for item in lines(capsys) if "url" in item]) == 4
    main(["similar", *samples_of(server), "--stored", "--json", "--threshold", "0.01", "-C", stored])
    everything = [item for item in lines(capsys) if "url" in item]
    main(["similar", *samples_of(server), "--stored", "--json", "--threshold", "0.8", "-C", stored])
    some = [item for item in lines(capsys) if "url" in item]
    assert len(some) < len(everything)
    assert all(float(str(item["probability"])) >= 0.8 for item in some)


def test_a_negative_sample_and_pages_of_its_kind_are_left_out(
    server: Site, stored: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["similar", f"{server.root}/p/chairs-3.html", "--not", f"{server.root}/p/tables-4.html"]
    assert main([*command, "--stored", "--json", "-C", stored]) == 0
    found = paths(lines(capsys), server.root)
    assert f"{server.root}/p/tables-4.html" not in found
    assert found
    assert {path for path in found if path.startswith("/p/tables")} == set()


def test_one_sample_lists_pages_whose_answer_would_tell_more(
    server: Site, stored: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["similar", f"{server.root}/p/chairs-3.html", "--stored", "--json", "-C", stored]) == 0
    questions = [item for item in lines(capsys) if "question" in item]
    assert 1 <= len(questions) <= 3
    assert all(str(item["question"]).startswith(server.root) for item in questions)


def test_saved_samples_give_the_same_answer(
    server: Site, stored: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "copy")
    shutil.copytree(stored, folder)
    assert main(["similar", *samples_of(server), "--stored", "--json", "--save", "products", "-C", folder]) == 0
    answer = capsys.readouterr().out
    assert main(["similar", "--saved", "products", "--stored", "--json", "-C", folder]) == 0
    assert capsys.readouterr().out == answer
    assert main(["similar", "--saved", "other", "--stored", "-C", folder]) == 4
    assert "saved: products" in capsys.readouterr().err


def test_saved_samples_select_pages_of_other_commands(
    server: Site, stored: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "copy")
    shutil.copytree(stored, folder)
    main(["similar", *samples_of(server), "--stored", "--quiet", "--save", "products", "-C", folder])
    capsys.readouterr()
    assert main(["export", "--similar", "products", "-C", folder]) == 0
    assert paths(lines(capsys), server.root) == PRODUCTS
    assert main(["refresh", "--similar", "products", "--dry-run", "--json", "-C", folder]) == 0
    assert paths(lines(capsys), server.root) == PRODUCTS
    before = dict(server.hits)
    assert main(["refresh", "--similar", "products", "-C", folder, *FLAGS]) == 0
    visited = {path for path, count in server.hits.items() if count > before.get(path, 0)} - {"/robots.txt"}
    assert visited == PRODUCTS
    capsys.readouterr()
    assert main(["watch", "--similar", "products", "--json", "-C", folder]) == 0
    (watch,) = lines(capsys)
    assert watch["name"] == "products"
    assert {str(url).removeprefix(server.root) for url in watch["urls"]} == PRODUCTS  # type: ignore[attr-defined]
    for command in ("export", "refresh", "watch"):
        assert main([command, "--similar", "other", "-C", folder]) == 4
        assert "saved: products" in capsys.readouterr().err


def test_shared_features_explain_the_answer(server: Site, stored: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["similar", *samples_of(server), "--stored", "--json", "--explain", "-C", stored]) == 0
    shared = [name for item in lines(capsys) if "shared" in item for name in item["shared"]]  # type: ignore[attr-defined]
    assert "below /p" in shared
    assert main(["similar", *samples_of(server), "--stored", "--explain", "-C", stored]) == 0
    assert "of the weight" in capsys.readouterr().err


def test_trees_are_compared_exactly_with_the_threshold_of_the_thesis(
    server: Site, stored: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["similar", f"{server.root}/p/chairs-1.html", "--stored", "--json", "--exact", "-C", stored])
    found = {str(item["url"]).removeprefix(server.root): float(str(item["probability"])) for item in lines(capsys)}
    assert set(found) >= PRODUCTS
    assert found["/p/chairs-2.html"] == 1.0
    assert min(found.values()) >= 0.4
    main(
        [
            "similar",
            f"{server.root}/p/chairs-1.html",
            "--stored",
            "--json",
            "--exact",
            "--threshold",
            "0.9",
            "-C",
            stored,
        ]
    )
    assert paths(lines(capsys), server.root) <= PRODUCTS


def test_the_fields_of_the_pages_are_exported_as_a_table(
    server: Site, stored: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["similar", *samples_of(server), "--stored", "--export", "csv", "-C", stored]) == 0
    out, shown = capsys.readouterr()
    rows = {row["url"].removeprefix(server.root): row for row in csv.DictReader(io.StringIO(out))}
    assert set(rows) == PRODUCTS
    assert rows["/p/tables-4.html"]["price"] == "€ 5.50"
    assert "div.product > div.price" in shown


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        ("/moved.html", "is a redirect to"),
        ("/paper.pdf", "is application/pdf, not a web page"),
        ("/empty.html", "is nearly empty"),
        ("/p/tables-13.html", "robots.txt of"),
        ("/nowhere.html", "is not stored"),
    ],
)
def test_a_sample_that_cannot_serve_gets_one_clear_sentence(
    server: Site, stored: str, sample: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["similar", server.root + sample, "--stored", "-C", stored]) == 4
    error = capsys.readouterr().err.strip()
    assert words in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        ("/moved.html", "is a redirect to"),
        ("/paper.pdf", "is application/pdf, not a web page"),
        ("/empty.html", "is nearly empty"),
        ("/p/tables-13.html", "robots.txt of"),
        ("/nowhere.html", "404"),
    ],
)
def test_so_does_one_that_has_to_be_fetched(
    server: Site, tmp_path: Path, sample: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["similar", server.root + sample, "-C", str(tmp_path / "new"), *FLAGS]) == 4
    error = capsys.readouterr().err.strip()
    assert words in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("flags", [["--threshold", "7"], ["--limit", "0"], ["--follow"]])
def test_flags_that_cannot_be_get_one_sentence(
    server: Site, stored: str, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["similar", server.root + "/p/chairs-1.html", "--stored", *flags, "-C", stored]) == 4
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_pages_are_found_on_the_web_with_few_fetches_spent_on_others(
    server: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "web")
    command = ["similar", *samples_of(server), "--json", "--limit", "29", "-C", folder, *FLAGS]
    assert main(command) == 0
    found = [item for item in lines(capsys) if "url" in item]
    assert len(paths(found, server.root) & PRODUCTS) >= 0.9 * len(PRODUCTS)
    assert paths(found, server.root) <= PRODUCTS
    assert {item["from"] for item in found} == {"web"}


def guide() -> dict[str, Page]:
    """A shop with a guide that only its own directory lists; the shop does not link to it."""
    site = shop()
    lines_ = "".join(f"<li><a href=/guide/part-{n}.html>Part {n}</a></li>" for n in range(20))
    site["/guide/"] = page("The guide", f"<h1>Contents</h1><ul class=contents>{lines_}</ul>")
    for n in range(20):
        site[f"/guide/part-{n}.html"] = page(f"Part {n}", f"<section class=part><h2>{n}</h2><pre></pre></section>")
    return site


def test_a_list_that_no_page_links_to_is_found_above_the_sample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site(guide()) as server:
        command = ["similar", f"{server.root}/guide/part-7.html", "--json", "--limit", "20", "--fetches", "48"]
        assert main([*command, "-C", str(tmp_path / "web"), *FLAGS]) == 0
        found = paths(lines(capsys), server.root)
        assert found == {f"/guide/part-{n}.html" for n in range(20)}
        fetched = sum(count for path, count in server.hits.items() if path in guide() and path != "/robots.txt")
        assert fetched <= 52  # and the sample, and pages in flight when the crawl ended


def reviewed() -> dict[str, Page]:
    """A shop where every product has a page of reviews that only its own page links to."""
    site = {"/": listing("chairs", 0), "/robots.txt": Page(b"", headers={"Content-Type": "text/plain"})}
    cards = "".join(f"<div class=card><a href=/item/{n}/index.html>{n}</a></div>" for n in range(30))
    site["/c/chairs.html"] = page("All", f"<div class=grid>{cards}</div>")
    for n in range(30):
        site[f"/item/{n}/index.html"] = page(
            f"Item {n}", "<div class=product><h1>x</h1><a href=reviews.html>all</a></div>"
        )
        site[f"/item/{n}/reviews.html"] = page(
            f"Reviews of {n}", "<section class=reviews><h2>x</h2><ol></ol></section>"
        )
    return site


@pytest.fixture(params=["a disk at rest", "a slow disk"])
def disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came home waits until the disk has what came before."""
    if request.param == "a slow disk":
        monkeypatch.setattr(os, "fdatasync", lambda _file: time.sleep(0.05))


@pytest.mark.usefixtures("disk")
def test_pages_with_a_hub_each_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(reviewed()) as server:
        command = ["similar", f"{server.root}/item/7/reviews.html", f"{server.root}/item/8/reviews.html", "--json"]
        assert main([*command, "--limit", "30", "--fetches", "75", "-C", str(tmp_path / "web"), *FLAGS]) == 0
        assert paths(lines(capsys), server.root) >= {f"/item/{n}/reviews.html" for n in range(30)}


def test_migrants_bring_home_matches_and_their_hubs_and_keep_the_rest_for_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site(shop()) as server:
        folder = str(tmp_path / "web")
        main(["similar", *samples_of(server), "--limit", "29", "-C", folder, *FLAGS])
        capsys.readouterr()
        main(["pages", "--json", "-C", folder])
        home = paths(lines(capsys), server.root)
        assert len(home & PRODUCTS) >= 0.9 * len(PRODUCTS)
        assert sum(path.startswith("/news/") for path in home) < 10
        main(["pages", "--skipped", "--json", "-C", folder])
        kept = {str(row["url"]).removeprefix(server.root) for row in lines(capsys) if row["reason"] == "not_similar"}
        assert kept
        assert main(["crawl", server.root, "-C", folder, *FLAGS]) == 0
        capsys.readouterr()
        main(["pages", "--json", "-C", folder])
        assert paths(lines(capsys), server.root) >= kept
        assert {path for path in kept if server.hits[path] > 1} == set()


def test_the_templates_of_a_site_are_named_and_the_rarest_come_first(
    server: Site, stored: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["templates", "--json", "--least", "5", "-C", stored]) == 0
    found = lines(capsys)
    counts = [(item["pattern"], item["pages"]) for item in found]
    assert ("/news/*.html", 25) in counts
    assert {pattern for pattern, _ in counts if str(pattern).startswith("/p/")} == {
        "/p/chairs-*.html",
        "/p/tables-*.html",
    }
    assert [item["idf"] for item in found] == sorted((item["idf"] for item in found), reverse=True)  # type: ignore[type-var]


def test_an_unknown_site_has_no_templates(stored: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["templates", "--site", "elsewhere", "-C", stored]) == 4
    assert "elsewhere" in capsys.readouterr().err
