"""sanderling export: write the catalogue as JSON lines, CSV or Parquet."""

import argparse
import csv
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from sanderling.cli.arguments import Call, say
from sanderling.cli.commands.pages import as_object
from sanderling.errors import MissingExtra, UsageError, unwritten
from sanderling.storage.collection import read_collection
from sanderling.storage.queries import pages

HELP = "Write one row per URL that answered, pages and redirects, to standard output or a file."
EXAMPLES = """\
examples:
  sanderling export --format jsonl > pages.jsonl
  sanderling export --format csv -o pages.csv
  sanderling export --format parquet -o pages.parquet
"""
ROWS_PER_GROUP = 20_000
PART = ".part"  # what a file is called until it is whole


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("--format", choices=("jsonl", "csv", "parquet"), default="jsonl", help="default jsonl")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: standard output")


def run(call: Call) -> int:
    """Write the rows; a file appears only when it is whole."""
    with read_collection(call.collection) as collection:
        rows = (as_object(row) for row in pages(collection.db))
        if call.args.format == "parquet":
            try:
                count = _parquet(rows, call.args.output)
            except OSError as error:
                _drop(Path(call.args.output + PART))
                raise unwritten(call.args.output, error) from None
        else:
            with _target(call.args.output) as file:
                count = (_jsonl if call.args.format == "jsonl" else _csv)(rows, file)
    say(call, f"{count:,} rows written")
    return 0


@contextmanager
def _target(name: str | None) -> Iterator[IO[str]]:
    if not name:
        yield sys.stdout
        return
    part = Path(name + PART)
    try:
        with part.open("w", newline="", encoding="utf-8") as file:
            yield file
        os.replace(part, name)
    except OSError as error:
        _drop(part)
        raise unwritten(name, error) from None


def _drop(part: Path) -> None:
    """Leave no half file behind; where none could be begun, there is none."""
    with suppress(OSError):
        part.unlink()


def _jsonl(rows: Iterator[dict[str, object]], file: IO[str]) -> int:
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return count


def _csv(rows: Iterator[dict[str, object]], file: IO[str]) -> int:
    writer, count = None, 0
    for count, row in enumerate(rows, 1):  # noqa: B007
        if writer is None:
            writer = csv.DictWriter(file, list(row))
            writer.writeheader()
        writer.writerow(row)
    return count


def _parquet(rows: Iterator[dict[str, object]], name: str | None) -> int:
    if not name:
        raise UsageError("a Parquet file cannot be streamed: say where with -o FILE")
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("export --format parquet", "parquet") from None
    part, writer, count = name + PART, None, 0
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
    os.replace(part, name)
    return count
