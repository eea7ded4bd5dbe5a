"""Extract text in a child process, which is killed at the time limit."""

import atexit
import logging
import os
import select
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import lru_cache

from sanderling.content.document_readers import FRAME, MAX_DOCUMENT_CHARS
from sanderling.runtime.isolation import build_python_command

TIME_LIMIT = 20.0  # seconds per document
CHUNK_BYTES = 1 << 16
_MODULE = "sanderling.content.document_readers"
_START_CODE = "import runpy, sys; sys.path[:] = {path!r}; runpy.run_module({module!r}, run_name='__main__')"
_log = logging.getLogger(__name__)


class ExtractionError(Exception):
    """A document could not be read."""


class DocumentExtractor:
    """Sends documents to a child process, restarted when it was killed."""

    def __init__(self, time_limit: float = TIME_LIMIT) -> None:
        self._time_limit = time_limit
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def extract(self, kind: str, body: bytes) -> str:
        """Return the text. Raises ExtractionError for damaged or too large documents."""
        with self._lock:
            process = self._get_process()
            deadline = time.monotonic() + self._time_limit
            try:
                name = kind.encode()
                _send(process, FRAME.pack(len(name), len(body)) + name + body, deadline)
                succeeded, size = FRAME.unpack(_receive(process, FRAME.size, deadline))
                text = _receive(process, min(size, MAX_DOCUMENT_CHARS * 8), deadline).decode("utf-8", "replace")
            except (ExtractionError, OSError) as error:
                self._kill()
                raise ExtractionError(str(error)) from error
        if not succeeded:
            raise ExtractionError(text)
        return text

    def close(self) -> None:
        with self._lock:
            self._kill()

    def _get_process(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._kill()
            self._process = _start_process()
        return self._process

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            self._process = None


def _start_process() -> subprocess.Popen[bytes]:
    """Start a child that imports only from absolute paths of this process."""
    path = [folder for folder in sys.path if folder and os.path.isabs(folder)]
    command = build_python_command("-I", "-c", _START_CODE.format(path=path, module=_MODULE))
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, cwd=os.sep
    )
    assert process.stdin is not None
    os.set_blocking(process.stdin.fileno(), False)
    return process


def _send(process: subprocess.Popen[bytes], data: bytes, deadline: float) -> None:
    assert process.stdin is not None
    pipe, rest = process.stdin.fileno(), memoryview(data)
    while rest:
        _wait_ready([], [pipe], deadline)
        rest = rest[os.write(pipe, rest[:CHUNK_BYTES]) :]


def _receive(process: subprocess.Popen[bytes], size: int, deadline: float) -> bytes:
    assert process.stdout is not None
    pipe, received = process.stdout.fileno(), bytearray()
    while len(received) < size:
        _wait_ready([pipe], [], deadline)
        chunk = os.read(pipe, min(size - len(received), CHUNK_BYTES))
        if not chunk:
            raise ExtractionError("process_ended")
        received += chunk
    return bytes(received)


def _wait_ready(readers: list[int], writers: list[int], deadline: float) -> None:
    """Wait for a pipe. Raises ExtractionError at the deadline."""
    poll = select.poll()
    for pipe in readers:
        poll.register(pipe, select.POLLIN)
    for pipe in writers:
        poll.register(pipe, select.POLLOUT)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise ExtractionError("time_limit")


_extractor = DocumentExtractor()
atexit.register(_extractor.close)


def extract_document_text(kind: str, body: bytes) -> str:
    """Return the text, or "" with the reason logged."""
    try:
        return _extractor.extract(kind, body)
    except ExtractionError as error:
        _report_error(kind, str(error)) if "/" in kind else _log.info(
            "no text in a document of type %s: %s", kind, error
        )
        return ""


@lru_cache
def _report_error(media_type: str, error: str) -> None:
    """Warn once of each error of a plugin."""
    _log.warning("the document reader of %s found no text: %s", media_type, error)
