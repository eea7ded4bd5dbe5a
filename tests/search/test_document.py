"""Stored answers of many kinds become documents, and hostile ones become nothing worse than nothing."""

import gzip
import io
import zipfile

import pytest

from sanderling.search.document import ParsedHead, RobotsAgent, build_document
from sanderling.search.search_types import MAX_BODY_CHARS, Document
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import StoredRecord

URL = "https://docs.example.org/a/b.html"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def read(body: bytes, mime: str = "text/html; charset=utf-8", *more: tuple[str, str]) -> Document | None:
    record = StoredRecord("response", RecordLocation("x.warc.gz", 0, 1), (), 200, (("Content-Type", mime), *more), body)
    return build_document(record, URL, 5.0)


def packed(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return out.getvalue()


def test_a_page_gives_title_headings_language_and_its_main_text() -> None:
    prose = "The sanderling runs along the tide line and picks up what each wave has left. " * 5
    page = read(
        f"<html lang=en><title>Waders</title><nav><a href=/>Home</a></nav><main><h1>The sanderling</h1><h2>Food</h2>"
        f"<p>{prose}</p></main><footer>Imprint</footer>".encode()
    )
    assert page is not None
    assert (page.title, page.headings, page.language) == ("Waders", "The sanderling\nFood", "en")
    assert "tide line" in page.body
    assert "Imprint" not in page.body


def test_the_words_of_two_lines_of_a_heading_stay_two() -> None:
    page = read(b"<h1>Opening<br>hours</h1><h2><span>In winter</span> <b>clo</b>sed</h2><p>Nobody is there.</p>")
    assert page is not None
    assert page.headings == "Opening hours\nIn winter closed"
    assert (page.site, page.changed_at, page.mime) == ("docs.example.org", 5.0, "text/html")


def test_a_page_that_asks_to_be_left_out_is_left_out() -> None:
    assert read(b"<meta name=robots content=noindex><p>secret") is None
    assert read(b"<p>secret", "text/html", ("X-Robots-Tag", "none")) is None
    assert read(b"<p>open", "text/html", ("X-Robots-Tag", "nofollow")) is not None
    assert read(b"<p>open", "text/html", ("X-Robots-Tag", "heron: noindex")) is not None


def test_what_is_said_to_others_is_not_said_to_us() -> None:
    for page, header in ((b"<p>x", "heron: noindex"), (b"<meta name=heron content=noindex><p>x", "nofollow")):
        head = (("Content-Type", "text/html"), ("X-Robots-Tag", header))
        record = StoredRecord("response", RecordLocation("x.warc.gz", 0, 1), (), 200, head, page)
        assert build_document(record, URL, 5.0, robots_agent=RobotsAgent("Heron")) is None
        assert build_document(record, URL, 5.0, robots_agent=RobotsAgent("sanderling")) is not None
        assert (
            build_document(record, URL, 5.0, ParsedHead("", ""), RobotsAgent("Heron")) is not None
        )  # the crawl has judged it


def test_plain_text_is_titled_by_its_first_line() -> None:
    page = read(b"Tide tables\n\nHigh water at noon.", "text/plain")
    assert page is not None
    assert (page.title, "noon" in page.body) == ("Tide tables", True)


def test_plain_text_is_read_in_the_charset_it_declares() -> None:
    page = read("Größe der Vögel".encode("latin-1"), "text/plain; charset=iso-8859-1")
    assert page is not None
    assert page.body == "Größe der Vögel"


def test_a_packed_file_that_is_called_text_has_no_words() -> None:
    assert read(gzip.compress(b"words " * 50, mtime=0), "text/plain") is None


def test_office_files_give_their_words() -> None:
    xml = b"<w:document><w:p><w:t>High &amp; low</w:t></w:p><w:p><w:t>water</w:t></w:p></w:document>"
    page = read(packed({"word/document.xml": xml, "word/media/x.png": b"\x89PNG"}), WORD)
    assert page is not None
    assert page.body == "High & low\nwater"


def test_pdf_files_give_their_words() -> None:
    pytest.importorskip("pypdfium2")
    stream = b"BT /F1 24 Tf 72 700 Td (High water at noon) Tj ET"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%b\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]  # fmt: skip
    body = b"%PDF-1.4\n" + b"".join(b"%d 0 obj%b endobj\n" % (n, o) for n, o in enumerate(objects, 1))
    page = read(body + b"trailer<</Root 1 0 R>>", "application/pdf")
    assert page is not None
    assert "High water at noon" in page.body


@pytest.mark.parametrize(
    ("body", "mime"),
    [
        (b"", "text/html"),
        (b"\x00\xff<p>" + b"<div>" * 5_000, "text/html"),
        (b"not a pdf", "application/pdf"),
        (b"%PDF-1.7 cut", "application/pdf"),
        (b"PK\x03\x04 cut", WORD),
        (packed({"word/document.xml": b"<w:t>" + b"a " * 30_000_000}), WORD),
        (b"\x89PNG", "image/png"),
        (b"word " * 2_000_000, "text/plain"),
    ],
)
def test_nothing_a_server_sends_is_too_much(body: bytes, mime: str) -> None:
    page = read(body, mime)
    assert page is None or len(page.body) <= MAX_BODY_CHARS


def test_damaged_part_of_an_office_file_is_no_error() -> None:
    body = bytearray(packed({"word/document.xml": b"<w:p>" + b"words and more words " * 40 + b"</w:p>"}))
    start = body.index(b"word/document.xml") + len("word/document.xml")
    body[start : start + 8] = b"\xff" * 8  # zlib.error
    assert read(bytes(body), WORD) is None
