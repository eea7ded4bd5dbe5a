"""Worker's side of the browser process: starts it, sends documents, and restarts it by age, memory, and failure."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec

import msgspec
from msgspec import Struct

from sanderling.errors import MissingExtra, UsageError
from sanderling.runtime.isolation import build_python_command
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
MAX_ATTEMPTS = 3  # of a page, in browsers that ended
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


class RenderJob(Struct):
    """A document in the queue of the renderer, or in the browser."""

    command: RenderCommand
    attempts: int = 0
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
        self._started_at, self._page_count = 0.0, 0
        self.start_count = 0
        self.started: BrowserStarted | None = None  # how the current browser runs

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
            messages = [self._note_message(self._decode(body)) for body in self._frames.pop_frames()]
            if not is_open:
                messages += self._handle_end()
        messages += self._stop_overdue()
        self._start_waiting()
        if self._sock is not None and self._outgoing:
            send_buffered(self._sock, self._outgoing)
        return messages

    def _note_message(self, message: BrowserMessage) -> BrowserMessage:
        if isinstance(message, RenderedPage):
            self._active.pop(message.page_id, None)
        elif isinstance(message, BrowserStarted):
            self.started = message
            if message.error:
                print(f"the browser did not start: {message.error}", file=sys.stderr)
        return message

    def _start_waiting(self) -> None:
        is_old = time.monotonic() - self._started_at > MAX_AGE_SECONDS or self._page_count >= MAX_PAGES
        if is_old and self._process is not None and self._waiting:
            if self._active:
                return  # restarted when the last page is done
            self._kill()
        while self._waiting and len(self._active) < self._max_tabs:
            if self._process is None:
                self._start()
            job = self._waiting.popleft()
            job.attempts, job.started_at = job.attempts + 1, time.monotonic()
            self._active[job.command.page_id] = job
            self._page_count += 1
            self._outgoing += encode_frame(job.command)

    def _start(self) -> None:
        parent, child = socket.socketpair()
        command = build_python_command("-m", "sanderling.workers.browser.chromium", str(child.fileno()))
        self._process = subprocess.Popen(
            command, pass_fds=(child.fileno(),), stdin=subprocess.DEVNULL, start_new_session=True
        )
        child.close()
        parent.setblocking(False)
        self._sock, self._frames = parent, FrameBuffer()
        self._outgoing = bytearray(encode_frame(self._config))
        self._started_at, self._page_count = time.monotonic(), 0
        self.start_count += 1
        self._watch(parent.fileno())

    def _kill(self) -> None:
        """End the browser process and everything it started."""
        if self._sock is not None:
            self._unwatch(self._sock.fileno())
            self._sock.close()
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = self._sock = self.started = None

    def _handle_end(self) -> list[BrowserMessage]:
        """Restart after the browser process ended: its pages are rendered again, unless they failed too often."""
        error = self.started.error if self.started else ""
        self._kill()
        jobs, self._active = list(self._active.values()), {}
        failed = [job for job in jobs if job.attempts >= MAX_ATTEMPTS or error]
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
