"""Start a process deaf to Ctrl-C and to a closed terminal from its birth on: the coordinator hears them, and tells."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

BLOCKED_SIGNALS = frozenset({signal.SIGINT, signal.SIGHUP})


@contextmanager
def block_signals() -> Iterator[None]:
    """Let what is started here begin with these held back; what comes meanwhile reaches us at the end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, BLOCKED_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
