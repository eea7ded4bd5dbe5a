"""Processes that read copied records."""

from pathlib import Path

import pytest

from sanderling.crawl.imports.import_workers import InlineReader, ProcessReader, read_in_order
from sanderling.crawl.imports.imported_records import ImportReaderConfig, ImportTask
from sanderling.errors import CollectionError
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.storage.import_queue import QueuedImport
from sanderling.warc.archive import open_archive
from sanderling.warc.packer import HttpExchange, pack_response

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
COUNT = 6


@pytest.fixture
def tasks(tmp_path: Path) -> list[ImportTask]:
    with open_archive(tmp_path, {}) as archive:
        return [
            ImportTask(
                QueuedImport(
                    number,
                    float(number),
                    archive.append(
                        pack_response(
                            HttpExchange(f"http://a.test/{number}", float(number), HEAD, b"<title>%d</title>" % number)
                        ).member
                    ),
                )
            )
            for number in range(COUNT)
        ]


def build_config(folder: Path) -> ImportReaderConfig:
    return ImportReaderConfig(FetchSettings(archive_folder=str(folder)), folder, folder)


def test_killed_process_is_replaced_and_its_batch_is_read_again(tmp_path: Path, tasks: list[ImportTask]) -> None:
    reader = ProcessReader(build_config(tmp_path))
    try:
        for _ in range(2):
            reader.start(tasks)
            titles = [result.visit.title for result in reader.finish() if result.visit]
            assert titles == [str(number) for number in range(COUNT)]
            reader._process.kill()
            reader._process.wait()
    finally:
        reader.close()


def test_process_that_cannot_start_is_an_error_and_loses_no_record(
    tmp_path: Path, tasks: list[ImportTask], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sanderling.crawl.imports.import_workers.build_python_command", lambda *_: ["false"])
    reader = ProcessReader(build_config(tmp_path))
    reader.start(tasks)
    with pytest.raises(CollectionError, match="no process can be started"):
        reader.finish()
    reader.close()


def test_results_keep_the_order_of_their_batches(tmp_path: Path, tasks: list[ImportTask]) -> None:
    left = list(tasks)

    def next_batch() -> list[ImportTask]:
        return [left.pop(0)] if left else []

    readers = [InlineReader(build_config(tmp_path)) for _ in range(2)]
    results = [result.queued.id for batch in read_in_order(readers, next_batch) for result in batch]
    assert results == list(range(COUNT))
