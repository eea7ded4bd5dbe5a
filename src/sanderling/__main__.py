"""Entry point of `sanderling` and `python -m sanderling`."""

import os
import signal
import sys

INTERRUPTED = 11  # exit code, as in cli/arguments.py, which is not imported yet


def main() -> int:
    """Run the command line and return its exit code; Ctrl-C during imports exits silently."""
    previous_handler = signal.getsignal(signal.SIGINT)
    if previous_handler is signal.default_int_handler:  # otherwise the parent process ignores SIGINT (nohup)
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from sanderling.cli import main as run_command

    try:
        signal.signal(signal.SIGINT, previous_handler)
        return run_command()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
