"""Start a process that never hears Ctrl-C, not even while it is being born: the coordinator hears it, and tells."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

DEAF_TO = frozenset({signal.SIGINT})


@contextmanager
def unheard() -> Iterator[None]:
    """Let what is started here begin with Ctrl-C held back; pressed meanwhile, it reaches us at the end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, DEAF_TO)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
