"""DNS resolver and its cache."""

import socket

import pytest
from tests.support.simulated_clock import SimulatedClock

from sanderling.fetch.dns import NEGATIVE_SECONDS, POSITIVE_SECONDS, DnsResolver
from sanderling.models import Reason


class FakeLookup:
    """A lookup function that records its calls."""

    def __init__(self, table: dict[str, tuple[str, ...]]) -> None:
        self.table = table
        self.calls: list[str] = []

    def __call__(self, hostname: str) -> tuple[str, ...]:
        self.calls.append(hostname)
        try:
            return self.table[hostname]
        except KeyError:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known") from None


@pytest.fixture
def clock() -> SimulatedClock:
    return SimulatedClock(1000.0)


def test_answer_is_cached_until_it_expires(clock: SimulatedClock) -> None:
    lookup = FakeLookup({"a.test": ("8.8.8.8",)})
    resolver = DnsResolver(lookup, clock)
    assert resolver.lookup("a.test").addresses == ("8.8.8.8",)
    clock.advance(POSITIVE_SECONDS - 1)
    assert resolver.lookup("A.test.").addresses == ("8.8.8.8",)
    assert lookup.calls == ["a.test"]
    clock.advance(1)
    lookup.table["a.test"] = ("9.9.9.9",)
    assert resolver.lookup("a.test").addresses == ("9.9.9.9",)


def test_names_below_localhost_are_loopback_without_lookup(clock: SimulatedClock) -> None:
    lookup = FakeLookup({"localhost": ("127.0.0.1",)})
    resolver = DnsResolver(lookup, clock)
    for name in ("shop.localhost", "a.b.LOCALHOST."):
        assert resolver.lookup(name).addresses == ("127.0.0.1", "::1")
    assert lookup.calls == []
    assert resolver.lookup("notlocalhost").reason is Reason.DNS


def test_failure_is_cached_for_a_shorter_time(clock: SimulatedClock) -> None:
    lookup = FakeLookup({})
    resolver = DnsResolver(lookup, clock)
    answer = resolver.lookup("b.test")
    assert (answer.addresses, answer.reason) == ((), Reason.DNS)
    assert "not known" in answer.detail
    resolver.lookup("b.test")
    assert lookup.calls == ["b.test"]
    clock.advance(NEGATIVE_SECONDS)
    lookup.table["b.test"] = ("8.8.4.4",)
    assert resolver.lookup("b.test").reason is Reason.NONE


def test_name_without_address_is_a_dns_failure(clock: SimulatedClock) -> None:
    assert DnsResolver(FakeLookup({"c.test": ()}), clock).lookup("c.test").reason is Reason.DNS


def test_ip_literal_needs_no_lookup(clock: SimulatedClock) -> None:
    lookup = FakeLookup({})
    assert DnsResolver(lookup, clock).lookup("0x7f.1").addresses == ("127.0.0.1",)
    assert DnsResolver(lookup, clock).lookup("[::1]").addresses == ("::1",)
    assert lookup.calls == []


def test_cache_is_bounded_and_evicts_least_recently_used(clock: SimulatedClock) -> None:
    lookup = FakeLookup({f"{n}.test": ("8.8.8.8",) for n in range(4)})
    resolver = DnsResolver(lookup, clock, size=2)
    for name in ("0.test", "1.test", "0.test", "2.test", "0.test", "1.test"):
        resolver.lookup(name)
    assert lookup.calls == ["0.test", "1.test", "2.test", "1.test"]


def test_invalid_label_is_a_dns_failure(clock: SimulatedClock) -> None:
    assert DnsResolver(clock=clock).lookup("a" * 80 + ".test").reason is Reason.DNS


def test_system_resolver_resolves_localhost() -> None:
    assert {"127.0.0.1", "::1"} & set(DnsResolver().lookup("localhost").addresses)
