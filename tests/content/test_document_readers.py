"""Text extraction from PDF and office files, within a budget."""

import io
import zipfile

import pytest

from sanderling.content import document_readers
from sanderling.content.document_readers import FRAME, UNPACKED_LIMIT, extract_text, serve_requests
from sanderling.search.search_types import MAX_BODY_CHARS


def pack(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return out.getvalue()


def test_all_parts_share_one_budget_of_unpacked_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked: list[int] = []
    original = document_readers._read_part

    def count(packed: zipfile.ZipFile, name: str, budget: int) -> bytes:
        part = original(packed, name, budget)
        unpacked.append(len(part))
        return part

    monkeypatch.setattr(document_readers, "_read_part", count)
    tags = b"<a:r>" * 800_000
    extract_text("slides", pack({f"ppt/slides/slide{number}.xml": tags for number in range(1, 12)}))
    assert sum(unpacked) == UNPACKED_LIMIT


def test_no_more_parts_are_unpacked_than_the_text_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    original = document_readers._read_part

    def record(packed: zipfile.ZipFile, name: str, budget: int) -> bytes:
        names.append(name)
        return original(packed, name, budget)

    monkeypatch.setattr(document_readers, "_read_part", record)
    slide = b"word " * (MAX_BODY_CHARS // 5 + 1)
    text = extract_text("slides", pack({f"ppt/slides/slide{number}.xml": slide for number in range(1, 5)}))
    assert len(text) == MAX_BODY_CHARS
    assert len(names) == 1


def test_request_after_a_failure_is_answered() -> None:
    good = pack({"word/document.xml": b"<w:p>words</w:p>"})
    requests = b"".join(FRAME.pack(4, len(body)) + b"word" + body for body in (b"no zip", good))
    sink = io.BytesIO()
    serve_requests(io.BytesIO(requests), sink)
    answer = sink.getvalue()
    succeeded, size = FRAME.unpack_from(answer)
    assert (succeeded, answer[FRAME.size : FRAME.size + size]) == (0, b"BadZipFile")
    assert answer.endswith(b"words\n")
