"""Worker's side of the browser process: starts it, sends documents, and restarts it by age, memory, and failure."""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgspec
from msgspec import Struct

from sanderling.errors import MissingExtra, UsageError
from sanderling.runtime.isolation import build_python_command
from sanderling.workers.browser.process_memory import find_descendants, get_resident_bytes
from sanderling.workers.browser.tab_protocol import (
    BrowserConfig,
    BrowserMessage,
    BrowserStarted,
    RenderCommand,
    RenderedPage,
    SubresponseCommand,
)
from sanderling.workers.worker_protocol import FrameBuffer, encode_frame, send_buffered

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAX_AGE_SECONDS = 900.0
MAX_PAGES = 500  # of one browser
MAX_BYTES = 4 << 30  # of all its processes
PAGES_PER_MEASUREMENT = 20
MAX_ATTEMPTS = 3  # of a page whose process ended
MAX_SHARED_ATTEMPTS = (
    2  # of a page, in browsers that ended; then it is rendered alone, which shows whether it is the cause
)
MAX_LONE_ATTEMPTS = 2
FOLDER_PREFIX = "sanderling-browser-"
LOCK_NAME = "lock"  # locked as long as the worker or its browser process runs
GRACE_SECONDS = 30.0  # after the time limit of a page, for closing it


@cache
def find_chromium() -> str:
    """Return the path of the browser, or ""."""
    return next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), "")


@cache
def can_render() -> bool:
    """Return whether the extra `browser` and a browser are installed."""
    return find_spec("playwright") is not None and bool(find_chromium())


def require_browser() -> None:
    """Raise MissingExtra or UsageError if pages cannot be rendered here."""
    if find_spec("playwright") is None:
        raise MissingExtra("running the scripts of pages", "browser")
    if not find_chromium():
        raise UsageError("--render needs Chromium, which is not installed: on Debian, apt-get install chromium")


def lock_folder(folder: Path) -> int:
    """Create and lock the lock file of a browser's folder, and return its descriptor."""
    descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def remove_abandoned_folders(parent: Path) -> None:
    """Remove the folders of browsers whose worker was killed: their lock is free."""
    for path in parent.glob(f"{FOLDER_PREFIX}*/{LOCK_NAME}"):
        with suppress(OSError), path.open("r+b") as file:  # another user's, or in use
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path.parent, ignore_errors=True)


class RenderJob(Struct):
    """A document in the queue of the renderer, or in the browser."""

    command: RenderCommand
    attempts: int = 0
    lone_attempts: int = 0
    started_at: float = 0.0


class Renderer:
    """Renders documents in a browser process that is started when the first one comes."""

    def __init__(
        self, config: BrowserConfig, max_tabs: int, watch: Callable[[int], None], unwatch: Callable[[int], None]
    ) -> None:
        self._config, self._max_tabs = config, max_tabs
        self._watch, self._unwatch = watch, unwatch  # a descriptor becomes readable
        self._waiting: deque[RenderJob] = deque()
        self._active: dict[int, RenderJob] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._sock: socket.socket | None = None
        self._frames, self._outgoing = FrameBuffer(), bytearray()
        self._decode = msgspec.msgpack.Decoder(BrowserMessage).decode
        self._folder = ""
        self._started_at, self._page_count = 0.0, 0
        self.start_count = 0
        self.started: BrowserStarted | None = None  # how the current browser runs
        self._next_measurement, self._is_large = PAGES_PER_MEASUREMENT, False
        self.is_broken = False  # it did not start: no page can be rendered

    @property
    def process_id(self) -> int:
        """Return the id of the browser process; 0: none runs."""
        return self._process.pid if self._process else 0

    def render(self, command: RenderCommand) -> None:
        self._waiting.append(RenderJob(command))

    def answer(self, command: SubresponseCommand) -> None:
        """Answer a request of a page."""
        if command.page_id in self._active:
            self._outgoing += encode_frame(command)

    def take_waiting(self) -> list[int]:
        """Remove the documents that were not started, and return their page ids."""
        waiting, self._waiting = self._waiting, deque()
        return [job.command.page_id for job in waiting]

    def receive(self) -> list[BrowserMessage]:
        """Start waiting documents, and return what the browser sent; results of failed pages included."""
        messages: list[BrowserMessage] = []
        if self._sock is not None:
            is_open = self._frames.receive(self._sock)
            received = [self._note_message(self._decode(body)) for body in self._frames.pop_frames()]
            messages = [message for message in received if message is not None]
            if not is_open:
                messages += self._handle_end()
        messages += self._stop_overdue()
        self._start_waiting()
        if self._sock is not None and self._outgoing:
            send_buffered(self._sock, self._outgoing)
        return messages

    def _note_message(self, message: BrowserMessage) -> BrowserMessage | None:
        """Return what the worker has to know. None: a page whose process ended is rendered again."""
        if isinstance(message, RenderedPage):
            job = self._active.pop(message.page_id, None)
            if job is not None and message.problem == "render_crashed" and job.attempts < MAX_ATTEMPTS:
                self._waiting.appendleft(job)
                return None
        elif isinstance(message, BrowserStarted):
            self.started = message
            self._report_start(message)
        return message

    def _report_start(self, message: BrowserStarted) -> None:
        if message.error and not self.is_broken:
            self.is_broken = True
            print(
                f"sanderling: no page is rendered, because Chromium did not start: {message.error}",
                file=sys.stderr, flush=True,
            )  # fmt: skip
        elif not message.error and not message.has_sandbox and self.start_count == 1:
            print("sanderling: warning: Chromium runs without its sandbox", file=sys.stderr, flush=True)

    def _start_waiting(self) -> None:
        if self._waiting and self._process is not None and self._is_worn():
            if self._active:
                return  # restarted when the last page is done
            self._kill()
        while self._waiting and len(self._active) < self._max_tabs:
            is_alone = self._waiting[0].attempts >= MAX_SHARED_ATTEMPTS
            if self._active and (is_alone or any(job.lone_attempts for job in self._active.values())):
                return
            if self._process is None:
                self._start()
            job = self._waiting.popleft()
            job.attempts, job.started_at = job.attempts + 1, time.monotonic()
            job.lone_attempts += is_alone
            self._active[job.command.page_id] = job
            self._page_count += 1
            self._outgoing += encode_frame(job.command)

    def _is_worn(self) -> bool:
        """Return whether the browser is to be replaced: by age, pages, or memory, which is measured now and then."""
        if self._page_count >= self._next_measurement:
            self._next_measurement = self._page_count + PAGES_PER_MEASUREMENT
            processes = find_descendants(self.process_id)
            self._is_large = sum(map(get_resident_bytes, processes)) > MAX_BYTES
        is_old = time.monotonic() - self._started_at > MAX_AGE_SECONDS
        return is_old or self._is_large or self._page_count >= MAX_PAGES

    def _start(self) -> None:
        parent, child = socket.socketpair()
        command = build_python_command("-m", "sanderling.workers.browser.chromium", str(child.fileno()))
        # The profile of the browser: deleted with the process. Short: it has the path of a socket.
        if not self.start_count:
            remove_abandoned_folders(Path(tempfile.gettempdir()))
        self._folder = tempfile.mkdtemp(prefix=FOLDER_PREFIX)
        lock = lock_folder(Path(self._folder))
        self._process = subprocess.Popen(
            command, pass_fds=(child.fileno(), lock), stdin=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "TMPDIR": self._folder},
        )  # fmt: skip
        os.close(lock)
        child.close()
        parent.setblocking(False)
        self._sock, self._frames = parent, FrameBuffer()
        self._outgoing = bytearray(encode_frame(self._config))
        self._started_at, self._page_count = time.monotonic(), 0
        self._next_measurement, self._is_large = PAGES_PER_MEASUREMENT, False
        self.start_count += 1
        self._watch(parent.fileno())

    def _kill(self) -> None:
        """End the browser process and everything it started."""
        if self._sock is not None:
            self._unwatch(self._sock.fileno())
            self._sock.close()
        if self._process is not None:
            for process in (self._process.pid, *find_descendants(self._process.pid)):  # Chromium has another group
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL)
            self._process.wait()
            shutil.rmtree(self._folder, ignore_errors=True)
        self._process = self._sock = self.started = None

    def _handle_end(self) -> list[BrowserMessage]:
        """Restart after the browser process ended: its pages are rendered again, unless they failed too often."""
        error = self.started.error if self.started else ""
        self._kill()
        jobs, self._active = list(self._active.values()), {}
        failed = [job for job in jobs if job.lone_attempts >= MAX_LONE_ATTEMPTS or error]
        self._waiting.extendleft(job for job in reversed(jobs) if job not in failed)
        detail = error or "the browser ended"
        return [RenderedPage(job.command.page_id, "render_crashed", detail) for job in failed]

    def _stop_overdue(self) -> list[BrowserMessage]:
        """Kill the browser if a page neither ended nor could be closed; the others start again."""
        limit = time.monotonic() - self._config.total_seconds - GRACE_SECONDS
        overdue = [page_id for page_id, job in self._active.items() if job.started_at < limit]
        if not overdue:
            return []
        for page_id in overdue:
            del self._active[page_id]
        ended = self._handle_end()
        return [*ended, *(RenderedPage(page_id, "render_timeout", "the page did not close") for page_id in overdue)]

    def close(self) -> None:
        self._waiting.clear()
        self._kill()
