"""Between uniform and the oracle: one who knows how the rates of all pages are spread, but not whose is which.

It finds out by visits, and counts exactly (Bayes) and chooses the best of all pages at every turn. On pages that change
independently of each other nobody who learns can be much better: what the oracle has beyond this is foresight.
"""

from typing import Any

from benchmarks.revisit.histories import DAY, Held, Trace
from benchmarks.revisit.trace_replay import Insider

from sanderling.revisit.model import change_rate


class Law(Insider):
    """Visits by exact beliefs, from the true spread of the rates."""

    def __init__(self, trace: Trace) -> None:
        count = len(trace.pages)
        super().__init__(count)
        tables = change_rate.get_unchanged_table(), change_rate.get_changed_table(), change_rate.get_value_table(0.0)
        self.quiet, self.changed, self.value = (self.np.array(_whole(table)) for table in tables)
        self.belief = self.np.tile(self._spread([page.rate for page in trace.pages]), (count, 1))

    def _spread(self, true: list[float]) -> Any:
        np = self.np
        logs = np.log(np.maximum(np.array(true), change_rate.MIN_RATE) / change_rate.MIN_RATE)
        places = np.round(logs / np.log(change_rate.RATES[1] / change_rate.RATES[0])).astype(int)
        counts = np.bincount(np.minimum(places, change_rate.RATE_COUNT - 1), minlength=change_rate.RATE_COUNT)
        return (counts + 1e-3) / (counts + 1e-3).sum()

    def turn(self, now: float, room: int, held: Held) -> int:
        np, ids = self.np, self.np.flatnonzero(self.here)
        slots = self._slots(now / DAY - self.last[ids])
        worth = np.einsum("nr,nr->n", self.belief[ids], self.value[slots])
        picked = np.argpartition(-worth, room - 1)[:room]
        found = np.array([held.look(number, now) for number in ids[picked].tolist()])
        chance = np.where(found[:, None], self.changed[slots[picked]], self.quiet[slots[picked]])
        told = self.belief[ids[picked]] * chance + 1e-300
        self.belief[ids[picked]] = told / told.sum(1, keepdims=True)
        self.last[ids[picked]] = now / DAY
        return room

    def _slots(self, days: Any) -> Any:
        np = self.np
        places = np.log(np.maximum(days, change_rate.MIN_DAYS) / change_rate.MIN_DAYS) * change_rate.SLOTS_PER_E + 0.5
        return np.minimum(places.astype(int), change_rate.SLOT_COUNT - 1)


def _whole(table: change_rate.RateTable) -> list[change_rate.RateVector]:
    """All rows, in the order of the lattice."""
    return [table[place] for place in range(change_rate.SLOT_COUNT)]
