"""WARC files at another place: a shared disk or an object store, by any address that fsspec understands.

The archive is written here, for only a file system can take back a broken end. A file that is full is copied to its
place while the crawl goes on; once it is there whole and all of it was committed, the copy here goes. The file being
written stays, and is copied as it stands when the crawl ends. A copy that fails is tried again at the next chance.
"""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, cast

from sanderling.config.redact import hide_in, hide_password
from sanderling.errors import CollectionError, MissingExtra, UsageError

POINTER = "elsewhere"  # in the archive's folder: where the files went
OURS = "sanderling-*.warc.gz"
PART = ".part"
WHOLE = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "az"})  # object stores: what is put there appears whole


class Offsite:
    """The other place of one archive."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address, self.shown = folder, address, hide_password(address)
        self.fs, self.root = reach(address)
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="offsite")
        self.sent: dict[str, Future[None]] = {}
        self.trouble: dict[str, str] = {}  # files that could not be copied, and why

    def names(self) -> dict[str, int]:
        """What is there, and how long."""
        try:
            found = self.fs.ls(self.root, detail=True, refresh=True) if self.fs.exists(self.root) else []
        except Exception as error:  # each file system has errors of its own
            raise CollectionError(
                f"the archive's place {self.shown} cannot be reached: {hide_in(error, self.address)}"
            ) from error
        return {Path(entry["name"]).name: int(entry["size"]) for entry in found if entry["type"] == "file"}

    def send(self, name: str) -> None:
        """Copy a full file while the crawl goes on, and see to earlier ones: their last batch is committed by now."""
        for earlier, future in list(self.sent.items()):
            if future.done() and future.exception() is None:
                (self.folder / earlier).unlink()
                del self.sent[earlier]
            elif future.done():
                self.sent[earlier] = self.pool.submit(self._copy, earlier)
        if name not in self.sent:
            self.sent[name] = self.pool.submit(self._copy, name)

    def _copy(self, name: str) -> None:
        """Copy one file whole: under another name first, so that nobody reads half of it."""
        self.fs.makedirs(self.root, exist_ok=True)
        there = f"{self.root}/{name}"
        if WHOLE & {*([self.fs.protocol] if isinstance(self.fs.protocol, str) else self.fs.protocol)}:
            self.fs.put_file(str(self.folder / name), there)
        else:
            self.fs.put_file(str(self.folder / name), there + PART)
            self.fs.mv(there + PART, there)
        if self.fs.size(there) != (self.folder / name).stat().st_size:
            raise OSError(f"{there} is not whole")

    def settle(self, current: str, committed: Mapping[str, int]) -> None:
        """Wait for what is on its way, copy what differs, let go of what is there whole; the current file stays."""
        self.trouble = {}
        for future in self.sent.values():
            future.exception()  # wait; what failed is tried once more below
        self.sent.clear()
        try:
            there = self.names()
        except CollectionError as error:
            self.trouble[self.shown] = str(error)
            return
        for path in sorted(self.folder.glob(OURS)):
            size = path.stat().st_size
            if there.get(path.name) != size:
                self._note(path.name, self.pool.submit(self._copy, path.name).exception())
            if path.name not in self.trouble and path.name != current and committed.get(path.name) == size:
                path.unlink()

    def _note(self, name: str, error: BaseException | None) -> None:
        if error is not None:
            self.trouble[name] = f"{type(error).__name__}: {hide_in(error, self.address)}"

    def close(self) -> None:
        """Let go."""
        self.pool.shutdown(wait=True)


def reach(address: str) -> tuple[Any, str]:
    """The file system of an address, and the folder in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtra("--archive", "cluster") from None
    try:
        fs, root = url_to_fs(address)
    except (ValueError, ImportError, OSError) as error:
        said = hide_in(error, address)
        raise UsageError(f"{hide_password(address)!r} is no place for an archive: {said}") from None
    return fs, str(root).rstrip("/")


def open_offsite(folder: Path, address: str) -> Offsite | None:
    """The other place of this archive, if it has one; it is remembered, and there is only one."""
    pointer = folder / POINTER
    known = pointer.read_text().strip() if pointer.is_file() else ""
    if address and known and address != known:
        places = hide_password(known), hide_password(address)
        raise CollectionError(f"{folder} has its files at {places[0]}; it cannot have them at {places[1]} too")
    if not (address or known):
        return None
    found = Offsite(folder, address or known)
    if not known:
        pointer.touch(mode=0o600)  # it may hold a password
        pointer.write_text(address)
    return found


def open_file(folder: Path, name: str) -> BinaryIO:
    """Open a WARC file wherever it is."""
    try:
        return (folder / name).open("rb")
    except FileNotFoundError:
        if "/" in name or not (folder / POINTER).is_file():
            raise
        fs, root = reach((folder / POINTER).read_text().strip())
        return cast(BinaryIO, fs.open(f"{root}/{name}", "rb"))


def is_there(folder: Path, name: str) -> bool:
    """Is a WARC file here or at its other place?"""
    try:
        open_file(folder, name).close()
    except FileNotFoundError:
        return False
    return True
