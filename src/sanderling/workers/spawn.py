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

from sanderling.runtime.isolation import build_python_command
from sanderling.runtime.memory import KEEP_FREED_SETTINGS, keep_freed_memory
from sanderling.runtime.signals import block_signals
from sanderling.workers.worker_protocol import SOCKET_BUFFER_BYTES

THREADS_PATH, OPEN_FILES_PATH = "/proc/self/task", "/proc/self/fd"
STANDARD_STREAMS = range(3)  # input, output, errors
POLL_SECONDS = 0.001  # between two looks whether a process has ended


class WorkerProcess(Protocol):
    """What we need of a process that we started."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...


class SpawnedProcess(Struct, frozen=True):
    """A process that waits to be told what to do."""

    name: str
    process: WorkerProcess
    sock: socket.socket


class ForkedProcess:
    """A process that began as a copy of this one; spoken to like one that `subprocess` started."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.exit_code: int | None = None

    def poll(self) -> int | None:
        """How it ended; None while it lives."""
        if self.exit_code is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # the system took notice: whoever started us ignores the ends of processes
                pid, status = self.pid, 0
            self.exit_code = os.waitstatus_to_exitcode(status) if pid else None
        return self.exit_code

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, no longer than this."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired(f"migrant {self.pid}", timeout or 0.0)
            time.sleep(POLL_SECONDS)
        return code

    def kill(self) -> None:
        """End it at once."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def make_worker_id(number: int) -> str:
    """An id that is never used again."""
    return f"m{number}-{secrets.token_hex(3)}"


@contextmanager
def spawn_workers(count: int) -> Iterator[list[SpawnedProcess]]:
    """Start processes that will soon be wanted: they wake up while the rest is made ready. Who is left over ends."""
    begin = fork_worker if can_fork() else spawn_worker
    waiting = [begin(make_worker_id(number)) for number in range(1, count + 1)]
    try:
        yield waiting
    finally:
        for left in waiting:
            left.sock.close()
            left.process.kill()
            left.process.wait()


def can_fork() -> bool:
    """Has this process one thread only, counting those that Python does not know, and all its streams?"""
    try:
        return len(os.listdir(THREADS_PATH)) == 1 and all(os.fstat(stream) for stream in STANDARD_STREAMS)
    except OSError:  # another system, or a stream was closed before we came
        return False


def spawn_worker(name: str) -> SpawnedProcess:
    """Start a fresh process for a migrant of this name."""
    ours, theirs = _open_socket_pair()
    command = build_python_command("-m", "sanderling.workers.worker", name, str(theirs.fileno()))
    told = {name: str(value) for name, (_, value) in KEEP_FREED_SETTINGS.items()}
    with block_signals():
        process = subprocess.Popen(
            command, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL, env=told | os.environ
        )
    theirs.close()
    return SpawnedProcess(name, process, ours)


def fork_worker(name: str) -> SpawnedProcess:
    """Copy this process for a migrant of this name."""
    from sanderling.workers.worker import run_worker  # once for us and all copies

    ours, theirs = _open_socket_pair()
    with block_signals():
        pid = os.fork()
        if not pid:
            code = 1
            try:
                _detach_from_parent(theirs)
                run_worker(name, theirs)
                code = 0
            finally:  # it must never return into a life that is not its own
                _exit_process(code)
    theirs.close()
    return SpawnedProcess(name, ForkedProcess(pid), ours)


def _open_socket_pair() -> tuple[socket.socket, socket.socket]:
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER_BYTES)
    return ours, theirs


def _detach_from_parent(own_socket: socket.socket) -> None:
    """Let go of all that belongs to the process we are a copy of: its files, its ears, its ways with memory."""
    signal.set_wakeup_fd(-1)
    for heard in signal.valid_signals():
        if callable(signal.getsignal(heard)):
            signal.signal(heard, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number in map(int, os.listdir(OPEN_FILES_PATH)):
        if number not in (*STANDARD_STREAMS, own_socket.fileno()):
            with suppress(OSError):  # the folder that was just read
                os.close(number)
    gc.freeze()  # what was ours then is never freed: it would close files that have its numbers now
    keep_freed_memory()


def _exit_process(exit_code: int) -> NoReturn:
    """End without a look back: what the first of us has yet to write or to close is not ours."""
    if exit_code:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    os._exit(exit_code)
