"""Names to addresses, remembered."""

import socket

import pytest

from sanderling.clock import SimulatedClock
from sanderling.fetch.dns import NEGATIVE_SECONDS, POSITIVE_SECONDS, DnsResolver
from sanderling.models import Reason


class Names:
    """A name service that counts how often it is asked."""

    def __init__(self, table: dict[str, tuple[str, ...]]) -> None:
        self.table = table
        self.asked: list[str] = []

    def __call__(self, hostname: str) -> tuple[str, ...]:
        self.asked.append(hostname)
        try:
            return self.table[hostname]
        except KeyError:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known") from None


@pytest.fixture
def clock() -> SimulatedClock:
    return SimulatedClock(1000.0)


def test_a_name_is_asked_for_once_until_its_answer_is_old(clock: SimulatedClock) -> None:
    names = Names({"a.test": ("8.8.8.8",)})
    resolver = DnsResolver(names, clock)
    assert resolver.lookup("a.test").addresses == ("8.8.8.8",)
    clock.advance(POSITIVE_SECONDS - 1)
    assert resolver.lookup("A.test.").addresses == ("8.8.8.8",)
    assert names.asked == ["a.test"]
    clock.advance(1)
    names.table["a.test"] = ("9.9.9.9",)
    assert resolver.lookup("a.test").addresses == ("9.9.9.9",)


def test_every_name_below_localhost_is_this_machine_and_nobody_is_asked(clock: SimulatedClock) -> None:
    names = Names({"localhost": ("127.0.0.1",)})
    resolver = DnsResolver(names, clock)
    for name in ("shop.localhost", "a.b.LOCALHOST."):
        assert resolver.lookup(name).addresses == ("127.0.0.1", "::1")
    assert names.asked == []
    assert resolver.lookup("notlocalhost").reason is Reason.DNS


def test_a_missing_name_is_remembered_for_a_shorter_time(clock: SimulatedClock) -> None:
    names = Names({})
    resolver = DnsResolver(names, clock)
    answer = resolver.lookup("b.test")
    assert (answer.addresses, answer.reason) == ((), Reason.DNS)
    assert "not known" in answer.detail
    resolver.lookup("b.test")
    assert names.asked == ["b.test"]
    clock.advance(NEGATIVE_SECONDS)
    names.table["b.test"] = ("8.8.4.4",)
    assert resolver.lookup("b.test").reason is Reason.NONE


def test_a_name_without_any_address_is_a_missing_name(clock: SimulatedClock) -> None:
    assert DnsResolver(Names({"c.test": ()}), clock).lookup("c.test").reason is Reason.DNS


def test_an_address_needs_no_asking(clock: SimulatedClock) -> None:
    names = Names({})
    assert DnsResolver(names, clock).lookup("0x7f.1").addresses == ("127.0.0.1",)
    assert DnsResolver(names, clock).lookup("[::1]").addresses == ("::1",)
    assert names.asked == []


def test_the_memory_is_bounded_and_forgets_the_least_used(clock: SimulatedClock) -> None:
    names = Names({f"{n}.test": ("8.8.8.8",) for n in range(4)})
    resolver = DnsResolver(names, clock, size=2)
    for name in ("0.test", "1.test", "0.test", "2.test", "0.test", "1.test"):
        resolver.lookup(name)
    assert names.asked == ["0.test", "1.test", "2.test", "1.test"]


def test_a_name_no_resolver_can_spell_is_a_missing_name(clock: SimulatedClock) -> None:
    assert DnsResolver(clock=clock).lookup("a" * 80 + ".test").reason is Reason.DNS


def test_the_system_knows_localhost() -> None:
    assert {"127.0.0.1", "::1"} & set(DnsResolver().lookup("localhost").addresses)
