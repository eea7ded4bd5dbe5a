"""Write rows as JSON lines, CSV, or Parquet. An output file appears only when it is complete."""

import csv
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from sanderling.errors import MissingExtra, UsageError, build_write_error

EXPORT_FORMATS = ("jsonl", "csv", "parquet")
ROWS_PER_GROUP = 20_000
MAX_GROUP_CHARS = 64_000_000  # of texts, so that a row group of pages with content fits in memory
PART_SUFFIX = ".part"  # of an incomplete output file
Row = dict[str, object]


def write_rows(rows: Iterable[Row], path: str = "", format_name: str = "") -> int:
    """Write rows and return their number.

    Without a path, rows go to standard output; without a format, the suffix of the path decides (default jsonl).
    """
    suffix = Path(path).suffix.removeprefix(".")
    format_name = format_name or (suffix if suffix in EXPORT_FORMATS else "jsonl")
    if format_name not in EXPORT_FORMATS:
        raise UsageError(f"unknown export format {format_name!r}; choose from {', '.join(EXPORT_FORMATS)}")
    if format_name == "parquet":
        if not path:
            raise UsageError("a Parquet file cannot be streamed: say where with -o FILE")
        try:
            return _write_parquet(rows, path)
        except OSError as error:
            raise build_write_error(path, error) from None
        finally:
            _remove_part(Path(path + PART_SUFFIX))
    with _open_output(path) as file:
        return (_write_jsonl if format_name == "jsonl" else _write_csv)(rows, file)


@contextmanager
def _open_output(path: str) -> Iterator[IO[str]]:
    if not path:
        yield sys.stdout
        return
    part = Path(path + PART_SUFFIX)
    try:
        with part.open("w", newline="", encoding="utf-8") as file:
            yield file
        os.replace(part, path)
    except OSError as error:
        raise build_write_error(path, error) from None
    finally:
        _remove_part(part)


def _remove_part(part: Path) -> None:
    """Delete an incomplete output file, if it exists."""
    with suppress(OSError):
        part.unlink()


def encode_json_row(row: Row) -> str:
    """Return a row as a line of JSON. Unpaired surrogates, which UTF-8 cannot contain, become question marks."""
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"


def _write_jsonl(rows: Iterable[Row], file: IO[str]) -> int:
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007
        file.write(encode_json_row(row))
    return count


def _write_csv(rows: Iterable[Row], file: IO[str]) -> int:
    writer, count = None, 0
    for count, row in enumerate(map(flatten_row, rows), 1):  # noqa: B007
        if writer is None:
            writer = csv.DictWriter(file, list(row))
            writer.writeheader()
        writer.writerow(row)
    return count


def flatten_row(row: Row) -> Row:
    """Return a row for a table: extracted fields as columns `fields.NAME`, lists and other objects as JSON."""
    flat: Row = {}
    for name, value in row.items():
        if name == "fields" and isinstance(value, dict):
            flat |= {f"fields.{field}": _encode_cell(item) for field, item in value.items()}
        else:
            flat[name] = _encode_cell(value)
    return flat


def _encode_cell(value: object) -> object:
    if isinstance(value, dict | list | tuple):
        value = json.dumps(value, ensure_ascii=False)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def load_pyarrow() -> Any:
    """Import pyarrow with its Parquet module. Raises MissingExtra if it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("writing Parquet", "parquet") from None
    return pyarrow


def build_table(rows: list[Row], schema: Any = None) -> Any:
    """Return rows as an Arrow table; columns without a value in the first rows are strings."""
    pyarrow = load_pyarrow()
    flat = [flatten_row(row) for row in rows]
    for name in schema.names if schema is not None else {name for row in flat for name in row}:
        _unify_types(flat, name, schema is not None and pyarrow.types.is_string(schema.field(name).type))
    if schema is None:
        inferred = pyarrow.Table.from_pylist(flat).schema
        schema = pyarrow.schema(
            [(field.name, pyarrow.string() if pyarrow.types.is_null(field.type) else field.type) for field in inferred]
        )
    return pyarrow.Table.from_pylist(flat, schema=schema)


def _unify_types(rows: list[Row], name: str, is_text: bool) -> None:
    """Convert a column to text if it must be, or if its values have several types."""
    types = {type(row.get(name)) for row in rows} - {type(None)}
    if is_text or (len(types) > 1 and not types <= {int, float}):
        for row in rows:
            value = row.get(name)
            row[name] = value if value is None or isinstance(value, str) else json.dumps(value)


def _write_parquet(rows: Iterable[Row], path: str) -> int:
    pyarrow = load_pyarrow()
    part, writer, count = path + PART_SUFFIX, None, 0
    try:
        for group in group_rows(rows):
            table = build_table(group, writer and writer.schema)
            writer = writer or pyarrow.parquet.ParquetWriter(part, table.schema, compression="zstd")
            writer.write_table(table)
            count += len(group)
        if writer is None:
            pyarrow.parquet.write_table(build_table([]), part)
    finally:
        if writer is not None:
            writer.close()
    os.replace(part, path)
    return count


def group_rows(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield lists of rows of limited number and size."""
    group: list[Row] = []
    chars = 0
    for row in rows:
        group.append(row)
        chars += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(group) == ROWS_PER_GROUP or chars > MAX_GROUP_CHARS:
            yield group
            group, chars = [], 0
    if group:
        yield group
