"""What came home and is not yet done: parcels become batches, and a batch is sealed once the disk has it.

Nobody waits for the disk: meanwhile the next batch grows, and work is handed out.
"""

import time

from sanderling.clock import Clock
from sanderling.crawl.context import CrawlContext
from sanderling.crawl.pipeline import commit_batch, process_batch
from sanderling.frontier.lease_outcome import classify_host_signal
from sanderling.models import Host, WorkerReport
from sanderling.urls.normalize import get_host
from sanderling.warc.cdxj import CdxjEntry

BATCH_SECONDS = 0.08  # parcels that come within this time are one transaction
BATCH_VISITS = 256
MAX_BATCH_VISITS = 512  # of a batch that grows while the disk is behind with the last one
DISK_POLL_SECONDS = 0.01  # between two looks whether it still is


class ResultBatcher:
    """The parcels that wait, and the batch that the disk may not have yet."""

    def __init__(self, context: CrawlContext, clock: Clock) -> None:
        self.context = context
        self.clock = clock
        self.reports: list[WorkerReport] = []
        self.rate_limited_hosts: set[Host] = set()  # hosts that want rest, as only what waits says
        self._first_report_at = 0.0  # when the first of them came
        self._uncommitted: list[CdxjEntry] | None = (
            None  # what the index is to say of the batch that the disk may not have
        )

    @property
    def visit_count(self) -> int:
        """Visits that wait."""
        return sum(len(parcel.visits) for parcel in self.reports)

    def add(self, report: WorkerReport) -> set[Host]:
        """Take a parcel in; the hosts that complain in it."""
        if not self.reports:
            self._first_report_at = time.monotonic()
        self.reports.append(report)
        limited = {get_host(visit.url) for visit in report.visits if classify_host_signal(visit).is_rate_limited}
        self.rate_limited_hosts |= limited
        return limited

    def compute_wait_seconds(self) -> float | None:
        """For how long nothing needs to be done here; None while nothing waits."""
        if self._uncommitted is not None:
            return DISK_POLL_SECONDS
        return max(0.0, BATCH_SECONDS - (time.monotonic() - self._first_report_at)) if self.reports else None

    def is_due(self, pending_tasks: int) -> bool:
        """Is it time to store what waits? `outstanding` stops are in migrants' hands."""
        if self._uncommitted is not None and self.context.archive.is_flush_done:
            self.commit()
        if not self.reports or (self._uncommitted is not None and self.visit_count < MAX_BATCH_VISITS):
            return False
        if self.visit_count >= min(BATCH_VISITS, pending_tasks):  # half of what was sent is home, or all of it
            return True
        return time.monotonic() - self._first_report_at >= BATCH_SECONDS

    def store(self) -> bool:
        """Store what waits, and go on while the disk takes it; say whether there was anything."""
        if not self.reports:
            return False
        self.commit()
        self._uncommitted = process_batch(self.reports, self.context, self.clock())
        self.reports, self.rate_limited_hosts = [], set()
        return True

    def commit(self) -> None:
        """Wait until what was stored lasts."""
        if self._uncommitted is not None:
            entries, self._uncommitted = self._uncommitted, None
            commit_batch(entries, self.context)
