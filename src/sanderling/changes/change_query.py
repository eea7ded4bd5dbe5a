"""Select changes by kind, significance, and URL pattern; also new, gone, moved, and returned pages."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import inf

from msgspec import Struct

from sanderling.changes.change_store import UNREADABLE_CHANGE, ChangeStore, StoredChange, load_changes
from sanderling.changes.changed_text import ChangedText
from sanderling.changes.classify import LIFECYCLE_KINDS, ChangeKind, PageChange, classify_diff
from sanderling.changes.feed import ReportedChange
from sanderling.changes.fingerprint_diff import diff_fingerprints
from sanderling.changes.render import extract_excerpt
from sanderling.changes.versions import list_versions, read_text_version
from sanderling.changes.word_report import ComparableVersion, build_diff_report
from sanderling.content.user_rules import NO_USER_RULES, UserRules
from sanderling.db.connection import Connection
from sanderling.errors import CollectionError
from sanderling.storage.collection import StoredCollection
from sanderling.storage.page_history import (
    PageLifecycleEvent,
    find_first_complete_time,
    find_gone_pages,
    find_moved_pages,
    find_new_pages,
    find_returned_pages,
)
from sanderling.storage.queries import load_originals, load_titles, load_urls
from sanderling.urls.scope import is_wildcard_match

FIND_PAGES = {
    ChangeKind.GONE: find_gone_pages,
    ChangeKind.MOVED: find_moved_pages,
    ChangeKind.RETURNED: find_returned_pages,
}
MAX_READ_CHANGES = 1_000  # newest changes whose text is read from the archive


class ChangeFilter(Struct, frozen=True):
    url_pattern: str = "*"
    kinds: tuple[str, ...] = ()  # empty: all but new, gone, moved, and returned
    min_significance: float = 0.0
    has_start: bool = False  # a start time was given
    include_noise: bool = False  # also insignificant changes
    include_texts: bool = False  # with the changed text
    is_message: bool = False  # for a feed or an alert: with text, copies of a page only once
    user_rules: UserRules = NO_USER_RULES


def find_lifecycle_changes(
    change_filter: ChangeFilter, collection: StoredCollection, since: float
) -> Iterator[ReportedChange]:
    """Yield the new, gone, moved, and returned pages if the filter asks for these kinds."""
    db = collection.db
    for kind in LIFECYCLE_KINDS if change_filter.min_significance <= 1 else ():
        if kind not in change_filter.kinds:
            continue
        events = _load_moves(change_filter, db, kind, since)
        urls = _match_urls(db, change_filter.url_pattern, {event.url_id for event in events})
        titles = load_titles(db, sorted(urls))
        change = PageChange(kinds=(kind,), significance=1.0, amount=1.0)
        for event in events:
            if event.url_id in urls:
                yield ReportedChange(
                    urls[event.url_id], event.detected_at, event.previous_state_at, change, titles.get(event.url_id, "")
                )


def _match_urls(db: Connection, pattern: str, url_ids: set[int]) -> dict[int, str]:
    return {id_: url for id_, url in load_urls(db, sorted(url_ids)).items() if is_wildcard_match(url, pattern)}


def _load_moves(
    change_filter: ChangeFilter, db: Connection, kind: ChangeKind, since: float
) -> list[PageLifecycleEvent]:
    if kind is ChangeKind.NEW:
        return find_new_pages(db, _get_new_page_start(change_filter, db, since))
    return FIND_PAGES[kind](db, since)


def _get_new_page_start(change_filter: ChangeFilter, db: Connection, since: float) -> float:
    """Return the time from which a page counts as new: not before the first complete crawl."""
    complete = find_first_complete_time(db)
    return since if change_filter.has_start and complete == inf else max(since, complete)


def summarize_lifecycle_changes(change_filter: ChangeFilter, collection: StoredCollection, since: float) -> str:
    """Return a hint with the numbers of new, gone, moved, and returned pages."""
    counts = {kind: len(_load_moves(change_filter, collection.db, kind, since)) for kind in LIFECYCLE_KINDS}
    return ", ".join(f"{count:,} {kind} (--kind {kind})" for kind, count in counts.items() if count)


class QueryRemarks(Struct, frozen=True):
    """Warnings collected while changes are selected."""

    watched_parts_found: list[bool] = []  # for each page: whether the watched part was found
    always_changing_urls: list[str] = []  # pages with a part that always changes
    unreadable_url_ids: list[int] = []  # pages with a version that is damaged in the archive


def find_changes(
    change_filter: ChangeFilter, collection: StoredCollection, since: float, remarks: QueryRemarks
) -> list[ReportedChange]:
    """Return the selected changes; adds to `remarks`."""
    found = list(_iterate_changes(change_filter, collection, since, remarks))
    return drop_duplicate_changes(collection.db, found) if change_filter.is_message else [item for _, item in found]


def describe_changes(collection: StoredCollection, stored_changes: Sequence[StoredChange]) -> list[ReportedChange]:
    """Return stored changes with the titles and the changed text of their pages."""
    url_ids = sorted({stored.url_id for stored in stored_changes})
    urls, titles = load_urls(collection.db, url_ids), load_titles(collection.db, url_ids)
    remarks = QueryRemarks([], [], [])
    return [
        ReportedChange(
            urls[stored.url_id],
            stored.seen_at,
            stored.previous_at,
            stored.change,
            titles.get(stored.url_id, ""),
            texts=()
            if stored.change.resources
            else _extract_texts(*_read_both_versions(collection, stored, NO_USER_RULES, remarks), stored.change),
        )
        for stored in stored_changes
        if stored.url_id in urls
    ]


def _iterate_changes(
    change_filter: ChangeFilter, collection: StoredCollection, since: float, remarks: QueryRemarks
) -> Iterator[tuple[int, ReportedChange]]:
    db, user_rules, change_store = collection.db, change_filter.user_rules, ChangeStore(collection.db)
    stored_changes = list(load_changes(db, since))
    urls = _match_urls(db, change_filter.url_pattern, {stored.url_id for stored in stored_changes})
    titles = load_titles(db, sorted(urls))
    read_count = 0
    for stored in stored_changes:
        if stored.url_id not in urls:
            continue
        is_current = user_rules == NO_USER_RULES and stored.change != UNREADABLE_CHANGE
        change = stored.change if is_current else _reclassify(collection, stored, user_rules, change_store, remarks)
        if change.suppressed_count and ChangeKind.CONTENT not in change.kinds:
            remarks.always_changing_urls.append(urls[stored.url_id])
        if (
            (change.is_significant or change_filter.include_noise)
            and change.significance >= change_filter.min_significance
            and (not change_filter.kinds or set(change_filter.kinds) & set(change.kinds))
        ):
            needs_texts = (
                (change_filter.include_texts or change_filter.is_message)
                and not stored.change.resources
                and read_count < MAX_READ_CHANGES
            )
            read_count += needs_texts
            versions = _read_both_versions(collection, stored, user_rules, remarks) if needs_texts else (None, None)
            texts = _extract_texts(*versions, None if change_filter.include_noise else change)
            yield (
                stored.url_id,
                ReportedChange(
                    urls[stored.url_id],
                    stored.seen_at,
                    stored.previous_at,
                    change,
                    titles.get(stored.url_id, ""),
                    texts=texts,
                ),
            )


def drop_duplicate_changes(db: Connection, changes: list[tuple[int, ReportedChange]]) -> list[ReportedChange]:
    """Keep equal changes of copies of a page once, of the original if it is among them."""
    originals = load_originals(db, sorted({id_ for id_, _ in changes}))
    copies = {item.url: originals[id_] for id_, item in changes if id_ in originals}
    counts, kept = Counter[tuple[object, ...]](), dict[tuple[object, ...], ReportedChange]()
    for _, item in changes:
        original, key = _resolve_original(item.url, copies), _build_duplicate_key(item)
        counts[item.url, key] += 1  # a page may change in the same way again
        group = (original, key, counts[item.url, key])
        if group not in kept or item.url == original:
            kept[group] = item
    return list(kept.values())


def _resolve_original(url: str, copies: dict[str, str]) -> str:
    """Follow a chain of copies to the original; in a cycle, the smallest URL."""
    chain = [url]
    while (url := copies.get(url, url)) not in chain:
        chain.append(url)
    return min(chain[chain.index(url) :])


def _build_duplicate_key(item: ReportedChange) -> tuple[object, ...]:
    """Return the parts of a change that readers see, without paragraph numbers."""
    paragraphs = tuple((paragraph.action, paragraph.size) for paragraph in item.change.paragraphs if paragraph.main)
    return item.change.kinds, item.change.significance, paragraphs


def _reclassify(
    collection: StoredCollection,
    stored_change: StoredChange,
    user_rules: UserRules,
    change_store: ChangeStore,
    remarks: QueryRemarks,
) -> PageChange:
    """Compare both versions again, with other user rules or because no fingerprints were stored."""
    if stored_change.change.resources:
        # A resource is not part of the page, so it cannot be watched.
        return PageChange() if user_rules.is_watch_only else stored_change.change
    old, new = _read_both_versions(collection, stored_change, user_rules, remarks)
    if old is None or new is None:
        return stored_change.change
    if user_rules.is_watch_only:
        remarks.watched_parts_found.append(old.fingerprint.main_content_size + new.fingerprint.main_content_size > 0)
    # Every change of a watched part is reported.
    noise = None if user_rules.is_watch_only else change_store.load_noise_model(stored_change.site)
    return classify_diff(diff_fingerprints(old.fingerprint, new.fingerprint), noise, stored_change.url_id)


def _extract_texts(
    old: ComparableVersion | None, new: ComparableVersion | None, change: PageChange | None
) -> tuple[ChangedText, ...]:
    """Return an excerpt of the changed paragraphs, or of all paragraphs without `change`."""
    if old is None or new is None:
        return ()
    report = build_diff_report(old, new)
    return extract_excerpt(report, report.change if change is None else change)


def _read_both_versions(
    collection: StoredCollection, stored_change: StoredChange, user_rules: UserRules, remarks: QueryRemarks
) -> tuple[ComparableVersion | None, ComparableVersion | None]:
    """Read the two last versions up to a change; (None, None) if one is missing or damaged."""
    versions = [
        version
        for version in list_versions(collection, stored_change.url_id)
        if version.fetched_at <= stored_change.seen_at
    ]
    if len(versions) < 2:
        return None, None
    try:
        old, new = (read_text_version(collection, version, user_rules) for version in versions[-2:])
    except CollectionError:
        remarks.unreadable_url_ids.append(stored_change.url_id)
        return None, None
    return old, new
