"""Find captures in the CDXJ index, and load their records."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from sanderling.errors import CollectionError
from sanderling.warc.capture_choice import find_nearest, find_original
from sanderling.warc.cdxj import CdxjEntry
from sanderling.warc.cdxj_index import CdxjIndex
from sanderling.warc.cdxj_lines import iterate_key_range
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import StoredRecord, read_record

__all__ = ["CaptureStore", "CdxjEntry", "ReplayCapture", "find_nearest"]


class ReplayCapture(Struct, frozen=True):
    """A capture with its record."""

    entry: CdxjEntry
    record: StoredRecord


class CaptureStore:
    """Reads the index and the archive of a collection, possibly while a crawl writes them."""

    def __init__(self, folder: Path) -> None:
        self.index_folder, self.archive_folder = folder / "indexes", folder / "archive"

    def list_captures(self, url: str) -> list[CdxjEntry]:
        """Return the captures of a URL, oldest first, else those of the other scheme."""
        index = CdxjIndex(self.index_folder)
        found = index.find_captures(url)
        if not found and "/" not in url.partition("://")[2]:
            found = index.find_captures(f"{url}/")
        return found or index.find_captures(_swap_scheme(url))

    def load_nearest(self, url: str, at: float, number: int = 1) -> ReplayCapture | None:
        """Load the capture nearest to a time, or None if no record can be read. `number`: of those of its second."""
        captures = self.list_captures(url)
        if number > 1:
            of_second = [entry for entry in captures if entry.captured_at == float(int(at))]
            captures = of_second[number - 1 : number] or captures
        while entry := find_nearest(captures, at):
            record = self._load_record(entry)
            if record is not None:
                return ReplayCapture(entry, record)
            captures.remove(entry)
        return None

    def iterate_lines(self, first_key: bytes, end_key: bytes) -> Iterator[bytes]:
        """Yield the index lines of a range of keys."""
        return iterate_key_range(self.index_folder, first_key, end_key)

    def _load_record(self, entry: CdxjEntry) -> StoredRecord | None:
        for lookup in (self._find_original, None):  # by the index, then by the extension fields of our own records
            try:
                return read_record(self.archive_folder, entry.location, find_capture=lookup)
            except CollectionError:
                continue
        return None

    def _find_original(self, revisit: StoredRecord) -> RecordLocation | None:
        original = find_original(CdxjIndex(self.index_folder).find_captures(revisit.original_url), revisit)
        return original.location if original is not None else None


def _swap_scheme(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    return f"{'http' if scheme == 'https' else 'https'}{separator}{rest}"
