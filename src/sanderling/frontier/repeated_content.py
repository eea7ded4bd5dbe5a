"""Stop fetching a URL pattern whose pages repeat content that is known already.

An endless calendar, session ids, or a random redirect make any number of pages that say the same. The share of pages
with new content among the last fetched pages of a pattern estimates the probability that the next page has new content
(Good and Turing). A pattern is *exhausted* if that share is at most one in fifty, and if its pages did not lead to new
pages of patterns with new content either.
"""

from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import chain
from random import Random

from msgspec import Struct, field, msgpack

from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import UrlRole
from sanderling.urls.content_pattern import find_content_pattern, hash_content_pattern

DEFAULT_REPEAT_LIMIT = 200  # last pages of a pattern that are considered
NEW_CONTENT_SHARE = 50  # one page in so many has new content: the pattern is continued
PROBE_DIVISOR = 4  # a new session fetches this part of the limit before it stops an exhausted pattern again
LEAF_FACTOR = 10  # pages without new links end by themselves: shells of a site that is built by scripts
MAX_CONTENTS = 20_000  # content hashes per pattern; random ones are replaced
MAX_TOTAL_CONTENTS = 2_000_000  # 8 MB
MAX_PATTERNS = 20_000  # the ones without a page for the longest time are dropped; about 10 MB
MAX_EXHAUSTED = 200_000
MAX_LED_PATTERNS = 8
MAX_LEADING_PAGES = 10_000  # whose links are kept
SAVE_INTERVAL = 50  # pages of a pattern between two writes of its state; at most so many are forgotten by a crash


class StoredHistory(Struct, frozen=True, array_like=True):
    """Stored form of a `PatternHistory` and its content hashes."""

    page_count: int
    new_content_bits: bytes
    lead_bits: bytes
    led_patterns: list[int]
    missing_count: int
    probe_left: int
    is_exhausted: bool
    contents: bytes


class PatternHistory(Struct):
    """What the last pages of a URL pattern contained. Bits: the lowest belongs to the last page."""

    page_count: int = 0
    new_content_bits: int = 0
    lead_bits: int = 0  # pages with known content that led to new URLs of another pattern
    led_patterns: list[int] = field(default_factory=list)  # the last ones
    missing_count: int = 0  # URLs since the last page that were no page: missing, failed, redirected, forbidden
    probe_left: int = 0  # pages that a new session still fetches
    is_exhausted: bool = False
    saved_count: int = 0  # pages when it was stored


class RepeatedContent:
    """Histories of the URL patterns of a crawl. `repeat_limit` 0: nothing is ever exhausted."""

    def __init__(self, repeat_limit: int = DEFAULT_REPEAT_LIMIT) -> None:
        self.repeat_limit = repeat_limit
        self.exhausted: dict[int, None] = {}  # patterns, oldest first
        self._histories: OrderedDict[int, PatternHistory] = OrderedDict()
        self._contents: dict[int, array[int]] = {}  # sorted hashes of four bytes
        self._content_count = 0
        self._entries: list[Sequence[FrontierEntry]] = []  # new URLs of the batch that are not in `_leads` yet
        self._leads: dict[int, list[str]] = {}  # new URLs by the id of the page that links to them
        self._changed: set[int] = set()
        self._dropped: set[int] = set()
        self._random = Random(0)

    @property
    def pattern_count(self) -> int:
        return len(self._histories)

    @property
    def mask(self) -> int:
        return (1 << self.repeat_limit) - 1

    @property
    def max_new(self) -> int:
        """Pages with new content among the last ones of an exhausted pattern."""
        return self.repeat_limit // NEW_CONTENT_SHARE

    def describe_rejection(self, url: str) -> str:
        """Return why a URL of an exhausted pattern is rejected; empty: its pattern is not exhausted."""
        if not self.exhausted or hash_content_pattern(url) not in self.exhausted:
            return ""
        return self.describe_pattern(url)

    def describe_pattern(self, url: str) -> str:
        return f"the last {self.repeat_limit} pages of {find_content_pattern(url)} had no new content"

    def record_leads(self, entries: Sequence[FrontierEntry]) -> None:
        """Note new URLs of the current batch: a page that leads to some is useful even if its content is known."""
        if len(self._entries) >= MAX_LEADING_PAGES:  # an import ends no batch
            self.end_batch()
        if self.repeat_limit and entries:
            self._entries.append(entries)

    def _pop_leads(self, page_id: int) -> list[str]:
        """Return the new pages to which a page leads. Entries are read only if a page has known content."""
        for entry in chain.from_iterable(self._entries):
            candidate = entry.candidate
            if not entry.reason and candidate.role is UrlRole.PAGE and candidate.referrer_id:
                self._leads.setdefault(candidate.referrer_id, []).append(candidate.url)
        self._entries.clear()
        return self._leads.pop(page_id, [])

    def record_page(self, page_id: int, url: str, content: bytes, *, is_known: bool = False) -> bool:
        """Record the content of a page. Returns True if its pattern is exhausted by it.

        `is_known`: an earlier version was fetched; it counts only if the content is new.
        """
        if not self.repeat_limit:
            return False
        pattern = hash_content_pattern(url)
        history = self._get_history(pattern)
        is_new = self._add_content(pattern, content)
        leads = [] if is_new else self._pop_leads(page_id)
        led = {hash_content_pattern(lead) for lead in leads} - {pattern}
        if is_known and not is_new:
            return False
        history.page_count += 1
        history.missing_count = 0
        history.probe_left = max(0, history.probe_left - 1)
        history.new_content_bits = (history.new_content_bits << 1 | is_new) & self.mask
        history.lead_bits = (history.lead_bits << 1 | bool(led)) & self.mask
        if led:
            history.led_patterns = [*dict.fromkeys([*led, *history.led_patterns])][:MAX_LED_PATTERNS]
        was_exhausted, history.is_exhausted = history.is_exhausted, self._is_exhausted(pattern, history, bool(leads))
        if history.is_exhausted != was_exhausted:
            self._update_exhausted(pattern, history.is_exhausted)
            self._changed.add(pattern)
        if history.page_count >= history.saved_count + SAVE_INTERVAL + history.saved_count // 10:
            self._changed.add(pattern)
        self._evict(pattern)
        return history.is_exhausted and not was_exhausted

    def record_missing(self, url: str) -> None:
        """Record that a new URL was no page."""
        if self.repeat_limit:
            self._get_history(hash_content_pattern(url)).missing_count += 1

    def record_uncompared(self, url: str) -> None:
        """Record that a URL was a page whose content is not compared."""
        if self.repeat_limit and (history := self._histories.get(hash_content_pattern(url))):
            history.missing_count = 0

    def end_batch(self) -> None:
        self._entries.clear()
        self._leads.clear()

    def start_session(self) -> None:
        """Let exhausted patterns be tried again, with fewer pages: the site may have been down or may have changed."""
        for pattern in self.exhausted:
            if pattern in self._histories:
                self._histories[pattern].is_exhausted = False
                self._histories[pattern].probe_left = max(1, self.repeat_limit // PROBE_DIVISOR)
                self._changed.add(pattern)
            else:
                self._dropped.add(pattern)
        self.exhausted.clear()

    def pack_changes(self) -> tuple[list[tuple[int, bytes]], list[int]]:
        """Return the histories to store and the patterns to delete since the last call."""
        changed = [(pattern, self._pack(pattern)) for pattern in sorted(self._changed) if pattern in self._histories]
        dropped = sorted(self._dropped - self._histories.keys())
        self._changed.clear()
        self._dropped.clear()
        return changed, dropped

    def pack_all(self) -> tuple[list[tuple[int, bytes]], list[int]]:
        """Return all histories that a restart must know, and the patterns to delete."""
        self._changed.update(
            pattern
            for pattern, history in self._histories.items()
            if history.page_count + history.missing_count >= SAVE_INTERVAL and history.page_count > history.saved_count
        )
        return self.pack_changes()

    def load(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Restore histories stored as (pattern, state)."""
        for pattern, state in rows:
            stored = msgpack.decode(state, type=StoredHistory)
            self._histories[pattern] = PatternHistory(
                stored.page_count,
                int.from_bytes(stored.new_content_bits) & self.mask,
                int.from_bytes(stored.lead_bits) & self.mask,
                stored.led_patterns,
                stored.missing_count,
                stored.probe_left,
                stored.is_exhausted and 0 < self.repeat_limit <= stored.page_count,
                stored.page_count,
            )
            self._contents[pattern] = array("I", stored.contents)
            self._content_count += len(self._contents[pattern])
            self._update_exhausted(pattern, self._histories[pattern].is_exhausted)
            self._evict(pattern)

    def _pack(self, pattern: int) -> bytes:
        history = self._histories[pattern]
        history.saved_count = history.page_count
        size = self.repeat_limit // 8 + 1
        return msgpack.encode(
            StoredHistory(
                history.page_count,
                history.new_content_bits.to_bytes(size),
                history.lead_bits.to_bytes(size),
                history.led_patterns,
                history.missing_count,
                history.probe_left,
                history.is_exhausted,
                self._contents[pattern].tobytes(),
            )
        )

    def _get_history(self, pattern: int) -> PatternHistory:
        history = self._histories.get(pattern)
        if history is None:
            history = self._histories[pattern] = PatternHistory()
            self._contents[pattern] = array("I")
        self._histories.move_to_end(pattern)
        return history

    def _add_content(self, pattern: int, content: bytes) -> bool:
        """Add a content hash; return False if it is known."""
        value, contents = int.from_bytes(content[:4]), self._contents[pattern]
        place = bisect_left(contents, value)
        if place < len(contents) and contents[place] == value:
            return False
        contents.insert(place, value)
        self._content_count += 1
        if len(contents) > MAX_CONTENTS:
            del contents[self._random.randrange(len(contents))]
            self._content_count -= 1
        return True

    def _is_exhausted(self, pattern: int, history: PatternHistory, has_leads: bool) -> bool:
        if history.probe_left or not self._is_repeating(history):
            return False
        if not (has_leads or history.is_exhausted or history.page_count >= LEAF_FACTOR * self.repeat_limit):
            return False
        return history.lead_bits.bit_count() <= self.max_new or not self._leads_to_new_content(pattern)

    def _is_repeating(self, history: PatternHistory) -> bool:
        is_full = history.page_count >= self.repeat_limit
        return is_full and history.new_content_bits.bit_count() <= self.max_new

    def _leads_to_new_content(self, start: int) -> bool:
        """Return whether the pages of a pattern led, over others of this kind, to a pattern with new content.

        A pattern of which little is known counts as one.
        """
        reached, open_patterns = {start}, [start]
        while open_patterns:
            for pattern in self._histories[open_patterns.pop()].led_patterns:
                if pattern in reached or pattern in self.exhausted:
                    continue
                history = self._histories.get(pattern)
                is_empty = history is not None and history.missing_count >= self.repeat_limit
                if history is None or not (is_empty or self._is_repeating(history)):
                    return True
                reached.add(pattern)
                open_patterns.append(pattern)
        return False

    def _update_exhausted(self, pattern: int, is_exhausted: bool) -> None:
        if is_exhausted:
            self.exhausted[pattern] = None
            if len(self.exhausted) > MAX_EXHAUSTED:
                del self.exhausted[next(iter(self.exhausted))]
        else:
            self.exhausted.pop(pattern, None)

    def _evict(self, current: int) -> None:
        while len(self._histories) > MAX_PATTERNS or self._content_count > MAX_TOTAL_CONTENTS:
            pattern = next(iter(self._histories))
            if pattern == current:
                return
            self._content_count -= len(self._contents.pop(pattern))
            if not self._histories.pop(pattern).is_exhausted:
                self._dropped.add(pattern)
