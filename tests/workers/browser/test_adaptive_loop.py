"""Rendering only where it adds content, and only if something changed."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.support.script_site import build_render_request, build_shop, json_page, needs_browser, text_page
from tests.support.site import Page, Site

from sanderling.cli import main
from sanderling.config.settings import LimitSettings
from sanderling.crawl.refresh import RefreshMode, RefreshSummary, refresh
from sanderling.crawl.session import CrawlSummary, crawl
from sanderling.page_rendering import PageRendering
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_skipped_urls, load_stored_record, resolve_known_url
from sanderling.storage.render_templates import RENDERING, decode_rendering
from sanderling.workers.browser import renderer

pytestmark = [needs_browser, pytest.mark.slow]
CRAWL_FLAGS = ("--delay", "0", "--allow-private", "--workers", "1", "--no-sitemaps")
WORDS = ("tide", "shell", "beach", "dune", "wind", "gull", "crab", "weed", "sand", "rock", "pier", "boat")
ENHANCE = """
document.body.insertAdjacentHTML("beforeend", "<div><p>We use cookies to count how many people come to read the pages"
  + " of this site, and to show them what they like best of all.</p></div>");
for (const time of document.querySelectorAll("time")) time.textContent = "today";
"""


def article(number: int) -> Page:
    """Return a page that is complete without its script."""
    words = " ".join(WORDS[(number * 7 + n) % len(WORDS)] + str(number) for n in range(600))
    links = f'<a href="/news/{number + 1}">next</a>' if number < 29 else ""
    return Page(
        f'<!doctype html><title>News {number}</title><body><header class="top">News</header><main class="story">'
        f"<h1>News {number}</h1><time>1 May</time><p>{words}</p>{links}</main>"
        '<script src="/enhance.js"></script>'.encode()
    )


def build_mixed_site() -> dict[str, Page]:
    """Return a site of 30 articles, a shop of 8 pages built by scripts, and a start page."""
    names = [str(n) for n in range(7)]
    shop = build_shop(
        {name: f"an item with a text of its own, number {name}, made of {WORDS[int(name)]}" for name in names}
    )
    app = shop.pop("/app.js").body.decode().replace("location.pathname.slice(1)", "location.pathname.split('/')[2]")
    pages = {"/app.js": text_page(app.replace('href="/', 'href="/shop/'), "text/javascript")}
    shell = shop.pop("/")
    pages |= {"/shop/": shell, **{path if "api" in path else f"/shop{path}": page for path, page in shop.items()}}
    start = '<!doctype html><title>Start</title><body><p><a href="/news/0">News</a> <a href="/shop/">Shop</a></p>'
    return {
        "/": Page(start.encode()), "/enhance.js": text_page(ENHANCE, "text/javascript"),
        **{f"/news/{n}": article(n) for n in range(30)}, **pages,
    }  # fmt: skip


def crawl_site(folder: Path, site: Site, render: str = "auto") -> CrawlSummary:
    return crawl(folder, build_render_request(site.root + "/", render=render))


def read_body(folder: Path, url: str) -> bytes:
    with open_collection_read_only(folder) as collection:
        id_, key = resolve_known_url(collection, url)
        return load_stored_record(collection, id_, key, None).body


def refresh_all(folder: Path, render: str = "auto") -> RefreshSummary:
    return refresh(folder, build_render_request(render=render), RefreshMode.ALL)


def load_rendering(folder: Path, url: str) -> PageRendering | None:
    with open_collection_read_only(folder) as collection:
        id_, _ = resolve_known_url(collection, url)
        row = collection.db.execute(
            "SELECT value FROM fingerprints WHERE url = ? AND kind = ?", (id_, RENDERING)
        ).fetchone()
    return decode_rendering(row[0]) if row else None


def test_only_pages_built_by_scripts_are_rendered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(build_mixed_site()) as site:
        summary = crawl_site(tmp_path, site)
    assert summary.pages == 39
    assert 8 <= summary.rendered <= 12
    assert b"number 3" in read_body(tmp_path, f"{site.root}/shop/3")
    assert b"cookies" not in read_body(tmp_path, f"{site.root}/news/20")  # stored as the server sent it
    assert main(["explain", f"{site.root}/shop/5", "--collection", str(tmp_path)]) == 0
    assert "yes: rendering added content to" in capsys.readouterr().out
    assert main(["explain", f"{site.root}/news/20", "--collection", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rendering"] in (
        "no, its HTML looks complete",
        "no: rendering added content to 0 of 1 compared pages built like this one",
    )


def test_unchanged_pages_are_not_rendered_again(tmp_path: Path) -> None:
    with Site(build_mixed_site()) as site:
        crawl_site(tmp_path, site)
        site.hits.clear()
        summary = refresh_all(tmp_path)
    assert (summary.changed, summary.rendered) == (0, 0)
    assert site.hits["/api/item/3"] == 1  # asked by HTTP, answered 304
    assert site.hits["/app.js"] == 0


def test_changed_data_of_an_unchanged_document_are_rendered_and_reported(tmp_path: Path) -> None:
    with Site(build_mixed_site()) as site:
        crawl_site(tmp_path, site)
        site.pages["/api/item/3"] = json_page(
            {"title": "Item 3", "text": "the price of this item was raised to $ 99.50"}
        )
        summary = refresh_all(tmp_path)
        assert (summary.changed, summary.rendered) == (1, 1)
        assert site.hits["/api/item/3"] == 2  # the answer to the check is used for rendering
    assert b"99.50" in read_body(tmp_path, f"{site.root}/shop/3")
    rendering = load_rendering(tmp_path, f"{site.root}/shop/3")
    assert rendering is not None
    assert [source.url for source in rendering.sources] == [f"{site.root}/api/item/3"]


@pytest.mark.parametrize("renders", [("never", "always"), ("always", "never"), ("never", "auto")])
def test_another_way_of_fetching_is_no_change(tmp_path: Path, renders: tuple[str, str]) -> None:
    pages = build_shop({"1": "the tide comes in with a long text", "2": "the tide goes out with another text"})
    with Site({**pages, "/links": Page(b'<a href="/1">1</a><a href="/2">2</a>')}) as site:
        crawl(tmp_path, build_render_request(site.root + "/links", site.root + "/", render=renders[0]))
        summary = refresh_all(tmp_path, renders[1])
        assert summary.changed == 0
        has_text = b"comes in" in read_body(tmp_path, f"{site.root}/1")
        assert refresh_all(tmp_path, renders[1]).changed == 0
    assert has_text == (renders[1] != "never")


def test_request_with_a_key_is_not_repeated_without_rendering(tmp_path: Path) -> None:
    script = """fetch("/data", { headers: { "X-Api-Key": "secret" } }).then(r => r.json())
      .then(data => document.body.insertAdjacentHTML("beforeend", `<main><p>${data}</p></main>`));"""
    page = Page(f"<!doctype html><title>t</title><body><script>{script}</script>".encode())
    with Site({"/": page, "/data": json_page("a long text of ten words that is loaded by a script")}) as site:
        crawl_site(tmp_path, site)
        rendering = load_rendering(tmp_path, site.root + "/")
        assert rendering is not None
        assert (rendering.is_rendered, rendering.can_check_sources, rendering.sources) == (True, False, ())
        assert refresh_all(tmp_path).rendered == 1
    database = b"".join(path.read_bytes() for path in tmp_path.glob("*.db*"))
    assert b"secret" not in database


def test_page_that_becomes_static_is_stored_as_it_is_sent(tmp_path: Path) -> None:
    with Site(build_shop({"1": "text " * 30})) as site:
        crawl_site(tmp_path, site)
        site.pages["/1"] = article(1)
        summary = refresh_all(tmp_path)
    assert b"next" in read_body(tmp_path, f"{site.root}/1")
    assert summary.changed <= 1


def test_site_that_looks_complete_starts_no_browser(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pages = {f"/news/{n}": article(n) for n in range(30)}
    with Site({"/": Page(b'<a href="/news/0">News</a>'), **pages, "/enhance.js": text_page(ENHANCE, "")}) as site:
        assert main(["crawl", site.root, *CRAWL_FLAGS, "--collection", str(tmp_path)]) == 0
        assert not site.hits["/enhance.js"]
    assert main(["explain", f"{site.root}/news/3", "--collection", str(tmp_path)]) == 0
    shown = capfd.readouterr()
    assert "no, its HTML looks complete" in shown.out
    assert "Chromium" not in shown.err


def test_shells_are_rendered_by_default_and_named_if_no_browser_is_installed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = build_shop({name: f"an item with a text of its own, number {name}" for name in ("1", "2", "3")})
    command = ["--collection", str(tmp_path), *CRAWL_FLAGS]
    with Site(shop) as site:
        with monkeypatch.context() as without_browser:
            without_browser.setattr(renderer, "find_chromium", lambda: "")
            renderer.can_render.cache_clear()
            assert main(["crawl", site.root, *command]) == 0
            shown = capfd.readouterr()
            assert "1 page looks built by scripts" in shown.err
            assert "sanderling[browser]" in shown.err
        renderer.can_render.cache_clear()
        assert main(["explain", site.root + "/", "--collection", str(tmp_path)]) == 0
        assert "although it looks built by scripts" in capfd.readouterr().out
        assert main(["refresh", "--all", *command]) == 0
        assert "rendered in Chromium" in capfd.readouterr().err
    assert b"number 3" in read_body(tmp_path, f"{site.root}/3")


def test_rendered_versions_stay_if_no_browser_is_installed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = build_shop({"1": "the tide comes in with a long text", "2": "the tide goes out with another text"})
    command = ["--collection", str(tmp_path), *CRAWL_FLAGS]
    with Site(shop) as site:
        crawl_site(tmp_path, site)
        with monkeypatch.context() as without_browser:
            without_browser.setattr(renderer, "find_chromium", lambda: "")
            renderer.can_render.cache_clear()
            assert main(["refresh", "--all", *command]) == 0
            assert "rendered pages keep their last version" in capfd.readouterr().err
            assert b"comes in" in read_body(tmp_path, f"{site.root}/1")
            site.pages["/1"] = Page(b"<title>t</title><p>A page without scripts, and with other text</p>")
            assert main(["refresh", "--all", *command]) == 0
            assert b"with other text" in read_body(tmp_path, f"{site.root}/1")
        renderer.can_render.cache_clear()


def test_equal_shells_that_stop_a_pattern_are_named(tmp_path: Path) -> None:
    shell = b'<!doctype html><title>App</title><div id="root"></div><script src="/app.js"></script>'
    links = "".join(f'<a href="/item?id={n}">item</a>' for n in range(600)).encode()
    with Site({"/": Page(links), **{f"/item?id={n}": Page(shell) for n in range(600)}}) as site:
        request = build_render_request(site.root + "/", render="never")
        crawl(tmp_path, replace(request, limits=LimitSettings(repeat_limit=20)))
    with open_collection_read_only(tmp_path) as collection:
        notes = [row.detail for row in load_skipped_urls(collection.db, "u.reason = 'repeated_content'")]
    assert notes
    assert all("built by scripts" in note for note in notes)
