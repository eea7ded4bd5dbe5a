"""The stored versions of a page, as `changes` and `diff` look at them."""

from msgspec import Struct

from sanderling.changes.report import Version, version
from sanderling.pages.attention import EVERYTHING, Attention
from sanderling.pages.parse import charset_of
from sanderling.store.collection import Collection
from sanderling.store.read import read_record
from sanderling.store.warc_records import Place


class Stored(Struct, frozen=True):
    """One version of a page in the archive."""

    number: int
    at: float
    digest: bytes
    size: int
    place: Place


def versions(collection: Collection, url: int) -> list[Stored]:
    """Every body that differs from the one before it, oldest first."""
    found: list[Stored] = []
    for at, digest, size, *place in collection.db.execute(
        "SELECT v.at, v.digest, v.size, f.name, v.start, v.length FROM visits AS v JOIN files AS f ON f.id = v.file"
        " WHERE v.url = ? AND v.outcome = 'fetched' AND v.length > 0 ORDER BY v.at, v.id",
        (url,),
    ):
        if not found or found[-1].digest != digest:
            found.append(Stored(len(found) + 1, at, digest, size, Place(*place)))
    return found


def read_version(collection: Collection, one: Stored, attention: Attention = EVERYTHING) -> Version:
    """Read a version from the archive."""
    record = read_record(collection.archive, one.place)
    return version(record.body, charset_of(record.header("Content-Type")), attention)
