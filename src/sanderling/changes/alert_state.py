"""What was told to whom: nobody hears of a change twice, and nobody misses one that was stored late.

Each round of messages (these addresses, these conditions) has its own memory. A page that was visited before another
may be stored after it, so the last hour is looked at again, and what was told of it is left out.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import DecodeError, Struct, ValidationError, field, json

OVERLAP_SECONDS = 3_600.0  # seconds that are looked at again


class AlertState(Struct):
    """Until when somebody heard of everything, and of what in the last hour before."""

    until: float = 0.0
    sent_changes: list[tuple[str, float]] = field(default_factory=list)

    @property
    def since(self) -> float:
        """From when on to look for news."""
        return self.until - OVERLAP_SECONDS

    def add(self, changes: Iterable[tuple[str, float]]) -> None:
        """Remember what was told now."""
        told = {*self.sent_changes, *changes}
        self.until = max([self.until, *(at for _, at in told)])
        self.sent_changes = sorted(one for one in told if one[1] >= self.since)


def load_alert_states(path: Path) -> dict[str, AlertState]:
    """Read who heard what; nobody heard anything where there is no such file."""
    if not path.is_file():
        return {}
    try:
        return json.decode(path.read_bytes(), type=dict[str, AlertState])
    except (DecodeError, ValidationError):
        return {}


@contextmanager
def lock_alert_state(path: Path) -> Iterator[None]:
    """Wait until no other process reads, sends and writes under this file's lock; then hold the lock ourselves."""
    handle = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def save_alert_states(path: Path, states: dict[str, AlertState]) -> None:
    """Write down who heard what: all of it or nothing."""
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(json.encode(states))
    new.replace(path)
