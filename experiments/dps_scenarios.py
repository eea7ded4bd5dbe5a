"""DPS Table 5.1: downloads per scenario, with the middleware at the site's end and the real crawler at the other."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIServer

from experiments.frame import Figure, Row, Series, Table, exact, measured
from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.publisher import PublishedSite, RequestRecorder, WsgiPublisher
from sanderling.publisher.changelist_parser import build_changelist_url, parse_changelist
from sanderling.publisher.publish_server import make_quiet_server

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

TITLE = "DPS Table 5.1: downloads per scenario, end to end (measured)"

PAGES = ("/", *(f"/wp{n}" for n in (1, 2, 3, 4, 5, 11, 12, 13, 21, 22, 23, 31, 32, 33)))
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


@dataclass(frozen=True, slots=True)
class Scenario:
    """Pages that were updated with the priority each has, the threshold, and what the table prints."""

    updated: dict[str, float]
    threshold: float
    existing: int
    printed: str
    proposed: int


SCENARIOS = {
    "I": Scenario({"/": 1.0, "/wp1": 0.8, "/wp31": 0.75, "/wp32": 0.75}, 0.75, 4, "2", 2),
    "II": Scenario({"/": 1.0, "/wp1": 0.95, "/wp11": 0.95, "/wp12": 0.9, "/wp13": 0.8, "/wp4": 0.8}, 0.80, 6, "4", 4),
    "III": Scenario(
        {"/": 1.0, "/wp1": 0.9, "/wp11": 0.93, "/wp12": 0.92, "/wp2": 0.7, "/wp23": 0.75, "/wp4": 0.65, "/wp5": 0.65},
        *(0.90, 8, "3 (prose: 4)", 3),
    ),
}


class Shop:
    """A site of fifteen pages that counts what crawlers fetch."""

    def __init__(self) -> None:
        self.versions = dict.fromkeys(PAGES, 1)
        self.fetched: list[str] = []

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path not in self.versions:
            start_response("404 Not Found", [("Content-Type", "text/plain")])
            return [b""]
        if environ.get("HTTP_USER_AGENT") != BROWSER:
            self.fetched.append(path)
        links = "".join(f'<a href="{page}">{page}</a> ' for page in PAGES)
        body = f"<!doctype html><title>{path}</title><p>version {self.versions[path]} of {path}</p>{links}".encode()
        headers = [
            ("Content-Type", "text/html"),
            ("ETag", f'"{self.versions[path]}"'),
            ("Content-Length", str(len(body))),
        ]
        start_response("200 OK", headers)
        return [body]


@dataclass(frozen=True, slots=True)
class Downloads:
    """What three kinds of crawler fetch in one scenario, and what stays stale with ours."""

    normal: int
    existing: int
    proposed: int
    stale: int


def play(scenario: Scenario) -> Downloads:
    """Crawl, let people view and the owner edit, then come back by the list of changes."""
    shop = Shop()
    with tempfile.TemporaryDirectory() as folder, serving(shop, Path(folder)) as (root, desk):
        crawl(Path(folder, "all"), _request([root + "/"], "host"))
        normal = len(shop.fetched)
        list_address = f"{root}/changes.xml"
        first = parse_changelist(get(root, build_changelist_url("/changes.xml", "0")), list_address)
        view(root, scenario.updated)
        for path in scenario.updated:
            shop.versions[path] += 1
            desk.mark_changed(path)
        changed = parse_changelist(
            get(root, build_changelist_url("/changes.xml", first.until or "0")), list_address
        ).changes
        selected = [change.url for change in changed if (change.priority or 0) > scenario.threshold]
        shop.fetched.clear()
        crawl(Path(folder, "some"), _request(selected, "page"))
        return Downloads(normal, len(changed), len(shop.fetched), len(scenario.updated) - len(shop.fetched))


def _request(seeds: list[str], scope: Any) -> CrawlRequest:
    return CrawlRequest(
        seeds=tuple(seeds),
        scope=ScopeSettings(scope=scope, sitemaps=False),
        politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=1),
    )


def view(root: str, priorities: dict[str, float]) -> None:
    """Let people view pages as often as the priorities say."""
    connection = HTTPConnection(root.removeprefix("http://"))
    for path, priority in priorities.items():
        for _ in range(round(100 * priority)):
            connection.request("GET", path, headers={"User-Agent": BROWSER})
            connection.getresponse().read()
    connection.close()


def get(root: str, target: str) -> bytes:
    """Fetch one document."""
    connection = HTTPConnection(root.removeprefix("http://"))
    connection.request("GET", target, headers={"User-Agent": "sanderling"})
    body = connection.getresponse().read()
    connection.close()
    return body


@contextmanager
def serving(app: Callable[..., Iterable[bytes]], folder: Path) -> Iterator[tuple[str, RequestRecorder]]:
    """Serve an application behind the middleware."""
    server: WSGIServer = make_quiet_server("127.0.0.1", 0)
    root = f"http://127.0.0.1:{server.server_port}"
    desk = RequestRecorder(PublishedSite(root, folder / "publisher.db"))
    server.set_app(WsgiPublisher(app, desk.site, desk))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield root, desk
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        desk.close()


def table() -> Table:
    """Play all three."""
    played = {name: play(scenario) for name, scenario in SCENARIOS.items()}
    figure = Figure(
        "Downloads per scenario",
        tuple(SCENARIOS),
        (
            Series("normal", tuple(float(one.normal) for one in played.values())),
            Series("LAST_VISIT only", tuple(float(one.existing) for one in played.values())),
            Series("with priorities", tuple(float(one.proposed) for one in played.values())),
        ),
        "downloads",
    )
    rows = tuple(row for name in SCENARIOS for row in _rows(name, played[name]))
    return Table(TITLE, rows, "The saving is bought with changed pages of low priority that stay stale.", figure)


def _rows(name: str, found: Downloads) -> Iterator[Row]:
    scenario = SCENARIOS[name]
    yield exact(f"{name}: normal crawler", 15, 15, found.normal)
    yield exact(f"{name}: LAST_VISIT only", scenario.existing, scenario.existing, found.existing)
    yield exact(
        f"{name}: with priorities above {scenario.threshold}", scenario.printed, scenario.proposed, found.proposed
    )
    stale = scenario.existing - scenario.proposed
    yield measured(f"{name}: changed pages left stale", None, stale, found.stale, stale, stale)
