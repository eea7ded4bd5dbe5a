"""Write the page catalog as JSON lines, CSV, or Parquet. An output file appears only when it is complete."""

import csv
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from sanderling.api.serialize import build_page_object
from sanderling.db.connection import Connection
from sanderling.errors import MissingExtra, UsageError, build_write_error
from sanderling.storage.queries import load_pages

EXPORT_FORMATS = ("jsonl", "csv", "parquet")
ROWS_PER_GROUP = 20_000
PART_SUFFIX = ".part"  # of an incomplete output file


def write_catalog(db: Connection, path: str = "", format_name: str = "") -> int:
    """Write a row per fetched URL, including redirects. Returns the number of rows.

    Without a path, rows go to standard output; without a format, the suffix of the path decides (default jsonl).
    """
    suffix = Path(path).suffix.removeprefix(".")
    format_name = format_name or (suffix if suffix in EXPORT_FORMATS else "jsonl")
    if format_name not in EXPORT_FORMATS:
        raise UsageError(f"unknown export format {format_name!r}; choose from {', '.join(EXPORT_FORMATS)}")
    rows = (build_page_object(row) for row in load_pages(db))
    if format_name == "parquet":
        try:
            return _write_parquet(rows, path)
        except OSError as error:
            _remove_part(Path(path + PART_SUFFIX))
            raise build_write_error(path, error) from None
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
        _remove_part(part)
        raise build_write_error(path, error) from None


def _remove_part(part: Path) -> None:
    """Delete an incomplete output file, if it exists."""
    with suppress(OSError):
        part.unlink()


def _write_jsonl(rows: Iterator[dict[str, object]], file: IO[str]) -> int:
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return count


def _write_csv(rows: Iterator[dict[str, object]], file: IO[str]) -> int:
    writer, count = None, 0
    for count, row in enumerate(rows, 1):  # noqa: B007
        if writer is None:
            writer = csv.DictWriter(file, list(row))
            writer.writeheader()
        writer.writerow(row)
    return count


def _write_parquet(rows: Iterator[dict[str, object]], path: str) -> int:
    if not path:
        raise UsageError("a Parquet file cannot be streamed: say where with -o FILE")
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("export --format parquet", "parquet") from None
    part, writer, count = path + PART_SUFFIX, None, 0
    group: list[dict[str, object]] = []

    def write(group: list[dict[str, object]], writer: Any) -> Any:
        table = pyarrow.Table.from_pylist(group, schema=writer.schema if writer else None)
        writer = writer or pyarrow.parquet.ParquetWriter(part, table.schema, compression="zstd")
        writer.write_table(table)
        return writer

    for row in rows:
        group.append(row)
        count += 1
        if len(group) == ROWS_PER_GROUP:
            writer, group = write(group, writer), []
    if group or writer is None:
        writer = write(group, writer)
    writer.close()
    os.replace(part, path)
    return count
