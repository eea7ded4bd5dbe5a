"""Choose the pages of a URL pattern whose undated content is compared: comparing costs more than fetching.

The first pages of a pattern are not compared. Then each is, until the last ones all had new content: from there on only
some are, until one of them repeats known content.
"""

from collections import OrderedDict

from msgspec import Struct, field

from sanderling.urls.content_pattern import hash_content_pattern

FIRST_PAGES = 20  # of a pattern, not compared
NEW_PAGES = 50  # in a row with new content, before pages are sampled
SAMPLING_INTERVAL = 8
MAX_PATTERNS = 20_000
MAX_CONTENTS = 2_000  # hashes of a pattern
MAX_TOTAL_CONTENTS = 100_000


class PatternState(Struct):
    page_count: int = 0
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
        if state.page_count <= FIRST_PAGES:
            return None
        is_compared = state.new_count < NEW_PAGES or state.page_count % SAMPLING_INTERVAL == 0
        return state if is_compared else None

    def record(self, state: PatternState, content: bytes) -> None:
        """Record the hash of the undated content of the page that was counted last."""
        if content in state.contents:
            state.new_count = 0
            return
        state.new_count += 1
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
