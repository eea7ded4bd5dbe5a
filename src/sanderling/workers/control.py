"""Commands to a running crawl, as files in its collection that only the owner can read.

A command is `control/ID.ask`, its reply `control/ID.answer`. Unix sockets limit paths to 108 bytes.
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
    """A command to a running crawl."""

    id: str
    action: str
    arguments: dict[str, Any]


class ControlChannel:
    """The side of the crawl: reads commands and writes replies."""

    def __init__(self, collection: Path) -> None:
        self.folder = collection / CONTROL_FOLDER
        self.lock_fd = -1

    def open(self) -> None:
        """Mark the crawl as running, and delete the files of an earlier crawl."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        for file in self.folder.iterdir():
            file.unlink()
        # Locked before it has its name: `is_crawl_running` locks it, too.
        temporary = self.folder / f"{LOCK_FILE}.new"
        self.lock_fd = os.open(temporary, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self.lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        temporary.rename(self.folder / LOCK_FILE)

    def read_commands(self) -> list[ControlCommand]:
        """Return new commands, oldest first. Invalid files are answered with an error."""
        names = sorted(entry.name for entry in os.scandir(self.folder) if entry.name.endswith(".ask"))
        commands = []
        for name in names:
            file = self.folder / name
            command = _read_command(file)
            file.unlink(missing_ok=True)
            if command is None:
                self.write_reply(name.removesuffix(".ask"), {"error": "invalid command"})
            else:
                commands.append(command)
        return commands

    def write_reply(self, command_id: str, reply: ControlMessage) -> None:
        _write_json(self.folder / f"{command_id}.answer", reply)

    def close(self) -> None:
        """Mark the crawl as ended."""
        if self.lock_fd >= 0:
            os.close(self.lock_fd)
            self.lock_fd = -1
            for file in self.folder.iterdir():
                if file.suffix != ".answer":  # may still be read; the next crawl deletes it
                    file.unlink()


def _read_command(file: Path) -> ControlCommand | None:
    try:
        arguments = json.loads(file.read_bytes()[:MAX_COMMAND_BYTES])
        return ControlCommand(file.stem, str(arguments.pop("do")), arguments)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _write_json(file: Path, content: ControlMessage) -> None:
    temporary = file.with_suffix(".new")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as out:
        json.dump(content, out)
    temporary.rename(file)


def is_crawl_running(collection: Path) -> bool:
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
    """Return the reply of a running crawl. Raises CollectionError without a reply."""
    if not is_crawl_running(collection):
        raise CollectionError(f"no crawl is running in {collection}; start one with sanderling crawl -C {collection}")
    name = f"{time.time_ns():020}-{secrets.token_hex(4)}"
    _write_json(collection / CONTROL_FOLDER / f"{name}.ask", command)
    file = collection / CONTROL_FOLDER / f"{name}.answer"
    deadline = time.monotonic() + timeout_seconds
    while time.monotonic() < deadline:
        is_running = is_crawl_running(collection)  # before the file: the last reply may be written at the end
        if file.exists():
            reply: ControlMessage = json.loads(file.read_text())
            file.unlink(missing_ok=True)
            return reply
        if not is_running:
            raise CollectionError(f"the crawl in {collection} ended before it replied")
        time.sleep(POLL_SECONDS)
    raise CollectionError(f"the crawl in {collection} did not reply within {timeout_seconds:.0f} seconds")
