"""Command line: one module per command in `cli/commands`, which lists them.

A command module defines HELP, EXAMPLES, GROUPS (settings it accepts as flags), `arguments(parser)`, and `run(call) ->
exit code`. Optional: `interrupted(call)`, for a signal before `run` has started work.
"""

import atexit
import errno
import os
import select
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn, TextIO, cast

from sanderling.cli.arguments import EXIT_DISK_FULL, EXIT_INTERRUPTED, CommandCall, parse_call, print_message
from sanderling.cli.commands import COMMAND_GROUPS
from sanderling.config.redact import redact_arguments
from sanderling.config.secret_values import ADVICE, find_visible_secrets
from sanderling.errors import SanderlingError
from sanderling.runtime.memory import freeze_loaded_modules

MEMORY_ADVICE = "what is stored is safe: give it more, then run the same command again"
MEMORY_MESSAGES = (
    "can't start new thread",
    "failed to map segment",
    "Cannot allocate memory",
    "cannot allocate memory",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. Without `argv`, exit the process quickly."""
    code = run_command(sys.argv[1:] if argv is None else argv)
    if argv is None and threading.active_count() == 1 and not (sys.getprofile() or sys.gettrace()):
        _exit_fast(code)
    return code


def run_command(argv: Sequence[str]) -> int:
    """Run a command; print errors as a single sentence and return the exit code."""
    prepare_streams()
    code = 0
    try:
        with freeze_loaded_modules():
            call, module = parse_call(argv, COMMAND_GROUPS)
        if hasattr(module, "interrupted") and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(
                signal.SIGTERM, signal.default_int_handler
            )  # treat SIGTERM as Ctrl-C until the crawl installs its handler
        warn_about_secrets(call, argv)
        code = int(module.run(call))
        sys.stdout.flush()
        return code
    except SanderlingError as error:
        print(f"sanderling: {redact_arguments(error, argv)}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return _report_interruption(argv)
    except BrokenPipeError:  # the reader closed the pipe (`| head`)
        if not _is_closed(sys.stdout.fileno()):
            raise
        _discard_output()
        return code
    except (MemoryError, RuntimeError, ImportError) as error:
        if not is_memory_shortage(error):
            raise
        print(f"sanderling: not enough memory ({error or 'allocation failed'}); {MEMORY_ADVICE}", file=sys.stderr)
        return SanderlingError.exit_code
    except OSError as error:
        if error.errno == errno.ENOMEM:
            print(f"sanderling: not enough memory ({error.strerror}); {MEMORY_ADVICE}", file=sys.stderr)
            return SanderlingError.exit_code
        if error.errno not in (errno.ENOSPC, errno.EIO) or error.filename is not None:
            raise
        if error.errno == errno.EIO and _is_closed(sys.stdout.fileno()):
            _discard_output()
            return EXIT_INTERRUPTED
        _discard_output()
        why = "the disk is full" if error.errno == errno.ENOSPC else "disk I/O error"
        print(f"sanderling: output could not be written: {why}", file=sys.stderr)
        return EXIT_DISK_FULL


def warn_about_secrets(call: CommandCall, argv: Sequence[str]) -> None:
    for flag in dict.fromkeys(find_visible_secrets(argv)):
        advice = f"give {ADVICE[flag]}"
        print_message(call, f"warning: other users of this machine can see the secret of {flag}; {advice}")


def is_memory_shortage(error: BaseException) -> bool:
    """Return whether memory for an object, a thread, or a shared library could not be allocated."""
    return isinstance(error, MemoryError) or any(part in str(error) for part in MEMORY_MESSAGES)


def _report_interruption(argv: Sequence[str]) -> int:
    """Handle an interruption before work has started."""
    if "--json" not in argv:
        return EXIT_INTERRUPTED
    with suppress(SanderlingError, BrokenPipeError):
        call, module = parse_call(argv, COMMAND_GROUPS)
        if hasattr(module, "interrupted"):
            module.interrupted(call)
            sys.stdout.flush()
    return EXIT_INTERRUPTED


def prepare_streams() -> None:
    """Replace unencodable characters and tolerate closed output streams."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 open for the life of the process
        elif isinstance(stream, TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")
    if not isinstance(sys.stderr, LenientStream):
        sys.stderr = cast(TextIO, LenientStream(sys.stderr))


class LenientStream:
    """Standard error that ignores write errors, so that a crawl survives a closed terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text, ignoring errors."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, ignoring errors."""
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _exit_fast(code: int) -> NoReturn:
    """Exit without tearing down the interpreter, which takes long for a large heap."""
    atexit._run_exitfuncs()
    with suppress(OSError):  # the reader is gone
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _is_closed(descriptor: int) -> bool:
    """Return whether the terminal or pipe was closed; a failing disk raises the same error."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def _discard_output() -> None:
    """Redirect standard output to the null device after its reader has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
