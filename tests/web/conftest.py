"""A site crawled twice, its application, and a server for a browser."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette
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


def crawl_site(site: Site, folder: Path) -> None:
    request = CrawlRequest(
        seeds=tuple(site.root + path for path in site.pages),
        scope=ScopeSettings(sitemaps=False),
        politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=1),
    )
    crawl(folder, request)


class CrawledSite:
    def __init__(self, folder: Path, root: str) -> None:
        self.folder = folder
        self.root = root

    def url(self, path: str) -> str:
        return self.root + path


@pytest.fixture(scope="session")
def crawled_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CrawledSite]:
    """Crawl a site twice, with a changed page between the crawls."""
    folder = tmp_path_factory.mktemp("crawled_site")
    with Site(PAGES) as site:
        crawl_site(site, folder)
        site.pages["/tern"] = html("/", "/gull", text="The tern now hovers over the shore before it dives for fish")
        crawl_site(site, folder)
        update_index(folder)
        yield CrawledSite(folder, site.root)


def enable_tracking(app_state: AppState) -> None:
    """Switch on recording and unmet queries, but start no process."""
    app_state.auth_store.set_setting("tracking", "on")
    app_state.auth_store.set_setting("crawl_more", "on")
    app_state.crawl_view.crawl_unmet_queries = lambda: False  # type: ignore[method-assign]


@pytest.fixture
def app_state(crawled_site: CrawledSite) -> Iterator[AppState]:
    state = open_app_state(crawled_site.folder, ServerAddress())
    state.event_log.erase()
    enable_tracking(state)
    yield state
    state.close()


@pytest.fixture
def client(app_state: AppState) -> Iterator[TestClient]:
    """Return a client whose requests appear same-origin."""
    with TestClient(build_app(app_state, ["testserver"]), follow_redirects=False) as test_client:
        test_client.headers["sec-fetch-site"] = "same-origin"
        yield test_client


class ServerThread(threading.Thread):
    """The application on a real port."""

    def __init__(self, app_state: AppState) -> None:
        super().__init__(daemon=True)
        self.app_state = app_state
        self.socket = open_socket(ServerAddress(port=0))
        self.root = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.rate_limiter = ClientRateLimiter(clock=lambda: 0.0)
        guarded = build_app(app_state, (), self.rate_limiter)
        assert isinstance(guarded.app, Starlette)
        self.app = guarded.app
        self.server = uvicorn.Server(uvicorn.Config(guarded, log_level="error", lifespan="on"))

    def run(self) -> None:
        self.server.run(sockets=[self.socket])

    def stop(self) -> None:
        self.server.should_exit = True
        self.join()


@pytest.fixture(scope="module")
def server_thread(crawled_site: CrawledSite) -> Iterator[ServerThread]:
    thread = ServerThread(open_app_state(crawled_site.folder, ServerAddress()))
    enable_tracking(thread.app_state)
    thread.start()
    yield thread
    thread.stop()
    thread.app_state.close()
