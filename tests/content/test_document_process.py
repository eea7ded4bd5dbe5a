"""Document extraction in a child process."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.content.test_document_readers import pack
from tests.support.plugins import Install

from sanderling.content.document_process import DocumentExtractor, ExtractionError
from sanderling.content.document_readers import find_document_kind

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


READERS = """
[sanderling.document_readers]
text/x-good = example_plugin_module:read
text/x-endless = example_plugin_module:loop
text/x-exits = example_plugin_module:leave
text/x-fails = example_plugin_module:fail
text/x-missing = example_plugin_module:missing
"""
READER_SOURCE = """
import os

def read(body):
    print("a reader that prints")
    return body.decode()

def loop(body):
    while True:
        pass

def leave(body):
    os._exit(3)

def fail(body):
    raise KeyError(body)
"""


def test_broken_reader_of_a_plugin_affects_no_other(install: Install, extractor: DocumentExtractor) -> None:
    install(READERS, READER_SOURCE)
    assert find_document_kind("text/x-good") == "text/x-good"
    assert find_document_kind("text/x-unknown") == ""
    for name, error in (
        ("exits", "process_ended"), ("fails", "KeyError"), ("missing", "'text/x-missing' of test-plugin 1.2 cannot be"),
    ):  # fmt: skip
        with pytest.raises(ExtractionError, match=error):
            extractor.extract(f"text/x-{name}", b"words")
        assert extractor.extract("text/x-good", b"words") == "words"
    extractor._time_limit = 0.1
    with pytest.raises(ExtractionError, match="time_limit"):
        extractor.extract("text/x-endless", b"words")
    extractor._time_limit = 60
    assert extractor.extract("text/x-good", b"words") == "words"
    assert extractor.extract("word", GOOD) == "words\n"
