"""Sets of migrants, one for each class of change frequency that was named and one for the rest (MIG-3).

Pages that change often are visited by migrants of their own: they never wait behind a long list of pages that hardly
change. A host belongs to the class of its most lively page that waits; one that is not known goes to anybody.
"""

from collections.abc import Mapping, Sequence

from sanderling.errors import UsageError
from sanderling.models import Host

HOUR, DAY = 3600.0, 86_400.0
# The longest planned interval of each class: half way, on a scale of doublings, to the next.
CLASSES = {
    "always": HOUR / 2,
    "hourly": 5 * HOUR,
    "daily": 2.6 * DAY,
    "weekly": 14.5 * DAY,
    "monthly": 105 * DAY,
    "yearly": 730 * DAY,
}
REST = "rest"


def class_of(interval: float) -> str:
    """The change-frequency class of a page that is to be visited once in so many seconds."""
    return next((name for name, longest in CLASSES.items() if interval <= longest), "never")


class Sets:
    """Who belongs to which set, and which host to which class."""

    def __init__(self, names: Sequence[str] = ()) -> None:
        for name in names:
            if name not in CLASSES:
                raise UsageError(f"no class of change frequency is called {name!r}; there are: {', '.join(CLASSES)}")
        self.names = (*(name for name in CLASSES if name in names), REST) if names else ()
        self.members: dict[str, str] = {}
        self.hosts: dict[Host, str] = {}

    def join(self, migrant: str) -> None:
        """A migrant belongs to the set that has fewest, the most lively first."""
        if self.names:
            held = [*self.members.values()]
            self.members[migrant] = min(self.names, key=held.count)

    def leave(self, migrant: str) -> None:
        """A migrant is gone."""
        self.members.pop(migrant, None)

    def tell(self, intervals: Mapping[Host, float]) -> None:
        """The shortest interval planned for a page of each host that waits."""
        self.hosts = {host: self._set_of(interval) for host, interval in intervals.items()}

    def _set_of(self, interval: float) -> str:
        """A class without a set of its own goes to the next slower one that has one, else to the rest."""
        order = [*CLASSES, "never"]
        place = order.index(class_of(interval))
        return next((name for name in self.names if name != REST and order.index(name) >= place), REST)

    def serves(self, migrant: str, host: Host) -> bool:
        """May this migrant go to that host?"""
        wanted = self.hosts.get(host)
        if wanted is None or wanted not in self.members.values():
            return True
        return self.members.get(migrant) == wanted
