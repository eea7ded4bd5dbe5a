"""The index kept up to date beside whatever runs: in a process of its own, with less right to the processor."""

import contextlib
import importlib.util
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sanderling.errors import CollectionError, StoreUnavailable
from sanderling.runtime.isolation import safe_path
from sanderling.runtime.signals import unheard

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

WAIT_SECONDS = 5.0  # before following is tried again, where somebody else does it now
POLITE = 10  # on a busy machine the index gets a tenth of what a worker of the crawl gets, and catches up later
LAST_SECONDS = 20.0  # spent on what is left when a crawl has ended; the next command goes on from there


def can_index() -> bool:
    """Is the library there that the index is made with?"""
    return importlib.util.find_spec("tantivy") is not None


def start_following(folder: Path) -> "BaseProcess":
    """Keep the index up to date until the process is told to end, or its parent is gone."""
    import multiprocessing  # a crawl without an index does without

    spawn = multiprocessing.get_context("spawn")
    process = spawn.Process(target=keep_following, args=(folder, os.getpid()), daemon=True, name="index")
    with unheard(), safe_path():
        process.start()
    return process


def keep_following(folder: Path, parent: int) -> None:
    """Follow as long as the parent lives; where another process follows already, wait for its end."""
    os.nice(POLITE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from sanderling.search.indexer import follow

    stopped: list[bool] = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))

    def over() -> bool:
        return bool(stopped) or os.getppid() != parent

    while not over():
        try:
            follow(folder, over)
        except (CollectionError, StoreUnavailable):
            if signal.sigtimedwait([signal.SIGTERM], WAIT_SECONDS):  # it takes the signal: the handler is not called
                return


@contextlib.contextmanager
def indexing(folder: Path, say: Callable[[str], None], wanted: bool = True) -> Iterator[None]:
    """Let the index follow a crawl, and at its end take in what is left."""
    if not wanted or not can_index():
        yield
        return
    follower = start_following(folder)
    try:
        yield
    finally:
        follower.terminate()
        follower.join(LAST_SECONDS)
        follower.kill()  # should it hang: the index is whole whenever that is
        follower.join()
    catch_up_soon(folder, say)


def catch_up_soon(folder: Path, say: Callable[[str], None], seconds: float = LAST_SECONDS) -> int:
    """Take in what is missing, but not for long; returns how many visits are left for the next time."""
    from sanderling.search.indexer import open_follower

    try:
        follower = open_follower(folder)
    except (CollectionError, StoreUnavailable):  # nothing was stored, or a server keeps the index
        return 0
    until = time.monotonic() + seconds
    try:
        while follower.step() and time.monotonic() < until:
            pass
        left = follower.behind()
        if not left:
            follower.refresh()
        else:
            say(f"{left:,} visits are still to be indexed; the next crawl, search or serve goes on with it")
        return left
    finally:
        follower.close()
