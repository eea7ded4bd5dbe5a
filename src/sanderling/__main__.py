"""Entry point of `sanderling` and `python -m sanderling`."""

import os
import signal
import sys

UNSUPPORTED = 4  # exit codes, as in cli/arguments.py, which is not imported yet
INTERRUPTED = 11


def main() -> int:
    """Run the command line and return its exit code; Ctrl-C during imports exits silently."""
    if sys.platform == "win32":  # file locks, process groups, and Unix sockets are missing
        print(
            "sanderling: Windows is not supported; use Linux, macOS, or the Windows Subsystem for Linux",
            file=sys.stderr,
        )
        return UNSUPPORTED
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
