"""A URL of a collection: why it is in its state, all visits, and the stored response."""

import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from sanderling.changes.stored_content import read_content_type, read_data, read_markdown, read_text
from sanderling.config.time_format import parse_time_inclusive
from sanderling.crawl.explain import PRIORITY_LIST_COUNT, UrlExplanation, explain_url
from sanderling.export.field_history import FieldValue, build_field_row, load_field_definitions, load_field_history
from sanderling.frontier.ordering.ordering_registry import ORDERINGS
from sanderling.html.plain_text import decode_plain_text, is_text
from sanderling.http.content_type import is_html
from sanderling.monitor.page_fields import parse_field_definitions
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.page_history import (
    PastVisit,
    estimate_change_class,
    find_former_urls,
    load_observation,
    load_visits,
)
from sanderling.storage.queries import load_stored_record, resolve_known_url
from sanderling.storage.screenshots import load_screenshot
from sanderling.storage.sitemap_hints import SitemapHintStore
from sanderling.warc.warc_reader import StoredRecord

__all__ = [
    "PRIORITY_LIST_COUNT",
    "PageHistory",
    "PastVisit",
    "StoredRecord",
    "UrlExplanation",
    "build_field_row",
    "describe_ordering",
    "explain_page",
    "load_page_history",
    "load_page_record",
    "load_page_screenshot",
    "read_body_text",
    "read_data",
    "read_page_markdown",
    "read_page_text",
]


class PageHistory(Struct, frozen=True):
    """All visits of a page, under its former URLs too, and the values that its fields had."""

    url: str
    former_urls: list[str]
    visits: list[PastVisit]
    change_class: str
    change_count: int
    etag: str
    last_modified: str
    has_fields: bool
    values: list[FieldValue]


def explain_page(folder: Path, url: str) -> UrlExplanation:
    """Explain state, class, scores, and schedule of a known URL."""
    with open_collection_read_only(folder) as collection:
        id_, _ = resolve_known_url(collection, url)
        return explain_url(collection.db, id_, time.time())


def describe_ordering(name: str) -> str:
    """Return the description of an ordering; empty if it is unknown."""
    return ORDERINGS[name].description if name in ORDERINGS else ""


def load_page_history(folder: Path, url: str, fields: Sequence[str] = ()) -> PageHistory:
    """Load the visits of a known URL. `fields` are added to those of the collection."""
    parse_field_definitions(fields)
    with open_collection_read_only(folder) as collection:
        id_, key = resolve_known_url(collection, url)
        before = find_former_urls(collection.db, key)
        visits = [visit for old, _ in reversed(before) for visit in load_visits(collection.db, old)]
        visits += load_visits(collection.db, id_)
        page = load_observation(collection.db, id_)
        definitions = load_field_definitions(collection, fields)
        values = list(load_field_history(collection, id_, key, definitions))
        hint = SitemapHintStore(collection.db).load_hints([id_]).get(id_)
    changefreq = hint.changefreq if hint else ""
    change_class = estimate_change_class(page.first_seen, page.last_visit, page.visits, page.changes, changefreq)
    former = [old for _, old in before]
    return PageHistory(
        key, former, visits, change_class, page.changes, page.etag, page.last_modified, bool(definitions), values
    )


def load_page_record(folder: Path, url: str, at: str = "") -> tuple[str, StoredRecord]:
    """Load the key of a URL and its stored response, the last or that of a time."""
    with open_collection_read_only(folder) as collection:
        id_, key = resolve_known_url(collection, url)
        return key, load_stored_record(collection, id_, key, parse_time_inclusive(at, time.time()) if at else None)


def load_page_screenshot(folder: Path, url: str, at: str = "") -> tuple[str, StoredRecord | None]:
    """Load the key of a URL and its screenshot; None if there is none."""
    with open_collection_read_only(folder) as collection:
        id_, key = resolve_known_url(collection, url)
        before = parse_time_inclusive(at, time.time()) if at else None
        return key, load_screenshot(collection.db, collection.archive_folder, id_, max_time=before)


def read_page_text(record: StoredRecord) -> str:
    """Return the visible text of a response, or type and size of a binary one."""
    return read_text(record) or _describe_binary(record)


def read_page_markdown(record: StoredRecord, url: str) -> str:
    """Return the main content of a response as Markdown, or its text."""
    return read_markdown(record, url) or read_page_text(record)


def read_body_text(record: StoredRecord) -> str:
    """Return a textual body, or type and size of a binary one."""
    mime, charset = read_content_type(record)
    readable = is_html(mime, record.body) or is_text(record.body, charset)
    return decode_plain_text(record.body, charset) if readable else _describe_binary(record)


def _describe_binary(record: StoredRecord) -> str:
    return f"[{read_content_type(record)[0] or 'no type'}, {len(record.body)} bytes]"
