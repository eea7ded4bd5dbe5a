"""Start child processes with SIGINT and SIGHUP blocked."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

BLOCKED_SIGNALS = frozenset({signal.SIGINT, signal.SIGHUP})


@contextmanager
def block_signals(*extra: signal.Signals) -> Iterator[None]:
    """Block signals, so that child processes inherit the mask."""
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, BLOCKED_SIGNALS.union(extra))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)
