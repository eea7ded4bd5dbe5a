"""How a first answer is packed, and what the web server is asked for that."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from sanderling.models import Host
from sanderling.workers.migrant.compression import CompressionPolicy
from sanderling.workers.migrant.messages import MigrantRequest, RequestedUrl
from sanderling.workers.migrant.owner_rules import SiteRules
from sanderling.workers.migrant.rate_limit import SiteRateLimiter


@contextmanager
def answering(coding: str) -> Iterator[tuple[str, list[str]]]:
    """A server that answers questions with this content coding, and writes down what it was asked."""
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
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://docs.example:{server.server_port}", asked
        server.shutdown()
        thread.join()


def is_small(site: SiteRules, *paths: str, packing: CompressionPolicy | None = None) -> bool:
    letter = MigrantRequest("sender", "host", Host(site.site), 0.0, 1e12, b"", tuple(map(RequestedUrl, paths)))
    return (packing or CompressionPolicy({site.site: SiteRateLimiter(site)})).should_minimize_size(site, letter)


def test_a_first_answer_is_packed_small_where_the_web_server_compresses() -> None:
    with answering("gzip") as (site, asked):
        assert is_small(SiteRules(site), "/start")
        assert asked == [f"/start {site.removeprefix('http://')} gzip, br, zstd"]
    with answering("") as (site, _):
        assert not is_small(SiteRules(site), "/")
    assert not is_small(SiteRules(site), "/"), "nobody answers any more"


def test_a_web_server_is_asked_once_and_at_its_owners_rate() -> None:
    with answering("gzip") as (root, asked):
        site, ticks, waits = SiteRules(root, pages_per_second=1.0), [0.0], list[float]()
        gate = SiteRateLimiter(site, monotonic=lambda: ticks[0])
        assert gate.acquire(1) == 1, "somebody else was let in just now"

        def wait() -> None:
            waits.append(ticks[0])
            assert not asked
            ticks[0] += 0.5

        packing, gate.wait = CompressionPolicy({root: gate}), wait  # type: ignore[method-assign]
        assert is_small(site, "/a", packing=packing)
        assert is_small(site, "/b", packing=packing)
        assert len(asked) == 1
        assert waits == [0.0, 0.5]
        assert gate.acquire(1) == 0, "the question was counted"


def test_a_web_server_that_does_not_answer_is_asked_again() -> None:
    with answering("gzip") as (root, _):
        site, dead = SiteRules(root), SiteRules(root, address="127.0.0.99")
        packing = CompressionPolicy({root: SiteRateLimiter(site)})
        assert not is_small(dead, "/", packing=packing)
        assert is_small(site, "/", packing=packing)


def test_only_what_the_owner_admits_is_asked_for_spelled_anew() -> None:
    with answering("gzip") as (root, asked):
        site = SiteRules(root, paths=("/docs/",), not_paths=("/docs/private/",))
        assert not is_small(site, "/", "//docs/private/x", "http://[/")
        assert asked == []
        assert is_small(site, "/other", "/docs/../docs/a b")
        assert [line.split(" ")[0] for line in asked] == ["/docs/a%20b"]


@pytest.mark.parametrize(("pack", "small"), [("small", True), ("fast", False)])
def test_the_owner_may_say_how_an_answer_is_packed(pack: str, small: bool) -> None:
    assert is_small(SiteRules("http://127.0.0.1:9", compression=pack), "/") is small  # type: ignore[arg-type]
