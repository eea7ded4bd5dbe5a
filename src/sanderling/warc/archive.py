"""The WARC files of a collection: append finished members, flush once per batch, roll to the next file.

Nothing appended counts until `flush` returned, and `flush` comes before the commit that names the places. It has two
halves, so that the database is written while the disk is busy: `hand_over`, and `settle` which waits. What a crash
leaves behind that was never committed is cut off by `repair` when the archive is opened again.
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

MAX_FILE_BYTES = 1_000_000_000  # what the WARC standard recommends, annex C
WRITE_BUFFER_BYTES = 8_000_000  # held in memory before it is handed to the disk
FILE_NAME_PATTERN = re.compile(r"sanderling-\d{14}-(\d{5,})\.warc\.gz")


class Archive:
    """An open archive; one process writes it. Make one with `open_archive`."""

    def __init__(self, folder: Path, warcinfo_fields: Sequence[HeaderField], clock: Clock, max_file_bytes: int) -> None:
        self.folder = folder
        self._warcinfo_fields = warcinfo_fields
        self._clock = clock
        self._max_file_bytes = max_file_bytes
        self._fd = -1
        self._file_name = ""
        self._end_offset = 0  # where the next member goes
        self._written_bytes = 0  # of that, handed to the disk
        self._submitted_bytes = 0  # of that, on its way to it
        self._flushed_bytes = 0  # of that, known to be on it
        self._pending_members: list[bytes] = []
        self._sync_executor = ThreadPoolExecutor(1, thread_name_prefix="disk")
        self._sync_future: Future[None] | None = None  # under way, of all that was handed over
        self._file_number = 0  # of the last file
        self.repairs: list[FileRepair] = []  # what had to be done when it was opened
        self.on_file_full: Callable[[str], None] | None = None  # told of every file that is full

    def append(self, member: bytes) -> RecordLocation:
        """Add a member; its place is good once `flush` has returned."""
        place = RecordLocation(self._file_name, self._end_offset, len(member))
        self._pending_members.append(member)
        self._end_offset += len(member)
        if self._end_offset - self._written_bytes > WRITE_BUFFER_BYTES:
            self._write_pending()
        return place

    def append_revisit(
        self,
        exchange: HttpExchange,
        original: OriginalRecord,
        algorithm: DigestAlgorithm = "sha256",
        record_id: str = "",
    ) -> tuple[PackedRecord, RecordLocation]:
        """Add a record that says: the same as before; a 304 says it by the server's word, else by the digest.

        It takes over `record_id` from the response it stands for, so that the request packed beside that one names it.
        """
        packed = pack_revisit(exchange, original, algorithm, record_id)
        return packed, self.append(packed.member)

    def flush(self) -> dict[str, int]:
        """Bring everything appended to the disk; return the new lengths, to be committed with the batch."""
        lengths = self.start_flush()
        self.finish_flush()
        return lengths

    def start_flush(self) -> dict[str, int]:
        """Begin to flush; the lengths it returns may be written down, and be committed once `settle` has returned."""
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
        """Has the disk what was handed over?"""
        return self._sync_future is None or self._sync_future.done()

    def finish_flush(self) -> None:
        """Wait until the disk has what was handed over."""
        if self._sync_future is not None:
            sync, self._sync_future = self._sync_future, None
            with self._discard_on_error():
                sync.result()
            self._flushed_bytes = self._submitted_bytes

    def _start_next_file(self) -> dict[str, int]:
        """Go on in another file; return how long the old one and the new one are."""
        self.finish_flush()
        full, length = self._file_name, self._end_offset
        self._create_file()
        if self.on_file_full:
            self.on_file_full(full)
        return {full: length} | self.get_flushed_lengths()

    def get_flushed_lengths(self) -> dict[str, int]:
        """The file being written and how much of it is on the disk."""
        return {self._file_name: self._flushed_bytes}

    def close(self) -> None:
        """Flush and close; harmless when already closed."""
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
        else:  # what was appended and not flushed was never promised
            self._discard_unflushed()
            self._close_file()
            self._sync_executor.shutdown()

    def _resume_file(self, name: str, length: int) -> None:
        """Go on with a file that has room left."""
        self._fd = os.open(self.folder / name, os.O_WRONLY | os.O_APPEND)
        self._file_name = name
        self._end_offset = self._written_bytes = self._flushed_bytes = length

    def _create_file(self) -> None:
        """Begin the next file with its `warcinfo`, on the disk before any page goes into it."""
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
        """Hand the pending members to the disk."""
        rest = memoryview(b"".join(self._pending_members))
        self._pending_members.clear()
        with self._discard_on_error():
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        self._written_bytes = self._end_offset

    @contextmanager
    def _discard_on_error(self) -> Iterator[None]:
        """If the disk refuses, take back what was not flushed, so that the file ends in a whole member."""
        try:
            yield
        except OSError as error:
            self._discard_unflushed()
            if error.errno not in DISK_FULL_ERRNOS:
                raise
            raise DiskFull(
                f"no space left for {self.folder / self._file_name}; what was stored before stays readable. "
                "Make room, then give the same command again: it resumes."
            ) from error

    def discard_uncommitted(self, committed: Mapping[str, int]) -> None:
        """Cut off what was handed over and never committed."""
        if self._fd >= 0:
            with suppress(OSError, DiskFull):  # then it was cut already
                self.finish_flush()
            self._flushed_bytes = min(self._flushed_bytes, committed.get(self._file_name, self._flushed_bytes))
            self._discard_unflushed()

    def _discard_unflushed(self) -> None:
        """Cut the file to what was flushed; one that holds nothing goes away."""
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
) -> Archive:
    """Repair the folder to what was committed, then go on with its last file or begin a new one.

    Files that are `elsewhere` need not be here.
    Commit `archive.lengths()` once it is open: then a crash during the first batch leaves nothing behind.
    """
    folder.mkdir(parents=True, exist_ok=True)
    archive = Archive(folder, tuple(warcinfo_fields), clock, max_file_bytes)
    here = {name: length for name, length in committed.items() if name not in remote_files or (folder / name).exists()}
    archive.repairs = repair_archive(folder, here)
    names = [*committed, *remote_files, *(path.name for path in folder.glob("sanderling-*.warc.gz"))]
    archive._file_number = max(map(_parse_file_number, names), default=0)
    last = max((name for name in committed if FILE_NAME_PATTERN.fullmatch(name)), key=_parse_file_number, default="")
    if last and 0 < committed[last] < max_file_bytes and _get_file_size(folder / last) == committed[last]:
        archive._resume_file(last, committed[last])
    else:
        archive._create_file()
    return archive


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _build_file_name(serial: int, now: float) -> str:
    return f"sanderling-{time.strftime('%Y%m%d%H%M%S', time.gmtime(now))}-{serial:05d}.warc.gz"


def _parse_file_number(name: str) -> int:
    found = FILE_NAME_PATTERN.fullmatch(name)
    return int(found[1]) if found else 0


def _get_file_size(path: Path) -> int:
    return path.stat().st_size if path.exists() else -1
