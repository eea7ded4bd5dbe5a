"""What came home and is not yet done: parcels become batches, and a batch is sealed once the disk has it.

Nobody waits for the disk: meanwhile the next batch grows, and work is handed out.
"""

import time

from sanderling.clock import Clock
from sanderling.crawl.context import House
from sanderling.crawl.pipeline import bring_home, seal
from sanderling.frontier.lease_outcome import conduct
from sanderling.models import Host, Parcel
from sanderling.urls.normalize import host_of
from sanderling.warc.cdxj import Entry

BATCH_SECONDS = 0.08  # parcels that come within this time are one transaction
BATCH_VISITS = 256
MOST_VISITS = 512  # of a batch that grows while the disk is behind with the last one
DISK_SECONDS = 0.01  # between two looks whether it still is


class Intake:
    """The parcels that wait, and the batch that the disk may not have yet."""

    def __init__(self, house: House, clock: Clock) -> None:
        self.house = house
        self.clock = clock
        self.parcels: list[Parcel] = []
        self.complaints: set[Host] = set()  # hosts that want rest, as only what waits says
        self._since = 0.0  # when the first of them came
        self._unsealed: list[Entry] | None = None  # what the index is to say of the batch that the disk may not have

    @property
    def visits(self) -> int:
        """Visits that wait."""
        return sum(len(parcel.visits) for parcel in self.parcels)

    def add(self, parcel: Parcel) -> set[Host]:
        """Take a parcel in; the hosts that complain in it."""
        if not self.parcels:
            self._since = time.monotonic()
        self.parcels.append(parcel)
        limited = {host_of(visit.url) for visit in parcel.visits if conduct(visit).limited}
        self.complaints |= limited
        return limited

    def patience(self) -> float | None:
        """For how long nothing needs to be done here; None while nothing waits."""
        if self._unsealed is not None:
            return DISK_SECONDS
        return max(0.0, BATCH_SECONDS - (time.monotonic() - self._since)) if self.parcels else None

    def is_due(self, outstanding: int) -> bool:
        """Is it time to store what waits? `outstanding` stops are in migrants' hands."""
        if self._unsealed is not None and self.house.archive.is_settled:
            self.seal()
        if not self.parcels or (self._unsealed is not None and self.visits < MOST_VISITS):
            return False
        if self.visits >= min(BATCH_VISITS, outstanding):  # half of what was sent is home, or all of it
            return True
        return time.monotonic() - self._since >= BATCH_SECONDS

    def store(self) -> bool:
        """Store what waits, and go on while the disk takes it; say whether there was anything."""
        if not self.parcels:
            return False
        self.seal()
        self._unsealed = bring_home(self.parcels, self.house, self.clock())
        self.parcels, self.complaints = [], set()
        return True

    def seal(self) -> None:
        """Wait until what was stored lasts."""
        if self._unsealed is not None:
            entries, self._unsealed = self._unsealed, None
            seal(entries, self.house)
