"""Starts worker processes: by fork, or as fresh Python processes if this process has several threads.

A fork costs a hundredth, but copies locks of other threads.
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
STANDARD_STREAMS = range(3)
POLL_SECONDS = 0.001


class WorkerProcess(Protocol):
    """The part of `subprocess.Popen` that is used."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...


class SpawnedProcess(Struct, frozen=True):
    """A process that waits for its configuration."""

    name: str
    process: WorkerProcess
    sock: socket.socket


class ForkedProcess:
    """A forked process, with the interface of `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.exit_code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code.

        None: the process is running.
        """
        if self.exit_code is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # the parent process ignores SIGCHLD, so the kernel reaped it
                pid, status = self.pid, 0
            self.exit_code = os.waitstatus_to_exitcode(status) if pid else None
        return self.exit_code

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code. Raises TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired(f"worker {self.pid}", timeout or 0.0)
            time.sleep(POLL_SECONDS)
        return code

    def kill(self) -> None:
        """Send SIGKILL unless the process has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def make_worker_id(number: int) -> str:
    return f"m{number}-{secrets.token_hex(3)}"


@contextmanager
def spawn_workers(count: int) -> Iterator[list[SpawnedProcess]]:
    """Start processes ahead of their use. Kills those left at the end."""
    start = fork_worker if can_fork() else spawn_worker
    waiting = [start(make_worker_id(number)) for number in range(1, count + 1)]
    try:
        yield waiting
    finally:
        for unused in waiting:
            unused.sock.close()
            unused.process.kill()
            unused.process.wait()


def can_fork() -> bool:
    """Return whether this process has a single thread, native threads included, and its standard streams."""
    try:
        return len(os.listdir(THREADS_PATH)) == 1 and all(os.fstat(stream) for stream in STANDARD_STREAMS)
    except OSError:  # not Linux, or a stream is closed
        return False


def spawn_worker(name: str) -> SpawnedProcess:
    """Start a fresh process for a worker."""
    parent, child = _open_socket_pair()
    command = build_python_command("-m", "sanderling.workers.worker", name, str(child.fileno()))
    settings = {name: str(value) for name, (_, value) in KEEP_FREED_SETTINGS.items()}
    with block_signals():
        process = subprocess.Popen(
            command, pass_fds=(child.fileno(),), stdin=subprocess.DEVNULL, env=settings | os.environ
        )
    child.close()
    return SpawnedProcess(name, process, parent)


def fork_worker(name: str) -> SpawnedProcess:
    from sanderling.workers.worker import run_worker  # imported once for all forks

    parent, child = _open_socket_pair()
    with block_signals():
        pid = os.fork()
        if not pid:
            code = 1
            try:
                _detach_from_parent(child)
                run_worker(name, child)
                code = 0
            finally:  # never return into the code of the parent
                _exit_process(code)
    child.close()
    return SpawnedProcess(name, ForkedProcess(pid), parent)


def _open_socket_pair() -> tuple[socket.socket, socket.socket]:
    parent, child = socket.socketpair()
    for end in (parent, child):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER_BYTES)
    return parent, child


def _detach_from_parent(own_socket: socket.socket) -> None:
    """Reset signal handlers, close inherited files, and freeze inherited objects."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor in map(int, os.listdir(OPEN_FILES_PATH)):
        if descriptor not in (*STANDARD_STREAMS, own_socket.fileno()):
            with suppress(OSError):  # of the directory listing itself
                os.close(descriptor)
    gc.freeze()  # inherited file objects would close descriptors that are reused now
    keep_freed_memory()


def _exit_process(exit_code: int) -> NoReturn:
    """Exit without cleanup: buffers and files belong to the parent."""
    if exit_code:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    os._exit(exit_code)
