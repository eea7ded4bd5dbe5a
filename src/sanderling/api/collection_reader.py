"""Read a collection: pages, versions, changes, diffs, search results, and reports."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from sanderling.api.change import Change, Diff
from sanderling.api.operations.exporting import write_export
from sanderling.api.page import Page, PageVersion
from sanderling.api.searching.collection_search import search_collection
from sanderling.changes.change_query import ChangeFilter, QueryRemarks, find_changes, find_lifecycle_changes
from sanderling.changes.classify import ChangeKind, validate_kinds
from sanderling.changes.versions import list_versions, read_version
from sanderling.changes.word_report import build_diff_report
from sanderling.config.time_format import parse_time, parse_time_inclusive
from sanderling.content.user_rules import UserRules, validate_user_rules
from sanderling.errors import CollectionError, UsageError
from sanderling.export.export_rows import ExportQuery
from sanderling.export.field_history import FieldValue, load_field_definitions, load_field_history
from sanderling.monitor.page_fields import FieldDefinition, list_field_texts
from sanderling.storage.collection import StoredCollection, has_collection, open_collection_read_only, report_corruption
from sanderling.storage.link_graph import load_outgoing_links
from sanderling.storage.queries import (
    CatalogRow,
    SkippedRow,
    find_pages_fetched_after,
    load_pages,
    load_skipped_urls,
    load_urls,
    resolve_known_url,
)
from sanderling.storage.reports import get_last_visit_id
from sanderling.urls.scope import is_wildcard_match

if TYPE_CHECKING:  # the index is an optional part
    from sanderling.search.search_types import SearchResults

PAGES_PER_QUERY = 500
ALL_CHANGES = (*ChangeKind,)
Time = datetime | float | str  # a timestamp, "2026-11-15", or "7d" (ago)
T = TypeVar("T")


class CollectionReader:
    """Read access to a collection. Use it from one thread, or open one per thread."""

    def __init__(self, folder: str | Path = "collection") -> None:
        self.folder: Path = Path(folder)
        self._stored: StoredCollection | None = None

    def pages(self, pattern: str = "*", *, changed_since: Time | None = None, after: str = "") -> Iterator[Page]:
        """Yield the stored pages in order of discovery; redirects and missing pages are left out.

        `after`: continue behind this URL.
        """
        since = self._parse_time(changed_since) if changed_since is not None else None
        last_id = self.query_stored(lambda stored: resolve_known_url(stored, after)[0]) if after else 0
        while rows := self.query_stored(partial(_load_page_rows, after=last_id)):
            last_id = rows[-1].url_id
            for row in rows:
                if is_wildcard_match(row.url, pattern) and (since is None or row.last_change >= since):
                    yield Page(self, row)

    def page(self, url: str) -> Page:
        """Return a stored page. Raises UsageError if the URL is unknown."""
        return Page(self, self.query_stored(partial(_load_page_row, url=url)))

    def at(self, url: str, when: Time) -> Page:
        """Return a page as it was at a time."""
        row = self.query_stored(partial(_load_page_row, url=url))
        before = parse_time_inclusive(when, time.time()) if isinstance(when, str) else self._parse_time(when)
        page = Page(self, row, before)
        assert page.record is not None  # read now, to raise UsageError if there was no version yet
        return page

    def versions(self, url: str) -> list[PageVersion]:
        """Return all stored versions of a page, oldest first."""

        def load(stored: StoredCollection) -> list[PageVersion]:
            url_id, key = resolve_known_url(stored, url)
            return [PageVersion(self, key, archived) for archived in list_versions(stored, url_id)]

        return self.query_stored(load)

    def skipped(self) -> Iterator[SkippedRow]:
        """Yield the known URLs that are not stored: url, state (queued, skipped, failed, gone), reason, detail."""
        yield from self.query_stored(lambda stored: list(load_skipped_urls(stored.db)))

    def __iter__(self) -> Iterator[Page]:
        return self.pages()

    def __contains__(self, url: str) -> bool:
        try:
            self.page(url)
        except UsageError:
            return False
        return True

    def changes(
        self,
        *,
        since: Time = 0.0,
        kind: str | Sequence[str] = (),
        min_significance: float = 0.0,
        pattern: str = "*",
        include_noise: bool = False,
    ) -> list[Change]:
        """Return the changes, newest first: of content, links ..., and new, gone, moved, and returned pages."""
        kinds = (kind,) if isinstance(kind, str) else tuple(kind)
        validate_kinds(kinds)
        change_filter = ChangeFilter(
            url_pattern=pattern,
            kinds=kinds or ALL_CHANGES,
            min_significance=min_significance,
            has_start=bool(since),
            include_noise=include_noise,
        )
        if include_noise and not kinds:
            change_filter = ChangeFilter(url_pattern=pattern, has_start=bool(since), include_noise=True)
        start = self._parse_time(since)

        def load(stored: StoredCollection) -> list[Change]:
            found = [
                *find_lifecycle_changes(change_filter, stored, start),
                *find_changes(change_filter, stored, start, QueryRemarks([], [], [])),
            ]
            return [Change(self, item) for item in sorted(found, key=lambda item: -item.seen_at)]

        return self.query_stored(load)

    def diff(
        self, url: str, old: int | Time | None = None, new: int | Time | None = None, *, ignore: Sequence[str] = ()
    ) -> Diff:
        """Compare two versions of a page, by default the last two. `ignore`: CSS selectors of parts to leave out."""
        versions = self.versions(url)
        if old is None and new is None:
            if len(versions) < 2:
                raise UsageError(f"{url} has {len(versions)} stored version, two are needed for a diff")
            return self._diff(versions[-2], versions[-1], ignore)
        return self._diff(self._find_version(versions, url, old), self._find_version(versions, url, new), ignore)

    def _find_version(self, versions: list[PageVersion], url: str, requested: int | Time | None) -> PageVersion:
        if requested is None and versions:
            return versions[-1]
        if isinstance(requested, int) and 1 <= requested <= len(versions):
            return versions[requested - 1]
        if requested is None or isinstance(requested, int):
            if len(versions) < 2:
                raise UsageError(f"{url} has {len(versions)} stored version, two are needed for a diff")
            raise UsageError(f"{url} has no version {requested}; there are {len(versions)}")
        limit = self._parse_time(requested)
        known = [version for version in versions if version.fetched_at and version.fetched_at.timestamp() <= limit]
        if not known:
            raise UsageError(f"{url} has no version before {requested}")
        return known[-1]

    def _diff(self, old: PageVersion, new: PageVersion, ignore: Sequence[str] = ()) -> Diff:
        rules = validate_user_rules(UserRules(tuple(ignore)))

        def compare(stored: StoredCollection) -> Diff:
            before, after = (read_version(stored, version._archived, rules) for version in (old, new))
            return Diff(build_diff_report(before, after), old, new)

        return self.query_stored(compare)

    def _diff_until(self, url: str, seen_at: float) -> Diff:
        """Compare the last two versions up to a change."""
        versions = [v for v in self.versions(url) if v._archived.fetched_at <= seen_at]
        if len(versions) < 2:
            raise UsageError(f"{url} has {len(versions)} stored version at that time, two are needed for a diff")
        return self._diff(versions[-2], versions[-1])

    def search(self, query: str, *, limit: int = 10, offset: int = 0, update: bool = True) -> "SearchResults":
        """Search the stored pages; the index is brought up to date first. Needs the extra `search`."""
        if limit < 1 or offset < 0:
            raise UsageError("limit counts from 1, offset from 0")
        return search_collection(self.folder, query, offset=offset, limit=limit, update=update)

    def status(self) -> dict[str, object]:
        """Return size and state of the collection, with the keys of `sanderling status --json`."""
        from sanderling.api.reports.status_report import describe_collection

        return self.query_stored(describe_collection)

    def export(
        self,
        path: str | Path,
        format: str = "",
        *,
        what: Literal["pages", "versions", "links", "changes", "fields"] = "pages",
        text: Literal["", "text", "markdown"] = "",
        data: bool = False,
        fields: Mapping[str, str] | Sequence[str] = (),
        pattern: str = "*",
        since: Time = 0.0,
    ) -> int:
        """Write pages, versions, links, changes, or fields as JSON lines, CSV, or Parquet. Returns the number of rows.

        Without `format`, the suffix of the path decides. `text` and `data`: with the content of pages and versions.
        `fields` are added to those of the collection.
        """
        query = ExportQuery(what, text, data, pattern, self._parse_time(since))
        return self.query_stored(lambda c: write_export(c, query, str(path), format, list_field_texts(fields)))

    def query_stored(self, read: Callable[[StoredCollection], T]) -> T:
        """Read with an open connection, which is opened at the first use."""
        if self._stored is None:
            self._stored = open_collection_read_only(self.folder)
        with report_corruption(self.folder):
            return read(self._stored)

    @staticmethod
    def _parse_time(when: Time) -> float:
        if isinstance(when, datetime):
            return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
        return parse_time(when, time.time()) if isinstance(when, str) else float(when)

    def field_history(self, url: str, fields: Mapping[str, str] | Sequence[str] = ()) -> list[FieldValue]:
        """Return each value that the fields of a page had: `name`, `value`, `version`, and `fetched_at`.

        `fields` are added to those of the collection: `{"price:price": "css:.price"}`.
        """

        def load(stored: StoredCollection) -> list[FieldValue]:
            definitions = load_field_definitions(stored, list_field_texts(fields))
            url_id, key = resolve_known_url(stored, url)
            return list(load_field_history(stored, url_id, key, definitions))

        return self.query_stored(load)

    def _load_fields(self) -> tuple[FieldDefinition, ...]:
        return self.query_stored(load_field_definitions)

    def _load_links(self, url_id: int) -> list[str]:
        def load(stored: StoredCollection) -> list[str]:
            targets = load_outgoing_links(stored.db, url_id).target_ids
            urls = load_urls(stored.db, sorted(set(targets)))
            return list(dict.fromkeys(urls[target] for target in targets if target in urls))

        return self.query_stored(load)

    def _get_last_visit(self) -> int:
        return self.query_stored(lambda stored: get_last_visit_id(stored.db)) if has_collection(self.folder) else 0

    def _load_pages_after(self, visit_id: int) -> tuple[list[Page], int]:
        """Return the pages stored by visits after this one, and the last of these visits."""
        if not has_collection(self.folder):
            return [], visit_id
        try:
            rows, last = self.query_stored(
                lambda stored: find_pages_fetched_after(stored.db, visit_id, PAGES_PER_QUERY)
            )
        except CollectionError:  # a new collection whose tables are being created
            return [], visit_id
        return [Page(self, row) for row in rows], last


def _load_page_rows(stored: StoredCollection, after: int) -> list[CatalogRow]:
    where = "p.status BETWEEN 200 AND 299 AND p.url > ?"
    return list(load_pages(stored.db, where, (after,), limit=PAGES_PER_QUERY))


def _load_page_row(stored: StoredCollection, url: str) -> CatalogRow:
    url_id, key = resolve_known_url(stored, url)
    row = next(load_pages(stored.db, "p.url = ?", (url_id,)), None)
    if row is None:
        raise UsageError(f"{key} is known but not stored; collection.status() counts such URLs by reason")
    return row


def _check_open(stored: StoredCollection) -> None:
    """Raise no error: `query_stored` has raised CollectionError if there is no collection."""
