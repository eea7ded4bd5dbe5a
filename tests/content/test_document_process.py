"""Document extraction in a child process."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.content.test_document_readers import pack

from sanderling.content.document_process import DocumentExtractor, ExtractionError

GOOD = pack({"word/document.xml": b"<w:p>words</w:p>"})


@pytest.fixture
def extractor() -> Iterator[DocumentExtractor]:
    instance = DocumentExtractor()
    yield instance
    instance.close()


def test_slow_document_is_killed_and_the_next_is_read(extractor: DocumentExtractor) -> None:
    assert extractor.extract("word", GOOD) == "words\n"
    first = extractor._process
    assert first is not None
    os.kill(first.pid, signal.SIGSTOP)  # simulates an endless document
    extractor._time_limit = 0.1
    with pytest.raises(ExtractionError, match="time_limit"):
        extractor.extract("word", GOOD)
    assert first.poll() is not None
    extractor._time_limit = 60
    assert extractor.extract("word", GOOD) == "words\n"


def test_dead_process_is_replaced(extractor: DocumentExtractor) -> None:
    extractor.extract("word", GOOD)
    assert extractor._process is not None
    os.kill(extractor._process.pid, signal.SIGKILL)
    extractor._process.wait()
    assert extractor.extract("word", GOOD) == "words\n"


def test_damaged_document_raises_with_the_reader_error(extractor: DocumentExtractor) -> None:
    with pytest.raises(ExtractionError, match="BadZipFile"):
        extractor.extract("word", b"no zip")


def test_modules_of_the_working_directory_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extractor: DocumentExtractor
) -> None:
    (tmp_path / "zipfile.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    assert extractor.extract("word", GOOD) == "words\n"
