"""Which changes were already sent, for each set of targets and conditions.

A page visited before another may be stored after it. So the last hour is searched again, without the changes already
sent.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import DecodeError, Struct, ValidationError, convert, field, json

from sanderling.db.stored_keys import rename_keys

OVERLAP_SECONDS = 3_600.0
RENAMED_KEYS = {"told": "sent_changes"}  # in files of earlier versions


class AlertState(Struct):
    """Time up to which all changes were sent, and the changes sent in the last hour before it."""

    until: float = 0.0
    sent_changes: list[tuple[str, float]] = field(default_factory=list)  # (URL, time)

    @property
    def since(self) -> float:
        return self.until - OVERLAP_SECONDS

    def add(self, changes: Iterable[tuple[str, float]]) -> None:
        """Record sent changes."""
        sent = {*self.sent_changes, *changes}
        self.until = max([self.until, *(at for _, at in sent)])
        self.sent_changes = sorted(change for change in sent if change[1] >= self.since)


def load_alert_states(path: Path) -> dict[str, AlertState]:
    """Load the states by name; empty if the file is missing or damaged."""
    if not path.is_file():
        return {}
    try:
        return convert(rename_keys(json.decode(path.read_bytes()), RENAMED_KEYS), dict[str, AlertState])
    except (DecodeError, ValidationError):
        return {}


@contextmanager
def lock_alert_state(path: Path) -> Iterator[None]:
    """Hold an exclusive lock while reading, sending, and saving; waits for other processes."""
    handle = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def save_alert_states(path: Path, states: dict[str, AlertState]) -> None:
    """Save the states atomically."""
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(json.encode(states))
    new.replace(path)
