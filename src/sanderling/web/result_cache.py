"""Answers given lately: many ask the same, or turn a page back; one holds until the index or users say more."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from msgspec.structs import astuple, replace

from sanderling.search.search_types import Ask, Results

MOST = 1_000
LARGEST = 50  # results of an answer that is kept
KEPT_SECONDS = 60.0  # freshness of pages moves slowly


class Lately:
    """Remembers some answers of one state of the index."""

    def __init__(self) -> None:
        self.state: Hashable = None
        self.answers: OrderedDict[Hashable, Results] = OrderedDict()
        self.lock = threading.Lock()

    def answer(self, ask: Ask, state: Hashable, search: Callable[[Ask], Results]) -> Results:
        """Give the answer to the same question in the same state, or search for it."""
        key = astuple(replace(ask, now=ask.now // KEPT_SECONDS))
        with self.lock:
            if state != self.state:
                self.answers.clear()
                self.state = state
            known = self.answers.get(key)
            if known is not None:
                self.answers.move_to_end(key)
                return known
        found = search(ask)
        if ask.limit <= LARGEST:
            self._keep(key, state, found)
        return found

    def _keep(self, key: Hashable, state: Hashable, found: Results) -> None:
        with self.lock:
            if state == self.state:
                self.answers[key] = found
                while len(self.answers) > MOST:
                    self.answers.popitem(last=False)
