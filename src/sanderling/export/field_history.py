"""History of fields: the values that the stored versions of a page have."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from sanderling.changes.versions import list_versions
from sanderling.config.time_format import format_iso
from sanderling.errors import CollectionError, UsageError
from sanderling.monitor.page_fields import (
    FieldDefinition,
    extract_fields,
    merge_field_texts,
    parse_field_definitions,
)
from sanderling.storage.collection import StoredCollection
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.warc.warc_reader import read_record


class FieldValue(Struct, frozen=True):
    """A value of a field, and the first version that has it. None: not found."""

    name: str
    version: int
    fetched_at: float
    digest: str
    value: object


def load_field_definitions(collection: StoredCollection, texts: Sequence[str] = ()) -> tuple[FieldDefinition, ...]:
    """Return the fields of a collection, with others added or replaced."""
    return parse_field_definitions(merge_field_texts(CollectionMeta(collection.db).fields, texts))


def load_field_history(
    collection: StoredCollection, url_id: int, url: str, fields: Sequence[FieldDefinition]
) -> Iterator[FieldValue]:
    """Yield each value that differs from the one of the version before, oldest first.

    Versions that are damaged in the archive are left out.
    """
    last: dict[str, object] = {}
    for version in list_versions(collection, url_id) if fields else ():
        try:
            record = read_record(collection.archive_folder, version.place)
        except (CollectionError, UsageError):
            continue
        for name, value in extract_fields(record, url, fields).items():
            if name not in last or last[name] != value:
                yield FieldValue(name, version.number, version.fetched_at, f"sha256:{version.digest.hex()}", value)
            last[name] = value


def build_field_row(url: str, item: FieldValue) -> dict[str, object]:
    """Return the JSON object of a value."""
    return {
        "url": url,
        "field": item.name,
        "at": format_iso(item.fetched_at),
        "version": item.version,
        "digest": item.digest,
        "value": item.value,
    }
