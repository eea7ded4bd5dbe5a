"""Documents from stored responses of many types, including damaged and oversized files."""

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


def build(body: bytes, mime: str = "text/html; charset=utf-8", *headers: tuple[str, str]) -> Document | None:
    record = StoredRecord(
        "response", RecordLocation("x.warc.gz", 0, 1), (), 200, (("Content-Type", mime), *headers), body
    )
    return build_document(record, URL, 5.0)


def pack(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return out.getvalue()


def test_text_of_a_page_with_little_main_content_starts_with_it() -> None:
    menu = "".join(f"<li><a href=/{n}>Menu entry {n}</a></li>" for n in range(9))
    page = build(f"<html lang=en><nav><ul>{menu}</ul></nav><main><p>The sanderling runs.</p></main>".encode())
    assert page is not None
    assert page.body.startswith("The sanderling runs.\n")
    assert "Menu entry 8" in page.body


def test_html_gives_title_headings_language_and_main_content() -> None:
    prose = "The sanderling runs along the tide line and picks up what each wave has left. " * 5
    page = build(
        f"<html lang=en><title>Waders</title><nav><a href=/>Home</a></nav><main><h1>The sanderling</h1><h2>Food</h2>"
        f"<p>{prose}</p></main><footer>Imprint</footer>".encode()
    )
    assert page is not None
    assert (page.title, page.headings, page.language) == ("Waders", "The sanderling\nFood", "en")
    assert "tide line" in page.body
    assert "Imprint" not in page.body


def test_line_break_in_a_heading_separates_words() -> None:
    page = build(b"<h1>Opening<br>hours</h1><h2><span>In winter</span> <b>clo</b>sed</h2><p>Nobody is there.</p>")
    assert page is not None
    assert page.headings == "Opening hours\nIn winter closed"
    assert (page.site, page.changed_at, page.mime) == ("docs.example.org", 5.0, "text/html")


def test_noindex_page_is_skipped() -> None:
    assert build(b"<meta name=robots content=noindex><p>secret") is None
    assert build(b"<p>secret", "text/html", ("X-Robots-Tag", "none")) is None
    assert build(b"<p>open", "text/html", ("X-Robots-Tag", "nofollow")) is not None
    assert build(b"<p>open", "text/html", ("X-Robots-Tag", "heron: noindex")) is not None


def test_directives_for_other_agents_are_ignored() -> None:
    for page, header in ((b"<p>x", "heron: noindex"), (b"<meta name=heron content=noindex><p>x", "nofollow")):
        head = (("Content-Type", "text/html"), ("X-Robots-Tag", header))
        record = StoredRecord("response", RecordLocation("x.warc.gz", 0, 1), (), 200, head, page)
        assert build_document(record, URL, 5.0, robots_agent=RobotsAgent("Heron")) is None
        assert build_document(record, URL, 5.0, robots_agent=RobotsAgent("sanderling")) is not None
        crawled = build_document(record, URL, 5.0, ParsedHead("", ""), RobotsAgent("Heron"))
        assert crawled is not None  # the crawl has already applied the directives


def test_plain_text_is_titled_by_its_first_line() -> None:
    page = build(b"Tide tables\n\nHigh water at noon.", "text/plain")
    assert page is not None
    assert (page.title, "noon" in page.body) == ("Tide tables", True)


def test_plain_text_is_read_in_the_charset_it_declares() -> None:
    page = build("Größe der Vögel".encode("latin-1"), "text/plain; charset=iso-8859-1")
    assert page is not None
    assert page.body == "Größe der Vögel"


def test_compressed_file_declared_as_text_is_skipped() -> None:
    assert build(gzip.compress(b"words " * 50, mtime=0), "text/plain") is None


def test_text_of_an_office_file() -> None:
    xml = b"<w:document><w:p><w:t>High &amp; low</w:t></w:p><w:p><w:t>water</w:t></w:p></w:document>"
    page = build(pack({"word/document.xml": xml, "word/media/x.png": b"\x89PNG"}), WORD)
    assert page is not None
    assert page.body == "High & low\nwater"


def test_text_of_a_pdf_file() -> None:
    pytest.importorskip("pypdfium2")
    stream = b"BT /F1 24 Tf 72 700 Td (High water at noon) Tj ET"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%b\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]  # fmt: skip
    body = b"%PDF-1.4\n" + b"".join(b"%d 0 obj%b endobj\n" % (n, o) for n, o in enumerate(objects, 1))
    page = build(body + b"trailer<</Root 1 0 R>>", "application/pdf")
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
        (pack({"word/document.xml": b"<w:t>" + b"a " * 30_000_000}), WORD),
        (b"\x89PNG", "image/png"),
        (b"word " * 2_000_000, "text/plain"),
    ],
)
def test_damaged_or_oversized_content_is_bounded(body: bytes, mime: str) -> None:
    page = build(body, mime)
    assert page is None or len(page.body) <= MAX_BODY_CHARS


def test_damaged_office_file_is_skipped() -> None:
    body = bytearray(pack({"word/document.xml": b"<w:p>" + b"words and more words " * 40 + b"</w:p>"}))
    start = body.index(b"word/document.xml") + len("word/document.xml")
    body[start : start + 8] = b"\xff" * 8  # zlib.error
    assert build(bytes(body), WORD) is None
