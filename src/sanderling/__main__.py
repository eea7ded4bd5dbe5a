"""`sanderling` and `python -m sanderling`: the command line, ready for Ctrl-C before it is there."""

import os
import signal
import sys

INTERRUPTED = 11  # as in cli/arguments.py, which is not there yet


def main() -> int:
    """Run the command this process was started for; who stops it while it still wakes up hears nothing of that."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # else somebody has it ignored
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from sanderling.cli import main as obey

    try:
        signal.signal(signal.SIGINT, usual)
        return obey()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
