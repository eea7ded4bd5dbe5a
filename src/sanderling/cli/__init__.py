"""One file per command: parse arguments, call one function, print.

`COMMANDS` names them; a command module has HELP, EXAMPLES, GROUPS (the settings it takes as flags), `arguments(parser)`
and `run(call) -> exit code`; one that tells scripts how it ended has `interrupted(call)`, for a Ctrl-C or SIGTERM that
came before anything began. Only the module of the command that was asked for is imported.
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

from sanderling.cli.arguments import EXIT_DISK_FULL, EXIT_INTERRUPTED, parse_call
from sanderling.config.redact import redact_arguments
from sanderling.errors import SanderlingError
from sanderling.runtime.memory import freeze_loaded_modules

COMMANDS = {
    "crawl": "crawl sites into a collection, or go on where the last crawl stopped",
    "refresh": "visit again what is due, or stay and keep a collection fresh",
    "status": "what a collection holds and how its last crawl ended",
    "explain": "why a URL has its place: class, list, scores, when due, what holds it back",
    "pages": "list what is stored, or what was skipped and why",
    "show": "the stored body or text of one page",
    "history": "every visit of a page, with a small plot",
    "sitemap": "write a sitemap of what we know of a site",
    "links": "where a page links to, and who links to it",
    "similar": "pages built like a sample page: among the stored ones, then on the web",
    "templates": "the kinds of pages a site is made of",
    "changes": "what changed, of which kind, and how much it matters",
    "diff": "two versions of a page, word by word",
    "url-rules": "which parts of URLs make no difference on a site",
    "search": "find stored pages by their words",
    "serve": "a search page and a window into the crawl, in the browser",
    "delete": "take pages out of a collection for good, and keep them out",
    "export": "write the catalogue as JSON lines, CSV or Parquet",
    "verify": "check a collection for damage, and repair what can be repaired",
    "check": "what we would do with a URL, a robots.txt or a page, and why",
    "aliases": "other names of a person, a place, a drug, as the stored pages give them",
    "workers": "list, clone, move, pause and dispose of the workers of a running crawl",
    "schedule": "how the next worker is chosen, and why the last one won",
    "migrant": "obey signed itineraries beside a web server, and send only what is new",
    "publish": "tell crawlers what changed on your own site",
    "experiment": "the published tables again, ours beside theirs",
    "settings": "every setting with its value and where it can be set",
    "completion": "print a completion script for bash, zsh or tcsh",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; the command this process was started for ends the process."""
    code = run_command(sys.argv[1:] if argv is None else argv)
    if argv is None and threading.active_count() == 1 and not (sys.getprofile() or sys.gettrace()):
        _exit_fast(code)
    return code


def run_command(argv: Sequence[str]) -> int:
    """Run one command; say what went wrong in one sentence and return the exit code that says it too."""
    prepare_streams()
    code = 0
    try:
        with freeze_loaded_modules():
            call, module = parse_call(argv, COMMANDS)
        if hasattr(module, "interrupted") and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # until what was begun listens: as Ctrl-C
        code = int(module.run(call))
        sys.stdout.flush()
        return code
    except SanderlingError as error:
        print(f"sanderling: {redact_arguments(error, argv)}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return _report_interruption(argv)
    except BrokenPipeError:  # somebody closed the pipe (`| head`): that is an answer, not an error
        if not _is_closed(sys.stdout.fileno()):
            raise
        _discard_output()
        return code
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO) or error.filename is not None:
            raise
        if error.errno == errno.EIO and _is_closed(sys.stdout.fileno()):
            _discard_output()
            return EXIT_INTERRUPTED
        _discard_output()
        why = "the disk is full" if error.errno == errno.ENOSPC else "the disk fails"
        print(f"sanderling: what was asked for could not be written: {why}", file=sys.stderr)
        return EXIT_DISK_FULL


def _report_interruption(argv: Sequence[str]) -> int:
    """End before anything began; a command whose last word to scripts is how it ended says it now too."""
    if "--json" not in argv:
        return EXIT_INTERRUPTED
    with suppress(SanderlingError, BrokenPipeError):
        call, module = parse_call(argv, COMMANDS)
        if hasattr(module, "interrupted"):
            module.interrupted(call)
            sys.stdout.flush()
    return EXIT_INTERRUPTED


def prepare_streams() -> None:
    """Whatever a terminal cannot show is no error, nor that nobody listens at all."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 as long as we live
        elif isinstance(stream, TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")
    if not isinstance(sys.stderr, LenientStream):
        sys.stderr = cast(TextIO, LenientStream(sys.stderr))


class LenientStream:
    """A stream for what is told beside results: a crawl goes on when its listener left or its log found no room."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write as far as it can be written."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Hand over what can be handed over."""
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _exit_fast(code: int) -> NoReturn:
    """End at once: all is closed, and to take a large house apart object by object would only take time."""
    atexit._run_exitfuncs()
    with suppress(OSError):  # nobody listens any more
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _is_closed(descriptor: int) -> bool:
    """Say whether a terminal was closed or a reader left; a disk that fails, or another pipe, gives the same error."""
    ear = select.poll()
    ear.register(descriptor, select.POLLOUT)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in ear.poll(0))


def _discard_output() -> None:
    """Nobody takes our output any more: what is left of it goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
