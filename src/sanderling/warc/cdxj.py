"""The CDXJ index: one sorted line per capture, as replay tools read it.

`org,example)/path 20231114221320 {"url": ..., "mime": ..., "status": ..., "digest": ..., "length": ..., ...}`
"""

import calendar
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sanderling.http.content_type import mime_of
from sanderling.warc.reader import StoredRecord
from sanderling.warc.records import Place
from sanderling.warc.surt import surt

INDEXED = {"response", "revisit", "resource"}
REVISIT = "warc/revisit"
NOT_MODIFIED = 304  # its line leads to the record that it confirmed: pywb would replay the empty response


class Entry(Struct, frozen=True):
    """One capture in the index."""

    url: str
    at: float
    mime: str  # without parameters; `warc/revisit` for a revisit
    status: int
    digest: str  # payload digest as in the record
    place: Place


class _Facts(Struct, frozen=True, omit_defaults=True):
    """The JSON part of a line; the order and the strings are those of other indexers."""

    url: str
    mime: str = ""
    status: str = ""
    digest: str = ""
    length: str = ""
    offset: str = ""
    filename: str = ""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Facts).decode


def line_of(entry: Entry) -> bytes:
    """Write an entry as one line."""
    status = str(entry.status) if entry.status else ""
    place = entry.place
    facts = _Facts(entry.url, entry.mime, status, entry.digest, str(place.length), str(place.offset), place.file)
    return b"%s %s %s\n" % (surt(entry.url).encode(), timestamp(entry.at).encode(), _encode(facts))


def entry_of(line: bytes) -> Entry:
    """Read a line back; the time is known to the second."""
    _, stamp, facts = line.split(b" ", 2)
    found = _decode(facts)
    place = Place(found.filename, int(found.offset or 0), int(found.length or 0))
    return Entry(found.url, _seconds(stamp.decode()), found.mime, int(found.status or 0), found.digest, place)


def entry_for(record: StoredRecord) -> Entry | None:
    """What the index says of a record; None for what it leaves out, and for a 304 (see `confirmed_entry`)."""
    if record.kind not in INDEXED or not record.url or record.status == NOT_MODIFIED:
        return None
    kind = record.header("Content-Type") if record.kind == "response" else record.field("Content-Type")
    mime = REVISIT if record.kind == "revisit" else mime_of(kind)
    return Entry(record.url, _date_of(record), mime, record.status, record.field("WARC-Payload-Digest"), record.place)


def confirmed_entry(record: StoredRecord, original: StoredRecord) -> Entry | None:
    """Return the index line of a 304: its own URL and time, and the place of the record that was still valid then."""
    found = entry_for(original)
    return replace(found, url=record.url, at=_date_of(record)) if found and record.url else None


def _date_of(record: StoredRecord) -> float:
    return _seconds("".join(filter(str.isdigit, record.field("WARC-Date")))[:14])


def timestamp(at: float) -> str:
    """Fourteen digits, to the second."""
    return _whole_second(int(at))


@lru_cache(maxsize=64)  # a batch has few of them
def _whole_second(at: int) -> str:
    return time.strftime("%Y%m%d%H%M%S", time.gmtime(at))


def captures(path: Path, url: str) -> Iterator[Entry]:
    """All captures of exactly this URL in one sorted file, oldest first."""
    key = surt(url).encode() + b" "
    with path.open("rb") as file:
        file.seek(_lower_bound(file, key))
        for line in file:
            if not line.startswith(key):
                return
            entry = entry_of(line)
            if entry.url == url:
                yield entry


def _lower_bound(file: BinaryIO, key: bytes) -> int:
    """Where the first line that is not before the key begins."""
    low, high = 0, file.seek(0, 2)
    while low < high:
        middle = (low + high) // 2
        start = _line_start(file, middle)
        file.seek(start)
        line = file.readline()
        if line and line < key:
            low = start + len(line)
        else:
            high = min(start, middle)
    return low


def _line_start(file: BinaryIO, offset: int) -> int:
    """Where the line that holds this byte begins."""
    while offset > 0:
        step = min(offset, 512)
        file.seek(offset - step)
        found = file.read(step).rfind(b"\n")
        if found >= 0:
            return offset - step + found + 1
        offset -= step
    return 0


def _seconds(digits: str) -> float:
    """Read a timestamp; one that is no time counts as 0."""
    try:
        return float(calendar.timegm(time.strptime(digits.ljust(14, "0"), "%Y%m%d%H%M%S")))
    except ValueError:
        return 0.0
