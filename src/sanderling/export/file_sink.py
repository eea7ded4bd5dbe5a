"""Write batches to files: JSON lines or Parquet, in a folder per day, local or at any fsspec address.

The name of a file has the bounds of its batch, and a file appears complete. So a batch that is written again replaces
its own file, and the folder contains each batch once.
"""

import io
import os
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from sanderling.config.redact import redact_address_password, redact_password
from sanderling.errors import SinkUnavailable, UsageError
from sanderling.export.row_files import PART_SUFFIX, Row, encode_json_row, load_pyarrow
from sanderling.export.sink import SinkBatch, SinkColumn, SinkOptions, get_cell
from sanderling.warc.remote import ATOMIC_PROTOCOLS, open_file_system

FILE_FORMATS = ("jsonl", "parquet")


class FileSink:
    """Files `date=DAY/visits-FIRST-LAST.jsonl` below an address."""

    def __init__(self, options: SinkOptions) -> None:
        if options.format not in FILE_FORMATS:
            raise UsageError(f"unknown format {options.format!r} of a sink; choose from {', '.join(FILE_FORMATS)}")
        if options.format == "parquet":
            load_pyarrow()
        self.options = options
        is_local = "://" not in options.target
        self.fs: Any = None
        self.root = options.target
        if not is_local:
            self.fs, self.root = open_file_system(options.target, "a sink")

    def load_cursor(self) -> int | None:
        return None

    def write_batch(self, batch: SinkBatch) -> None:
        """Write a file per day of the visits."""
        days: defaultdict[str, list[Row]] = defaultdict(list)
        for row in batch.rows:
            days[str(row["at"])[:10]].append(row)
        name = f"visits-{batch.since + 1:012}-{batch.until:012}.{self.options.format}"
        for day, rows in days.items():
            content = self._encode(rows)
            try:
                if self.fs is None:
                    _write_local_file(Path(self.root) / f"date={day}" / name, content)
                else:
                    _write_remote_file(self.fs, f"{self.root}/date={day}", name, content)
            except Exception as error:  # every fsspec file system has its own exceptions
                problem = redact_address_password(error, self.options.target)
                raise SinkUnavailable(f"cannot write to {redact_password(self.options.target)}: {problem}") from error

    def _encode(self, rows: list[Row]) -> bytes:
        if self.options.format == "jsonl":
            return "".join(map(encode_json_row, rows)).encode()
        return encode_parquet(rows, self.options.columns)

    def close(self) -> None:
        """Do nothing: each file is closed when it is written."""


def _write_local_file(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + PART_SUFFIX)
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise


def _write_remote_file(fs: Any, folder: str, name: str, content: bytes) -> None:
    fs.makedirs(folder, exist_ok=True)
    protocols = {fs.protocol} if isinstance(fs.protocol, str) else set(fs.protocol)
    if ATOMIC_PROTOCOLS & protocols:
        fs.pipe_file(f"{folder}/{name}", content)
        return
    fs.pipe_file(f"{folder}/.{name}{PART_SUFFIX}", content)
    fs.mv(f"{folder}/.{name}{PART_SUFFIX}", f"{folder}/{name}")


def encode_parquet(rows: list[Row], columns: Iterable[SinkColumn]) -> bytes:
    """Return rows as a Parquet file. All files of a sink have the same columns and types."""
    pyarrow = load_pyarrow()
    types = {
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
        "time": pyarrow.timestamp("us", tz="UTC"),
    }
    schema = pyarrow.schema([(column.name, types.get(column.kind, pyarrow.string())) for column in columns])
    cells = [{column.name: get_cell(row, column) for column in columns} for row in rows]
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(cells, schema=schema), file, compression="zstd")
    return file.getvalue()
