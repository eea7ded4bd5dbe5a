"""Select changes by kind, significance and URL pattern; also pages that are new, gone or moved."""

from collections import Counter
from collections.abc import Iterator
from math import inf

from msgspec import Struct

from sanderling.changes.change_store import UNREADABLE, Ledger, Noted, entries
from sanderling.changes.classify import FATES, Change, Kind, judge
from sanderling.changes.diff import difference
from sanderling.changes.feed import Item
from sanderling.changes.render import excerpt
from sanderling.changes.versions import read_words, versions
from sanderling.changes.word_report import Version, compare
from sanderling.content.user_rules import EVERYTHING, Attention
from sanderling.db.connection import Connection
from sanderling.errors import CollectionError
from sanderling.storage.collection import Collection
from sanderling.storage.page_history import Move, came, first_complete, moved, went
from sanderling.storage.queries import originals_of, titles_of, urls_of
from sanderling.urls.scope import is_like


class ChangeFilter(Struct, frozen=True):
    """Conditions that a change must meet to be listed."""

    url: str = "*"
    kinds: tuple[str, ...] = ()  # all kinds of content changes if empty
    min_significance: float = 0.0
    has_start: bool = False  # a start time was given
    noise: bool = False  # also changes without significance
    words: bool = False  # with the words that changed
    is_message: bool = False  # for a feed or an alert: copies of a page are listed once, with title and words
    attention: Attention = EVERYTHING


def fates(wanted: ChangeFilter, collection: Collection, since: float) -> Iterator[Item]:
    """Pages that came, went or moved, where they are asked for."""
    db = collection.db
    for kind in [fate for fate in FATES if fate in wanted.kinds and wanted.min_significance <= 1]:
        moves = _moves(wanted, db, kind, since)
        names = _named(db, wanted.url, {move.url for move in moves})
        titles = titles_of(db, sorted(names))
        whole = Change(kinds=(kind,), significance=1.0, amount=1.0)
        for move in moves:
            if move.url in names:
                yield Item(names[move.url], move.at, move.previous_at, whole, titles.get(move.url, ""))


def _named(db: Connection, pattern: str, urls: set[int]) -> dict[int, str]:
    """Return the URLs with these ids that match the pattern."""
    return {id_: url for id_, url in urls_of(db, sorted(urls)).items() if is_like(url, pattern)}


def _moves(wanted: ChangeFilter, db: Connection, kind: Kind, since: float) -> list[Move]:
    """Pages of one fate since then."""
    if kind is Kind.NEW:
        return came(db, _news_since(wanted, db, since))
    return went(db, since) if kind is Kind.GONE else moved(db, since)


def _news_since(wanted: ChangeFilter, db: Connection, since: float) -> float:
    """From when on a page is new: what the first complete crawl found is not."""
    complete = first_complete(db)
    return since if wanted.has_start and complete == inf else max(since, complete)


def others(wanted: ChangeFilter, collection: Collection, since: float) -> str:
    """What else there is to ask for."""
    counts = {kind: len(_moves(wanted, collection.db, kind, since)) for kind in FATES}
    return ", ".join(f"{count:,} {kind} (--kind {kind})" for kind, count in counts.items() if count)


class Remarks(Struct, frozen=True):
    """What is to be said beside the changes."""

    seen: list[bool] = []  # page by page, whether what is watched was there
    hushed: list[str] = []  # pages with a part that never rests
    unread: list[int] = []  # pages of which a version is damaged in the archive


def chosen(wanted: ChangeFilter, collection: Collection, since: float, remarks: Remarks) -> list[Item]:
    """The changes asked for; what is to be said beside them is added to the remarks.

    A message and a feed tell of a page once, under however many addresses it is stored.
    """
    found = list(_chosen(wanted, collection, since, remarks))
    return once(collection.db, found) if wanted.is_message else [item for _, item in found]


def _chosen(wanted: ChangeFilter, collection: Collection, since: float, remarks: Remarks) -> Iterator[tuple[int, Item]]:
    db, attention, ledger = collection.db, wanted.attention, Ledger(collection.db)
    noted = list(entries(db, since))
    names = _named(db, wanted.url, {one.url for one in noted})
    titles = titles_of(db, sorted(names)) if wanted.is_message else {}
    for one in noted:
        if one.url not in names:
            continue
        is_known = attention == EVERYTHING and one.change != UNREADABLE
        change = one.change if is_known else _again(collection, one, attention, ledger, remarks)
        if change.restless and Kind.CONTENT not in change.kinds:
            remarks.hushed.append(names[one.url])
        if (
            (change.matters or wanted.noise)
            and change.significance >= wanted.min_significance
            and (not wanted.kinds or set(wanted.kinds) & set(change.kinds))
        ):
            is_worded = (wanted.words or wanted.is_message) and not one.change.resources
            both = _both(collection, one, attention, remarks) if is_worded else (None, None)
            words = _words(*both, None if wanted.noise else change)
            yield one.url, Item(names[one.url], one.at, one.previous_at, change, titles.get(one.url, ""), words=words)


def once(db: Connection, found: list[tuple[int, Item]]) -> list[Item]:
    """Tell the same of pages that are copies of one another once, of the original if it is among them."""
    originals = originals_of(db, sorted({id_ for id_, _ in found}))
    copies = {item.url: originals[id_] for id_, item in found if id_ in originals}
    times, kept = Counter[tuple[object, ...]](), dict[tuple[object, ...], Item]()
    for _, item in found:
        original, gist = _original(item.url, copies), _gist(item)
        times[item.url, gist] += 1  # a page may change in the same way again
        told = (original, gist, times[item.url, gist])
        if told not in kept or item.url == original:
            kept[told] = item
    return list(kept.values())


def _original(url: str, copies: dict[str, str]) -> str:
    """Find the page at the end of a row of copies; of some that name each other, the first by its letters."""
    row = [url]
    while (url := copies.get(url, url)) not in row:
        row.append(url)
    return min(row[row.index(url) :])


def _gist(item: Item) -> tuple[object, ...]:
    """What a reader is told of a change, but for numbers of paragraphs."""
    news = tuple((one.action, one.size) for one in item.change.paragraphs if one.main)
    return item.change.kinds, item.change.significance, news


def _again(collection: Collection, one: Noted, attention: Attention, ledger: Ledger, remarks: Remarks) -> Change:
    """Compare both versions once more, with other eyes, or word by word where no migrant made marks of them.

    What a page uses is no part of it that could be watched.
    """
    if one.change.resources:
        return Change() if attention.is_narrow else one.change
    old, new = _both(collection, one, attention, remarks)
    if old is None or new is None:
        return one.change
    if attention.is_narrow:
        remarks.seen.append(old.mark.weight + new.mark.weight > 0)
    noise = None if attention.is_narrow else ledger.noise(one.site)  # who watches a part wants to hear of it each time
    return judge(difference(old.mark, new.mark), noise, one.url)


def _words(old: Version | None, new: Version | None, told: Change | None) -> tuple[str, ...]:
    """The words of a change, a line for each paragraph that is told of, or of all; none where a version is missing."""
    if old is None or new is None:
        return ()
    report = compare(old, new)
    return excerpt(report, report.change if told is None else told)


def _both(
    collection: Collection, one: Noted, attention: Attention, remarks: Remarks
) -> tuple[Version | None, Version | None]:
    """Read both versions of a page that changed; one that is damaged keeps nobody from hearing of the others."""
    found = [stored for stored in versions(collection, one.url) if stored.at <= one.at]
    if len(found) < 2:
        return None, None
    try:
        old, new = (read_words(collection, stored, attention) for stored in found[-2:])
    except CollectionError:
        remarks.unread.append(one.url)
        return None, None
    return old, new
