"""Change lists: the crawler asks a site with the publisher instead of visiting every page."""

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from tests.publisher.conftest import BROWSER

from sanderling.config.settings import HttpSettings, PolitenessSettings, RevisitSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.refresh import RefreshMode, RefreshSummary, refresh
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.db.connection import Connection
from sanderling.publisher import PublishedSite, WsgiPublisher
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages

DAY = 86_400.0
SECOND_LEVEL = ("11", "12", "13", "21", "22", "23", "31", "32", "41")
NAMES = ("/", *(f"/wp{n}" for n in (*"12345", *SECOND_LEVEL)))  # the 15 pages of DPS
OLD = "The tide comes in twice a day and leaves shells on the sand, and the birds know it well."
NEW = "Something else entirely was written here this morning, about ships, and about storms far out at sea."


class PublishedWeb:
    """Fifteen pages behind the publisher. Counts requests (`asked`) and bodies (`sent`)."""

    def __init__(self, state: Path, port: int) -> None:
        self.root = f"http://127.0.0.1:{port}"
        self.words = dict.fromkeys(NAMES, OLD)
        self.asked: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()
        self.questions: list[str] = []
        self.broken: bytes | None = None  # returned instead of the list
        self.status = "200 OK"
        self.silent = False  # no robots.txt line and no link header
        self.publisher = WsgiPublisher(self.page, PublishedSite(self.root, state, page_size=4))

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        self.asked[path] += 1
        if path == "/changes.xml":
            self.questions.append(environ["QUERY_STRING"])
            if self.broken is not None:
                start(self.status, [("Content-Type", "application/xml")])
                return [self.broken]
        if self.silent and path in ("/robots.txt", "/sitemap.xml", *NAMES):
            return self.page(environ, start)
        return self.publisher(environ, start)

    def page(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path not in self.words:
            start("404 Not Found", [])
            return [b"nothing"]
        links = "".join(f'<a href="{name}">{name}</a> ' for name in self.words)
        body = f"<title>{path}</title><p>{self.words[path]} This is {path}.<p>{links}".encode()
        tag = f'"{hash(body):x}"'
        if environ.get("HTTP_IF_NONE_MATCH") == tag:
            start("304 Not Modified", [("ETag", tag)])
            return []
        self.sent[path] += 1
        start("200 OK", [("Content-Type", "text/html; charset=utf-8"), ("ETag", tag)])
        return [body]

    def view(self, priorities: dict[str, float]) -> None:
        """Simulate page views in proportion to these priorities."""
        ignore: StartResponse = lambda status, headers, exc_info=None, /: lambda data: None  # noqa: E731
        for path, priority in priorities.items():
            for _ in range(round(100 * priority)):
                environ = {"PATH_INFO": path, "REQUEST_METHOD": "GET", "HTTP_USER_AGENT": BROWSER}
                list(self.publisher(environ, ignore))

    def rewrite(self, paths: Iterable[str], announce: bool = True) -> None:
        for path in paths:
            self.words[path] = f"{NEW} {len(self.words[path])}"
            if announce:
                self.publisher.recorder.mark_changed(path)

    def clear(self) -> None:
        self.asked.clear()
        self.sent.clear()
        self.questions.clear()


class QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def web(tmp_path: Path) -> Iterator[PublishedWeb]:
    with serve(tmp_path / "publisher.db") as site:
        yield site


@contextmanager
def serve(state: Path) -> Iterator[PublishedWeb]:
    with WSGIServer(("127.0.0.1", 0), QuietHandler) as server:
        site = PublishedWeb(state, server.server_port)
        server.set_app(site)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
            site.publisher.recorder.close()


def request(web: PublishedWeb, threshold: float = 0.0) -> CrawlRequest:
    return CrawlRequest(
        (web.root + "/",),
        scope=ScopeSettings(sitemaps=True),
        politeness=PolitenessSettings(delay=0, backoff=0.2, concurrency=1),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=1),
        revisit=RevisitSettings(threshold=threshold),
    )


def run_refresh(web: PublishedWeb, folder: Path, days: float = 0.0, threshold: float = 0.0) -> RefreshSummary:
    return refresh(folder, request(web, threshold), RefreshMode.ONCE, clock=lambda: time.time() + days * DAY)


def build_collection(web: PublishedWeb, folder: Path) -> Path:
    """Crawl the site and request its change list once."""
    crawl(folder, request(web))
    run_refresh(web, folder)
    web.clear()
    return folder


SCENARIOS = [
    ({"/": 1.0, "/wp1": 0.8, "/wp31": 0.75, "/wp32": 0.75}, 0.75, 2),
    ({"/": 1.0, "/wp1": 0.95, "/wp11": 0.95, "/wp12": 0.90, "/wp13": 0.80, "/wp4": 0.80}, 0.80, 4),
    ({"/": 1.0, "/wp1": 0.9, "/wp11": 0.93, "/wp12": 0.92, "/wp2": 0.7, "/wp23": 0.75, "/wp4": 0.65, "/wp5": 0.65},
     0.90, 3),
]  # fmt: skip


@pytest.mark.parametrize(("priorities", "threshold", "downloads"), SCENARIOS)
def test_paper_scenarios_give_two_four_and_three_downloads(
    web: PublishedWeb, tmp_path: Path, priorities: dict[str, float], threshold: float, downloads: int
) -> None:
    folder = build_collection(web, tmp_path / "c")
    web.view(priorities)
    web.rewrite(priorities)
    web.clear()
    seen = run_refresh(web, folder, threshold=threshold)
    expected = {path for path, priority in priorities.items() if priority > threshold}
    assert (seen.visited, seen.changed) == (downloads, downloads)
    assert +web.sent == Counter(expected)
    assert not web.asked["/sitemap.xml"]
    rest = run_refresh(web, folder)
    assert rest.changed == len(priorities) - downloads


def test_unchanged_site_costs_one_change_list_request(web: PublishedWeb, tmp_path: Path) -> None:
    folder = build_collection(web, tmp_path / "c")
    seen = run_refresh(web, folder, days=30)
    assert seen.visited == 1  # the sample that tests the list
    assert web.asked["/changes.xml"] == 1
    assert not +web.sent
    assert sum(web.asked[path] for path in NAMES) == 1


def test_next_request_has_server_time_and_all_parts_are_fetched(web: PublishedWeb, tmp_path: Path) -> None:
    folder = build_collection(web, tmp_path / "c")
    web.rewrite(NAMES[:9])
    assert run_refresh(web, folder).changed == 9
    assert ["after=" in question for question in web.questions] == [False, True, True]
    with open_collection_read_only(folder) as collection:
        (until,) = collection.db.execute("SELECT until FROM change_lists").fetchone()
    web.clear()
    assert run_refresh(web, folder).visited == 0
    assert web.questions == ["LAST_VISIT=" + until.replace(":", "%3A")]


def test_listed_deletion_is_gone_after_one_visit_and_new_page_is_fetched(web: PublishedWeb, tmp_path: Path) -> None:
    folder = build_collection(web, tmp_path / "c")
    del web.words["/wp5"]
    web.publisher.recorder.mark_deleted("/wp5")
    web.words["/new"] = OLD
    web.publisher.recorder.mark_changed("/new")
    seen = run_refresh(web, folder)
    assert (seen.visited, seen.gone, seen.new) == (2, 1, 1)
    assert load_present(folder) == {web.root + path for path in (*NAMES, "/new") if path != "/wp5"}


def load_present(folder: Path) -> set[str]:
    with open_collection_read_only(folder) as collection:
        return {row.url for row in load_pages(collection.db, "p.status = 200")}


def test_existing_page_listed_as_deleted_is_kept(web: PublishedWeb, tmp_path: Path) -> None:
    folder = build_collection(web, tmp_path / "c")
    web.publisher.recorder.mark_deleted("/wp5")
    assert run_refresh(web, folder).gone == 0
    assert web.root + "/wp5" in load_present(folder)


def test_incomplete_change_list_loses_trust(web: PublishedWeb, tmp_path: Path) -> None:
    folder = build_collection(web, tmp_path / "c")
    web.rewrite(NAMES, announce=False)
    seen = run_refresh(web, folder, days=30)
    assert (seen.visited, seen.changed) == (15, 15)
    web.rewrite(NAMES[:1], announce=False)
    assert run_refresh(web, folder, days=60).visited == 15  # still not trusted


def test_imprecise_change_list_loses_trust(web: PublishedWeb, tmp_path: Path) -> None:
    folder = build_collection(web, tmp_path / "c")
    asked = []
    for _ in range(3):
        for path in NAMES:
            web.publisher.recorder.mark_changed(path)
        asked.append(run_refresh(web, folder).visited)
    assert asked[0] == 15
    with open_collection_read_only(folder) as collection:
        assert not is_trusted(collection.db)


def is_trusted(db: Connection) -> bool:
    from sanderling.revisit.change_lists import TRUSTED_SQL

    return db.execute(f"SELECT 1 FROM change_lists WHERE {TRUSTED_SQL}").fetchone() is not None


@pytest.mark.parametrize(
    ("status", "body"),
    [
        ("404 Not Found", b"no such thing"),
        ("400 Bad Request", b"LAST_VISIT is in the future"),
        ("200 OK", b"<html>we moved to a new system"),
        ("200 OK", b'<urlset><rs:md capability="changelist" until="tomorrow"/></urlset>'),
    ],
)
def test_invalid_change_list_falls_back_to_schedule(
    web: PublishedWeb, tmp_path: Path, status: str, body: bytes
) -> None:
    folder = build_collection(web, tmp_path / "c")
    web.status, web.broken = status, body
    web.rewrite(NAMES[:3], announce=False)
    seen = run_refresh(web, folder, days=30)
    assert (seen.visited, seen.changed) == (15, 3)
    web.broken = None
    run_refresh(web, folder, days=30)
    with open_collection_read_only(folder) as collection:
        assert is_trusted(collection.db)  # trusted again


def test_endless_change_list_is_given_up(web: PublishedWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.revisit.change_lists.MAX_PARTS", 5)
    folder = build_collection(web, tmp_path / "c")
    web.broken = (
        f'<urlset><rs:md capability="changelist" until="2024-05-01T10:00:00Z"/>'
        f'<rs:ln rel="next" href="{web.root}/changes.xml?again"/></urlset>'
    ).encode()
    assert run_refresh(web, folder, days=30).visited == 15
    assert len(web.questions) == 5


def test_change_list_at_well_known_path_is_found(web: PublishedWeb, tmp_path: Path) -> None:
    web.silent = True
    web.words = {"/": OLD}  # hardly a link: all well-known paths are tried
    folder = tmp_path / "c"
    crawl(folder, request(web))
    with open_collection_read_only(folder) as collection:
        (request_url,) = collection.db.execute("SELECT request_url FROM urls WHERE role = 'changes'").fetchone()
    assert request_url.startswith(f"{web.root}/changes.xml?LAST_VISIT=")
