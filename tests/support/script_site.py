"""A loopback site whose pages are built by scripts, and crawls that render it."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.site import Page, Site

from sanderling.clock import Clock, system_clock
from sanderling.config.settings import HttpSettings, PolitenessSettings, RenderSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, CrawlSummary, crawl
from sanderling.workers.browser.renderer import can_render

needs_browser = pytest.mark.skipif(not can_render(), reason="no browser: make browser")

APP = """
const root = document.getElementById("app"), id = location.pathname.slice(1);
async function main() {
  if (!id) {
    const items = await (await fetch("/api/list")).json();
    root.innerHTML = "<main><h1>Catalog</h1><ul>" + items.map(i => `<li><a href="/${i}">Item ${i}</a></li>`).join("")
      + "</ul></main>";
  } else {
    const item = await (await fetch("/api/item/" + id)).json();
    document.title = item.title;
    root.innerHTML = `<nav><a href="/">home</a></nav><main><h1>${item.title}</h1><p>${item.text}</p></main>`;
  }
}
main();
"""
SHELL = '<!doctype html><title>App</title><body><div id="app"></div><noscript>No scripts?</noscript>'


def script_page(script: str, markup: str = "<p>static</p>") -> Page:
    """Return a page with an inline script."""
    return Page(f"<!doctype html><title>a page</title><body>{markup}<script>{script}</script></body>".encode())


def json_page(value: object) -> Page:
    return Page(json.dumps(value).encode(), headers={"Content-Type": "application/json"})


def text_page(text: str, mime: str) -> Page:
    return Page(text.encode(), headers={"Content-Type": mime})


def build_shop(texts: Mapping[str, str]) -> dict[str, Page]:
    """Return a single-page application with an item per text, whose pages all have the same bytes."""
    shell = Page(f'{SHELL}<script src="/app.js"></script>'.encode())
    pages = {"/": shell, "/app.js": text_page(APP, "text/javascript"), "/api/list": json_page(list(texts))}
    for name, text in texts.items():
        pages |= {f"/{name}": shell, f"/api/item/{name}": json_page({"title": f"Item {name}", "text": text})}
    return pages


def build_render_request(*urls: str, delay: float = 0.0, **rendering: object) -> CrawlRequest:
    return CrawlRequest(
        urls,
        scope=ScopeSettings(sitemaps=False),
        politeness=PolitenessSettings(delay=delay),
        fetching=HttpSettings(allow_private=True),
        rendering=RenderSettings(**{"render": "always", **rendering}),  # type: ignore[arg-type]
        workers=WorkerSettings(workers=1),
    )


def crawl_rendered(
    folder: Path, site: Site, delay: float = 0.0, clock: Clock = system_clock, **rendering: object
) -> CrawlSummary:
    return crawl(folder, build_render_request(site.root + "/", delay=delay, **rendering), clock=clock)
