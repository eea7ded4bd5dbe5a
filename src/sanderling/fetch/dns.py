"""Names to addresses, remembered: what was found for ten minutes, what was not for one.

The system's resolver hides the time to live of its answers, so ours are fixed: short enough for a site that moves,
long enough that a crawl asks once per host and not once per page.
"""

import socket
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from msgspec import Struct

from sanderling.clock import Clock, real
from sanderling.fetch.address_guard import literal
from sanderling.models import Reason

POSITIVE_SECONDS = 600.0
NEGATIVE_SECONDS = 60.0
SIZE = 10_000  # names remembered
MOST_ADDRESSES = 8  # of one name; more are not tried
LOOPBACK = ("127.0.0.1", "::1")  # what all names below `localhost` stand for, and nobody is asked (RFC 6761, 6.3)

Lookup = Callable[[str], tuple[str, ...]]
"""Give the addresses of a name, best first; raise OSError if there are none."""


class Answer(Struct, frozen=True):
    """What a name stands for, and until when we believe it."""

    addresses: tuple[str, ...]
    expires_at: float
    reason: Reason = Reason.NONE  # DNS if there is no address
    note: str = ""


def system_lookup(hostname: str) -> tuple[str, ...]:
    """Ask the system's resolver."""
    found = socket.getaddrinfo(hostname, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


class Resolver:
    """A bounded memory in front of a lookup; may be used from many threads."""

    def __init__(self, lookup: Lookup = system_lookup, clock: Clock = real, size: int = SIZE) -> None:
        self._lookup = lookup
        self._clock = clock
        self._size = size
        self._known: OrderedDict[str, Answer] = OrderedDict()
        self._lock = Lock()

    def lookup(self, hostname: str) -> Answer:
        """Resolve a name; an address stands for itself."""
        address = literal(hostname)
        if address is not None:
            return Answer((address,), self._clock() + POSITIVE_SECONDS)
        name = hostname.rstrip(".").lower()
        return self._remembered(name) or self._remember(name, self._ask(name))

    def _remembered(self, name: str) -> Answer | None:
        with self._lock:
            answer = self._known.get(name)
            if answer is None or answer.expires_at <= self._clock():
                return None
            self._known.move_to_end(name)
            return answer

    def _ask(self, name: str) -> Answer:
        try:
            addresses = LOOPBACK if name.endswith(".localhost") else self._lookup(name)[:MOST_ADDRESSES]
            note = "" if addresses else "the name has no address"
        except (OSError, UnicodeError) as error:  # UnicodeError: a label too long or empty
            addresses, note = (), str(error)
        if addresses:
            return Answer(addresses, self._clock() + POSITIVE_SECONDS)
        return Answer((), self._clock() + NEGATIVE_SECONDS, Reason.DNS, note)

    def _remember(self, name: str, answer: Answer) -> Answer:
        with self._lock:
            self._known[name] = answer
            self._known.move_to_end(name)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return answer
