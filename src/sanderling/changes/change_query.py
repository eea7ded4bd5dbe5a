"""Select changes by kind, significance and URL pattern; also pages that are new, gone or moved."""

from collections import Counter
from collections.abc import Iterator
from math import inf

from msgspec import Struct

from sanderling.changes.change_store import UNREADABLE_CHANGE, ChangeStore, StoredChange, load_changes
from sanderling.changes.classify import LIFECYCLE_KINDS, ChangeKind, PageChange, classify_diff
from sanderling.changes.feed import ReportedChange
from sanderling.changes.fingerprint_diff import diff_fingerprints
from sanderling.changes.render import extract_excerpt
from sanderling.changes.versions import list_versions, read_text_version
from sanderling.changes.word_report import ComparableVersion, build_diff_report
from sanderling.content.user_rules import NO_USER_RULES, UserRules
from sanderling.db.connection import Connection
from sanderling.errors import CollectionError
from sanderling.storage.collection import Collection
from sanderling.storage.page_history import (
    PageLifecycleEvent,
    find_first_complete_time,
    find_gone_pages,
    find_moved_pages,
    find_new_pages,
)
from sanderling.storage.queries import load_originals, load_titles, load_urls
from sanderling.urls.scope import is_wildcard_match


class ChangeFilter(Struct, frozen=True):
    """Conditions that a change must meet to be listed."""

    url_pattern: str = "*"
    kinds: tuple[str, ...] = ()  # all kinds of content changes if empty
    min_significance: float = 0.0
    has_start: bool = False  # a start time was given
    include_noise: bool = False  # also changes without significance
    include_words: bool = False  # with the words that changed
    is_message: bool = False  # for a feed or an alert: copies of a page are listed once, with title and words
    user_rules: UserRules = NO_USER_RULES


def find_lifecycle_changes(
    change_filter: ChangeFilter, collection: Collection, since: float
) -> Iterator[ReportedChange]:
    """Pages that came, went or moved, where they are asked for."""
    db = collection.db
    for kind in [
        fate for fate in LIFECYCLE_KINDS if fate in change_filter.kinds and change_filter.min_significance <= 1
    ]:
        moves = _load_moves(change_filter, db, kind, since)
        names = _match_urls(db, change_filter.url_pattern, {move.url_id for move in moves})
        titles = load_titles(db, sorted(names))
        whole = PageChange(kinds=(kind,), significance=1.0, amount=1.0)
        for move in moves:
            if move.url_id in names:
                yield ReportedChange(
                    names[move.url_id], move.detected_at, move.previous_state_at, whole, titles.get(move.url_id, "")
                )


def _match_urls(db: Connection, pattern: str, url_ids: set[int]) -> dict[int, str]:
    """Return the URLs with these ids that match the pattern."""
    return {id_: url for id_, url in load_urls(db, sorted(url_ids)).items() if is_wildcard_match(url, pattern)}


def _load_moves(
    change_filter: ChangeFilter, db: Connection, kind: ChangeKind, since: float
) -> list[PageLifecycleEvent]:
    """Pages of one fate since then."""
    if kind is ChangeKind.NEW:
        return find_new_pages(db, _get_new_page_start(change_filter, db, since))
    return find_gone_pages(db, since) if kind is ChangeKind.GONE else find_moved_pages(db, since)


def _get_new_page_start(change_filter: ChangeFilter, db: Connection, since: float) -> float:
    """From when on a page is new: what the first complete crawl found is not."""
    complete = find_first_complete_time(db)
    return since if change_filter.has_start and complete == inf else max(since, complete)


def summarize_lifecycle_changes(change_filter: ChangeFilter, collection: Collection, since: float) -> str:
    """What else there is to ask for."""
    counts = {kind: len(_load_moves(change_filter, collection.db, kind, since)) for kind in LIFECYCLE_KINDS}
    return ", ".join(f"{count:,} {kind} (--kind {kind})" for kind, count in counts.items() if count)


class QueryRemarks(Struct, frozen=True):
    """What is to be said beside the changes."""

    watched_parts_found: list[bool] = []  # page by page, whether what is watched was there
    always_changing_urls: list[str] = []  # pages with a part that never rests
    unreadable_url_ids: list[int] = []  # pages of which a version is damaged in the archive


def find_changes(
    change_filter: ChangeFilter, collection: Collection, since: float, remarks: QueryRemarks
) -> list[ReportedChange]:
    """The changes asked for; what is to be said beside them is added to the remarks.

    A message and a feed tell of a page once, under however many addresses it is stored.
    """
    found = list(_iterate_changes(change_filter, collection, since, remarks))
    return drop_duplicate_changes(collection.db, found) if change_filter.is_message else [item for _, item in found]


def _iterate_changes(
    change_filter: ChangeFilter, collection: Collection, since: float, remarks: QueryRemarks
) -> Iterator[tuple[int, ReportedChange]]:
    db, attention, ledger = collection.db, change_filter.user_rules, ChangeStore(collection.db)
    noted = list(load_changes(db, since))
    names = _match_urls(db, change_filter.url_pattern, {one.url_id for one in noted})
    titles = load_titles(db, sorted(names)) if change_filter.is_message else {}
    for one in noted:
        if one.url_id not in names:
            continue
        is_known = attention == NO_USER_RULES and one.change != UNREADABLE_CHANGE
        change = one.change if is_known else _reclassify(collection, one, attention, ledger, remarks)
        if change.suppressed_count and ChangeKind.CONTENT not in change.kinds:
            remarks.always_changing_urls.append(names[one.url_id])
        if (
            (change.is_significant or change_filter.include_noise)
            and change.significance >= change_filter.min_significance
            and (not change_filter.kinds or set(change_filter.kinds) & set(change.kinds))
        ):
            is_worded = (change_filter.include_words or change_filter.is_message) and not one.change.resources
            both = _read_both_versions(collection, one, attention, remarks) if is_worded else (None, None)
            words = _extract_words(*both, None if change_filter.include_noise else change)
            yield (
                one.url_id,
                ReportedChange(
                    names[one.url_id], one.seen_at, one.previous_at, change, titles.get(one.url_id, ""), words=words
                ),
            )


def drop_duplicate_changes(db: Connection, changes: list[tuple[int, ReportedChange]]) -> list[ReportedChange]:
    """Tell the same of pages that are copies of one another once, of the original if it is among them."""
    originals = load_originals(db, sorted({id_ for id_, _ in changes}))
    copies = {item.url: originals[id_] for id_, item in changes if id_ in originals}
    times, kept = Counter[tuple[object, ...]](), dict[tuple[object, ...], ReportedChange]()
    for _, item in changes:
        original, gist = _resolve_original(item.url, copies), _build_duplicate_key(item)
        times[item.url, gist] += 1  # a page may change in the same way again
        told = (original, gist, times[item.url, gist])
        if told not in kept or item.url == original:
            kept[told] = item
    return list(kept.values())


def _resolve_original(url: str, copies: dict[str, str]) -> str:
    """Find the page at the end of a row of copies; of some that name each other, the first by its letters."""
    row = [url]
    while (url := copies.get(url, url)) not in row:
        row.append(url)
    return min(row[row.index(url) :])


def _build_duplicate_key(item: ReportedChange) -> tuple[object, ...]:
    """What a reader is told of a change, but for numbers of paragraphs."""
    news = tuple((one.action, one.size) for one in item.change.paragraphs if one.main)
    return item.change.kinds, item.change.significance, news


def _reclassify(
    collection: Collection,
    stored_change: StoredChange,
    user_rules: UserRules,
    change_store: ChangeStore,
    remarks: QueryRemarks,
) -> PageChange:
    """Compare both versions once more, with other eyes, or word by word where no migrant made marks of them.

    What a page uses is no part of it that could be watched.
    """
    if stored_change.change.resources:
        return PageChange() if user_rules.is_watch_only else stored_change.change
    old, new = _read_both_versions(collection, stored_change, user_rules, remarks)
    if old is None or new is None:
        return stored_change.change
    if user_rules.is_watch_only:
        remarks.watched_parts_found.append(old.fingerprint.main_content_size + new.fingerprint.main_content_size > 0)
    noise = (
        None if user_rules.is_watch_only else change_store.load_noise_model(stored_change.site)
    )  # who watches a part wants to hear of it each time
    return classify_diff(diff_fingerprints(old.fingerprint, new.fingerprint), noise, stored_change.url_id)


def _extract_words(
    old: ComparableVersion | None, new: ComparableVersion | None, change: PageChange | None
) -> tuple[str, ...]:
    """The words of a change, a line for each paragraph that is told of, or of all; none where a version is missing."""
    if old is None or new is None:
        return ()
    report = build_diff_report(old, new)
    return extract_excerpt(report, report.change if change is None else change)


def _read_both_versions(
    collection: Collection, stored_change: StoredChange, user_rules: UserRules, remarks: QueryRemarks
) -> tuple[ComparableVersion | None, ComparableVersion | None]:
    """Read both versions of a page that changed; one that is damaged keeps nobody from hearing of the others."""
    found = [
        stored
        for stored in list_versions(collection, stored_change.url_id)
        if stored.fetched_at <= stored_change.seen_at
    ]
    if len(found) < 2:
        return None, None
    try:
        old, new = (read_text_version(collection, stored, user_rules) for stored in found[-2:])
    except CollectionError:
        remarks.unreadable_url_ids.append(stored_change.url_id)
        return None, None
    return old, new
