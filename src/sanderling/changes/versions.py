"""The stored versions of a page, as `changes` and `diff` look at them."""

import json

from msgspec import Struct

from sanderling.changes.word_report import Version, lined, version
from sanderling.content.user_rules import EVERYTHING, Attention
from sanderling.html.plain_text import is_text, plain_text
from sanderling.html.text import MAX_TEXT
from sanderling.http.content_type import charset_of, is_html, mime_of
from sanderling.search.document import Head, document_of
from sanderling.storage.collection import Collection
from sanderling.warc.reader import StoredRecord, read_record
from sanderling.warc.records import Place

WRITTEN = ("json", "xml", "javascript", "yaml", "x-ndjson", "csv")  # ends of types that are text all the same


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
    """Read a version from the archive; of what has no words, tell its type and size."""
    record = read_record(collection.archive, one.place)
    opaque = f"{mime_of(record.header('Content-Type')) or 'something'}, {one.size} bytes, digest {one.digest.hex()}"
    return _version(record, attention) or lined(opaque, attention)


def read_words(collection: Collection, one: Stored, attention: Attention = EVERYTHING) -> Version | None:
    """Read a version from the archive; None if it has no words, or more than are compared."""
    return _version(read_record(collection.archive, one.place), attention)


def _version(record: StoredRecord, attention: Attention) -> Version | None:
    kind = record.header("Content-Type")
    mime, charset = mime_of(kind), charset_of(kind)
    if is_html(mime, record.body):
        return version(record.body, charset, attention, record.url)
    words = written(record, mime, charset)
    return lined(words, attention) if 0 < len(words) <= MAX_TEXT else None


def written(record: StoredRecord, mime: str, charset: str) -> str:
    """The words of a document that is no page, line by line; empty if it has none that we can read."""
    if mime.startswith("text/") or mime.endswith(WRITTEN):
        words = plain_text(record.body, charset) if is_text(record.body, charset) else ""
        return _unfolded(words) if mime.endswith("json") else words
    document = document_of(record, "", 0.0, Head("", ""))  # to be found by nobody
    return document.body if document is not None else ""


def _unfolded(words: str) -> str:
    """JSON with one value a line, as far as it is JSON."""
    try:
        return json.dumps(json.loads(words), indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return words
