"""Tasks and crawl delay of a host."""

import pytest

from sanderling.fetch.host_queue import HostQueue, parse_endpoint
from sanderling.models import FetchBatch, FetchTask, Host, RobotsTxt, Url

HOST = Host("http://a.test")


def build_queue(delay: float = 1.0, connections: int = 1, robots: str | None = None, tasks: int = 3) -> HostQueue:
    queue = HostQueue(HOST)
    rules = None if robots is None else RobotsTxt(HOST, 200, robots.encode(), 0.0, 1e9)
    urls = tuple(FetchTask(n, 1, Url(f"{HOST}/{n}")) for n in range(tasks))
    queue.extend(FetchBatch(HOST, urls, (), rules, delay, connections), (), "sanderling", 0.0)
    return queue


def test_next_request_waits_for_the_crawl_delay() -> None:
    queue = build_queue(delay=2.0)
    queue.mark_started(now=100.0)
    assert queue.ready_at == 102.0


def test_robots_crawl_delay_limits_to_a_single_connection() -> None:
    queue = build_queue(delay=0.0, connections=4, robots="User-agent: *\nCrawl-delay: 7")
    assert queue.crawl_delay == 7.0
    queue.mark_started(now=0.0)
    assert not queue.is_ready


def test_smaller_robots_delay_does_not_lower_the_base_delay() -> None:
    assert build_queue(delay=5.0, robots="User-agent: *\nCrawl-delay: 1").crawl_delay == 5.0


def test_connection_limit() -> None:
    queue = build_queue(connections=2)
    queue.mark_started(0.0)
    assert queue.is_ready
    queue.mark_started(0.0)
    assert not queue.is_ready


def test_slow_response_extends_the_delay_up_to_a_limit() -> None:
    queue = build_queue(delay=1.0)
    queue.mark_started(now=0.0)
    queue.delay_after_slow_response(started_at=0.0, duration_seconds=3.0, factor=5.0, max_delay=30.0)
    assert queue.ready_at == 15.0
    queue.delay_after_slow_response(started_at=0.0, duration_seconds=60.0, factor=5.0, max_delay=30.0)
    assert queue.ready_at == 30.0


def test_fast_response_keeps_the_base_delay() -> None:
    queue = build_queue(delay=1.0)
    queue.mark_started(now=0.0)
    queue.delay_after_slow_response(started_at=0.0, duration_seconds=0.1, factor=5.0, max_delay=30.0)
    assert queue.ready_at == 1.0


def test_zero_delay_is_not_extended() -> None:
    queue = build_queue(delay=0.0)
    queue.mark_started(now=0.0)
    queue.delay_after_slow_response(started_at=0.0, duration_seconds=3.0, factor=5.0, max_delay=30.0)
    assert queue.ready_at == 0.0


def test_robots_txt_from_the_future_is_fetched_again() -> None:
    queue = build_queue()
    queue.set_robots(RobotsTxt(HOST, 200, b"User-agent: *\nDisallow: /", 5000.0, 91_400.0), "sanderling")
    queue.extend(FetchBatch(HOST, ()), (), "sanderling", now=5001.0)
    assert queue.robots_rules is not None
    queue.extend(FetchBatch(HOST, ()), (), "sanderling", now=1000.0)
    assert queue.robots_rules is None


def test_expired_robots_txt_is_fetched_again() -> None:
    queue = build_queue(robots="User-agent: *\nDisallow: /")
    assert queue.robots_rules is not None
    queue.extend(FetchBatch(HOST, ()), (), "sanderling", now=2e9)
    assert queue.robots_rules is None


def test_new_addresses_replace_the_endpoint() -> None:
    queue = build_queue()
    before = queue.endpoint
    queue.extend(FetchBatch(HOST, ()), (), "sanderling", 0.0)
    assert queue.endpoint is before
    queue.extend(FetchBatch(HOST, ()), ("8.8.8.8", "2001:4860::8"), "sanderling", 0.0)
    assert queue.endpoint.resolve_entry == "a.test:80:8.8.8.8,[2001:4860::8]"


@pytest.mark.parametrize(
    ("host", "name", "port"),
    [
        ("http://a.test", "a.test", 80),
        ("https://a.test", "a.test", 443),
        ("http://a.test:8080", "a.test", 8080),
        ("http://[::1]", "::1", 80),
        ("https://[::1]:8443", "::1", 8443),
    ],
)
def test_endpoint_has_name_and_port(host: str, name: str, port: int) -> None:
    endpoint = parse_endpoint(Host(host))
    assert (endpoint.hostname, endpoint.port) == (name, port)


def test_delay_counts_from_when_the_request_was_sent() -> None:
    queue = build_queue(delay=1.0)
    queue.mark_started(now=0.0)
    queue.delay_after_request(sent_at=0.4)  # connecting took as long
    assert queue.ready_at == 1.4
    queue.delay_after_request(sent_at=0.1)
    assert queue.ready_at == 1.4
