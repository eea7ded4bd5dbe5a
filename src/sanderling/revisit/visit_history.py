"""What is remembered of a page: a few numbers that one look updates in constant time, small enough for a table row."""

import msgspec
from msgspec import Struct

RECENT_VISITS = 10  # visits that the share of changes is taken over: "6 of 10" in SAR; so a page can recover
FIRST_INTERVAL = 7 * 86_400.0  # of a page nothing is known of


class Observation(Struct, frozen=True):
    """What one completed visit tells a policy. The first visit of a page is a look that found no change."""

    visited_at: float
    has_changed: bool = False  # the content differs from the copy we had
    modified_at: float = 0.0  # when the server says it changed (Last-Modified); 0 if it does not say
    cost_bytes: float = 0.0  # bytes that came over the wire


class VisitHistory(Struct, frozen=True, array_like=True):
    """All that policies remember of one page."""

    first_visit: float  # visit
    last_visit: float  # completed visit
    visits: int = 1
    changes: int = 0
    changed_at: float = 0.0  # of the visit that found the last change; the first visit if none did
    interval: float = FIRST_INTERVAL  # in force, of policies that keep one
    recent_bits: int = 1  # the last visits as bits behind a leading 1, newest lowest; 1 = changed
    rate_evidence: bytes = b""  # evidence of its rate (rates.py)
    announcement_count: int = 0  # times it was announced as changed since the last visit
    announced_at: float = 0.0  # the latest change that was announced
    announcer_bits: int = 0  # kinds of signal that cover this page, as bits (trust.py)
    periodicity: int = 0  # hours and weekdays at which it changes, as far as known (phase.py)
    cost_bytes: float = 0.0  # bytes of a usual visit
    changefreq_class: int = 0  # its class of change by the sitemap, as a place in sitemap.SAID; 0: none

    @property
    def change_share(self) -> float:
        """Share of the last visits that found a change."""
        looks = self.recent_bits.bit_length() - 1
        return (self.recent_bits.bit_count() - 1) / looks if looks else 0.0


def start_history(visited_at: float, cost_bytes: float = 0.0) -> VisitHistory:
    """The history of a page fetched for the first time."""
    return VisitHistory(visited_at, visited_at, changed_at=visited_at, cost_bytes=cost_bytes)


def record_observation(history: VisitHistory, observation: Observation) -> VisitHistory:
    """Count one more completed visit; what a policy learns beyond that it adds itself."""
    recent = history.recent_bits << 1 | observation.has_changed
    if recent.bit_length() > RECENT_VISITS + 1:
        recent = recent & (1 << RECENT_VISITS) - 1 | 1 << RECENT_VISITS
    return VisitHistory(
        history.first_visit,
        observation.visited_at,
        history.visits + 1,
        history.changes + observation.has_changed,
        observation.visited_at if observation.has_changed else history.changed_at,
        history.interval,
        recent,
        history.rate_evidence,
        0,
        history.announced_at,
        history.announcer_bits,
        history.periodicity,
        observation.cost_bytes
        if history.cost_bytes <= 0
        else 0.75 * history.cost_bytes + 0.25 * observation.cost_bytes,
        history.changefreq_class,
    )


def set_interval(history: VisitHistory, interval: float) -> VisitHistory:
    """The history with another interval in force."""
    return msgspec.structs.replace(history, interval=interval)


def encode_history(history: VisitHistory) -> bytes:
    """The history as stored in a row; under 200 bytes."""
    return msgspec.msgpack.encode(history)


def decode_history(stored: bytes) -> VisitHistory:
    """The history of a row."""
    return msgspec.msgpack.decode(stored, type=VisitHistory)
