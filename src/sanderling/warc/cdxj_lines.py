"""Read the CDXJ index of a collection as sorted lines, also while a crawl writes it."""

import heapq
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path

from sanderling.warc.cdxj import find_lower_bound
from sanderling.warc.cdxj_index import (
    CdxjIndex,
    find_damaged_files,
    list_index_files,
    read_coverage,
    read_entries,
    split_into_batches,
)
from sanderling.warc.record_parser import is_offset

CDX_COLUMNS = b"N b a m s k r M S V g".split()  # of most CDX files


def iterate_index_lines(
    folder: Path, archive_folder: Path, committed: Mapping[str, int], scratch_folder: Path
) -> Iterator[bytes]:
    """Yield the sorted lines of all committed records.

    Records that the index does not contain are read from the WARC files and sorted in the scratch folder.
    """
    is_damaged = bool(find_damaged_files(folder))
    # Read before the files are opened: what is indexed in between comes twice, and nothing is left out.
    covered = {} if is_damaged else read_coverage(folder).lengths
    missing = CdxjIndex(scratch_folder)
    for name, length in sorted(committed.items()):
        for batch in split_into_batches(read_entries(archive_folder / name, covered.get(name, 0), length)):
            missing.add([entry for entry, _ in batch], {})
    missing.close()
    folders = [scratch_folder] if is_damaged or not covered else [folder, scratch_folder]
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("rb")) for part in folders for path in list_index_files(part)]
        for line, _ in groupby(heapq.merge(*files)):
            yield line


def parse_record_place(line: bytes, header: bytes = b"") -> tuple[str, int] | None:
    """Return file name and offset of a CDXJ line, or of a CDX line whose columns a header names, or None."""
    try:
        if b"{" in line:
            fields = json.loads(line[line.index(b"{") :])
            name, offset = fields["filename"], str(fields["offset"])
        else:
            columns = header.split()[1:] or CDX_COLUMNS
            values = line.split()
            name, offset = values[columns.index(b"g")].decode(), values[columns.index(b"V")].decode()
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    return (name, int(offset)) if isinstance(name, str) and is_offset(offset) else None


def iterate_key_range(folder: Path, first_key: bytes, end_key: bytes) -> Iterator[bytes]:
    """Yield the sorted index lines from a key up to, but not including, another key."""
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("rb")) for path in list_index_files(folder)]
        for file in files:
            file.seek(find_lower_bound(file, first_key))
        for line, _ in groupby(heapq.merge(*files)):
            if line >= end_key:
                return
            yield line
