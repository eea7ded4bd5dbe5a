"""Store WARC files on a shared disk or in an object store (any fsspec address).

Full files are uploaded during the crawl and deleted locally once uploaded and committed. The current file stays local
until the end, because a failed write must be truncated. Failed uploads are retried.
"""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, cast

from sanderling.config.redact import redact_address_password, redact_password
from sanderling.errors import CollectionError, MissingExtra, UsageError

REMOTE_ADDRESS_FILE = "elsewhere"  # in the archive folder; holds the address of the remote archive
ARCHIVE_FILE_GLOB = "sanderling-*.warc.gz"
PARTIAL_SUFFIX = ".part"
# Object stores: an object becomes visible only when it is complete.
ATOMIC_PROTOCOLS = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "az"})


class RemoteArchive:
    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address, self.display_address = folder, address, redact_password(address)
        self.fs, self.root = open_file_system(address)
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="offsite")
        self.uploads: dict[str, Future[None]] = {}
        self.upload_errors: dict[str, str] = {}  # error by file name

    def list_files(self) -> dict[str, int]:
        try:
            entries = self.fs.ls(self.root, detail=True, refresh=True) if self.fs.exists(self.root) else []
        except Exception as error:  # every fsspec file system has its own exceptions
            raise CollectionError(
                f"cannot list the remote archive {self.display_address}: {redact_address_password(error, self.address)}"
            ) from error
        return {Path(entry["name"]).name: int(entry["size"]) for entry in entries if entry["type"] == "file"}

    def start_upload(self, file_name: str) -> None:
        """Upload a full file in the background, and check earlier uploads."""
        for earlier, future in list(self.uploads.items()):
            if future.done() and future.exception() is None:
                (self.folder / earlier).unlink()
                del self.uploads[earlier]
            elif future.done():
                self.uploads[earlier] = self.pool.submit(self._upload_file, earlier)
        if file_name not in self.uploads:
            self.uploads[file_name] = self.pool.submit(self._upload_file, file_name)

    def _upload_file(self, file_name: str) -> None:
        """Upload under a temporary name."""
        self.fs.makedirs(self.root, exist_ok=True)
        remote_path = f"{self.root}/{file_name}"
        if ATOMIC_PROTOCOLS & {*([self.fs.protocol] if isinstance(self.fs.protocol, str) else self.fs.protocol)}:
            self.fs.put_file(str(self.folder / file_name), remote_path)
        else:
            self.fs.put_file(str(self.folder / file_name), remote_path + PARTIAL_SUFFIX)
            self.fs.mv(remote_path + PARTIAL_SUFFIX, remote_path)
        if self.fs.size(remote_path) != (self.folder / file_name).stat().st_size:
            raise OSError(f"the upload of {remote_path} is incomplete")

    def finish_uploads(self, current_file: str, committed: Mapping[str, int]) -> None:
        """Finish uploads, and delete uploaded local files except the current."""
        self.upload_errors = {}
        for future in self.uploads.values():
            future.exception()  # wait; failed uploads are retried below
        self.uploads.clear()
        try:
            remote_sizes = self.list_files()
        except CollectionError as error:
            self.upload_errors[self.display_address] = str(error)
            return
        for path in sorted(self.folder.glob(ARCHIVE_FILE_GLOB)):
            size = path.stat().st_size
            if remote_sizes.get(path.name) != size:
                self._record_error(path.name, self.pool.submit(self._upload_file, path.name).exception())
            if path.name not in self.upload_errors and path.name != current_file and committed.get(path.name) == size:
                path.unlink()

    def _record_error(self, file_name: str, error: BaseException | None) -> None:
        if error is not None:
            self.upload_errors[file_name] = f"{type(error).__name__}: {redact_address_password(error, self.address)}"

    def close(self) -> None:
        self.pool.shutdown(wait=True)


def open_file_system(address: str, flag: str = "--archive") -> tuple[Any, str]:
    """Return the fsspec file system of an address, and its folder."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtra(flag, "cluster") from None
    try:
        fs, root = url_to_fs(address)
    except (ValueError, ImportError, OSError) as error:
        problem = redact_address_password(error, address)
        raise UsageError(f"{redact_password(address)!r} is not an address that {flag} can use: {problem}") from None
    return fs, str(root).rstrip("/")


def open_remote_archive(folder: Path, address: str) -> RemoteArchive | None:
    address_file = folder / REMOTE_ADDRESS_FILE
    stored_address = address_file.read_text().strip() if address_file.is_file() else ""
    if address and stored_address and address != stored_address:
        raise CollectionError(
            f"{folder} already stores its WARC files at {redact_password(stored_address)},"
            f" not at {redact_password(address)}; use the same --archive, or another -C"
        )
    if not (address or stored_address):
        return None
    remote_archive = RemoteArchive(folder, address or stored_address)
    if not stored_address:
        address_file.touch(mode=0o600)  # it may hold a password
        address_file.write_text(address)
    return remote_archive


def open_warc_file(folder: Path, file_name: str) -> BinaryIO:
    """Open a local or remote WARC file."""
    try:
        return (folder / file_name).open("rb")
    except FileNotFoundError:
        if "/" in file_name or not (folder / REMOTE_ADDRESS_FILE).is_file():
            raise
        fs, root = open_file_system((folder / REMOTE_ADDRESS_FILE).read_text().strip())
        return cast(BinaryIO, fs.open(f"{root}/{file_name}", "rb"))


def has_warc_file(folder: Path, file_name: str) -> bool:
    try:
        open_warc_file(folder, file_name).close()
    except FileNotFoundError:
        return False
    return True
