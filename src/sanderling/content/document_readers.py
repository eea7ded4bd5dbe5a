"""Extract the text of PDF and office files, and of types with a plugin, within a budget, in a child process."""

import contextlib
import io
import os
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from sanderling.errors import UsageError
from sanderling.http.content_type import get_type_name
from sanderling.plugins.plugin_registry import PluginGroup, has_plugin, load_plugin

UNPACKED_LIMIT = 20_000_000  # bytes of all parts of an office file together, once unpacked
NAMES_LIMIT = 10_000
PARTS_LIMIT = 500
PDF_PAGES_LIMIT = 300
MAX_DOCUMENT_CHARS = 200_000
MEMORY_LIMIT = 1 << 30  # bytes of address space of the child process
FRAME = struct.Struct("!BI")  # of a request: sizes of kind and body; of an answer: whether it succeeded and size
DOCUMENT_KINDS = ("pdf", "word", "sheet", "slides")
# The parts of an office file that contain its text, by the type name of `get_type_name`.
_PART_PATTERNS = {
    "word": re.compile(r"word/document\d*\.xml|content\.xml").fullmatch,
    "sheet": re.compile(r"xl/sharedStrings\.xml|content\.xml").fullmatch,
    "slides": re.compile(r"ppt/slides/slide\d+\.xml|content\.xml").fullmatch,
}
_TAG_PATTERN = re.compile(r"<[^<>]{0,4000}+>")  # no `<` inside a tag: many unclosed ones would take quadratic time
_BREAK_PATTERN = re.compile(r"</(?:w:p|a:p|text:p|text:h|si|table:table-cell)>")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}


def find_document_kind(mime: str) -> str:
    """Return the kind of documents of a media type: one of `DOCUMENT_KINDS`, or the type itself if a plugin reads it.

    Empty: there is no reader.
    """
    if has_plugin(PluginGroup.DOCUMENT_READERS, mime):
        return mime
    kind = get_type_name(mime)
    return kind if kind in DOCUMENT_KINDS else ""


def extract_text(kind: str, body: bytes) -> str:
    """Return the text of a document. Raises any reader error."""
    if "/" in kind:
        texts = iter([str(load_plugin(PluginGroup.DOCUMENT_READERS, kind)(body))])
    else:
        texts = _read_pdf_texts(body) if kind == "pdf" else _read_office_texts(kind, body)
    return "\n".join(_limit_texts(texts))


def _limit_texts(texts: Iterator[str]) -> Iterator[str]:
    remaining = MAX_DOCUMENT_CHARS
    for text in texts:
        yield text[:remaining]
        remaining -= len(text)
        if remaining <= 0:
            return


def _read_office_texts(kind: str, body: bytes) -> Iterator[str]:
    budget = UNPACKED_LIMIT
    with zipfile.ZipFile(io.BytesIO(body)) as packed:
        names = sorted(name for name in packed.namelist()[:NAMES_LIMIT] if _PART_PATTERNS[kind](name))
        for name in names[:PARTS_LIMIT]:
            xml = _read_part(packed, name, budget)
            budget -= len(xml)
            yield _extract_xml_text(xml)
            if budget <= 0:
                return


def _read_part(archive: zipfile.ZipFile, name: str, budget: int) -> bytes:
    with archive.open(name) as part:
        return part.read(budget)


def _extract_xml_text(xml: bytes) -> str:
    text = _TAG_PATTERN.sub("", _BREAK_PATTERN.sub("\n", xml.decode("utf-8", "replace")))
    for entity, sign in _ENTITIES.items():
        text = text.replace(entity, sign)
    return text


def _read_pdf_texts(body: bytes) -> Iterator[str]:
    """Yield the text of pages; nothing without pypdfium2."""
    try:
        import pypdfium2
    except ImportError:
        return
    with contextlib.closing(pypdfium2.PdfDocument(body)) as pdf:
        for number in range(min(len(pdf), PDF_PAGES_LIMIT)):
            try:
                yield _read_pdf_page(pdf, number)
            except pypdfium2.PdfiumError:  # keep the previous pages
                return


def _read_pdf_page(pdf: Any, number: int) -> str:
    with contextlib.closing(pdf[number]) as page, contextlib.closing(page.get_textpage()) as words:
        return str(words.get_text_bounded())


def serve_requests(source: BinaryIO, sink: BinaryIO, extract: Callable[[str, bytes], str] = extract_text) -> None:
    """Answer requests until the source ends."""
    while len(head := source.read(FRAME.size)) == FRAME.size:
        name_size, size = FRAME.unpack(head)
        kind, body = source.read(name_size).decode(), source.read(size)
        try:
            succeeded, text = 1, extract(kind, body)
        except UsageError as error:  # names a plugin that cannot be loaded
            succeeded, text = 0, str(error)
        except Exception as error:  # noqa: BLE001 - readers of damaged files raise anything
            succeeded, text = 0, type(error).__name__
        answer = text.encode("utf-8", "replace")
        sink.write(FRAME.pack(succeeded, len(answer)) + answer)
        sink.flush()


def _take_stream(number: int, mode: str) -> BinaryIO:
    """Return a standard stream under another number, so that a reader that prints cannot damage it."""
    stream: BinaryIO = os.fdopen(os.dup(number), mode)  # type: ignore[assignment]
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, number)
    os.close(null)
    return stream


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    except (ImportError, ValueError, OSError):  # not on this system, or a lower limit holds already
        pass


if __name__ == "__main__":
    _limit_memory()
    serve_requests(_take_stream(0, "rb"), _take_stream(1, "wb"))
