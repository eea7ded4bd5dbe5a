"""Write the WARC files of a collection: append gzip members, flush once per batch, rotate full files.

A flush must finish before the commit that stores record locations; the database is written while the disk syncs. After
a crash, `repair_archive` removes uncommitted bytes.
"""

import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from sanderling.clock import Clock, system_clock
from sanderling.errors import DISK_FULL_ERRNOS, DiskFull
from sanderling.warc.packer import DigestAlgorithm, HeaderField, HttpExchange, PackedRecord
from sanderling.warc.records import OriginalRecord, RecordLocation, pack_revisit, pack_warcinfo
from sanderling.warc.repair import FileRepair, repair_archive

__all__ = ["Archive", "FileRepair", "OriginalRecord", "RecordLocation", "open_archive", "repair_archive"]

MAX_FILE_BYTES = 1_000_000_000  # recommended by the WARC standard, annex C
WRITE_BUFFER_BYTES = 8_000_000  # buffered in memory before a write
FILE_NAME_PATTERN = re.compile(r"sanderling-\d{14}-(\d{5,})\.warc\.gz")


class Archive:
    """An archive opened for writing by `open_archive`, in a single process."""

    def __init__(
        self,
        folder: Path,
        warcinfo_fields: Sequence[HeaderField],
        clock: Clock,
        max_file_bytes: int,
        on_file_full: Callable[[str], None] | None = None,
    ) -> None:
        self.folder = folder
        self._warcinfo_fields = warcinfo_fields
        self._clock = clock
        self._max_file_bytes = max_file_bytes
        self._fd = -1
        self._file_name = ""
        self._end_offset = 0  # where the next member starts
        self._written_bytes = 0  # passed to write()
        self._submitted_bytes = 0  # covered by the sync in progress
        self._flushed_bytes = 0  # synced to disk
        self._pending_members: list[bytes] = []
        self._sync_executor = ThreadPoolExecutor(1, thread_name_prefix="disk")
        self._sync_future: Future[None] | None = None
        self._file_number = 0
        self.repairs: list[FileRepair] = []  # applied by `open_archive`
        self._on_file_full = on_file_full  # called with the name of every full file

    def append(self, member: bytes) -> RecordLocation:
        """Append a gzip member. Its location is durable after the next flush."""
        location = RecordLocation(self._file_name, self._end_offset, len(member))
        self._pending_members.append(member)
        self._end_offset += len(member)
        if self._end_offset - self._written_bytes > WRITE_BUFFER_BYTES:
            self._write_pending()
        return location

    def append_revisit(
        self,
        exchange: HttpExchange,
        original: OriginalRecord,
        algorithm: DigestAlgorithm = "sha256",
        record_id: str = "",
    ) -> tuple[PackedRecord, RecordLocation]:
        """Append a `revisit` record that refers to `original` instead of repeating its body.

        `record_id` is the id of the response it replaces.
        """
        packed = pack_revisit(exchange, original, algorithm, record_id)
        return packed, self.append(packed.member)

    def flush(self) -> dict[str, int]:
        """Write appended members to disk. Returns the file lengths to commit."""
        lengths = self.start_flush()
        self.finish_flush()
        return lengths

    def start_flush(self) -> dict[str, int]:
        """Start a flush. Returns the file lengths to commit after `finish_flush`."""
        self.finish_flush()
        if self._end_offset == self._flushed_bytes:
            return {}
        self._write_pending()
        self._submitted_bytes = self._end_offset
        self._sync_future = self._sync_executor.submit(os.fdatasync, self._fd)
        return (
            {self._file_name: self._end_offset} if self._end_offset < self._max_file_bytes else self._start_next_file()
        )

    @property
    def is_flush_done(self) -> bool:
        return self._sync_future is None or self._sync_future.done()

    def finish_flush(self) -> None:
        """Wait until the current flush is on disk."""
        if self._sync_future is not None:
            sync, self._sync_future = self._sync_future, None
            with self._discard_on_error():
                sync.result()
            self._flushed_bytes = self._submitted_bytes

    def _start_next_file(self) -> dict[str, int]:
        self.finish_flush()
        full, length = self._file_name, self._end_offset
        self._create_file()
        if self._on_file_full:
            self._on_file_full(full)
        return {full: length} | self.get_flushed_lengths()

    def get_flushed_lengths(self) -> dict[str, int]:
        """Return the current file and its length on disk."""
        return {self._file_name: self._flushed_bytes}

    def close(self) -> None:
        """Flush and close. Idempotent."""
        if self._fd >= 0:
            try:
                self.flush()
            finally:
                self._close_file()
                self._sync_executor.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:  # unflushed records were never promised
            self._discard_unflushed()
            self._close_file()
            self._sync_executor.shutdown()

    def _resume_file(self, name: str, length: int) -> None:
        self._fd = os.open(self.folder / name, os.O_WRONLY | os.O_APPEND)
        self._file_name = name
        self._end_offset = self._written_bytes = self._flushed_bytes = length

    def _create_file(self) -> None:
        """Start the next file. Its `warcinfo` record is synced first."""
        self._close_file()
        self._file_number += 1
        self._file_name = _build_file_name(self._file_number, self._clock())
        self._end_offset = self._written_bytes = self._flushed_bytes = 0
        with self._discard_on_error():
            self._fd = os.open(self.folder / self._file_name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o666)
        self.append(pack_warcinfo(self._file_name, self._warcinfo_fields, self._clock()))
        self._write_pending()
        with self._discard_on_error():
            os.fdatasync(self._fd)
        self._flushed_bytes = self._written_bytes
        sync_folder(self.folder)

    def _write_pending(self) -> None:
        remaining = memoryview(b"".join(self._pending_members))
        self._pending_members.clear()
        with self._discard_on_error():
            while remaining:
                remaining = remaining[os.write(self._fd, remaining) :]
        self._written_bytes = self._end_offset

    @contextmanager
    def _discard_on_error(self) -> Iterator[None]:
        """Remove unflushed bytes after a write error."""
        try:
            yield
        except OSError as error:
            self._discard_unflushed()
            if error.errno not in DISK_FULL_ERRNOS:
                raise
            raise DiskFull(
                f"no space left on the device for {self.folder / self._file_name}; pages stored so far stay readable. "
                "Free some space, then run the same command again to resume."
            ) from error

    def discard_uncommitted(self, committed: Mapping[str, int]) -> None:
        """Truncate the current file to its committed length."""
        if self._fd >= 0:
            with suppress(OSError, DiskFull):  # the failed flush has truncated the file already
                self.finish_flush()
            self._flushed_bytes = min(self._flushed_bytes, committed.get(self._file_name, self._flushed_bytes))
            self._discard_unflushed()

    def _discard_unflushed(self) -> None:
        if self._sync_future is not None:
            wait([self._sync_future])
            self._sync_future = None
        self._pending_members.clear()
        self._end_offset = self._written_bytes = self._flushed_bytes
        if self._fd >= 0:
            os.ftruncate(self._fd, self._flushed_bytes)
        if self._fd >= 0 and self._flushed_bytes == 0:
            (self.folder / self._file_name).unlink()
            self._close_file()

    def _close_file(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


def open_archive(
    folder: Path,
    committed: Mapping[str, int],
    warcinfo_fields: Iterable[HeaderField] = (),
    clock: Clock = system_clock,
    max_file_bytes: int = MAX_FILE_BYTES,
    remote_files: Collection[str] = (),
    on_file_full: Callable[[str], None] | None = None,
) -> Archive:
    """Repair the archive folder, then resume its last file or start the next.

    Commit `get_flushed_lengths()` after opening. Files in `remote_files` may be missing locally.
    """
    folder.mkdir(parents=True, exist_ok=True)
    archive = Archive(folder, tuple(warcinfo_fields), clock, max_file_bytes, on_file_full)
    local_lengths = {
        name: length for name, length in committed.items() if name not in remote_files or (folder / name).exists()
    }
    archive.repairs = repair_archive(folder, local_lengths)
    names = [*committed, *remote_files, *(path.name for path in folder.glob("sanderling-*.warc.gz"))]
    archive._file_number = max(map(_parse_file_number, names), default=0)
    last_file = max(
        (name for name in committed if FILE_NAME_PATTERN.fullmatch(name)), key=_parse_file_number, default=""
    )
    if (
        last_file
        and 0 < committed[last_file] < max_file_bytes
        and _get_file_size(folder / last_file) == committed[last_file]
    ):
        archive._resume_file(last_file, committed[last_file])
    else:
        archive._create_file()
    return archive


def sync_folder(folder: Path) -> None:
    """Make file creation and deletion durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _build_file_name(file_number: int, now: float) -> str:
    return f"sanderling-{time.strftime('%Y%m%d%H%M%S', time.gmtime(now))}-{file_number:05d}.warc.gz"


def _parse_file_number(name: str) -> int:
    match = FILE_NAME_PATTERN.fullmatch(name)
    return int(match[1]) if match else 0


def _get_file_size(path: Path) -> int:
    return path.stat().st_size if path.exists() else -1
