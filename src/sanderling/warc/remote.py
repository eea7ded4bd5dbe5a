"""WARC files at another place: a shared disk or an object store, by any address that fsspec understands.

The archive is written here, for only a file system can take back a broken end. A file that is full is copied to its
place while the crawl goes on; once it is there whole and all of it was committed, the copy here goes. The file being
written stays, and is copied as it stands when the crawl ends. A copy that fails is tried again at the next chance.
"""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, cast

from sanderling.config.redact import redact_address_password, redact_password
from sanderling.errors import CollectionError, MissingExtra, UsageError

REMOTE_ADDRESS_FILE = "elsewhere"  # in the archive's folder: where the files went
ARCHIVE_FILE_GLOB = "sanderling-*.warc.gz"
PARTIAL_SUFFIX = ".part"
ATOMIC_PROTOCOLS = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "az"})  # object stores: what is put there appears whole


class RemoteArchive:
    """The other place of one archive."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address, self.display_address = folder, address, redact_password(address)
        self.fs, self.root = open_file_system(address)
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="offsite")
        self.uploads: dict[str, Future[None]] = {}
        self.upload_errors: dict[str, str] = {}  # files that could not be copied, and why

    def list_files(self) -> dict[str, int]:
        """What is there, and how long."""
        try:
            found = self.fs.ls(self.root, detail=True, refresh=True) if self.fs.exists(self.root) else []
        except Exception as error:  # each file system has errors of its own
            raise CollectionError(
                f"the archive's place {self.display_address} cannot be reached: {redact_address_password(error, self.address)}"
            ) from error
        return {Path(entry["name"]).name: int(entry["size"]) for entry in found if entry["type"] == "file"}

    def start_upload(self, file_name: str) -> None:
        """Copy a full file while the crawl goes on, and see to earlier ones: their last batch is committed by now."""
        for earlier, future in list(self.uploads.items()):
            if future.done() and future.exception() is None:
                (self.folder / earlier).unlink()
                del self.uploads[earlier]
            elif future.done():
                self.uploads[earlier] = self.pool.submit(self._upload_file, earlier)
        if file_name not in self.uploads:
            self.uploads[file_name] = self.pool.submit(self._upload_file, file_name)

    def _upload_file(self, file_name: str) -> None:
        """Copy one file whole: under another name first, so that nobody reads half of it."""
        self.fs.makedirs(self.root, exist_ok=True)
        there = f"{self.root}/{file_name}"
        if ATOMIC_PROTOCOLS & {*([self.fs.protocol] if isinstance(self.fs.protocol, str) else self.fs.protocol)}:
            self.fs.put_file(str(self.folder / file_name), there)
        else:
            self.fs.put_file(str(self.folder / file_name), there + PARTIAL_SUFFIX)
            self.fs.mv(there + PARTIAL_SUFFIX, there)
        if self.fs.size(there) != (self.folder / file_name).stat().st_size:
            raise OSError(f"{there} is not whole")

    def finish_uploads(self, current_file: str, committed: Mapping[str, int]) -> None:
        """Wait for what is on its way, copy what differs, let go of what is there whole; the current file stays."""
        self.upload_errors = {}
        for future in self.uploads.values():
            future.exception()  # wait; what failed is tried once more below
        self.uploads.clear()
        try:
            there = self.list_files()
        except CollectionError as error:
            self.upload_errors[self.display_address] = str(error)
            return
        for path in sorted(self.folder.glob(ARCHIVE_FILE_GLOB)):
            size = path.stat().st_size
            if there.get(path.name) != size:
                self._record_error(path.name, self.pool.submit(self._upload_file, path.name).exception())
            if path.name not in self.upload_errors and path.name != current_file and committed.get(path.name) == size:
                path.unlink()

    def _record_error(self, file_name: str, error: BaseException | None) -> None:
        if error is not None:
            self.upload_errors[file_name] = f"{type(error).__name__}: {redact_address_password(error, self.address)}"

    def close(self) -> None:
        """Let go."""
        self.pool.shutdown(wait=True)


def open_file_system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the folder in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtra("--archive", "cluster") from None
    try:
        fs, root = url_to_fs(address)
    except (ValueError, ImportError, OSError) as error:
        said = redact_address_password(error, address)
        raise UsageError(f"{redact_password(address)!r} is no place for an archive: {said}") from None
    return fs, str(root).rstrip("/")


def open_remote_archive(folder: Path, address: str) -> RemoteArchive | None:
    """The other place of this archive, if it has one; it is remembered, and there is only one."""
    pointer = folder / REMOTE_ADDRESS_FILE
    known = pointer.read_text().strip() if pointer.is_file() else ""
    if address and known and address != known:
        places = redact_password(known), redact_password(address)
        raise CollectionError(f"{folder} has its files at {places[0]}; it cannot have them at {places[1]} too")
    if not (address or known):
        return None
    found = RemoteArchive(folder, address or known)
    if not known:
        pointer.touch(mode=0o600)  # it may hold a password
        pointer.write_text(address)
    return found


def open_warc_file(folder: Path, file_name: str) -> BinaryIO:
    """Open a WARC file wherever it is."""
    try:
        return (folder / file_name).open("rb")
    except FileNotFoundError:
        if "/" in file_name or not (folder / REMOTE_ADDRESS_FILE).is_file():
            raise
        fs, root = open_file_system((folder / REMOTE_ADDRESS_FILE).read_text().strip())
        return cast(BinaryIO, fs.open(f"{root}/{file_name}", "rb"))


def has_warc_file(folder: Path, file_name: str) -> bool:
    """Is a WARC file here or at its other place?"""
    try:
        open_warc_file(folder, file_name).close()
    except FileNotFoundError:
        return False
    return True
