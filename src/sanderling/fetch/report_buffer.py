"""Collect visits and robots.txt files for the next worker report."""

from collections.abc import Iterable

from sanderling.clock import Clock
from sanderling.fetch.response_processor import build_unfetched_visit
from sanderling.models import FetchTask, Outcome, Reason, RobotsTxt, Visit, WorkerReport

MAX_REPORT_VISITS = 64
MIN_REPORT_VISITS = 8  # a smaller report waits for the remaining tasks


class ReportBuffer:
    def __init__(self, worker: str, clock: Clock) -> None:
        self._worker, self._clock = worker, clock
        self.visits: list[Visit] = []
        self.robots: list[RobotsTxt] = []
        self.suspect_token = 0  # of a suspect task to announce; 0: none
        self.load = 0

    @property
    def is_empty(self) -> bool:
        return not (self.visits or self.robots)

    @property
    def is_full(self) -> bool:
        """Return True if full or half of the tasks are done, so that the worker does not run dry."""
        return len(self.visits) >= min(MAX_REPORT_VISITS, self.load, max(MIN_REPORT_VISITS, self.load // 2))

    def add_unfetched(
        self,
        tasks: Iterable[FetchTask],
        outcome: Outcome,
        reason: Reason = Reason.NONE,
        detail: str = "",
        retry_after: float = 0.0,
    ) -> None:
        """Add visits of tasks that were not requested."""
        now = self._clock()
        self.visits += [build_unfetched_visit(task, outcome, reason, now, detail, retry_after) for task in tasks]

    def take_visits(self) -> list[Visit]:
        """Remove and return all visits; their tasks no longer count as load."""
        visits, self.visits = self.visits, []
        self.load -= len(visits)
        return visits

    def take(self) -> WorkerReport:
        """Remove everything and return it as a report."""
        robots, self.robots = self.robots, []
        suspect_token, self.suspect_token = self.suspect_token, 0
        return WorkerReport(self._worker, tuple(self.take_visits()), tuple(robots), suspect_token=suspect_token)
