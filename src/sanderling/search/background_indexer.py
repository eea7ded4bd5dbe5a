"""Update the index during a crawl, in a low-priority process."""

import contextlib
import importlib.util
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sanderling.errors import CollectionError, DatabaseUnavailable
from sanderling.runtime.isolation import enforce_safe_path
from sanderling.runtime.signals import block_signals

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

RETRY_SECONDS = 5.0  # before retrying while another process indexes
NICE_INCREMENT = 10  # on a busy machine, about a tenth of the CPU time of a crawl worker
FINAL_SECONDS = 20.0  # for pending visits at the end of a crawl; the next command continues


def can_index() -> bool:
    return importlib.util.find_spec("tantivy") is not None


def start_indexer_process(folder: Path) -> "BaseProcess":
    """Start an indexer that ends with its parent."""
    import multiprocessing  # slow import, not needed without an index

    spawn = multiprocessing.get_context("spawn")
    process = spawn.Process(target=run_indexer_process, args=(folder, os.getpid()), daemon=True, name="index")
    with block_signals(), enforce_safe_path():
        process.start()
    return process


def run_indexer_process(folder: Path, parent_pid: int) -> None:
    """Index while the parent lives; retry while another process holds the index."""
    os.nice(NICE_INCREMENT)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from sanderling.search.indexer import run_indexer

    stopped: list[bool] = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))

    def is_stopped() -> bool:
        return bool(stopped) or os.getppid() != parent_pid

    while not is_stopped():
        try:
            run_indexer(folder, is_stopped)
        except (CollectionError, DatabaseUnavailable):
            if signal.sigtimedwait(
                [signal.SIGTERM], RETRY_SECONDS
            ):  # consumes the signal, so the handler is not called
                return


@contextlib.contextmanager
def index_in_background(folder: Path, report: Callable[[str], None], enabled: bool = True) -> Iterator[None]:
    """Update the index during a crawl and at its end."""
    if not enabled or not can_index():
        yield
        return
    process = start_indexer_process(folder)
    try:
        yield
    finally:
        process.terminate()
        process.join(FINAL_SECONDS)
        process.kill()  # if it hangs; a kill leaves the index consistent
        process.join()
    finish_indexing(folder, report)


def finish_indexing(folder: Path, report: Callable[[str], None], seconds: float = FINAL_SECONDS) -> int:
    """Index for at most `seconds`. Returns the number of visits still pending."""
    from sanderling.search.indexer import open_indexer

    try:
        indexer = open_indexer(folder)
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
            report(f"{pending:,} visits are not indexed yet; the next crawl, search or serve continues")
        return pending
    finally:
        indexer.close()
