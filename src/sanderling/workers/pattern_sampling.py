"""Choose the pages of a URL pattern whose undated content is compared: comparing costs more than fetching.

The first pages of a pattern are not compared. Then the more compared pages in a row have new content, the more pages
are left out between two of them, until one repeats known content. Of n new pages, about 2 * sqrt(n) are compared.
"""

from collections import OrderedDict

from msgspec import Struct, field

from sanderling.urls.content_pattern import hash_content_pattern

FIRST_PAGES = 20  # of a pattern, not compared
NEW_PAGES_PER_STEP = 2  # compared pages in a row with new content that make the interval a page longer
MAX_SAMPLING_INTERVAL = 32  # pages; a site that starts to repeat itself is noticed so much later
MAX_PATTERNS = 20_000
MAX_CONTENTS = 2_000  # hashes of a pattern
MAX_TOTAL_CONTENTS = 100_000


class PatternState(Struct):
    page_count: int = 0
    next_page: int = FIRST_PAGES + 1  # to be compared
    new_count: int = 0  # compared pages in a row with new content
    contents: set[bytes] = field(default_factory=set)


class PatternSampler:
    """Counts the pages of each URL pattern that a worker has read."""

    def __init__(self) -> None:
        self._patterns: OrderedDict[int, PatternState] = OrderedDict()
        self._content_count = 0

    def count_page(self, url: str) -> PatternState | None:
        """Count a page, and return its pattern if its undated content is to be compared."""
        state = self._get_state(url)
        state.page_count += 1
        return state if state.page_count >= state.next_page else None

    def record(self, state: PatternState, content: bytes) -> None:
        """Record the hash of the undated content of the page that was counted last."""
        if content in state.contents:
            state.new_count, state.next_page = 0, state.page_count + 1
            return
        state.new_count += 1
        interval = min(1 + state.new_count // NEW_PAGES_PER_STEP, MAX_SAMPLING_INTERVAL)
        state.next_page = state.page_count + interval
        if len(state.contents) < MAX_CONTENTS:
            state.contents.add(content)
            self._content_count += 1
        while self._content_count > MAX_TOTAL_CONTENTS:
            self._drop_oldest()

    def _get_state(self, url: str) -> PatternState:
        pattern = hash_content_pattern(url)
        state = self._patterns.get(pattern)
        if state is None:
            state = self._patterns[pattern] = PatternState()
            if len(self._patterns) > MAX_PATTERNS:
                self._drop_oldest()
        self._patterns.move_to_end(pattern)
        return state

    def _drop_oldest(self) -> None:
        _, state = self._patterns.popitem(last=False)
        self._content_count -= len(state.contents)
