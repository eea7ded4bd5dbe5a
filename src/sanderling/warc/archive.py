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

from sanderling.clock import Clock, real
from sanderling.errors import NO_ROOM, DiskFull
from sanderling.warc.packer import Algorithm, Exchange, Field, Packed
from sanderling.warc.records import Original, Place, pack_revisit, pack_warcinfo
from sanderling.warc.repair import Repair, repair

__all__ = ["Archive", "Original", "Place", "Repair", "open_archive", "repair"]

ROLL_BYTES = 1_000_000_000  # what the WARC standard recommends, annex C
WRITE_BYTES = 8_000_000  # held in memory before it is handed to the disk
NAME = re.compile(r"sanderling-\d{14}-(\d{5,})\.warc\.gz")


class Archive:
    """An open archive; one process writes it. Make one with `open_archive`."""

    def __init__(self, folder: Path, about: Sequence[Field], clock: Clock, roll_bytes: int) -> None:
        self.folder = folder
        self._about = about
        self._clock = clock
        self._roll_bytes = roll_bytes
        self._fd = -1
        self._name = ""
        self._end = 0  # where the next member goes
        self._written = 0  # of that, handed to the disk
        self._handed = 0  # of that, on its way to it
        self._flushed = 0  # of that, known to be on it
        self._pending: list[bytes] = []
        self._disk = ThreadPoolExecutor(1, thread_name_prefix="disk")
        self._sync: Future[None] | None = None  # under way, of all that was handed over
        self._serial = 0  # of the last file
        self.repairs: list[Repair] = []  # what had to be done when it was opened
        self.on_full: Callable[[str], None] | None = None  # told of every file that is full

    def append(self, member: bytes) -> Place:
        """Add a member; its place is good once `flush` has returned."""
        place = Place(self._name, self._end, len(member))
        self._pending.append(member)
        self._end += len(member)
        if self._end - self._written > WRITE_BYTES:
            self._write()
        return place

    def revisit(
        self, seen: Exchange, original: Original, algorithm: Algorithm = "sha256", record_id: str = ""
    ) -> tuple[Packed, Place]:
        """Add a record that says: the same as before; a 304 says it by the server's word, else by the digest.

        It takes over `record_id` from the response it stands for, so that the request packed beside that one names it.
        """
        packed = pack_revisit(seen, original, algorithm, record_id)
        return packed, self.append(packed.member)

    def flush(self) -> dict[str, int]:
        """Bring everything appended to the disk; return the new lengths, to be committed with the batch."""
        lengths = self.hand_over()
        self.settle()
        return lengths

    def hand_over(self) -> dict[str, int]:
        """Begin to flush; the lengths it returns may be written down, and be committed once `settle` has returned."""
        self.settle()
        if self._end == self._flushed:
            return {}
        self._write()
        self._handed = self._end
        self._sync = self._disk.submit(os.fdatasync, self._fd)
        return {self._name: self._end} if self._end < self._roll_bytes else self._roll()

    @property
    def is_settled(self) -> bool:
        """Has the disk what was handed over?"""
        return self._sync is None or self._sync.done()

    def settle(self) -> None:
        """Wait until the disk has what was handed over."""
        if self._sync is not None:
            sync, self._sync = self._sync, None
            with self._whole_or_nothing():
                sync.result()
            self._flushed = self._handed

    def _roll(self) -> dict[str, int]:
        """Go on in another file; return how long the old one and the new one are."""
        self.settle()
        full, length = self._name, self._end
        self._start()
        if self.on_full:
            self.on_full(full)
        return {full: length} | self.lengths()

    def lengths(self) -> dict[str, int]:
        """The file being written and how much of it is on the disk."""
        return {self._name: self._flushed}

    def close(self) -> None:
        """Flush and close; harmless when already closed."""
        if self._fd >= 0:
            try:
                self.flush()
            finally:
                self._let_go()
                self._disk.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if error is None:
            self.close()
        else:  # what was appended and not flushed was never promised
            self._take_back()
            self._let_go()
            self._disk.shutdown()

    def _continue(self, name: str, length: int) -> None:
        """Go on with a file that has room left."""
        self._fd = os.open(self.folder / name, os.O_WRONLY | os.O_APPEND)
        self._name = name
        self._end = self._written = self._flushed = length

    def _start(self) -> None:
        """Begin the next file with its `warcinfo`, on the disk before any page goes into it."""
        self._let_go()
        self._serial += 1
        self._name = _name(self._serial, self._clock())
        self._end = self._written = self._flushed = 0
        with self._whole_or_nothing():
            self._fd = os.open(self.folder / self._name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o666)
        self.append(pack_warcinfo(self._name, self._about, self._clock()))
        self._write()
        with self._whole_or_nothing():
            os.fdatasync(self._fd)
        self._flushed = self._written
        sync_folder(self.folder)

    def _write(self) -> None:
        """Hand the pending members to the disk."""
        rest = memoryview(b"".join(self._pending))
        self._pending.clear()
        with self._whole_or_nothing():
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        self._written = self._end

    @contextmanager
    def _whole_or_nothing(self) -> Iterator[None]:
        """If the disk refuses, take back what was not flushed, so that the file ends in a whole member."""
        try:
            yield
        except OSError as error:
            self._take_back()
            if error.errno not in NO_ROOM:
                raise
            raise DiskFull(
                f"no space left for {self.folder / self._name}; what was stored before stays readable. "
                "Make room, then give the same command again: it resumes."
            ) from error

    def take_back(self, committed: Mapping[str, int]) -> None:
        """Cut off what was handed over and never committed."""
        if self._fd >= 0:
            with suppress(OSError, DiskFull):  # then it was cut already
                self.settle()
            self._flushed = min(self._flushed, committed.get(self._name, self._flushed))
            self._take_back()

    def _take_back(self) -> None:
        """Cut the file to what was flushed; one that holds nothing goes away."""
        if self._sync is not None:
            wait([self._sync])
            self._sync = None
        self._pending.clear()
        self._end = self._written = self._flushed
        if self._fd >= 0:
            os.ftruncate(self._fd, self._flushed)
        if self._fd >= 0 and self._flushed == 0:
            (self.folder / self._name).unlink()
            self._let_go()

    def _let_go(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


def open_archive(
    folder: Path,
    committed: Mapping[str, int],
    about: Iterable[Field] = (),
    clock: Clock = real,
    roll_bytes: int = ROLL_BYTES,
    elsewhere: Collection[str] = (),
) -> Archive:
    """Repair the folder to what was committed, then go on with its last file or begin a new one.

    Files that are `elsewhere` need not be here.
    Commit `archive.lengths()` once it is open: then a crash during the first batch leaves nothing behind.
    """
    folder.mkdir(parents=True, exist_ok=True)
    archive = Archive(folder, tuple(about), clock, roll_bytes)
    here = {name: length for name, length in committed.items() if name not in elsewhere or (folder / name).exists()}
    archive.repairs = repair(folder, here)
    names = [*committed, *elsewhere, *(path.name for path in folder.glob("sanderling-*.warc.gz"))]
    archive._serial = max(map(_serial, names), default=0)
    last = max((name for name in committed if NAME.fullmatch(name)), key=_serial, default="")
    if last and 0 < committed[last] < roll_bytes and _size(folder / last) == committed[last]:
        archive._continue(last, committed[last])
    else:
        archive._start()
    return archive


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _name(serial: int, now: float) -> str:
    return f"sanderling-{time.strftime('%Y%m%d%H%M%S', time.gmtime(now))}-{serial:05d}.warc.gz"


def _serial(name: str) -> int:
    found = NAME.fullmatch(name)
    return int(found[1]) if found else 0


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else -1
