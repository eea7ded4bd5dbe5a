"""Sets of workers by change frequency (MIG), so that frequently changing pages never wait behind a long queue.

A host belongs to the class of its most frequently changing due page. Any worker may fetch an unknown host.
"""

from collections.abc import Mapping, Sequence

from sanderling.errors import UsageError
from sanderling.models import Host

HOUR, DAY = 3600.0, 86_400.0
# Longest planned interval of each class: the geometric mean with the next class.
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
    """Return the change-frequency class of a revisit interval in seconds."""
    return next((name for name, max_interval in MAX_INTERVAL_BY_CLASS.items() if interval <= max_interval), "never")


class ChangeRateSets:
    """Sets of workers and hosts."""

    def __init__(self, class_names: Sequence[str] = ()) -> None:
        for name in class_names:
            if name not in MAX_INTERVAL_BY_CLASS:
                raise UsageError(
                    f"unknown change frequency {name!r}; choose one of: {', '.join(MAX_INTERVAL_BY_CLASS)}"
                )
        self.set_names = (
            (*(name for name in MAX_INTERVAL_BY_CLASS if name in class_names), OTHER_SET) if class_names else ()
        )
        self.set_by_worker: dict[str, str] = {}
        self.set_by_host: dict[Host, str] = {}

    def add_worker(self, worker: str) -> None:
        """Add a worker to the smallest set, the most frequent first."""
        if self.set_names:
            assigned = [*self.set_by_worker.values()]
            self.set_by_worker[worker] = min(self.set_names, key=assigned.count)

    def remove_worker(self, worker: str) -> None:
        self.set_by_worker.pop(worker, None)

    def set_intervals(self, intervals: Mapping[Host, float]) -> None:
        """Set the shortest revisit interval of the due pages of each host."""
        self.set_by_host = {host: self._find_set(interval) for host, interval in intervals.items()}

    def _find_set(self, interval: float) -> str:
        """Return the set of a class, else of the next slower class, else of all other pages."""
        order = [*MAX_INTERVAL_BY_CLASS, "never"]
        index = order.index(classify_interval(interval))
        return next((name for name in self.set_names if name != OTHER_SET and order.index(name) >= index), OTHER_SET)

    def can_serve(self, worker: str, host: Host) -> bool:
        host_set = self.set_by_host.get(host)
        if host_set is None or host_set not in self.set_by_worker.values():
            return True
        return self.set_by_worker.get(worker) == host_set
