"""DNS resolver with a cache: 10 minutes for addresses, 1 minute for failures.

The system resolver does not expose TTLs.
"""

import socket
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from msgspec import Struct

from sanderling.clock import Clock, system_clock
from sanderling.fetch.address_guard import parse_ip_literal
from sanderling.models import Reason

POSITIVE_SECONDS = 600.0
NEGATIVE_SECONDS = 60.0
CACHE_SIZE = 10_000
MAX_ADDRESSES = 8  # tried per name
LOOPBACK = ("127.0.0.1", "::1")  # of all names below `localhost`, without a lookup (RFC 6761, 6.3)

DnsLookup = Callable[[str], tuple[str, ...]]
"""Return the addresses of a name, best first. Raises OSError if there are none."""


class DnsAnswer(Struct, frozen=True):
    """Addresses of a name and when they expire."""

    addresses: tuple[str, ...]
    expires_at: float
    reason: Reason = Reason.NONE  # DNS if there is no address
    detail: str = ""


def lookup_with_system(hostname: str) -> tuple[str, ...]:
    results = socket.getaddrinfo(hostname, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in results))


class DnsResolver:
    """Bounded, thread-safe cache in front of a lookup function."""

    def __init__(
        self, lookup: DnsLookup = lookup_with_system, clock: Clock = system_clock, size: int = CACHE_SIZE
    ) -> None:
        self._lookup = lookup
        self._clock = clock
        self._size = size
        self._cache: OrderedDict[str, DnsAnswer] = OrderedDict()
        self._lock = Lock()

    def lookup(self, hostname: str) -> DnsAnswer:
        """Resolve a name; an IP literal is returned as its own address."""
        address = parse_ip_literal(hostname)
        if address is not None:
            return DnsAnswer((address,), self._clock() + POSITIVE_SECONDS)
        name = hostname.rstrip(".").lower()
        return self._get_cached(name) or self._cache_answer(name, self._query(name))

    def _get_cached(self, name: str) -> DnsAnswer | None:
        with self._lock:
            answer = self._cache.get(name)
            if answer is None or answer.expires_at <= self._clock():
                return None
            self._cache.move_to_end(name)
            return answer

    def _query(self, name: str) -> DnsAnswer:
        try:
            addresses = LOOPBACK if name.endswith(".localhost") else self._lookup(name)[:MAX_ADDRESSES]
            detail = "" if addresses else "the host name has no address"
        except (OSError, UnicodeError) as error:  # UnicodeError: a label too long or empty
            addresses, detail = (), str(error)
        if addresses:
            return DnsAnswer(addresses, self._clock() + POSITIVE_SECONDS)
        return DnsAnswer((), self._clock() + NEGATIVE_SECONDS, Reason.DNS, detail)

    def _cache_answer(self, name: str, answer: DnsAnswer) -> DnsAnswer:
        with self._lock:
            self._cache[name] = answer
            self._cache.move_to_end(name)
            while len(self._cache) > self._size:
                self._cache.popitem(last=False)
        return answer
