"""Evaluate regular expressions of users in a child process, which is killed at the time limit.

Some expressions need more than a lifetime for some texts, and Python cannot interrupt them in a thread.
"""

import atexit
import json
import os
import select
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

from sanderling.errors import CollectionError
from sanderling.runtime.isolation import build_python_command

TIME_LIMIT = 5.0  # seconds per text
PROBE_LIMIT = 1.0  # seconds per probe, when an expression is added
PROBE_LENGTH = 100
PROBE_UNITS = ("a", "0", " ", "a ", "0,", "\n", "ab")
MAX_REPLY_BYTES = 16_000_000
CHUNK_BYTES = 1 << 16
WORKER = Path(__file__).with_name("expression_worker.py")


class ExpressionTimeout(CollectionError):
    """An expression took too long for a text."""


class ExpressionProcess:
    """Sends expressions and texts to a child process, restarted when it was killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def find_matches(self, expression: str, text: str, limit: int, seconds: float = TIME_LIMIT) -> list[str]:
        """Return the matches. Raises ExpressionTimeout."""
        request = json.dumps([expression, text, limit]).encode() + b"\n"
        with self._lock:
            for attempt in (1, 2):  # the child may have been killed since the last call
                process = self._get_process()
                try:
                    reply = _exchange(process, request, time.monotonic() + seconds)
                    break
                except (OSError, TimeoutError) as error:
                    self._kill()
                    if attempt == 2 or isinstance(error, TimeoutError):
                        raise ExpressionTimeout(f"the regular expression {expression!r} takes too long") from None
        found: list[str] = json.loads(reply)
        return found

    def close(self) -> None:
        """End the child process."""
        with self._lock:
            self._kill()

    def _get_process(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self._kill()
            command = build_python_command("-I", "-S", str(WORKER))
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, cwd=os.sep
            )
        return self._process

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def _exchange(process: "subprocess.Popen[bytes]", request: bytes, deadline: float) -> bytes:
    """Send a line and return the line that answers it. Raises TimeoutError or OSError."""
    assert process.stdin is not None
    assert process.stdout is not None
    source, target = process.stdin.fileno(), process.stdout.fileno()
    os.set_blocking(source, False)
    reply, waiting = bytearray(), memoryview(request)
    while not reply.endswith(b"\n"):
        seconds = deadline - time.monotonic()
        readable, writable, _ = select.select([target], [source] if waiting else [], [], max(seconds, 0))
        if seconds <= 0 or len(reply) > MAX_REPLY_BYTES:
            raise TimeoutError
        if writable:
            waiting = waiting[os.write(source, waiting[:CHUNK_BYTES]) :]
        if readable:
            part = os.read(target, CHUNK_BYTES)
            if not part:
                raise OSError("the child process ended")
            reply += part
    return bytes(reply)


expressions = ExpressionProcess()
atexit.register(expressions.close)


def is_expression_fast(expression: str) -> bool:
    """Whether an expression ends soon on texts that are known to be hard."""
    characters = sorted({character for character in expression if character.isalnum()})[:8]
    for unit in (*PROBE_UNITS, *characters):
        try:
            expressions.find_matches(expression, unit * (PROBE_LENGTH // len(unit)) + "!\x00", 1, PROBE_LIMIT)
        except ExpressionTimeout:
            return False
    return True
