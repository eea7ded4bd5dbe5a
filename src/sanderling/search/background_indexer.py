"""Update the index during a crawl, in a low-priority process."""

import contextlib
import importlib.util
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sanderling.errors import CollectionError, DatabaseUnavailable, IndexDamaged
from sanderling.runtime.isolation import enforce_safe_path
from sanderling.runtime.signals import block_signals

if TYPE_CHECKING:
    from multiprocessing.connection import Connection as PipeConnection
    from multiprocessing.process import BaseProcess

RETRY_SECONDS = 5.0  # before retrying while another process indexes
NICE_INCREMENT = 10  # on a busy machine, about a tenth of the CPU time of a crawl worker
FINAL_SECONDS = 20.0  # for pending visits at the end of a crawl; the next command continues


STOP_SIGNAL, FINISH_SIGNAL = signal.SIGTERM, signal.SIGUSR1  # blocked in the indexer, which polls them
NOT_UPDATED = "the search index was not updated"
CONTINUED_LATER = "the next crawl, search or serve continues"


def can_index() -> bool:
    return importlib.util.find_spec("tantivy") is not None


def start_indexer_process(folder: Path, sender: "PipeConnection | None" = None) -> "BaseProcess":
    """Start an indexer that ends with its parent."""
    import multiprocessing  # slow import, not needed without an index

    spawn = multiprocessing.get_context("spawn")
    process = spawn.Process(target=run_indexer_process, args=(folder, os.getpid(), sender), daemon=True, name="index")
    with block_signals(STOP_SIGNAL, FINISH_SIGNAL), enforce_safe_path():
        process.start()
    return process


def run_indexer_process(folder: Path, parent_pid: int, sender: "PipeConnection | None" = None) -> None:
    """Index until the parent ends, or sends SIGTERM (stop) or SIGUSR1 (index pending visits, then stop)."""
    os.nice(NICE_INCREMENT)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [STOP_SIGNAL, FINISH_SIGNAL])  # multiprocessing may unblock SIGTERM
    messages: list[str] = []
    try:
        if _index_until_signal(folder, parent_pid) == FINISH_SIGNAL:
            finish_indexing(folder, messages.append)
    except IndexDamaged as error:
        messages.append(str(error))
    except (ImportError, MemoryError, OSError, RuntimeError) as error:  # no memory for a library or a thread
        messages.append(f"{NOT_UPDATED}: {error}; {CONTINUED_LATER}")
    if sender is not None:
        for message in messages:
            sender.send(message)


def _index_until_signal(folder: Path, parent_pid: int) -> int:
    """Index until a signal arrives. Returns it; 0: the parent has ended."""
    from sanderling.search.indexer import run_indexer

    received: list[int] = []

    def wait(seconds: float) -> bool:
        info = signal.sigtimedwait([STOP_SIGNAL, FINISH_SIGNAL], 0 if received else seconds)
        received.extend([info.si_signo] if info else [])
        return bool(received) or os.getppid() != parent_pid

    while not wait(0):
        try:
            run_indexer(folder, lambda: wait(0), wait)
        except IndexDamaged:
            raise
        except (CollectionError, DatabaseUnavailable):
            wait(RETRY_SECONDS)
    return received[0] if received else 0


@contextlib.contextmanager
def index_in_background(
    folder: Path, report: Callable[[str], None], enabled: bool = True, *, delayed: bool = False
) -> Iterator[Callable[[], None]]:
    """Update the index during a crawl and at its end. Its failures are reported and never end the crawl.

    `delayed`: start when the yielded function is called, at the latest at the end.
    """
    if not enabled or not can_index():
        yield lambda: None
        return
    indexer = _BackgroundIndexer(folder, report)
    try:
        if not delayed:
            indexer.start()
        yield indexer.start
        indexer.start()
        indexer.finish()
    finally:
        indexer.close()


class _BackgroundIndexer:
    """The indexer process of a crawl."""

    def __init__(self, folder: Path, report: Callable[[str], None]) -> None:
        self.folder, self.report = folder, report
        self.was_started = False
        self.process: BaseProcess | None = None  # None also if it could not be started
        self.receiver: PipeConnection | None = None

    def start(self) -> None:
        """Start the process, once."""
        if self.was_started:
            return
        import multiprocessing

        self.was_started = True
        self.receiver, sender = multiprocessing.Pipe(duplex=False)
        try:
            self.process = start_indexer_process(self.folder, sender)
        except OSError as error:  # no memory for another process
            self.report(f"{NOT_UPDATED}: {error.strerror}; {CONTINUED_LATER}")
        sender.close()

    def finish(self) -> None:
        """Index what is pending, and report what the process says."""
        if self.process is None or self.receiver is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid or 0, FINISH_SIGNAL)
        _report_last_messages(self.process, self.receiver, self.report)

    def close(self) -> None:
        """End the process. If it hangs it is killed, which leaves the index consistent."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
        if self.receiver is not None:
            self.receiver.close()


def _report_last_messages(process: "BaseProcess", receiver: "PipeConnection", report: Callable[[str], None]) -> None:
    """Pass on what the indexer reports until it ends. A crash of the index library ends only its process."""
    deadline = time.monotonic() + 2 * FINAL_SECONDS
    with contextlib.suppress(EOFError):
        while receiver.poll(max(0.0, deadline - time.monotonic())):
            report(receiver.recv())
    process.join(max(0.0, deadline - time.monotonic()))
    if process.exitcode:
        report(f"{NOT_UPDATED}: its process ended with {process.exitcode}; {CONTINUED_LATER}")


def finish_indexing(folder: Path, report: Callable[[str], None], seconds: float = FINAL_SECONDS) -> int:
    """Index for at most `seconds`. Returns the number of visits still pending."""
    from sanderling.search.indexer import open_indexer

    try:
        indexer = open_indexer(folder)
    except IndexDamaged:
        raise
    except (CollectionError, DatabaseUnavailable):  # nothing stored, or another process holds the index
        return 0
    deadline = time.monotonic() + seconds
    try:
        while indexer.index_batch() and time.monotonic() < deadline:
            pass
        pending = indexer.count_pending()
        if not pending:
            indexer.refresh_anchors()
        else:
            report(f"{pending:,} visits are not indexed yet; {CONTINUED_LATER}")
        return pending
    finally:
        indexer.close()
