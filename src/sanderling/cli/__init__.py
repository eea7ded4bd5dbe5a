"""Command line: one module per command in `cli/commands`.

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

from sanderling.cli.arguments import EXIT_DISK_FULL, EXIT_INTERRUPTED, parse_call
from sanderling.config.redact import redact_arguments
from sanderling.errors import SanderlingError
from sanderling.runtime.memory import freeze_loaded_modules

COMMAND_GROUPS = {
    "everyday": {
        "crawl": "crawl sites into a collection, or resume an interrupted crawl",
        "archive": "crawl sites with everything their pages need to be shown",
        "refresh": "revisit pages that are due, once or continuously (--watch)",
        "watch": "watch pages or sites, and get notified of each change",
        "changes": "list changes: kind, significance, changed words; feeds and alerts",
        "search": "full-text search of the stored pages",
        "serve": "web interface: search, stored pages, diffs, dashboard, API",
        "status": "size and state of a collection, result of the last crawl",
    },
    "look closer": {
        "pages": "list stored pages, or skipped URLs with the reason",
        "show": "print a stored page: body, text, Markdown, or structured data",
        "history": "all visits of a page, with a plot",
        "diff": "compare two versions of a page word by word",
        "links": "outgoing and incoming links of a page",
        "explain": "why a URL is queued, skipped, or scheduled as it is",
        "similar": "find pages built from the same template as a sample page",
        "templates": "list the page templates of a site",
        "export": "write pages, versions, links, or changes as JSON lines, CSV, Parquet; or all records as WACZ",
        "import": "read WARC and WACZ files of other programs in, as history",
        "sink": "send pages to files, PostgreSQL, or a webhook, and follow the collection",
        "delete": "delete pages permanently and keep them out",
        "prune": "erase old versions that a retention rule does not keep",
        "seal": "record digests of the WARC files, so that verify finds modifications",
        "verify": "check a collection for damage, and repair it",
        "plugins": "list installed plugins: URL filters, extractors, sinks, orderings, and so on",
        "settings": "list all settings with value, flag, and environment variable",
    },
    "specialists": {
        "check": "test how a URL, robots.txt, sitemap, or page is interpreted",
        "sitemap": "write a sitemap of a crawled site",
        "url-rules": "learn which URL variants return the same page (DUST rules)",
        "aliases": "find alternative names of a term in the stored pages",
        "workers": "list, move, pause, or stop the workers of a running crawl",
        "schedule": "show how workers are assigned to hosts",
        "identity": "create the key that signs requests, and the directory to publish (Web Bot Auth)",
        "migrant": "run a worker beside a web server that sends only what changed",
        "token": "create, list, and revoke tokens of the HTTP API",
        "mcp": "serve a collection to language models (Model Context Protocol)",
        "publish": "publish the changes of your own site for crawlers",
        "experiment": "reproduce the tables of the papers",
        "man": "print the manual page of a command, or write all pages into a folder",
        "completion": "print a completion script for bash, zsh, fish, or tcsh",
    },
}
MEMORY_ADVICE = "what is stored is safe: give it more, then run the same command again"
MEMORY_MESSAGES = (
    "can't start new thread",
    "failed to map segment",
    "Cannot allocate memory",
    "cannot allocate memory",
)
COMMANDS = {name: text for commands in COMMAND_GROUPS.values() for name, text in commands.items()}


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
