"""sanderling export: write the catalog as JSON lines, CSV, or Parquet."""

import argparse
import csv
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from sanderling.cli.arguments import CommandCall, print_message
from sanderling.cli.commands.pages import build_page_object
from sanderling.errors import MissingExtra, UsageError, build_write_error
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages

HELP = "Write the catalog: a row per fetched URL, including redirects."
EXAMPLES = """\
examples:
  sanderling export --format jsonl > pages.jsonl
  sanderling export --format csv -o pages.csv
  sanderling export --format parquet -o pages.parquet
"""
ROWS_PER_GROUP = 20_000
PART_SUFFIX = ".part"  # what a file is called until it is whole


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--format", choices=("jsonl", "csv", "parquet"), default="jsonl", help="default jsonl")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: standard output")


def run(call: CommandCall) -> int:
    """Write the rows. An output file appears only when it is complete."""
    with open_collection_read_only(call.collection) as collection:
        rows = (build_page_object(row) for row in load_pages(collection.db))
        if call.args.format == "parquet":
            try:
                count = _write_parquet(rows, call.args.output)
            except OSError as error:
                _remove_part(Path(call.args.output + PART_SUFFIX))
                raise build_write_error(call.args.output, error) from None
        else:
            with _open_output(call.args.output) as file:
                count = (_write_jsonl if call.args.format == "jsonl" else _write_csv)(rows, file)
    print_message(call, f"{count:,} rows written")
    return 0


@contextmanager
def _open_output(path: str | None) -> Iterator[IO[str]]:
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


def _write_parquet(rows: Iterator[dict[str, object]], path: str | None) -> int:
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
