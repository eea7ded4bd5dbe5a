"""The index kept up to date beside whatever runs: in a process of its own, with less right to the processor."""

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

RETRY_SECONDS = 5.0  # before following is tried again, where somebody else does it now
NICE_INCREMENT = 10  # on a busy machine the index gets a tenth of what a worker of the crawl gets, and catches up later
FINAL_SECONDS = 20.0  # spent on what is left when a crawl has ended; the next command goes on from there


def can_index() -> bool:
    """Is the library there that the index is made with?"""
    return importlib.util.find_spec("tantivy") is not None


def start_indexer_process(folder: Path) -> "BaseProcess":
    """Keep the index up to date until the process is told to end, or its parent is gone."""
    import multiprocessing  # a crawl without an index does without

    spawn = multiprocessing.get_context("spawn")
    process = spawn.Process(target=run_indexer_process, args=(folder, os.getpid()), daemon=True, name="index")
    with block_signals(), enforce_safe_path():
        process.start()
    return process


def run_indexer_process(folder: Path, parent_pid: int) -> None:
    """Follow as long as the parent lives; where another process follows already, wait for its end."""
    os.nice(NICE_INCREMENT)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from sanderling.search.indexer import run_indexer

    stopped: list[bool] = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))

    def over() -> bool:
        return bool(stopped) or os.getppid() != parent_pid

    while not over():
        try:
            run_indexer(folder, over)
        except (CollectionError, DatabaseUnavailable):
            if signal.sigtimedwait([signal.SIGTERM], RETRY_SECONDS):  # it takes the signal: the handler is not called
                return


@contextlib.contextmanager
def index_in_background(folder: Path, report: Callable[[str], None], enabled: bool = True) -> Iterator[None]:
    """Let the index follow a crawl, and at its end take in what is left."""
    if not enabled or not can_index():
        yield
        return
    follower = start_indexer_process(folder)
    try:
        yield
    finally:
        follower.terminate()
        follower.join(FINAL_SECONDS)
        follower.kill()  # should it hang: the index is whole whenever that is
        follower.join()
    finish_indexing(folder, report)


def finish_indexing(folder: Path, report: Callable[[str], None], seconds: float = FINAL_SECONDS) -> int:
    """Take in what is missing, but not for long; returns how many visits are left for the next time."""
    from sanderling.search.indexer import open_indexer

    try:
        follower = open_indexer(folder)
    except (CollectionError, DatabaseUnavailable):  # nothing was stored, or a server keeps the index
        return 0
    until = time.monotonic() + seconds
    try:
        while follower.index_batch() and time.monotonic() < until:
            pass
        left = follower.count_pending()
        if not left:
            follower.refresh_anchors()
        else:
            report(f"{left:,} visits are still to be indexed; the next crawl, search or serve goes on with it")
        return left
    finally:
        follower.close()
