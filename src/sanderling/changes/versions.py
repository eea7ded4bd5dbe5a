"""The stored versions of a page, as `changes` and `diff` look at them."""

import json

from msgspec import Struct

from sanderling.changes.word_report import ComparableVersion, parse_text_version, parse_version
from sanderling.content.user_rules import NO_USER_RULES, UserRules
from sanderling.html.plain_text import decode_plain_text, is_text
from sanderling.html.text import MAX_TEXT
from sanderling.http.content_type import is_html, parse_charset, parse_mime_type
from sanderling.search.document import ParsedHead, build_document
from sanderling.storage.collection import Collection
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import StoredRecord, read_record

TEXT_TYPE_SUFFIXES = (
    "json",
    "xml",
    "javascript",
    "yaml",
    "x-ndjson",
    "csv",
)  # ends of types that are text all the same


class ArchivedVersion(Struct, frozen=True):
    """One version of a page in the archive."""

    number: int
    fetched_at: float
    digest: bytes
    size: int
    place: RecordLocation


def list_versions(collection: Collection, url_id: int) -> list[ArchivedVersion]:
    """Every body that differs from the one before it, oldest first."""
    found: list[ArchivedVersion] = []
    for at, digest, size, *place in collection.db.execute(
        "SELECT v.at, v.digest, v.size, f.name, v.start, v.length FROM visits AS v JOIN files AS f ON f.id = v.file"
        " WHERE v.url = ? AND v.outcome = 'fetched' AND v.length > 0 ORDER BY v.at, v.id",
        (url_id,),
    ):
        if not found or found[-1].digest != digest:
            found.append(ArchivedVersion(len(found) + 1, at, digest, size, RecordLocation(*place)))
    return found


def read_version(
    collection: Collection, archived: ArchivedVersion, user_rules: UserRules = NO_USER_RULES
) -> ComparableVersion:
    """Read a version from the archive; of what has no words, tell its type and size."""
    record = read_record(collection.archive_folder, archived.place)
    opaque = f"{parse_mime_type(record.get_header('Content-Type')) or 'something'}, {archived.size} bytes, digest {archived.digest.hex()}"
    return _parse_record(record, user_rules) or parse_text_version(opaque, user_rules)


def read_text_version(
    collection: Collection, archived: ArchivedVersion, user_rules: UserRules = NO_USER_RULES
) -> ComparableVersion | None:
    """Read a version from the archive; None if it has no words, or more than are compared."""
    return _parse_record(read_record(collection.archive_folder, archived.place), user_rules)


def _parse_record(record: StoredRecord, user_rules: UserRules) -> ComparableVersion | None:
    kind = record.get_header("Content-Type")
    mime, charset = parse_mime_type(kind), parse_charset(kind)
    if is_html(mime, record.body):
        return parse_version(record.body, charset, user_rules, record.url)
    words = extract_document_text(record, mime, charset)
    return parse_text_version(words, user_rules) if 0 < len(words) <= MAX_TEXT else None


def extract_document_text(record: StoredRecord, mime: str, charset: str) -> str:
    """The words of a document that is no page, line by line; empty if it has none that we can read."""
    if mime.startswith("text/") or mime.endswith(TEXT_TYPE_SUFFIXES):
        words = decode_plain_text(record.body, charset) if is_text(record.body, charset) else ""
        return _indent_json(words) if mime.endswith("json") else words
    document = build_document(record, "", 0.0, ParsedHead("", ""))  # to be found by nobody
    return document.body if document is not None else ""


def _indent_json(text: str) -> str:
    """JSON with one value a line, as far as it is JSON."""
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
