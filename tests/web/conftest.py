"""A small crawled site with a past, the app over it, and the same app on a port for a real browser."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.testclient import TestClient
from tests.support.site import Page, Site, html

from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.search.indexer import update_index
from sanderling.web.app import build_app
from sanderling.web.middleware import ClientRateLimiter
from sanderling.web.server import ServerAddress, open_app_state, open_socket
from sanderling.web.state import AppState

HOSTILE = b"""<!doctype html><html><head><title>Hostile plover</title>
<base href="https://elsewhere.example/"><meta http-equiv="refresh" content="0;url=/settings">
<link rel="stylesheet" href="javascript:alert(1)"><script>top.document.body.dataset.pwned = "script"</script>
<style>@import url(https://elsewhere.example/x.css); body { background: url(https://elsewhere.example/b.png) }</style>
</head><body onload="parent.document.body.dataset.pwned='onload'">
<p>The plover page tries everything.</p>
<script src="https://elsewhere.example/x.js"></script>
<img src="x" onerror="top.location='/settings'"><svg onload="fetch('/settings')"><script>top.pwned = 1</script></svg>
<iframe src="/settings"></iframe><object data="/settings"></object><embed src="/settings">
<form action="/settings" method="post"><button id="go" formaction="/logout">go</button></form>
<a id="js" href="javascript:top.document.body.dataset.pwned='link'">click</a>
<a id="out" href="https://elsewhere.example/" target="_top">out</a><a id="tern" href="/tern">tern</a>
<math><mi xlink:href="javascript:alert(1)">x</mi></math></body></html>"""

PAGES = {
    "/": html("/gull", "/tern", "/hostile", "/notes.txt", text="Shore birds"),
    "/gull": html("/", text="The gull eats everything it finds on the shore"),
    "/tern": html("/", "/gull", text="The tern dives for fish along the shore"),
    "/notes.txt": Page(b"Shore notes\n\nA <b>knot</b> was seen.", 200, {"Content-Type": "text/plain"}),
    "/hostile": Page(HOSTILE),
    **{f"/wader{i}": html("/", text=f"Wader number {i} runs along the shore") for i in range(12)},
}


def go(site: Site, folder: Path) -> None:
    """Visit everything once (again)."""
    request = CrawlRequest(
        seeds=tuple(site.root + path for path in site.pages),
        scope=ScopeSettings(sitemaps=False),
        politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=1),
    )
    crawl(folder, request)


class World:
    """A collection and the addresses in it."""

    def __init__(self, folder: Path, root: str) -> None:
        self.folder = folder
        self.root = root

    def url(self, path: str) -> str:
        """A page of the crawled site."""
        return self.root + path


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A site crawled twice, with one page changed between."""
    folder = tmp_path_factory.mktemp("world")
    with Site(PAGES) as site:
        go(site, folder)
        site.pages["/tern"] = html("/", "/gull", text="The tern now hovers over the shore before it dives for fish")
        go(site, folder)
        update_index(folder)
        yield World(folder, site.root)


def switch_on(rooms: AppState) -> None:
    """Switch on what an owner may: behaviour is recorded, and visitors may ask for more; but no process is started."""
    rooms.auth_store.set_setting("tracking", "on")
    rooms.auth_store.set_setting("crawl_more", "on")
    rooms.crawl_view.crawl_unmet_queries = lambda: False  # type: ignore[method-assign]


@pytest.fixture
def rooms(world: World) -> Iterator[AppState]:
    """The app's rooms, with nothing recorded in them yet."""
    made = open_app_state(world.folder, ServerAddress())
    made.event_log.erase()
    switch_on(made)
    yield made
    made.event_log.close()
    made.auth_store.close()


@pytest.fixture
def client(rooms: AppState) -> Iterator[TestClient]:
    """A browser without a screen, as far as headers go: it says when a request comes from our own page."""
    with TestClient(build_app(rooms, ["testserver"]), follow_redirects=False) as made:
        made.headers["sec-fetch-site"] = "same-origin"
        yield made


class Serving(threading.Thread):
    """The app on a real port."""

    def __init__(self, rooms: AppState) -> None:
        super().__init__(daemon=True)
        self.rooms = rooms
        self.socket = open_socket(ServerAddress(port=0))
        self.root = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.buckets = ClientRateLimiter(clock=lambda: 0.0)
        self.server = uvicorn.Server(
            uvicorn.Config(build_app(rooms, (), self.buckets), log_level="error", lifespan="on")
        )

    def run(self) -> None:
        """Serve until told to stop."""
        self.server.run(sockets=[self.socket])

    def stop(self) -> None:
        """Stop and wait for the end."""
        self.server.should_exit = True
        self.join()


@pytest.fixture(scope="module")
def served(world: World) -> Iterator[Serving]:
    """The app, reachable by a browser."""
    thread = Serving(open_app_state(world.folder, ServerAddress()))
    switch_on(thread.rooms)
    thread.start()
    yield thread
    thread.stop()
    thread.rooms.event_log.close()
    thread.rooms.auth_store.close()
