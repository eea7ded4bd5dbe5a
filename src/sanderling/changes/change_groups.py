"""Group a change that several pages of a site share into a single event, such as a banner or a menu entry."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sanderling.changes.changed_text import ChangedText
from sanderling.changes.feed import ReportedChange
from sanderling.urls.scope import get_site

MIN_SHARED_PAGES = 3
TextKey = tuple[str, ...]
ItemKey = tuple[str, float]


class SharedText(Struct, frozen=True):
    """Text that the same change added or removed on several pages of a site."""

    texts: tuple[ChangedText, ...]
    urls: tuple[str, ...]
    item_keys: frozenset[ItemKey]


def build_text_key(text: ChangedText) -> TextKey:
    """Return a key that is equal for the same text at different places."""
    return (text.action, text.label, *(f"{piece.operation} {piece.text}" for piece in text.pieces))


def group_changes(items: Sequence[ReportedChange], min_pages: int = MIN_SHARED_PAGES) -> list[ReportedChange]:
    """Return the changes with a single event for each shared text, in the order of their newest change.

    A change remains alone with the texts that are its own; without any it is part of the event.
    """
    shared = find_shared_texts(items, min_pages)
    if not shared:
        return list(items)
    keys_by_item: dict[ItemKey, set[TextKey]] = defaultdict(set)
    for one in shared:
        for item_key in one.item_keys:
            keys_by_item[item_key] |= {build_text_key(text) for text in one.texts}
    result, first_items = [], {min(one.item_keys): one for one in shared}
    for item in items:
        key = (item.url, item.seen_at)
        own = tuple(text for text in item.texts if build_text_key(text) not in keys_by_item.get(key, ()))
        if key not in keys_by_item:
            result.append(item)
        elif any(text.action != "more" for text in own):
            result.append(replace(item, texts=own))
    by_key = {(item.url, item.seen_at): item for item in items}
    result += [_build_event(one, by_key) for one in first_items.values()]
    return sorted(result, key=lambda item: -item.seen_at)


def find_shared_texts(items: Iterable[ReportedChange], min_pages: int = MIN_SHARED_PAGES) -> list[SharedText]:
    """Return the texts shared by at least `min_pages` pages of a site; texts on the same pages together."""
    holders: dict[tuple[str, TextKey], dict[ItemKey, ChangedText]] = defaultdict(dict)
    for item in items:
        for text in item.texts:
            if text.action != "more":
                holders[get_site(item.url), build_text_key(text)].setdefault((item.url, item.seen_at), text)
    by_pages: dict[frozenset[ItemKey], list[ChangedText]] = defaultdict(list)
    for found in holders.values():
        if len({url for url, _ in found}) >= min_pages:
            by_pages[frozenset(found)].append(next(iter(found.values())))
    return [SharedText(tuple(texts), tuple(sorted({url for url, _ in keys})), keys) for keys, texts in by_pages.items()]


def _build_event(shared: SharedText, by_key: Mapping[ItemKey, ReportedChange]) -> ReportedChange:
    newest = max((by_key[key] for key in shared.item_keys), key=lambda item: (item.seen_at, item.url))
    return replace(newest, texts=shared.texts, shared_urls=shared.urls)
