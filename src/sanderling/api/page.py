"""Stored pages and their versions. Metadata is loaded with the page, the body when it is first used."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from turbohtml import Document, Element

from sanderling.changes.versions import ArchivedVersion, extract_record_text
from sanderling.errors import UsageError
from sanderling.html.parser import parse_html
from sanderling.html.plain_text import decode_plain_text, is_text
from sanderling.html.reading import extract_structured_data, extract_tables, render_markdown
from sanderling.html.text import render_text
from sanderling.http.content_type import is_html, parse_charset, parse_mime_type
from sanderling.monitor.page_fields import extract_fields, list_field_texts, parse_field_definitions
from sanderling.storage.queries import CatalogRow, load_stored_record
from sanderling.warc.warc_reader import StoredRecord, read_record

if TYPE_CHECKING:
    from sanderling.api.collection_reader import CollectionReader


def to_datetime(seconds: float) -> datetime | None:
    """Convert a timestamp to UTC; 0 (unknown) to None."""
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


class PageContent:
    """A stored response: status, headers, body, and what is read from it."""

    def __init__(self, collection: "CollectionReader", url: str, read_record: Callable[[], StoredRecord]) -> None:
        self.url: str = url
        self._collection, self._read_record = collection, read_record

    @cached_property
    def record(self) -> StoredRecord:
        """The WARC record of the response."""
        return self._read_record()

    @property
    def status(self) -> int:
        """HTTP status of the stored response."""
        return self.record.status

    @property
    def headers(self) -> Mapping[str, str]:
        """HTTP headers by lower-case name; repeated headers are joined by a comma."""
        return {name.lower(): self.record.get_header(name) for name, _ in self.record.http_headers}

    @property
    def body(self) -> bytes:
        """The body without transfer and content coding."""
        return self.record.body

    @property
    def mime(self) -> str:
        """Media type, such as text/html."""
        return parse_mime_type(self.record.get_header("Content-Type"))

    @property
    def _charset(self) -> str:
        return parse_charset(self.record.get_header("Content-Type"))

    @property
    def is_html(self) -> bool:
        """Whether the body is an HTML document."""
        return is_html(self.mime, self.body)

    @cached_property
    def tree(self) -> Document:
        """The parsed HTML document. Raises UsageError for other documents."""
        if not self.is_html:
            raise UsageError(f"{self.url} is not HTML but {self.mime or 'of unknown type'}")
        return parse_html(self.body, self._charset)

    def select(self, selector: str) -> list[Element]:
        """Return the elements that match a CSS selector."""
        return self.tree.select(selector)

    @property
    def source(self) -> str:
        """The body as text, decoded as browsers do. Raises UsageError for images and other binary documents."""
        if not is_text(self.body, self._charset):
            raise UsageError(f"{self.url} is not text but {self.mime or 'of unknown type'}")
        return decode_plain_text(self.body, self._charset)

    @cached_property
    def text(self) -> str:
        """The visible text, a line per paragraph. PDF and office files need the extra `documents`."""
        if self.is_html:
            return "\n".join(line for line in render_text(self.tree).splitlines() if line.strip())
        return extract_record_text(self.record, self.mime or "text/plain", self._charset)

    @cached_property
    def markdown(self) -> str:
        """The main content as Markdown with absolute links; of other documents, the text."""
        return render_markdown(self.body, self._charset, self.url) if self.is_html else self.text

    @cached_property
    def data(self) -> dict[str, Any]:
        """JSON-LD, microdata, OpenGraph, RDFa, and Dublin Core of the page, by format."""
        return extract_structured_data(self.body, self._charset, self.url) if self.is_html else {}

    @cached_property
    def fields(self) -> dict[str, object]:
        """Values of the fields of the collection (`crawl(fields=...)`) by name; None: not found."""
        return extract_fields(self.record, self.url, self._collection._load_fields())

    def extract(self, fields: Mapping[str, str] | Sequence[str]) -> dict[str, object]:
        """Return values by CSS, XPath, JSON path, or regular expression: `{"price:price": "css:.price"}`."""
        return extract_fields(self.record, self.url, parse_field_definitions(list_field_texts(fields)))

    @cached_property
    def tables(self) -> list[list[list[str]]]:
        """The cells of each HTML table, row by row."""
        return extract_tables(self.body, self._charset) if self.is_html else []


class PageVersion(PageContent):
    """A version of a page: a body that differs from its predecessor. Versions are numbered from 1."""

    def __init__(self, collection: "CollectionReader", url: str, archived: ArchivedVersion) -> None:
        super().__init__(collection, url, lambda: read_record(collection.folder / "archive", archived.place))
        self._archived = archived

    @property
    def number(self) -> int:
        return self._archived.number

    @property
    def fetched_at(self) -> datetime | None:
        return to_datetime(self._archived.fetched_at)

    @property
    def digest(self) -> str:
        """Digest of the body, such as sha256:0a1b..."""
        return f"sha256:{self._archived.digest.hex()}"

    def __repr__(self) -> str:
        return f"<PageVersion {self.number} of {self.url}>"


class Page(PageContent):
    """A stored page: the last response of a URL, and its catalog entry."""

    def __init__(self, collection: "CollectionReader", row: CatalogRow, before: float | None = None) -> None:
        super().__init__(
            collection,
            row.url,
            lambda: collection.query_stored(lambda stored: load_stored_record(stored, row.url_id, row.url, before)),
        )
        self._row, self._before = row, before

    @property
    def status(self) -> int:
        """HTTP status of the last visit."""
        return self._row.status if self._before is None else self.record.status

    @property
    def mime(self) -> str:
        """Media type, such as text/html."""
        return self._row.mime

    @property
    def title(self) -> str:
        """Title of the last version."""
        return self._row.title

    @property
    def language(self) -> str:
        """Declared language, such as en; empty: unknown."""
        return self._row.language

    @property
    def depth(self) -> int:
        """Number of links from a seed."""
        return self._row.depth

    @property
    def first_seen(self) -> datetime | None:
        return to_datetime(self._row.first_seen)

    @property
    def last_visit(self) -> datetime | None:
        return to_datetime(self._row.last_visit)

    @property
    def last_change(self) -> datetime | None:
        """Time of the last significant change, or of the first visit."""
        return to_datetime(self._row.last_change)

    @property
    def change_count(self) -> int:
        """Number of significant changes."""
        return self._row.change_count

    @property
    def digest(self) -> str:
        """Digest of the body, such as sha256:0a1b...; empty without a body."""
        return f"sha256:{self._row.digest}" if self._row.digest else ""

    @property
    def duplicate_of(self) -> str:
        """URL of the page with the same body that was found first, or an empty string."""
        return self._row.duplicate_of

    @property
    def location(self) -> str:
        """Target of a redirect, or an empty string."""
        return self._row.location

    @cached_property
    def links(self) -> list[str]:
        """URLs that the page links to, in order of appearance."""
        return self._collection._load_links(self._row.url_id)

    @property
    def versions(self) -> list[PageVersion]:
        """All stored versions, oldest first."""
        return self._collection.versions(self.url)

    def as_dict(self) -> dict[str, object]:
        """Return the catalog entry with the keys of `sanderling pages --json`."""
        from sanderling.storage.page_json import build_page_object

        return build_page_object(self._row)

    def __repr__(self) -> str:
        return f"<Page {self.url}>"
