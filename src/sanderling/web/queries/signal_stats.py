"""The signals between components as the dashboard shows them: all of them, raised or not."""

from msgspec import Struct

from sanderling.storage.signal_log import ROUTES, Raised
from sanderling.web.state import Rooms

RECENT = 200  # signals of users that are looked through


class SignalRow(Struct, frozen=True):
    """One signal: from whom to whom, what it means, and when it was last raised (0: never seen)."""

    name: str
    source: str
    target: str
    meaning: str
    at: float = 0.0
    count: int = 0
    detail: str = ""


def signal_rows(rooms: Rooms) -> list[SignalRow]:
    """Every signal in the order of the crawl; of users' signals the words are known here alone."""
    last = rooms.window.signals()
    for raised in reversed(rooms.log.signals(RECENT)):
        known = last.get(raised.signal)
        if known is None or raised.at >= int(known.at * 1000) / 1000:  # the log's times end at milliseconds
            last[raised.signal] = raised
    rows = [(signal, route, last.get(signal, Raised(0.0, signal))) for signal, route in ROUTES.items()]
    return [SignalRow(signal.value, *route, seen.at, seen.count, seen.detail) for signal, route, seen in rows]
