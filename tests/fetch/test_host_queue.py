"""The line at one host's door."""

import pytest

from sanderling.fetch.host_queue import HostQueue, parse_endpoint
from sanderling.models import FetchBatch, FetchTask, Host, RobotsTxt, Url

HOST = Host("http://a.test")


def line(delay: float = 1.0, connections: int = 1, robots: str | None = None, stops: int = 3) -> HostQueue:
    made = HostQueue(HOST)
    rules = None if robots is None else RobotsTxt(HOST, 200, robots.encode(), 0.0, 1e9)
    urls = tuple(FetchTask(n, 1, Url(f"{HOST}/{n}")) for n in range(stops))
    made.extend(FetchBatch(HOST, urls, (), rules, delay, connections), (), "sanderling", 0.0)
    return made


def test_the_next_knock_is_a_delay_after_the_last() -> None:
    at = line(delay=2.0)
    at.mark_started(now=100.0)
    assert at.ready_at == 102.0


def test_a_crawl_delay_raises_the_pause_and_closes_all_doors_but_one() -> None:
    at = line(delay=0.0, connections=4, robots="User-agent: *\nCrawl-delay: 7")
    assert at.crawl_delay == 7.0
    at.mark_started(now=0.0)
    assert not at.is_ready


def test_a_small_crawl_delay_does_not_lower_our_own() -> None:
    assert line(delay=5.0, robots="User-agent: *\nCrawl-delay: 1").crawl_delay == 5.0


def test_no_more_connections_than_allowed() -> None:
    at = line(connections=2)
    at.mark_started(0.0)
    assert at.is_ready
    at.mark_started(0.0)
    assert not at.is_ready


def test_a_slow_server_gets_a_longer_rest_up_to_a_limit() -> None:
    at = line(delay=1.0)
    at.mark_started(now=0.0)
    at.delay_after_slow_response(started_at=0.0, duration_seconds=3.0, factor=5.0, max_delay=30.0)
    assert at.ready_at == 15.0
    at.delay_after_slow_response(started_at=0.0, duration_seconds=60.0, factor=5.0, max_delay=30.0)
    assert at.ready_at == 30.0


def test_a_fast_server_keeps_the_plain_delay() -> None:
    at = line(delay=1.0)
    at.mark_started(now=0.0)
    at.delay_after_slow_response(started_at=0.0, duration_seconds=0.1, factor=5.0, max_delay=30.0)
    assert at.ready_at == 1.0


def test_ones_own_server_needs_no_rest() -> None:
    at = line(delay=0.0)
    at.mark_started(now=0.0)
    at.delay_after_slow_response(started_at=0.0, duration_seconds=3.0, factor=5.0, max_delay=30.0)
    assert at.ready_at == 0.0


def test_a_robots_txt_of_a_time_that_is_yet_to_come_is_asked_for_again() -> None:
    at = line()
    at.set_robots(RobotsTxt(HOST, 200, b"User-agent: *\nDisallow: /", 5000.0, 91_400.0), "sanderling")
    at.extend(FetchBatch(HOST, ()), (), "sanderling", now=5001.0)
    assert at.robots_rules is not None
    at.extend(FetchBatch(HOST, ()), (), "sanderling", now=1000.0)
    assert at.robots_rules is None


def test_an_old_robots_txt_is_asked_for_again() -> None:
    at = line(robots="User-agent: *\nDisallow: /")
    assert at.robots_rules is not None
    at.extend(FetchBatch(HOST, ()), (), "sanderling", now=2e9)
    assert at.robots_rules is None


def test_new_addresses_make_a_new_door() -> None:
    at = line()
    before = at.endpoint
    at.extend(FetchBatch(HOST, ()), (), "sanderling", 0.0)
    assert at.endpoint is before
    at.extend(FetchBatch(HOST, ()), ("8.8.8.8", "2001:4860::8"), "sanderling", 0.0)
    assert at.endpoint.resolve_entry == "a.test:80:8.8.8.8,[2001:4860::8]"


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
def test_a_host_is_a_name_and_a_port(host: str, name: str, port: int) -> None:
    door = parse_endpoint(Host(host))
    assert (door.hostname, door.port) == (name, port)
