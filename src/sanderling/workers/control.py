"""A way to speak to a running crawl: small files in the collection's folder, readable by its owner alone.

A question is `control/ID.ask`, its answer `control/ID.answer`; both appear whole, by renaming. Files work on every file
system and need no port; a Unix socket's path may be 108 bytes long, a collection's may be longer.
"""

import fcntl
import json
import os
import secrets
import time
from pathlib import Path
from typing import Any

from msgspec import Struct

from sanderling.errors import CollectionError

CONTROL_FOLDER = "control"
LOCK_FILE = "alive"
MAX_COMMAND_BYTES = 64 * 1024
REPLY_TIMEOUT_SECONDS = 60.0
POLL_SECONDS = 0.02

ControlMessage = dict[str, Any]


class ControlCommand(Struct, frozen=True):
    """What somebody wants of a running crawl."""

    id: str
    action: str
    arguments: dict[str, Any]


class ControlChannel:
    """The crawl's end: takes questions, writes answers."""

    def __init__(self, collection: Path) -> None:
        self.folder = collection / CONTROL_FOLDER
        self.lock_fd = -1

    def open(self) -> None:
        """Begin to listen; what an earlier crawl left lying is thrown away."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        for file in self.folder.iterdir():
            file.unlink()
        fresh = (
            self.folder / f"{LOCK_FILE}.new"
        )  # under its name it is locked from the first moment: who looks locks it too
        self.lock_fd = os.open(fresh, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self.lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fresh.rename(self.folder / LOCK_FILE)

    def read_commands(self) -> list[ControlCommand]:
        """What was asked since the last look, oldest first; what cannot be read is answered with that."""
        names = sorted(entry.name for entry in os.scandir(self.folder) if entry.name.endswith(".ask"))
        found = []
        for name in names:
            file = self.folder / name
            question = _read_command(file)
            file.unlink(missing_ok=True)
            if question is None:
                self.write_reply(name.removesuffix(".ask"), {"error": "this is no question"})
            else:
                found.append(question)
        return found

    def write_reply(self, command_id: str, reply: ControlMessage) -> None:
        """Say something to who asked."""
        _write_json(self.folder / f"{command_id}.answer", reply)

    def close(self) -> None:
        """Stop listening."""
        if self.lock_fd >= 0:
            os.close(self.lock_fd)
            self.lock_fd = -1
            for file in self.folder.iterdir():
                if file.suffix != ".answer":  # somebody may still read it; the next crawl throws it away
                    file.unlink()


def _read_command(file: Path) -> ControlCommand | None:
    try:
        found = json.loads(file.read_bytes()[:MAX_COMMAND_BYTES])
        return ControlCommand(file.stem, str(found.pop("do")), found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _write_json(file: Path, content: ControlMessage) -> None:
    fresh = file.with_suffix(".new")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as out:
        json.dump(content, out)
    fresh.rename(file)


def is_crawl_running(collection: Path) -> bool:
    """Does a crawl work in this collection now?"""
    try:
        handle = os.open(collection / CONTROL_FOLDER / LOCK_FILE, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(handle)


def send_command(
    collection: Path, command: ControlMessage, timeout_seconds: float = REPLY_TIMEOUT_SECONDS
) -> ControlMessage:
    """Ask a running crawl and wait for its answer."""
    if not is_crawl_running(collection):
        raise CollectionError(f"no crawl is running in {collection}; start one with sanderling crawl -C {collection}")
    name = f"{time.time_ns():020}-{secrets.token_hex(4)}"
    _write_json(collection / CONTROL_FOLDER / f"{name}.ask", command)
    file = collection / CONTROL_FOLDER / f"{name}.answer"
    deadline = time.monotonic() + timeout_seconds
    while time.monotonic() < deadline:
        running = is_crawl_running(collection)
        if file.exists():
            answer: ControlMessage = json.loads(file.read_text())
            file.unlink(missing_ok=True)
            return answer
        if not running:
            raise CollectionError(f"the crawl in {collection} ended before it could answer")
        time.sleep(POLL_SECONDS)
    raise CollectionError(f"the crawl in {collection} did not answer within {timeout_seconds:.0f} seconds")
