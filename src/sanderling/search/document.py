"""A stored answer as an index document: HTML, plain text, PDF and office files, each within bounds."""

from collections.abc import Callable, Iterable
from functools import partial

from msgspec import Struct

from sanderling.content.extract import blocks
from sanderling.html.links import extract
from sanderling.html.parser import parse
from sanderling.html.plain_text import is_text, plain_text
from sanderling.html.robots_meta import robots_tag
from sanderling.html.text import flowing
from sanderling.http.content_type import charset_of, is_html, mime_of
from sanderling.search.document_process import text_of_document
from sanderling.search.document_readers import KINDS
from sanderling.search.fields import site_of, type_of
from sanderling.search.language import language_of
from sanderling.search.search_types import LARGEST_BODY, LARGEST_FIELD, Document
from sanderling.warc.reader import StoredRecord

LARGEST_HTML = 4_000_000  # bytes of a page that are parsed for the index
LITTLE = 200  # characters: a page with less main content is indexed with its furniture
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")

Reader = Callable[[bytes], str]


class Head(Struct, frozen=True):
    """What the crawl has read of a page's head already."""

    title: str
    language: str


class Eyes(Struct, frozen=True):
    """Who reads: the name that pages call us by."""

    agent: str = "sanderling"


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
        language=language_of(head.language, everything), mime=bare.mime, site=bare.site,
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


_READERS: dict[str, Reader] = {kind: partial(text_of_document, kind) for kind in KINDS}
