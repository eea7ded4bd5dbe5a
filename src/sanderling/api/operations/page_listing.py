"""Select stored pages, and URLs that are not stored with the reason."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from sanderling.crawl.stop import FinishReason
from sanderling.dedup.near_duplicates import load_pairs
from sanderling.models import Reason, UrlState
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.page_json import build_page_object
from sanderling.storage.queries import CatalogRow, find_notice_pages, load_pages, load_skipped_urls, load_urls
from sanderling.storage.reports import FormReport, list_forms
from sanderling.urls.scope import is_wildcard_match

__all__ = [
    "SKIP_REASONS",
    "FormReport",
    "ListedPage",
    "PageSelection",
    "SkippedUrl",
    "select_forms",
    "select_pages",
    "select_skipped_urls",
]

SKIP_REASONS = frozenset({*Reason, *UrlState, *FinishReason, "waiting"} - {""})


class PageSelection(Struct, frozen=True):
    """Conditions that a stored page meets; all of them."""

    url: str | None = None  # patterns: * matches anything
    mime: str | None = None
    status: str = "2xx"  # 404, 4xx, or all
    since: float = 0.0  # last visit
    changed: bool = False
    duplicates: bool = False  # has the same body as another page
    near: bool = False  # near duplicate of a page fetched before
    notices: bool = False  # looks like a login or an outage

    def matches(self, row: CatalogRow) -> bool:
        """Return whether the catalog entry meets the conditions; `near` and `notices` are not in it."""
        return (
            _has_status(self.status, row.status)
            and _matches(self.url, row.url)
            and _matches(self.mime, row.mime)
            and row.last_visit >= self.since
            and bool(row.change_count or not self.changed)
            and bool(row.duplicate_of or not self.duplicates)
        )


class ListedPage(Struct, frozen=True):
    """A catalog entry, with what other tables know of the page."""

    row: CatalogRow
    near_duplicate_of: str
    near_similarity: float | None
    is_notice: bool

    def as_dict(self) -> dict[str, object]:
        """Return the entry with the keys of `sanderling pages --json`."""
        others = {"near_duplicate_of": self.near_duplicate_of, "near_similarity": self.near_similarity}
        return build_page_object(self.row) | others | {"notice": self.is_notice}


def select_forms(folder: Path, url: str | None = None) -> list[FormReport]:
    """Return the forms of a collection whose address matches a pattern."""
    with open_collection_read_only(folder) as collection:
        return [form for form in list_forms(collection.db) if _matches(url, form.action)]


class SkippedUrl(Struct, frozen=True):
    """A known URL that is not stored. A queued URL has the reason why the crawl ended."""

    url: str
    state: str
    reason: str
    note: str
    depth: int
    source: str
    via: str
    found_at: float


def select_pages(folder: Path, selection: PageSelection, *, with_notices: bool = False) -> Iterator[ListedPage]:
    """Yield stored pages. `with_notices`: look up whether a page looks like a notice."""
    with open_collection_read_only(folder) as collection:
        pairs = {pair.url: pair for pair in load_pairs(collection.db)}
        names = load_urls(collection.db, sorted({pair.duplicate_of for pair in pairs.values()}))
        notices = find_notice_pages(collection.db) if with_notices or selection.notices else set()
        for row in load_pages(collection.db):
            pair, is_notice = pairs.get(row.url_id), row.url_id in notices
            if selection.matches(row) and (pair or not selection.near) and (is_notice or not selection.notices):
                original = names.get(pair.duplicate_of, "") if pair else ""
                yield ListedPage(row, original, pair.similarity if pair else None, is_notice)


def select_skipped_urls(folder: Path, url: str | None = None, reason: str | None = None) -> Iterator[SkippedUrl]:
    """Yield URLs that are not stored, those that match a pattern and have this reason."""
    with open_collection_read_only(folder) as collection:
        finish_reason = CollectionMeta(collection.db).finish_reason
        for row in load_skipped_urls(collection.db):
            why = (row.reason or row.state) if row.state != UrlState.QUEUED else finish_reason or "waiting"
            if _matches(url, row.url) and reason in (None, why):
                yield SkippedUrl(row.url, row.state, why, row.detail, row.depth, row.source, row.referrer, row.found_at)


def _matches(pattern: str | None, text: str) -> bool:
    return pattern is None or is_wildcard_match(text, pattern)


def _has_status(expected: str, status: int) -> bool:
    if expected == "all":
        return True
    return str(status).startswith(expected[0]) if expected.endswith("xx") else str(status) == expected
