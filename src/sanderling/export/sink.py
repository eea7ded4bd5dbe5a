"""Sinks: systems that receive the pages of a collection, and follow it.

A sink reads the visits after a cursor in batches, as the search index does. The bounds of a batch are stored before it
is written, so that after a crash the same batch is written again, under the same key: files and PostgreSQL then
contain it once, and receivers of webhooks can drop it by its key.
"""

import fcntl
import json
import os
import secrets
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct

from sanderling.config.redact import redact_password
from sanderling.config.time_format import format_iso
from sanderling.errors import CollectionError, UsageError
from sanderling.export.export_rows import ExportQuery, build_page_row
from sanderling.export.row_files import Row
from sanderling.models import Outcome
from sanderling.storage.collection import StoredCollection
from sanderling.storage.page_history import PageEvent, load_page_events
from sanderling.storage.page_json import build_page_object
from sanderling.storage.queries import CatalogRow, load_pages
from sanderling.storage.reports import get_last_visit_id
from sanderling.urls.scope import is_wildcard_match

BATCH_VISITS = 500
STATE_FOLDER = "sinks"
INTEGER_COLUMNS = frozenset({"visit", "status", "depth", "bytes", "links", "visits", "changes"})
TIME_COLUMNS = frozenset({"at", "first_seen", "last_visit", "last_change"})
NO_PAGE = CatalogRow("", 0, "", "", 0, 0.0, 0.0, 0.0, "", 0, "", "", "", "", "", 0, 0, 0, "", "", "", 0, 0.0, "", -1.0)


class SinkColumn(Struct, frozen=True):
    """A column of the rows of a sink; kind: integer, number, boolean, text, time, or json."""

    name: str
    kind: str


class SinkBatch(Struct, frozen=True):
    """The rows of the visits in (since, until]. A batch that is written again has the same key."""

    since: int
    until: int
    key: str
    rows: list[Row]


class SinkOptions(Struct, frozen=True):
    """What a sink is opened with."""

    target: str
    columns: tuple[SinkColumn, ...]
    format: str = "jsonl"  # of files
    table: str = "sanderling_pages"  # of databases
    signing_key: str = ""  # of webhooks


class Sink(Protocol):
    """A system that receives rows. It raises SinkUnavailable if a batch should be tried again later."""

    def load_cursor(self) -> int | None:
        """Return the last visit that the target contains; None: it does not store the cursor."""
        ...

    def write_batch(self, batch: SinkBatch) -> None:
        """Write a batch durably. Writing it again must not change what the target contains."""
        ...

    def close(self) -> None: ...


class SinkState(Struct):
    """Progress of a sink, stored in the collection."""

    target: str
    signing_key: str
    cursor: int = 0
    until: int = 0  # end of the batch that was begun; not above the cursor: none


class SinkFollower:
    """Sends the visits after the cursor to a sink, a batch at a time."""

    def __init__(
        self,
        collection: StoredCollection,
        state_file: Path,
        state: SinkState,
        query: ExportQuery,
        *,
        includes_unchanged: bool = False,
    ) -> None:
        self.collection, self.state_file, self.state, self.query = collection, state_file, state, query
        self.includes_unchanged = includes_unchanged

    def write_next(self, sink: Sink) -> int | None:
        """Write the next batch. Returns the number of rows, or None if the sink has all visits."""
        state, last = self.state, get_last_visit_id(self.collection.db)
        cursor = sink.load_cursor()
        if cursor is not None:
            state.cursor = cursor
        if state.until <= state.cursor:
            state.until = min(state.cursor + BATCH_VISITS, last)
        if state.until <= state.cursor:
            return None
        self._save_state()
        rows = list(self._build_rows(state.cursor, state.until))
        key = sha256(f"{state.signing_key} {state.cursor} {state.until}".encode()).hexdigest()[:32]
        if rows or cursor is not None:  # a cursor in the target moves also without rows
            sink.write_batch(SinkBatch(state.cursor, state.until, key, rows))
        state.cursor = state.until
        self._save_state()
        return len(rows)

    def count_pending(self) -> int:
        """Return the number of visits that the sink does not have."""
        return max(0, get_last_visit_id(self.collection.db) - self.state.cursor)

    def _build_rows(self, since: int, until: int) -> Iterator[Row]:
        """Yield the last event of each page with its present state, in the order of visits."""
        events: dict[int, PageEvent] = {}
        for event in load_page_events(self.collection.db, since, until):
            is_wanted = self.includes_unchanged or not event.is_unchanged
            if is_wanted and is_wildcard_match(event.url, self.query.pattern):
                events.pop(event.url_id, None)  # the last event decides the order
                events[event.url_id] = event
        pages = {}
        if events:
            marks = ",".join("?" * len(events))
            pages = {page.url_id: page for page in load_pages(self.collection.db, f"p.url IN ({marks})", list(events))}
        for url_id, event in events.items():
            if url_id in pages or event.outcome == Outcome.SKIPPED:  # otherwise it was never stored
                yield self._build_row(event, pages.get(url_id))

    def _build_row(self, event: PageEvent, page: CatalogRow | None) -> Row:
        head: Row = {"visit": event.visit_id, "at": format_iso(event.at), "deleted": page is None}
        if page is not None:
            return head | build_page_row(self.collection, page, self.query)
        return head | {"url": event.url}

    def _save_state(self) -> None:
        part = self.state_file.with_suffix(".part")
        with part.open("wb") as file:
            file.write(msgspec.json.encode(self.state))
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self.state_file)


FIELD_KINDS = {"number": "number", "price": "json", "list": "json", "json": "json"}


def list_columns(query: ExportQuery) -> tuple[SinkColumn, ...]:
    """Return the columns of the rows of a sink. They do not depend on the values; a field is `fields.NAME`."""
    kinds = dict.fromkeys(INTEGER_COLUMNS, "integer") | dict.fromkeys(TIME_COLUMNS, "time")
    kinds |= {"deleted": "boolean"}
    names = ["visit", "at", "deleted", *build_page_object(NO_PAGE)]
    columns = [SinkColumn(name, kinds.get(name, "text")) for name in names]
    columns += [SinkColumn(query.text, "text")] if query.text else []
    columns += [SinkColumn("data", "json")] if query.data else []
    fields = (SinkColumn(f"fields.{field.name}", FIELD_KINDS.get(field.type, "text")) for field in query.fields)
    return (*columns, *fields)


def get_cell(row: Row, column: SinkColumn) -> object:
    """Return the value of a column: text, number, datetime, or JSON as text; None: no value."""
    outer, dot, name = column.name.partition(".")
    fields = row.get(outer)
    value = fields.get(name) if dot and isinstance(fields, dict) else row.get(column.name)
    match column.kind:
        case _ if value is None:
            return None
        case "json":
            return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
        case "time":
            return datetime.fromisoformat(str(value))
        case "text":
            return str(value).encode("utf-8", "replace").decode()
        case _:
            return value


def get_state_file(folder: Path, target: str) -> Path:
    return folder / STATE_FOLDER / f"{sha256(target.encode()).hexdigest()[:16]}.json"


def load_sink_states(folder: Path) -> list[SinkState]:
    """Return the sinks of a collection, in the order of their targets."""
    found = [_read_state(file) for file in (folder / STATE_FOLDER).glob("*.json")]
    return sorted(found, key=lambda state: state.target)


def _read_state(file: Path) -> SinkState:
    try:
        return msgspec.json.decode(file.read_bytes(), type=SinkState)
    except (OSError, msgspec.MsgspecError) as error:
        raise CollectionError(
            f"the state of a sink in {file} is damaged: {error}; start again with --restart"
        ) from None


@contextmanager
def lock_sink_state(folder: Path, target: str, *, restart: bool = False) -> Iterator[tuple[Path, SinkState]]:
    """Hold the state of a sink, so that no other process writes to it. A new sink starts before the first visit."""
    file = get_state_file(folder, target)
    try:
        file.parent.mkdir(exist_ok=True, mode=0o700)
        lock = os.open(file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise UsageError(f"the state of the sink cannot be stored in {folder}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CollectionError(f"another process writes to {redact_password(target)}") from None
        key = "whsec_" + b64encode(secrets.token_bytes(24)).decode()
        is_new = restart or not file.exists()
        yield file, SinkState(redact_password(target), key) if is_new else _read_state(file)
    finally:
        os.close(lock)
