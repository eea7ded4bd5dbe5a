"""Collect worker reports into batches, and commit each batch once it is on disk.

While the disk writes, the next batch grows.
"""

import time

from sanderling.clock import Clock
from sanderling.crawl.context import CrawlContext
from sanderling.crawl.pipeline import commit_batch, process_batch
from sanderling.frontier.lease_outcome import classify_host_signal
from sanderling.models import Host, WorkerReport
from sanderling.urls.normalize import get_host
from sanderling.warc.cdxj import CdxjEntry

BATCH_SECONDS = 0.08  # reports that arrive within this time share a transaction
BATCH_VISITS = 256
MAX_BATCH_VISITS = 512  # of a batch that grows while the last one is written
DISK_POLL_SECONDS = 0.01


class ResultBatcher:
    """Pending reports, and the batch being written."""

    def __init__(self, context: CrawlContext, clock: Clock) -> None:
        self.context = context
        self.clock = clock
        self.reports: list[WorkerReport] = []
        self.rate_limited_hosts: set[Host] = set()  # according to reports that are not stored yet
        self._first_report_at = 0.0
        self._uncommitted: list[CdxjEntry] | None = None  # index entries of the batch that is being written

    @property
    def visit_count(self) -> int:
        return sum(len(report.visits) for report in self.reports)

    def add(self, report: WorkerReport) -> set[Host]:
        """Add a report, and return its rate-limiting hosts."""
        if not self.reports:
            self._first_report_at = time.monotonic()
        self.reports.append(report)
        limited = {get_host(visit.url) for visit in report.visits if classify_host_signal(visit).is_rate_limited}
        self.rate_limited_hosts |= limited
        return limited

    def compute_wait_seconds(self) -> float | None:
        """Return the time until `is_due` may become true; None: nothing is pending."""
        if self._uncommitted is not None:
            return DISK_POLL_SECONDS
        return max(0.0, BATCH_SECONDS - (time.monotonic() - self._first_report_at)) if self.reports else None

    def is_due(self, pending_tasks: int) -> bool:
        """Whether to store pending reports now. Commits the last batch if it is on disk."""
        if self._uncommitted is not None and self.context.storage.archive.is_flush_done:
            self.commit()
        if not self.reports or (self._uncommitted is not None and self.visit_count < MAX_BATCH_VISITS):
            return False
        if self.visit_count >= min(BATCH_VISITS, pending_tasks):  # a large batch, or all outstanding tasks
            return True
        return time.monotonic() - self._first_report_at >= BATCH_SECONDS

    def store(self) -> bool:
        """Commit the last batch and process pending reports; False: nothing was pending."""
        if not self.reports:
            return False
        self.commit()
        self._uncommitted = process_batch(self.reports, self.context, self.clock())
        self.reports, self.rate_limited_hosts = [], set()
        return True

    def commit(self) -> None:
        """Wait until the last batch is on disk, and commit it."""
        if self._uncommitted is not None:
            entries, self._uncommitted = self._uncommitted, None
            commit_batch(entries, self.context)
