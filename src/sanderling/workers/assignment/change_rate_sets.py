"""Sets of migrants, one for each class of change frequency that was named and one for the rest (MIG-3).

Pages that change often are visited by migrants of their own: they never wait behind a long list of pages that hardly
change. A host belongs to the class of its most lively page that waits; one that is not known goes to anybody.
"""

from collections.abc import Mapping, Sequence

from sanderling.errors import UsageError
from sanderling.models import Host

HOUR, DAY = 3600.0, 86_400.0
# The longest planned interval of each class: half way, on a scale of doublings, to the next.
MAX_INTERVAL_BY_CLASS = {
    "always": HOUR / 2,
    "hourly": 5 * HOUR,
    "daily": 2.6 * DAY,
    "weekly": 14.5 * DAY,
    "monthly": 105 * DAY,
    "yearly": 730 * DAY,
}
OTHER_SET = "rest"


def classify_interval(interval: float) -> str:
    """The change-frequency class of a page that is to be visited once in so many seconds."""
    return next((name for name, longest in MAX_INTERVAL_BY_CLASS.items() if interval <= longest), "never")


class ChangeRateSets:
    """Who belongs to which set, and which host to which class."""

    def __init__(self, class_names: Sequence[str] = ()) -> None:
        for name in class_names:
            if name not in MAX_INTERVAL_BY_CLASS:
                raise UsageError(
                    f"no class of change frequency is called {name!r}; there are: {', '.join(MAX_INTERVAL_BY_CLASS)}"
                )
        self.set_names = (
            (*(name for name in MAX_INTERVAL_BY_CLASS if name in class_names), OTHER_SET) if class_names else ()
        )
        self.set_by_worker: dict[str, str] = {}
        self.set_by_host: dict[Host, str] = {}

    def add_worker(self, worker: str) -> None:
        """A migrant belongs to the set that has fewest, the most lively first."""
        if self.set_names:
            held = [*self.set_by_worker.values()]
            self.set_by_worker[worker] = min(self.set_names, key=held.count)

    def remove_worker(self, worker: str) -> None:
        """A migrant is gone."""
        self.set_by_worker.pop(worker, None)

    def set_intervals(self, intervals: Mapping[Host, float]) -> None:
        """The shortest interval planned for a page of each host that waits."""
        self.set_by_host = {host: self._find_set(interval) for host, interval in intervals.items()}

    def _find_set(self, interval: float) -> str:
        """A class without a set of its own goes to the next slower one that has one, else to the rest."""
        order = [*MAX_INTERVAL_BY_CLASS, "never"]
        place = order.index(classify_interval(interval))
        return next((name for name in self.set_names if name != OTHER_SET and order.index(name) >= place), OTHER_SET)

    def can_serve(self, worker: str, host: Host) -> bool:
        """May this migrant go to that host?"""
        wanted = self.set_by_host.get(host)
        if wanted is None or wanted not in self.set_by_worker.values():
            return True
        return self.set_by_worker.get(worker) == wanted
