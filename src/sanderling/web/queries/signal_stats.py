"""The signals between components as the dashboard shows them: all of them, raised or not."""

from msgspec import Struct

from sanderling.storage.signal_log import SIGNAL_ROUTES, SignalEvent
from sanderling.web.state import AppState

RECENT_SIGNALS = 200  # signals of users that are looked through


class SignalRow(Struct, frozen=True):
    """One signal: from whom to whom, what it means, and when it was last raised (0: never seen)."""

    name: str
    source: str
    target: str
    meaning: str
    at: float = 0.0
    count: int = 0
    detail: str = ""


def list_signals(app_state: AppState) -> list[SignalRow]:
    """Every signal in the order of the crawl; of users' signals the words are known here alone."""
    last = app_state.crawl_view.get_last_signals()
    for raised in reversed(app_state.event_log.list_signals(RECENT_SIGNALS)):
        known = last.get(raised.signal)
        if (
            known is None or raised.raised_at >= int(known.raised_at * 1000) / 1000
        ):  # the log's times end at milliseconds
            last[raised.signal] = raised
    rows = [(signal, route, last.get(signal, SignalEvent(0.0, signal))) for signal, route in SIGNAL_ROUTES.items()]
    return [SignalRow(signal.value, *route, seen.raised_at, seen.count, seen.detail) for signal, route, seen in rows]
