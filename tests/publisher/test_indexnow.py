"""Pings to a real server on loopback."""

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


class Engine(ThreadingHTTPServer):
    """A search engine that listens."""

    status = 200
    heard: list[dict[str, Any]]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Ear)
        self.heard = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/indexnow"


class Ear(BaseHTTPRequestHandler):
    server: Engine

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append(json.loads(body))
        self.send_response(self.server.status)
        self.send_header("Location", "http://127.0.0.1:1/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine()
    thread = Thread(target=engine.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield engine
    engine.shutdown()
    thread.join()
    engine.server_close()


@pytest.fixture
def keyed(site: PublishedSite) -> PublishedSite:
    return PublishedSite(site.base_url, site.state_file, indexnow_key="abcdef0123456789")


def test_changes_are_told_once(db: Connection, keyed: PublishedSite, engine: Engine) -> None:
    publish(db, keyed, {"/old": 1})
    assert announce_changes(db, keyed, engine.address) == 0  # what was there before is no news
    publish(db, keyed, {"/new": 1}, NOW + 1)
    write_batch(db, keyed, PathRules(), ActivityBatch(gone_paths={"/old"}), NOW + 2)
    assert announce_changes(db, keyed, engine.address) == 2
    assert announce_changes(db, keyed, engine.address) == 0
    assert engine.heard == [
        {
            "host": "example.org",
            "key": "abcdef0123456789",
            "keyLocation": "https://example.org/abcdef0123456789.txt",
            "urlList": ["https://example.org/new", "https://example.org/old"],
        }
    ]


@pytest.mark.parametrize("status", [400, 403, 422, 429, 500, 302])
def test_a_refused_ping_is_told_again_later(db: Connection, keyed: PublishedSite, engine: Engine, status: int) -> None:
    publish(db, keyed, {"/old": 1})
    announce_changes(db, keyed, engine.address)
    publish(db, keyed, {"/new": 1}, NOW + 1)
    engine.status = status
    assert announce_changes(db, keyed, engine.address) == 0
    engine.status = 202
    assert announce_changes(db, keyed, engine.address) == 1


def test_an_engine_that_is_away_costs_nothing(db: Connection, keyed: PublishedSite) -> None:
    publish(db, keyed, {"/old": 1})
    announce_changes(db, keyed, "http://127.0.0.1:1/")
    publish(db, keyed, {"/new": 1}, NOW + 1)
    assert announce_changes(db, keyed, "http://127.0.0.1:1/") == 0


def test_many_changes_of_one_moment_go_in_several_pings(db: Connection, keyed: PublishedSite, engine: Engine) -> None:
    publish(db, keyed, {"/old": 1})
    announce_changes(db, keyed, engine.address)
    publish(db, keyed, dict.fromkeys((f"/{n}" for n in range(MAX_URLS_PER_PING + 5)), 0), NOW + 1)
    assert announce_changes(db, keyed, engine.address) == MAX_URLS_PER_PING + 5
    assert [len(heard["urlList"]) for heard in engine.heard] == [MAX_URLS_PER_PING, 5]


def test_a_key_that_cannot_be_is_refused(db: Connection, site: PublishedSite) -> None:
    with pytest.raises(UsageError, match="IndexNow key"):
        announce_changes(db, PublishedSite(site.base_url, site.state_file, indexnow_key="short"))
