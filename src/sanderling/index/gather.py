"""A stored answer as an index document: HTML, plain text, PDF and office files, each within bounds."""

import contextlib
import io
import re
import zipfile
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct, field

from sanderling.index.labels import site_of, type_of
from sanderling.index.language import Languages, language_of
from sanderling.index.records import LARGEST_BODY, LARGEST_FIELD, Document
from sanderling.pages.blocks import blocks
from sanderling.pages.links import extract
from sanderling.pages.media import charset_of, is_html, mime_of
from sanderling.pages.parse import parse
from sanderling.pages.plain import is_text, plain_text
from sanderling.pages.robots_tag import robots_tag
from sanderling.pages.text import flowing
from sanderling.store.read import StoredRecord

LARGEST_HTML = 4_000_000  # bytes of a page that are parsed for the index
LARGEST_PART = 20_000_000  # bytes of an office file once unpacked
MOST_PDF_PAGES = 300
LITTLE = 200  # characters: a page with less main content is indexed with its furniture
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
# Where the words of an office document are, by the kind type_of gives it.
_PARTS = {
    "word": re.compile(r"word/document\d*\.xml|content\.xml"),
    "sheet": re.compile(r"xl/sharedStrings\.xml|content\.xml"),
    "slides": re.compile(r"ppt/slides/slide\d+\.xml|content\.xml"),
}
_TAG = re.compile(r"<[^>]{0,4000}>")
_BREAK = re.compile(r"</(?:w:p|a:p|text:p|text:h|si|table:table-cell)>")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}

Reader = Callable[[bytes], str]


class Head(Struct, frozen=True):
    """What the crawl has read of a page's head already."""

    title: str
    language: str


class Eyes(Struct, frozen=True):
    """Who reads: the name that pages call us by, and what is known of the languages of their sites."""

    agent: str = "sanderling"
    languages: Languages = field(default_factory=Languages)


def document_of(
    record: StoredRecord, url: str, changed_at: float, head: Head | None = None, eyes: Eyes | None = None
) -> Document | None:
    """Read one stored answer; None if there is nothing in it that words could find, or it asks not to be indexed.

    Where its head was read by the crawl, that has judged what it asks for: the header may be another since.
    """
    eyes = eyes or Eyes()
    declared = record.header("Content-Type")
    mime = mime_of(declared)
    if head is None and robots_tag(record.header("X-Robots-Tag"), eyes.agent)[0]:
        return None
    bare = Document(url, mime=mime or "text/html", site=site_of(url), changed_at=changed_at, visited_at=changed_at)
    if is_html(mime, record.body):
        return _page(record.body[:LARGEST_HTML], charset_of(declared), bare, head, eyes)
    read = _READERS.get(type_of(mime)) or (_plain(charset_of(declared)) if mime.startswith("text/") else None)
    body = read(record.body).strip() if read else ""
    return _titled(bare, body) if body else None


def _page(body: bytes, charset: str, bare: Document, head: Head | None, eyes: Eyes) -> Document | None:
    tree = parse(body, charset)
    if head is None:
        found_head = extract(tree, bare.url, agent=eyes.agent)
        if found_head.noindex:
            return None
        head = Head(found_head.title, found_head.language)
    found = blocks(tree)
    main = "\n".join(line for line, is_main in zip(found.lines, found.main, strict=True) if is_main and line.strip())
    everything = main if len(main) >= LITTLE else "\n".join(line for line in found.lines if line.strip())
    titles = (flowing(element) for element in tree.iter_elements(HEADINGS))
    return Document(
        bare.url, head.title, _joined(titles), body=everything[:LARGEST_BODY],
        language=eyes.languages.of(head.language, everything, bare.site), mime=bare.mime, site=bare.site,
        changed_at=bare.changed_at, visited_at=bare.visited_at,
    )  # fmt: skip


def _joined(titles: Iterable[str]) -> str:
    made: list[str] = []
    room = LARGEST_FIELD * 2
    for text in titles:
        flat = " ".join(text.split())
        if room <= 0:
            break
        if flat:
            made.append(flat[:room])
            room -= len(flat) + 1
    return "\n".join(made)


def _titled(bare: Document, body: str) -> Document:
    """A document without markup is titled by its first line, or else by its name."""
    first = body.split("\n", 1)[0].strip()
    title = first if 0 < len(first) <= 120 else bare.url.rsplit("/", 1)[-1] or bare.url
    return Document(
        bare.url, title, body=body[:LARGEST_BODY], mime=bare.mime, site=bare.site, language=language_of("", body),
        changed_at=bare.changed_at, visited_at=bare.visited_at,
    )  # fmt: skip


def _plain(charset: str) -> Reader:
    return lambda body: plain_text(body[: LARGEST_BODY * 4], charset) if is_text(body, charset) else ""


def _pdf(body: bytes) -> str:
    """Text of a PDF file; empty if it is broken or locked, or if nobody installed the reader."""
    try:
        import pypdfium2
    except ImportError:
        return ""
    made: list[str] = []
    room = LARGEST_BODY
    try:
        with contextlib.closing(pypdfium2.PdfDocument(body)) as pdf:
            for number in range(min(len(pdf), MOST_PDF_PAGES)):
                if room <= 0:
                    break
                made.append(_pdf_page(pdf, number)[:room])
                room -= len(made[-1])
    except pypdfium2.PdfiumError:
        return "\n".join(made)
    return "\n".join(made)


def _pdf_page(pdf: Any, number: int) -> str:
    with contextlib.closing(pdf[number]) as page, contextlib.closing(page.get_textpage()) as words:
        return str(words.get_text_bounded())


def _office(kind: str) -> Reader:
    def read(body: bytes) -> str:
        """Text of an office file: a zip of XML parts, of which only so much is unpacked."""
        try:
            with zipfile.ZipFile(io.BytesIO(body)) as packed:
                names = sorted(name for name in packed.namelist()[:10_000] if _PARTS[kind].fullmatch(name))
                return "\n".join(_words_of(packed, name) for name in names[:500])[:LARGEST_BODY]
        except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, RuntimeError):
            return ""

    return read


def _words_of(packed: zipfile.ZipFile, name: str) -> str:
    with packed.open(name) as part:
        xml = part.read(LARGEST_PART // 4).decode("utf-8", "replace")
    text = _TAG.sub("", _BREAK.sub("\n", xml))
    for entity, sign in _ENTITIES.items():
        text = text.replace(entity, sign)
    return text


_READERS: dict[str, Reader] = {"pdf": _pdf, **{kind: _office(kind) for kind in _PARTS}}
