"""Compression of the first response, and the probe of the web server."""

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
def serving(encoding: str) -> Iterator[tuple[str, list[str]]]:
    """Serve HEAD requests with a content encoding. Yields the URL and the recorded requests."""
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            requests.append(f"{self.path} {self.headers['Host']} {self.headers['Accept-Encoding']}")
            self.send_response(200)
            if encoding:
                self.send_header("Content-Encoding", encoding)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://docs.example:{server.server_port}", requests
        server.shutdown()
        thread.join()


def is_small(site: SiteRules, *paths: str, policy: CompressionPolicy | None = None) -> bool:
    request = MigrantRequest("sender", "host", Host(site.site), 0.0, 1e12, b"", tuple(map(RequestedUrl, paths)))
    return (policy or CompressionPolicy({site.site: SiteRateLimiter(site)})).should_minimize_size(site, request)


def test_first_response_is_small_if_the_web_server_compresses() -> None:
    with serving("gzip") as (site, requests):
        assert is_small(SiteRules(site), "/start")
        assert requests == [f"/start {site.removeprefix('http://')} gzip, br, zstd"]
    with serving("") as (site, _):
        assert not is_small(SiteRules(site), "/")
    assert not is_small(SiteRules(site), "/"), "the server is gone"


def test_web_server_is_probed_once_within_the_rate_limit() -> None:
    with serving("gzip") as (root, requests):
        site, ticks, waits = SiteRules(root, pages_per_second=1.0), [0.0], list[float]()
        rate_limiter = SiteRateLimiter(site, monotonic=lambda: ticks[0])
        assert rate_limiter.acquire(1) == 1, "the limit is used up"

        def wait() -> None:
            waits.append(ticks[0])
            assert not requests
            ticks[0] += 0.5

        policy, rate_limiter.wait = CompressionPolicy({root: rate_limiter}), wait  # type: ignore[method-assign]
        assert is_small(site, "/a", policy=policy)
        assert is_small(site, "/b", policy=policy)
        assert len(requests) == 1
        assert waits == [0.0, 0.5]
        assert rate_limiter.acquire(1) == 0, "the probe was counted"


def test_web_server_without_a_response_is_probed_again() -> None:
    with serving("gzip") as (root, _):
        site, dead = SiteRules(root), SiteRules(root, address="127.0.0.99")
        policy = CompressionPolicy({root: SiteRateLimiter(site)})
        assert not is_small(dead, "/", policy=policy)
        assert is_small(site, "/", policy=policy)


def test_only_allowed_paths_are_probed_in_normalized_form() -> None:
    with serving("gzip") as (root, requests):
        site = SiteRules(root, paths=("/docs/",), not_paths=("/docs/private/",))
        assert not is_small(site, "/", "//docs/private/x", "http://[/")
        assert requests == []
        assert is_small(site, "/other", "/docs/../docs/a b")
        assert [line.split(" ")[0] for line in requests] == ["/docs/a%20b"]


@pytest.mark.parametrize(("compression", "small"), [("small", True), ("fast", False)])
def test_owner_may_set_the_compression(compression: str, small: bool) -> None:
    assert is_small(SiteRules("http://127.0.0.1:9", compression=compression), "/") is small  # type: ignore[arg-type]
