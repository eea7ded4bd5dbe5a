"""Tests of IndexNow pings to a real server on loopback."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from tests.publisher.conftest import NOW, publish

from sanderling.errors import UsageError
from sanderling.publisher.change_log import ActivityBatch, write_batch
from sanderling.publisher.indexnow import MAX_URLS_PER_PING, announce_changes
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.robots_rules import PathRules
from sanderling.publisher.state_db import Connection


class SearchEngine(ThreadingHTTPServer):
    """An IndexNow server that records pings."""

    status = 200
    pings: list[dict[str, Any]]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), PingHandler)
        self.pings = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/indexnow"


class PingHandler(BaseHTTPRequestHandler):
    server: SearchEngine

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.pings.append(json.loads(body))
        self.send_response(self.server.status)
        self.send_header("Location", "http://127.0.0.1:1/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def engine() -> Iterator[SearchEngine]:
    engine = SearchEngine()
    thread = Thread(target=engine.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield engine
    engine.shutdown()
    thread.join()
    engine.server_close()


@pytest.fixture
def site_with_key(site: PublishedSite) -> PublishedSite:
    return PublishedSite(site.base_url, site.state_file, indexnow_key="abcdef0123456789")


def test_changes_are_announced_once(db: Connection, site_with_key: PublishedSite, engine: SearchEngine) -> None:
    publish(db, site_with_key, {"/old": 1})
    assert announce_changes(db, site_with_key, engine.address) == 0  # existing pages are not announced
    publish(db, site_with_key, {"/new": 1}, NOW + 1)
    write_batch(db, site_with_key, PathRules(), ActivityBatch(gone_paths={"/old"}), NOW + 2)
    assert announce_changes(db, site_with_key, engine.address) == 2
    assert announce_changes(db, site_with_key, engine.address) == 0
    assert engine.pings == [
        {
            "host": "example.org",
            "key": "abcdef0123456789",
            "keyLocation": "https://example.org/abcdef0123456789.txt",
            "urlList": ["https://example.org/new", "https://example.org/old"],
        }
    ]


@pytest.mark.parametrize("status", [400, 403, 422, 429, 500, 302])
def test_rejected_ping_is_retried(
    db: Connection, site_with_key: PublishedSite, engine: SearchEngine, status: int
) -> None:
    publish(db, site_with_key, {"/old": 1})
    announce_changes(db, site_with_key, engine.address)
    publish(db, site_with_key, {"/new": 1}, NOW + 1)
    engine.status = status
    assert announce_changes(db, site_with_key, engine.address) == 0
    engine.status = 202
    assert announce_changes(db, site_with_key, engine.address) == 1


def test_unreachable_endpoint_announces_nothing(db: Connection, site_with_key: PublishedSite) -> None:
    publish(db, site_with_key, {"/old": 1})
    announce_changes(db, site_with_key, "http://127.0.0.1:1/")
    publish(db, site_with_key, {"/new": 1}, NOW + 1)
    assert announce_changes(db, site_with_key, "http://127.0.0.1:1/") == 0


def test_many_simultaneous_changes_are_split_into_pings(
    db: Connection, site_with_key: PublishedSite, engine: SearchEngine
) -> None:
    publish(db, site_with_key, {"/old": 1})
    announce_changes(db, site_with_key, engine.address)
    publish(db, site_with_key, dict.fromkeys((f"/{n}" for n in range(MAX_URLS_PER_PING + 5)), 0), NOW + 1)
    assert announce_changes(db, site_with_key, engine.address) == MAX_URLS_PER_PING + 5
    assert [len(ping["urlList"]) for ping in engine.pings] == [MAX_URLS_PER_PING, 5]


def test_invalid_key_is_rejected(db: Connection, site: PublishedSite) -> None:
    with pytest.raises(UsageError, match="IndexNow key"):
        announce_changes(db, PublishedSite(site.base_url, site.state_file, indexnow_key="short"))
