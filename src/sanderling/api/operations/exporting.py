"""Write rows, WACZ files, and sinks."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from sanderling.export.export_rows import EXPORT_KINDS, TEXT_FORMATS, ExportQuery, iterate_rows, validate_query
from sanderling.export.field_history import load_field_definitions
from sanderling.export.file_sink import FILE_FORMATS
from sanderling.export.row_files import EXPORT_FORMATS, write_rows
from sanderling.export.run_sink import SinkReport, SinkRequest, run_sink
from sanderling.export.sink import load_sink_states
from sanderling.export.wacz_file import WaczOptions, WaczSummary, write_wacz
from sanderling.monitor.page_fields import parse_field_definitions
from sanderling.storage.collection import StoredCollection, open_collection_read_only
from sanderling.storage.reports import get_last_visit_id
from sanderling.templates.similar_pages import find_saved
from sanderling.warc.signature import load_signing_key

__all__ = [
    "EXPORT_FORMATS",
    "EXPORT_KINDS",
    "FILE_FORMATS",
    "TEXT_FORMATS",
    "ExportQuery",
    "SinkRequest",
    "SinkStatus",
    "export_rows",
    "export_wacz",
    "list_sinks",
    "send_to_sink",
]


class SinkStatus(Struct, frozen=True):
    """A target, the last visit it has, and the number of visits that it does not have yet."""

    target: str
    cursor: int
    pending: int
    signing_key: str  # of webhooks


def export_rows(
    folder: Path, query: ExportQuery, path: str = "", form: str = "", *, fields: Sequence[str] = (), similar: str = ""
) -> int:
    """Write rows to a file, or without a path to standard output, and return their number.

    `fields` are added to those of the collection; `similar`: only pages like the samples saved under this name.
    """
    parse_field_definitions(fields)
    with open_collection_read_only(folder) as collection:
        urls = frozenset(find_saved(folder, similar)) if similar else None
        return write_export(collection, replace(query, urls=urls), path, form, fields)


def write_export(collection: StoredCollection, query: ExportQuery, path: str, form: str, fields: Sequence[str]) -> int:
    """Write rows of an open collection."""
    has_fields = query.what in ("pages", "versions", "fields") or fields
    definitions = load_field_definitions(collection, fields) if has_fields else ()
    return write_rows(iterate_rows(collection, validate_query(replace(query, fields=definitions))), path, form)


def export_wacz(
    folder: Path,
    path: Path,
    title: str = "",
    key: str = "",
    *,
    part_bytes: int = 0,
    on_file: Callable[[str, int], None] | None = None,
) -> WaczSummary:
    """Write the whole archive as a WACZ file, signed with a P-384 key in PEM. `on_file`: before a file is copied.

    `part_bytes`: write several files with WARC files of so many bytes each, and a JSON file that lists them.
    """
    options = WaczOptions(title, load_signing_key(Path(key)) if key else None, part_bytes)
    with open_collection_read_only(folder) as collection:
        return write_wacz(collection, path, replace(options, on_file=on_file) if on_file else options)


def send_to_sink(
    folder: Path,
    request: SinkRequest,
    fields: Sequence[str] = (),
    *,
    stopped: threading.Event | None = None,
    on_retry: Callable[[str], None] | None = None,
) -> SinkReport:
    """Send all pages that a sink does not have. With `on_retry`, follow the collection until `stopped`."""
    parse_field_definitions(fields)
    with open_collection_read_only(folder) as collection:
        definitions = load_field_definitions(collection, fields)
    request = replace(request, query=replace(request.query, fields=definitions))
    return run_sink(folder, request, stopped=stopped, on_retry=on_retry)


def list_sinks(folder: Path) -> list[SinkStatus]:
    """List the targets of a collection."""
    with open_collection_read_only(folder) as collection:
        last = get_last_visit_id(collection.db)
    return [
        SinkStatus(state.target, state.cursor, max(0, last - state.cursor), state.signing_key)
        for state in load_sink_states(folder)
    ]
