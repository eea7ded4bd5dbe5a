"""Rows of an export: pages with their content, stored versions, links, or changes."""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from sanderling.changes.change_json import build_change_object
from sanderling.changes.change_query import ChangeFilter, QueryRemarks, find_changes, find_lifecycle_changes
from sanderling.changes.classify import LIFECYCLE_KINDS, ChangeKind
from sanderling.changes.stored_content import read_data, read_markdown, read_text
from sanderling.changes.versions import list_versions
from sanderling.config.time_format import format_iso
from sanderling.errors import CollectionError, UsageError
from sanderling.export.field_history import build_field_row, load_field_history
from sanderling.fetch.usage_preferences import describe_usage
from sanderling.frontier.hosts import HostStore
from sanderling.monitor.page_fields import FieldDefinition, extract_fields
from sanderling.storage.collection import StoredCollection, get_robots_agent
from sanderling.storage.link_graph import load_outgoing_links
from sanderling.storage.page_json import build_page_object
from sanderling.storage.queries import CatalogRow, load_pages, load_stored_record, load_urls
from sanderling.urls.normalize import get_host
from sanderling.urls.scope import is_wildcard_match
from sanderling.warc.warc_reader import StoredRecord, read_record

EXPORT_KINDS = ("pages", "versions", "links", "changes", "fields")
TEXT_FORMATS = ("text", "markdown")
PAGES_PER_QUERY = 500
Row = dict[str, object]


class ExportQuery(Struct, frozen=True):
    """The rows to export, and the content of pages and versions that they contain."""

    what: Literal["pages", "versions", "links", "changes", "fields"] = "pages"
    text: Literal["", "text", "markdown"] = ""
    data: bool = False  # JSON-LD, microdata, OpenGraph, RDFa
    pattern: str = "*"
    since: float = 0.0  # pages visited, versions stored, and changes found since then
    fields: tuple[FieldDefinition, ...] = ()
    urls: frozenset[str] | None = None  # only these; None: all
    usage: bool = False  # with the purposes that the owner denies

    @property
    def has_content(self) -> bool:
        """Whether the bodies of pages are read."""
        return bool(self.text or self.data or self.fields)

    def selects(self, url: str) -> bool:
        return is_wildcard_match(url, self.pattern) and (self.urls is None or url in self.urls)


def validate_query(query: ExportQuery) -> ExportQuery:
    """Return the query. Raises UsageError for names that do not exist, and for content of rows that have none."""
    if query.what not in EXPORT_KINDS:
        raise UsageError(f"cannot export {query.what!r}; choose from {', '.join(EXPORT_KINDS)}")
    if query.text not in ("", *TEXT_FORMATS):
        raise UsageError(f"unknown text format {query.text!r}; choose from {', '.join(TEXT_FORMATS)}")
    if query.usage and query.what != "pages":
        raise UsageError("--usage belongs to pages; export pages with it")
    if query.what == "fields" and (query.text or query.data):
        raise UsageError("values of fields have no page content; export pages or versions with text and data")
    if query.what in ("links", "changes") and query.has_content:
        raise UsageError(f"{query.what} have no page content; export pages or versions with text, data and fields")
    return query


def iterate_rows(collection: StoredCollection, query: ExportQuery) -> Iterator[Row]:
    """Yield the rows of an export. All rows have the same keys."""
    if query.what == "changes":
        yield from _iterate_changes(collection, query)
        return
    build = {
        "pages": _build_page_rows,
        "versions": _build_version_rows,
        "links": _build_link_rows,
        "fields": _build_field_rows,
    }[query.what]
    for page in _iterate_pages(collection, query):
        yield from build(collection, page, query)


def _iterate_pages(collection: StoredCollection, query: ExportQuery) -> Iterator[CatalogRow]:
    """Yield the selected pages by a query per 500, so that a long export does not hold a snapshot of the database."""
    last_id = 0
    while rows := list(load_pages(collection.db, "p.url > ?", (last_id,), limit=PAGES_PER_QUERY)):
        last_id = rows[-1].url_id
        for row in rows:
            is_recent = query.what in ("versions", "fields") or row.last_visit >= query.since
            if is_recent and query.selects(row.url):
                yield row


def _build_page_rows(collection: StoredCollection, page: CatalogRow, query: ExportQuery) -> Iterator[Row]:
    yield build_page_row(collection, page, query)


def build_page_row(collection: StoredCollection, page: CatalogRow, query: ExportQuery) -> Row:
    """Return the row of a page with the requested content of its last response."""
    row = build_page_object(page)
    if query.usage:
        robots = HostStore(collection.db).get_robots(get_host(page.url))
        record = _load_record(collection, page)
        row["denied_usage"] = describe_usage(robots, get_robots_agent(collection.db), page.url, record)
    if query.has_content:
        row |= read_content(_load_record(collection, page), page.url, query)
    return row


def _load_record(collection: StoredCollection, page: CatalogRow) -> StoredRecord | None:
    """Return the last response of a page; None for redirects and errors, and if it is damaged in the archive."""
    if not 200 <= page.status < 300:
        return None
    try:
        return load_stored_record(collection, page.url_id, page.url)
    except (CollectionError, UsageError):
        return None


def _build_version_rows(collection: StoredCollection, page: CatalogRow, query: ExportQuery) -> Iterator[Row]:
    for version in list_versions(collection, page.url_id):
        if version.fetched_at < query.since:
            continue
        row: Row = {
            "url": page.url,
            "version": version.number,
            "at": format_iso(version.fetched_at),
            "digest": f"sha256:{version.digest.hex()}",
            "bytes": version.size,
        }
        if query.has_content:
            try:
                record = read_record(collection.archive_folder, version.place)
            except CollectionError:
                record = None
            row |= read_content(record, page.url, query)
        yield row


def read_content(record: StoredRecord | None, url: str, query: ExportQuery) -> Row:
    """Return the requested content of a response; without a record, the same keys with null."""
    content: Row = {}
    if query.text:
        content[query.text] = record and (read_markdown(record, url) if query.text == "markdown" else read_text(record))
    if query.data:
        content["data"] = record and read_data(record, url)
    if query.fields:
        content["fields"] = extract_fields(record, url, query.fields)
    return content


def _build_field_rows(collection: StoredCollection, page: CatalogRow, query: ExportQuery) -> Iterator[Row]:
    for item in load_field_history(collection, page.url_id, page.url, query.fields):
        if item.fetched_at >= query.since:
            yield build_field_row(page.url, item)


def _build_link_rows(collection: StoredCollection, page: CatalogRow, _query: ExportQuery) -> Iterator[Row]:
    links = load_outgoing_links(collection.db, page.url_id)
    urls = load_urls(collection.db, sorted(set(links.target_ids)))
    nofollow = set(links.nofollow_positions)
    for position, (target, anchor) in enumerate(zip(links.target_ids, links.anchor_texts, strict=True)):
        if target in urls:
            yield {"url": page.url, "target": urls[target], "anchor": anchor, "nofollow": position in nofollow}


def _iterate_changes(collection: StoredCollection, query: ExportQuery) -> Iterator[Row]:
    """Yield all changes, oldest first: of content, links ..., and new, gone, moved, and returned pages."""
    has_start = bool(query.since)
    common = ChangeFilter(
        url_pattern=query.pattern,
        kinds=tuple(kind for kind in ChangeKind if kind not in LIFECYCLE_KINDS),
        has_start=has_start,
        include_texts=True,
    )
    lifecycle = ChangeFilter(url_pattern=query.pattern, kinds=tuple(LIFECYCLE_KINDS), has_start=has_start)
    found = [
        *find_lifecycle_changes(lifecycle, collection, query.since),
        *find_changes(common, collection, query.since, QueryRemarks([], [], [])),
    ]
    selected = [item for item in found if query.selects(item.url)]
    yield from map(build_change_object, sorted(selected, key=lambda item: item.seen_at))
