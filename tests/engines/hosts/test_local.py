"""The site as its own machine sees it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from sanderling.engines.hosts.local import ByHttp, is_small
from sanderling.engines.hosts.rules import Site
from sanderling.records import Itinerary, Stop, Url


@contextmanager
def answering(coding: str) -> Iterator[tuple[str, list[str]]]:
    """A server that answers one question with this content coding, and writes down what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            asked.append(f"{self.path} {self.headers['Host']} {self.headers['Accept-Encoding']}")
            self.send_response(200)
            if coding:
                self.send_header("Content-Encoding", coding)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        yield f"http://docs.example:{server.server_port}", asked
        thread.join()


def test_a_first_answer_is_packed_small_where_the_web_server_compresses() -> None:
    with answering("gzip") as (site, asked):
        assert is_small(Site(site), "/start")
        assert asked == [f"/start {site.removeprefix('http://')} gzip, br, zstd"]
    with answering("") as (site, _):
        assert not is_small(Site(site), "/")
    assert not is_small(Site(site), "/"), "nobody answers any more"


def test_pages_that_were_let_in_do_not_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate counts them; a second pause here would halve what the owner allows."""
    local = ByHttp(Site("http://127.0.0.1:9", pages_per_second=0.001, connections=3), "sanderling")
    taken: list[Itinerary] = []
    monkeypatch.setattr(local.trip, "accept", taken.append)
    local.accept([Stop(1, 0, Url("http://127.0.0.1:9/"))])
    assert (taken[0].delay_seconds, taken[0].connections) == (0.0, 3)
    local.close()


def test_the_owner_may_say_how_an_answer_is_packed() -> None:
    assert is_small(Site("http://127.0.0.1:9", pack="small"), "/")
    assert not is_small(Site("http://127.0.0.1:9", pack="fast"), "/")
