"""The visit history of a page: a few numbers that each visit updates in constant time."""

import msgspec
from msgspec import Struct

RECENT_VISITS = 10  # window of the change share ("6 of 10" in SAR), so that a page can recover
FIRST_INTERVAL = 7 * 86_400.0  # of policies with an interval per page, before anything is known
DAY = 86_400.0


class Observation(Struct, frozen=True):
    """Result of a completed visit. The first visit of a page counts as unchanged."""

    visited_at: float
    has_changed: bool = False  # differs from the stored copy
    modified_at: float = 0.0  # Last-Modified; 0: not sent
    cost_bytes: float = 0.0  # transferred


class VisitHistory(Struct, frozen=True, array_like=True):
    """Everything that policies know about a page."""

    first_visit: float
    last_visit: float
    visits: int = 1
    changes: int = 0
    changed_at: float = 0.0  # visit that found the last change, or the first visit
    interval: float = FIRST_INTERVAL  # for policies with an interval per page
    recent_bits: int = 1  # bits after a leading 1, newest lowest; 1: changed
    exposure: float = 0.0  # days in which `evidence` was found, see site_model.py
    announcement_count: int = 0  # since the last visit
    announced_at: float = 0.0
    announcer_bits: int = 0  # announcers that cover the page, see announcements.py
    born_at: float = 0.0  # 0: existed when its site was first crawled
    cost_bytes: float = 0.0  # moving average
    changefreq_class: int = 0  # index into announcements.CHANGEFREQ_CLASSES; 0: none
    false_announcements: float = 0.0
    covered_days: float = 0.0  # in which announcements could have been made
    silent_changes: float = 0.0  # found without an announcement
    silent_expected: float = 0.0  # expected at visits without an announcement
    evidence: float = 0.0  # changes found; older ones count less

    @property
    def change_share(self) -> float:
        """Share of the recent visits that found a change."""
        visits = self.recent_bits.bit_length() - 1
        return (self.recent_bits.bit_count() - 1) / visits if visits else 0.0


def start_history(visited_at: float, cost_bytes: float = 0.0, born_at: float = 0.0) -> VisitHistory:
    return VisitHistory(visited_at, visited_at, changed_at=visited_at, cost_bytes=cost_bytes, born_at=born_at)


def record_observation(history: VisitHistory, observation: Observation) -> VisitHistory:
    """Add a completed visit; policies add the rest."""
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
        history.exposure,
        0,
        history.announced_at,
        history.announcer_bits,
        history.born_at,
        observation.cost_bytes
        if history.cost_bytes <= 0
        else 0.75 * history.cost_bytes + 0.25 * observation.cost_bytes,
        history.changefreq_class,
        history.false_announcements,
        history.covered_days,
        history.silent_changes,
        history.silent_expected,
        history.evidence,
    )


def set_interval(history: VisitHistory, interval: float) -> VisitHistory:
    return msgspec.structs.replace(history, interval=interval)


def encode_history(history: VisitHistory) -> bytes:
    """Encode a history for its table row, in less than 200 bytes."""
    return msgspec.msgpack.encode(history)


def decode_history(stored: bytes) -> VisitHistory:
    """Decode a history, also one of an older version, which has a rate distribution in place of the exposure."""
    try:
        return _DECODER.decode(stored)
    except msgspec.ValidationError:
        values = msgspec.msgpack.decode(stored)
        days = (values[1] - values[0]) / DAY
        visits, changes = values[2], values[3]
        values[7] = max(days, 0.0) * (1 - 0.5 * changes / max(visits - 1, 1))  # a change is in the middle on average
        values[11] = 0.0
        history = msgspec.convert(values, VisitHistory)
        return msgspec.structs.replace(history, evidence=float(changes))


_DECODER = msgspec.msgpack.Decoder(VisitHistory)
