"""How a migrant comes into the world: as a copy of this process, which has loaded all that a migrant needs, or afresh.

A copy costs a hundredth of a fresh process, which has to load the same modules again. A process with several threads is
never copied: what the others held would stay held for ever.
"""

import gc
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn, Protocol

from msgspec import Struct

from sanderling.runtime.isolation import python_command
from sanderling.runtime.memory import KEEP_FREED, keep_freed
from sanderling.runtime.signals import unheard
from sanderling.workers.protocol import BUFFER

TASKS, FILES = "/proc/self/task", "/proc/self/fd"
STREAMS = range(3)  # input, output, errors
LOOK_SECONDS = 0.001  # between two looks whether a process has ended


class Process(Protocol):
    """What we need of a process that we started."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...


class Newborn(Struct, frozen=True):
    """A process that waits to be told what to do."""

    name: str
    process: Process
    sock: socket.socket


class Copy:
    """A process that began as a copy of this one; spoken to like one that `subprocess` started."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.code: int | None = None

    def poll(self) -> int | None:
        """How it ended; None while it lives."""
        if self.code is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # the system took notice: whoever started us ignores the ends of processes
                pid, status = self.pid, 0
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, no longer than this."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired(f"migrant {self.pid}", timeout or 0.0)
            time.sleep(LOOK_SECONDS)
        return code

    def kill(self) -> None:
        """End it at once."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def new_name(number: int) -> str:
    """An id that is never used again."""
    return f"m{number}-{secrets.token_hex(3)}"


@contextmanager
def newborns(count: int) -> Iterator[list[Newborn]]:
    """Start processes that will soon be wanted: they wake up while the rest is made ready. Who is left over ends."""
    begin = copied if can_copy() else bear
    waiting = [begin(new_name(number)) for number in range(1, count + 1)]
    try:
        yield waiting
    finally:
        for left in waiting:
            left.sock.close()
            left.process.kill()
            left.process.wait()


def can_copy() -> bool:
    """Has this process one thread only, counting those that Python does not know, and all its streams?"""
    try:
        return len(os.listdir(TASKS)) == 1 and all(os.fstat(stream) for stream in STREAMS)
    except OSError:  # another system, or a stream was closed before we came
        return False


def bear(name: str) -> Newborn:
    """Start a fresh process for a migrant of this name."""
    ours, theirs = _ends()
    command = python_command("-m", "sanderling.workers.worker", name, str(theirs.fileno()))
    told = {name: str(value) for name, (_, value) in KEEP_FREED.items()}
    with unheard():
        process = subprocess.Popen(
            command, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL, env=told | os.environ
        )
    theirs.close()
    return Newborn(name, process, ours)


def copied(name: str) -> Newborn:
    """Copy this process for a migrant of this name."""
    from sanderling.workers.worker import live  # once for us and all copies

    ours, theirs = _ends()
    with unheard():
        pid = os.fork()
        if not pid:
            code = 1
            try:
                _forget_what_was(theirs)
                live(name, theirs)
                code = 0
            finally:  # it must never return into a life that is not its own
                _end(code)
    theirs.close()
    return Newborn(name, Copy(pid), ours)


def _ends() -> tuple[socket.socket, socket.socket]:
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
    return ours, theirs


def _forget_what_was(kept: socket.socket) -> None:
    """Let go of all that belongs to the process we are a copy of: its files, its ears, its ways with memory."""
    signal.set_wakeup_fd(-1)
    for heard in signal.valid_signals():
        if callable(signal.getsignal(heard)):
            signal.signal(heard, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number in map(int, os.listdir(FILES)):
        if number not in (*STREAMS, kept.fileno()):
            with suppress(OSError):  # the folder that was just read
                os.close(number)
    gc.freeze()  # what was ours then is never freed: it would close files that have its numbers now
    keep_freed()


def _end(code: int) -> NoReturn:
    """End without a look back: what the first of us has yet to write or to close is not ours."""
    if code:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    os._exit(code)
