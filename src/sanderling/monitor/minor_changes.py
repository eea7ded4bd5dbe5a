"""Changes outside the main content: reported only if several pages of a watch share them, such as a notice.

Recommendations and other pools of links add a link on some pages and remove it from others; a menu entry comes on all
pages, or goes. Of changes that no other page shares, such as counters, nothing is known.
"""

from collections import Counter, defaultdict

from msgspec import Struct
from msgspec.structs import replace

from sanderling.changes.change_groups import MIN_SHARED_PAGES
from sanderling.changes.changed_text import ChangedText
from sanderling.changes.classify import LIFECYCLE_KINDS, ChangeKind, PageChange
from sanderling.changes.feed import ReportedChange
from sanderling.changes.word_diff import DiffOperation

WINDOW_SECONDS = 86_400.0  # in which pages are compared
SHARED_SHARE = 0.5  # of the pages of a watch that share such a change: links of a pool are on a few pages each
LATE_SECONDS = 600.0  # after a shared change, pages whose control fetch took longer share it too
MAX_HELD_TEXTS = 5_000
Reference = tuple[int, str, str]
"""Watch, label, and text of a paragraph, link or asset."""


class MinorChange(Struct, frozen=True):
    """A change of a page outside its main content."""

    watch_id: int
    url_id: int
    visit_id: int
    event: ReportedChange


def is_minor(change: PageChange) -> bool:
    """Return whether a change is outside the main content."""
    return bool(change.kinds) and not {ChangeKind.CONTENT, *LIFECYCLE_KINDS}.intersection(change.kinds)


class MinorChanges:
    """Minor changes that no other page shares yet."""

    def __init__(self) -> None:
        self._holders: dict[Reference, dict[str, list[MinorChange]]] = {}  # by reference and action
        self._shared_at: dict[tuple[str, Reference], float] = {}

    def add(self, found: MinorChange) -> None:
        """Hold a change until other pages share it."""
        for text in found.event.texts:
            for action, key in _list_references(found.watch_id, text):
                self._holders.setdefault(key, {}).setdefault(action, []).append(found)

    def take_shared(self, now: float) -> list[MinorChange]:
        """Return the changes that enough pages share, each with the shared texts only."""
        self._shared_at = {key: at for key, at in self._shared_at.items() if at >= now - LATE_SECONDS}
        sharing, shared_keys = self._count_sharing_pages(), dict[tuple[int, int], set[tuple[str, Reference]]]()
        shared: dict[tuple[int, int], MinorChange] = {}
        for key, by_action in list(self._holders.items()):
            least = max(MIN_SHARED_PAGES, SHARED_SHARE * sharing[key[0]])
            for action, found in by_action.items():
                is_late = (action, key) in self._shared_at
                if len(by_action) > 1 or (len({one.url_id for one in found}) < least and not is_late):
                    continue  # a link of a pool, or of few pages
                self._shared_at.setdefault((action, key), now)
                for one in found:
                    shared[one.watch_id, one.visit_id] = one
                    shared_keys.setdefault((one.watch_id, one.visit_id), set()).add((action, key))
                del self._holders[key]  # it may go again
        self._drop_old(now)
        return [_keep_texts(found, shared_keys[visit]) for visit, found in shared.items()]

    def _count_sharing_pages(self) -> Counter[int]:
        """Count the pages of each watch with a change that another page has too."""
        pages: dict[int, set[int]] = defaultdict(set)
        for key, by_action in self._holders.items():
            held = {one.url_id for found in by_action.values() for one in found}
            if len(held) > 1:
                pages[key[0]] |= held
        return Counter({watch_id: len(held) for watch_id, held in pages.items()})

    def _drop_old(self, now: float) -> None:
        for key, by_action in list(self._holders.items()):
            if max(one.event.seen_at for found in by_action.values() for one in found) < now - WINDOW_SECONDS:
                del self._holders[key]
        while len(self._holders) > MAX_HELD_TEXTS:
            self._holders.pop(next(iter(self._holders)))


def _keep_texts(found: MinorChange, keys: set[tuple[str, Reference]]) -> MinorChange:
    texts = tuple(text for text in found.event.texts if not keys.isdisjoint(_list_references(found.watch_id, text)))
    return replace(found, event=replace(found.event, texts=texts))


def _list_references(watch_id: int, text: ChangedText) -> list[tuple[str, Reference]]:
    """List what a text adds and removes; a changed paragraph adds its new text and removes the old."""
    if text.action not in ("added", "removed", "changed"):
        return []
    if text.action != "changed":
        return [(text.action, (watch_id, text.label, "".join(piece.text for piece in text.pieces)))]
    return [
        (action, (watch_id, text.label, "".join(piece.text for piece in text.pieces if piece.operation != left_out)))
        for action, left_out in (("added", DiffOperation.REMOVED), ("removed", DiffOperation.ADDED))
    ]
