"""The line at one host's door."""

import pytest

from sanderling.fetch.host_queue import Line, door_of
from sanderling.models import Host, Itinerary, Robots, Stop, Url

HOST = Host("http://a.test")


def line(delay: float = 1.0, connections: int = 1, robots: str | None = None, stops: int = 3) -> Line:
    made = Line(HOST)
    rules = None if robots is None else Robots(HOST, 200, robots.encode(), 0.0, 1e9)
    urls = tuple(Stop(n, 1, Url(f"{HOST}/{n}")) for n in range(stops))
    made.join(Itinerary(HOST, urls, (), rules, delay, connections), (), "sanderling", 0.0)
    return made


def test_the_next_knock_is_a_delay_after_the_last() -> None:
    at = line(delay=2.0)
    at.knock(now=100.0)
    assert at.open_at == 102.0


def test_a_crawl_delay_raises_the_pause_and_closes_all_doors_but_one() -> None:
    at = line(delay=0.0, connections=4, robots="User-agent: *\nCrawl-delay: 7")
    assert at.pause == 7.0
    at.knock(now=0.0)
    assert not at.is_ready


def test_a_small_crawl_delay_does_not_lower_our_own() -> None:
    assert line(delay=5.0, robots="User-agent: *\nCrawl-delay: 1").pause == 5.0


def test_no_more_connections_than_allowed() -> None:
    at = line(connections=2)
    at.knock(0.0)
    assert at.is_ready
    at.knock(0.0)
    assert not at.is_ready


def test_a_slow_server_gets_a_longer_rest_up_to_a_limit() -> None:
    at = line(delay=1.0)
    at.knock(now=0.0)
    at.rest(started=0.0, seconds=3.0, factor=5.0, longest=30.0)
    assert at.open_at == 15.0
    at.rest(started=0.0, seconds=60.0, factor=5.0, longest=30.0)
    assert at.open_at == 30.0


def test_a_fast_server_keeps_the_plain_delay() -> None:
    at = line(delay=1.0)
    at.knock(now=0.0)
    at.rest(started=0.0, seconds=0.1, factor=5.0, longest=30.0)
    assert at.open_at == 1.0


def test_ones_own_server_needs_no_rest() -> None:
    at = line(delay=0.0)
    at.knock(now=0.0)
    at.rest(started=0.0, seconds=3.0, factor=5.0, longest=30.0)
    assert at.open_at == 0.0


def test_a_robots_txt_of_a_time_that_is_yet_to_come_is_asked_for_again() -> None:
    at = line()
    at.obey(Robots(HOST, 200, b"User-agent: *\nDisallow: /", 5000.0, 91_400.0), "sanderling")
    at.join(Itinerary(HOST, ()), (), "sanderling", now=5001.0)
    assert at.rules is not None
    at.join(Itinerary(HOST, ()), (), "sanderling", now=1000.0)
    assert at.rules is None


def test_an_old_robots_txt_is_asked_for_again() -> None:
    at = line(robots="User-agent: *\nDisallow: /")
    assert at.rules is not None
    at.join(Itinerary(HOST, ()), (), "sanderling", now=2e9)
    assert at.rules is None


def test_new_addresses_make_a_new_door() -> None:
    at = line()
    before = at.door
    at.join(Itinerary(HOST, ()), (), "sanderling", 0.0)
    assert at.door is before
    at.join(Itinerary(HOST, ()), ("8.8.8.8", "2001:4860::8"), "sanderling", 0.0)
    assert at.door.pin == "a.test:80:8.8.8.8,[2001:4860::8]"


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
    door = door_of(Host(host))
    assert (door.name, door.port) == (name, port)
