"""What is remembered of a page: a few numbers that one look updates in constant time, small enough for a table row."""

import msgspec
from msgspec import Struct

WINDOW = 10  # visits that the share of changes is taken over: "6 of 10" in SAR; so a page can recover
FIRST_INTERVAL = 7 * 86_400.0  # of a page nothing is known of


class Look(Struct, frozen=True):
    """What one completed visit tells a policy. The first visit of a page is a look that found no change."""

    at: float
    changed: bool = False  # the content differs from the copy we had
    modified: float = 0.0  # when the server says it changed (Last-Modified); 0 if it does not say
    cost: float = 0.0  # bytes that came over the wire


class History(Struct, frozen=True, array_like=True):
    """All that policies remember of one page."""

    first: float  # visit
    last: float  # completed visit
    visits: int = 1
    changes: int = 0
    changed_at: float = 0.0  # of the visit that found the last change; the first visit if none did
    interval: float = FIRST_INTERVAL  # in force, of policies that keep one
    recent: int = 1  # the last visits as bits behind a leading 1, newest lowest; 1 = changed
    belief: bytes = b""  # evidence of its rate (rates.py)
    signals: int = 0  # times it was announced as changed since the last visit
    announced_at: float = 0.0  # the latest change that was announced
    announced_by: int = 0  # kinds of signal that cover this page, as bits (trust.py)
    phase: int = 0  # hours and weekdays at which it changes, as far as known (phase.py)
    cost: float = 0.0  # bytes of a usual visit
    said: int = 0  # its class of change by the sitemap, as a place in sitemap.SAID; 0: none

    @property
    def share(self) -> float:
        """Share of the last visits that found a change."""
        looks = self.recent.bit_length() - 1
        return (self.recent.bit_count() - 1) / looks if looks else 0.0


def begin(at: float, cost: float = 0.0) -> History:
    """The history of a page fetched for the first time."""
    return History(at, at, changed_at=at, cost=cost)


def observe(history: History, look: Look) -> History:
    """Count one more completed visit; what a policy learns beyond that it adds itself."""
    recent = history.recent << 1 | look.changed
    if recent.bit_length() > WINDOW + 1:
        recent = recent & (1 << WINDOW) - 1 | 1 << WINDOW
    return History(
        history.first,
        look.at,
        history.visits + 1,
        history.changes + look.changed,
        look.at if look.changed else history.changed_at,
        history.interval,
        recent,
        history.belief,
        0,
        history.announced_at,
        history.announced_by,
        history.phase,
        look.cost if history.cost <= 0 else 0.75 * history.cost + 0.25 * look.cost,
        history.said,
    )


def keeping(history: History, interval: float) -> History:
    """The history with another interval in force."""
    return msgspec.structs.replace(history, interval=interval)


def encode(history: History) -> bytes:
    """The history as stored in a row; under 200 bytes."""
    return msgspec.msgpack.encode(history)


def decode(stored: bytes) -> History:
    """The history of a row."""
    return msgspec.msgpack.decode(stored, type=History)
