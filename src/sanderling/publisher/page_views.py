"""Follow an access log through rotation; read views, login requirements, and crawler visits.

The position is committed together with the lines. A file is identified by its first bytes, so that it is found after
renaming, compression, or copytruncate.
"""

import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import IO, cast

from sanderling.publisher.access_log import MAX_LINE_BYTES, AccessLogEntry, parse_log_line
from sanderling.publisher.change_log import ActivityBatch, write_batch
from sanderling.publisher.crawlers import VerifyFunction, get_claimed_name, is_bot
from sanderling.publisher.paths import add_page_parameters, canonicalize_path, strip_index_file
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.robots_rules import PathRules
from sanderling.publisher.state_db import Connection, load_publisher_state

HEAD_BYTES = 512  # identify a file
READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class LogPosition:
    """The file (identified by its first bytes), and an offset."""

    head_digest: str = ""
    head_size: int = 0
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.head_digest} {self.head_size} {self.offset}"


def parse_position(text: str) -> LogPosition:
    """Parse a stored position. Invalid text gives the start."""
    parts = text.split()
    return LogPosition(parts[0], int(parts[1]), int(parts[2])) if len(parts) == 3 else LogPosition()


def open_log(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def list_rotated_logs(path: Path) -> list[Path]:
    """Return rotated files, oldest first: access.log.2.gz, access.log.1, access.log-20240501."""
    candidates = [entry for entry in path.parent.glob(_escape_glob(path.name) + "[.-]*") if entry.is_file()]
    rotated = [
        entry for entry in candidates if entry.suffix in (".gz", "") or entry.suffix[1:].isdigit() or "-" in entry.name
    ]
    return sorted(rotated, key=lambda entry: (entry.stat().st_mtime, entry.name))


def _escape_glob(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def is_same_log(path: Path, position: LogPosition) -> bool:
    """Return whether a file starts with the bytes of this position."""
    try:
        with open_log(path) as file:
            return _digest_head(file.read(position.head_size)) == position.head_digest
    except (OSError, EOFError, zlib.error):
        return False


def _digest_head(head: bytes) -> str:
    return sha256(head).hexdigest()[:32]


def list_unread_files(path: Path, position: LogPosition) -> list[tuple[Path, int]]:
    """Return the file of the position, then all newer files, with offsets."""
    current = [path] if path.is_file() else []
    if not position.head_size:
        return [(file, 0) for file in [*list_rotated_logs(path), *current]]
    newer: list[tuple[Path, int]] = []
    for file in (*current, *reversed(list_rotated_logs(path))):
        if is_same_log(file, position):
            return [(file, position.offset), *newer]
        newer.insert(0, (file, 0))
    return [(file, 0) for file in current]  # the file is gone: rereading older files would count lines twice


def read_lines(path: Path, offset: int) -> Iterator[tuple[list[bytes], LogPosition]]:
    """Yield complete lines in chunks, with the position after each chunk."""
    try:
        with open_log(path) as file:
            head = file.read(HEAD_BYTES)
            if offset > _get_log_size(path, file):
                offset = 0  # the file was truncated
            file.seek(offset)
            yield from _read_chunks(file, offset, head)
    except (OSError, EOFError, zlib.error):
        return  # deleted or damaged: earlier chunks are kept


def _get_log_size(path: Path, file: IO[bytes]) -> int:
    return file.seek(0, os.SEEK_END) if path.suffix != ".gz" else 1 << 62


def _read_chunks(file: IO[bytes], offset: int, head: bytes) -> Iterator[tuple[list[bytes], LogPosition]]:
    remainder = b""
    start = LogPosition(_digest_head(head), len(head))
    while block := file.read(READ_BYTES):
        lines, newline, remainder = (remainder + block).rpartition(b"\n")
        if newline:
            offset += len(lines) + 1
            yield lines.split(b"\n"), LogPosition(start.head_digest, start.head_size, offset)
        elif len(remainder) > MAX_LINE_BYTES:
            offset += len(remainder)  # skip an overlong line
            remainder = b""
            yield [], LogPosition(start.head_digest, start.head_size, offset)


@dataclass(frozen=True, slots=True)
class LogReadResult:
    """The numbers of lines read and of malformed lines."""

    lines: int = 0
    malformed: int = 0


def follow_access_log(
    db: Connection,
    site: PublishedSite,
    rules: PathRules,
    log_path: Path,
    now: int,
    verify_crawler: VerifyFunction | None = None,
) -> LogReadResult:
    """Read new log lines, committing each chunk together with its position."""
    total, malformed = 0, 0
    for file, offset in list_unread_files(log_path, parse_position(load_publisher_state(db).log_position)):
        for chunk, position in read_lines(file, offset):
            batch, malformed_in_chunk = build_batch(chunk, site, verify_crawler)
            batch.log_position = str(position)
            write_batch(db, site, rules, batch, now)
            total, malformed = total + len(chunk), malformed + malformed_in_chunk
    return LogReadResult(total, malformed)


def build_batch(
    raw_lines: Iterable[bytes], site: PublishedSite, verify_crawler: VerifyFunction | None = None
) -> tuple[ActivityBatch, int]:
    """Return the batch and the number of malformed lines."""
    batch, malformed = ActivityBatch(), 0
    for raw in raw_lines:
        entry = parse_log_line(raw)
        if entry is not None:
            _add_log_entry(batch, entry, site, verify_crawler)
        elif raw.strip():
            malformed += 1
    return batch, malformed


def _add_log_entry(
    batch: ActivityBatch, entry: AccessLogEntry, site: PublishedSite, verify_crawler: VerifyFunction | None
) -> None:
    batch.viewed_at = entry.requested_at
    path = _canonicalize_target(entry.target, site) if entry.method == "GET" else None
    if path is None:
        return
    if entry.status in (200, 304):
        if entry.user_agent is None or not is_bot(entry.user_agent):
            batch.view_counts[path] += 1
        else:
            verified = verify_crawler(entry.user_agent, entry.client_address) if verify_crawler else False
            batch.crawler_visits[(get_claimed_name(entry.user_agent), verified)] += 1
        if not entry.user:
            batch.public_paths.add(path)
            batch.private_paths.discard(path)
    elif entry.status in (401, 403):
        batch.private_paths.add(path)
        batch.public_paths.discard(path)


@lru_cache(maxsize=16384)
def _canonicalize_target(target: str, site: PublishedSite) -> str | None:
    raw_path, _, query = target.partition("?")
    path = canonicalize_path(raw_path)
    return add_page_parameters(strip_index_file(path, site.index_file), query, site.page_parameters) if path else None
