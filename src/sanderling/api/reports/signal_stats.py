"""The signals between components for the dashboard."""

from msgspec import Struct

from sanderling.api.reports.crawl_view import CollectionCrawlView
from sanderling.search.feedback.event_log import EventLog
from sanderling.storage.signal_log import SIGNAL_ROUTES, SignalEvent

RECENT_SIGNALS = 200  # rows of the event log


class SignalRow(Struct, frozen=True):
    """A signal, and when it was last raised (0: never)."""

    name: str
    source: str
    target: str
    meaning: str
    at: float = 0.0
    count: int = 0
    detail: str = ""


def list_signals(crawl_view: CollectionCrawlView, event_log: EventLog) -> list[SignalRow]:
    """Return all signals with their last event, from the log of the crawl and that of the search page."""
    last = crawl_view.get_last_signals()
    for raised in reversed(event_log.list_signals(RECENT_SIGNALS)):
        logged = last.get(raised.signal)
        if logged is None or raised.raised_at >= int(logged.raised_at * 1000) / 1000:  # signals.log has milliseconds
            last[raised.signal] = raised
    rows = [(signal, route, last.get(signal, SignalEvent(0.0, signal))) for signal, route in SIGNAL_ROUTES.items()]
    return [
        SignalRow(signal.value, *route, event.raised_at, event.count, event.detail) for signal, route, event in rows
    ]
