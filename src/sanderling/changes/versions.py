"""Archived versions of a page, read for comparison."""

import json

from msgspec import Struct

from sanderling.changes.word_report import ComparableVersion, parse_text_version, parse_version
from sanderling.content.document_process import extract_document_text
from sanderling.content.document_readers import find_document_kind
from sanderling.content.user_rules import NO_USER_RULES, UserRules
from sanderling.html.plain_text import decode_plain_text, is_text
from sanderling.html.text import MAX_TEXT
from sanderling.http.content_type import is_html, parse_charset, parse_mime_type
from sanderling.models import Outcome
from sanderling.storage.collection import StoredCollection
from sanderling.storage.visit_records import load_visit_records
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import StoredRecord, read_record

TEXT_TYPE_SUFFIXES = ("json", "xml", "javascript", "yaml", "x-ndjson", "csv")  # media types that are text


class ArchivedVersion(Struct, frozen=True):
    number: int
    fetched_at: float
    digest: bytes
    size: int
    place: RecordLocation


def list_versions(collection: StoredCollection, url_id: int) -> list[ArchivedVersion]:
    """Return every body that differs from its predecessor, oldest first."""
    versions: list[ArchivedVersion] = []
    for visit in load_visit_records(collection.db, [url_id]):
        if visit.outcome == Outcome.FETCHED and (not versions or versions[-1].digest != visit.digest):
            versions.append(ArchivedVersion(len(versions) + 1, visit.fetched_at, visit.digest, visit.size, visit.place))
    return versions


def read_version(
    collection: StoredCollection, archived: ArchivedVersion, user_rules: UserRules = NO_USER_RULES
) -> ComparableVersion:
    """Read a version; without text it is represented by type, size, and digest."""
    record = read_record(collection.archive_folder, archived.place)
    mime = parse_mime_type(record.get_header("Content-Type")) or "unknown type"
    description = f"{mime}, {archived.size} bytes, digest {archived.digest.hex()}"
    return _parse_record(record, user_rules) or parse_text_version(description, user_rules)


def read_text_version(
    collection: StoredCollection, archived: ArchivedVersion, user_rules: UserRules = NO_USER_RULES
) -> ComparableVersion | None:
    """Read a version; None if it has no text, or too much to compare."""
    return _parse_record(read_record(collection.archive_folder, archived.place), user_rules)


def _parse_record(record: StoredRecord, user_rules: UserRules) -> ComparableVersion | None:
    content_type = record.get_header("Content-Type")
    mime, charset = parse_mime_type(content_type), parse_charset(content_type)
    if is_html(mime, record.body):
        return parse_version(record.body, charset, user_rules, record.url)
    text = extract_record_text(record, mime, charset)
    return parse_text_version(text, user_rules) if 0 < len(text) <= MAX_TEXT else None


def extract_record_text(record: StoredRecord, mime: str, charset: str) -> str:
    """Return the text of a document that is not HTML, or an empty string."""
    kind = find_document_kind(mime)
    if kind:
        return extract_document_text(kind, record.body).strip()
    if mime.startswith("text/") or mime.endswith(TEXT_TYPE_SUFFIXES):
        text = decode_plain_text(record.body, charset) if is_text(record.body, charset) else ""
        return _indent_json(text) if mime.endswith("json") else text
    return ""


def _indent_json(text: str) -> str:
    """Return JSON with a value per line; other text unchanged."""
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
