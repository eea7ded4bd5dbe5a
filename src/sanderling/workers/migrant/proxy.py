"""Fetch loop whose pages are fetched by a migrant: same interface as `FetchLoop`, far fewer bytes.

Pages are processed here, so the digest of a visit is always that of its body, and a wrong digest is detected.
"""

import time
from collections import deque
from collections.abc import Iterable

from sanderling.clock import Clock, system_clock
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.heartbeat import HeartbeatMeter
from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.response_processor import Fingerprinter, ResponseProcessor, build_unfetched_visit
from sanderling.fetch.template_filter import open_template_matcher
from sanderling.fetch.transport import FetchRequest, FetchResponse
from sanderling.models import FetchBatch, FetchTask, Heartbeat, Host, Outcome, Reason, RobotsTxt, Visit, WorkerReport
from sanderling.urls.normalize import get_host
from sanderling.workers.migrant.client import MigrantAddress, RequestFailure, SentRequest
from sanderling.workers.migrant.messages import (
    DIGEST_CHECK_BYTES,
    EndMessage,
    FilteredMessage,
    MigrantMessage,
    MissedMessage,
    PageMessage,
    RobotsMessage,
)
from sanderling.workers.migrant.requests import MigrantRequests, ReceivedPage, build_received_page
from sanderling.workers.migrant.spot_checks import SpotChecks
from sanderling.workers.migrant.validation import validate_filtered, validate_missed, validate_robots

MAX_PAGES_PER_TURN = 64


class RemoteFetchLoop:
    """Fetches batches through a migrant and reports visits like `FetchLoop`."""

    def __init__(
        self,
        settings: FetchSettings,
        fingerprinter: Fingerprinter,
        address: MigrantAddress,
        clock: Clock = system_clock,
        name: str = "",
    ) -> None:
        self._clock, self._address = clock, address
        self._processor = ResponseProcessor(settings, fingerprinter)
        self._heartbeat = HeartbeatMeter(name, clock)
        self._name = name
        self._takes_whole_sites = settings.takes_whole_sites
        self._requests = MigrantRequests(address, settings.user_agent, clock)
        self._ready_pages: deque[tuple[FetchTask, ReceivedPage]] = deque()
        self._visits: list[Visit] = []
        self._robots: list[RobotsTxt] = []
        self._load = 0
        self._template_matcher = open_template_matcher(settings.parking_folder)
        self._spot_checks = SpotChecks(address, settings, fingerprinter)

    @property
    def load(self) -> int:
        """Return the number of tasks without a visit."""
        return self._load

    def submit(self, batch: FetchBatch) -> None:
        self._load += len(batch.tasks)
        if self._template_matcher is not None:
            visits, batch = self._template_matcher.register_batch(batch, self._clock())
            self._visits += visits
        is_new_site = self._requests.add_site(batch.host)
        if batch.robots is not None and not batch.robots.is_reachable:
            self._return_unfetched(batch.tasks, Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE)
            return
        self._spot_checks.add_site(batch)
        if self._spot_checks.is_distrusted(batch.host):
            self._spot_checks.fetch_directly(batch.host, batch.tasks)
            return
        is_whole_site = (
            is_new_site
            and self._takes_whole_sites
            and batch.template_filter is None
            and all(task.depth == 0 and not task.digest for task in batch.tasks)
        )
        self._ready_pages += self._requests.request_batch(batch, is_whole_site)

    def run_for(self, timeout: float) -> WorkerReport:
        """Process received messages until the timeout, at most `MAX_PAGES_PER_TURN` pages."""
        deadline = time.monotonic() + timeout
        self._requests.send_due_retries()
        self._run_spot_checks()
        done = 0
        while done < MAX_PAGES_PER_TURN:
            while self._ready_pages and done < MAX_PAGES_PER_TURN:
                self._process_page(*self._ready_pages.popleft())
                done += 1
            received = self._requests.receive(0.0 if done or self._visits else max(0.0, deadline - time.monotonic()))
            if received is None:
                break
            self._handle_message(*received)
        robots, self._robots = self._robots, []
        return WorkerReport(self._name, tuple(self._take_visits()), tuple(robots))

    def _run_spot_checks(self) -> None:
        visits, confirmed, repeated = self._spot_checks.collect_results()
        self._visits += (
            visits if self._template_matcher is None else map(self._template_matcher.park_unless_matching, visits)
        )
        self._report_not_modified(confirmed)
        for host, task in repeated:
            self._requests.send_request(host, [task])

    def _report_not_modified(self, tasks: Iterable[FetchTask]) -> None:
        now = self._clock()
        self._visits += [
            Visit(task.id, task.token, task.url, Outcome.NOT_MODIFIED, now, status=304, etag=task.etag,
                  last_modified=task.last_modified, role=task.role) for task in tasks
        ]  # fmt: skip

    def _handle_message(self, sent: SentRequest, message: MigrantMessage | RequestFailure, received_bytes: int) -> None:
        match message:
            case PageMessage():
                self._handle_page(sent, message, received_bytes)
            case MissedMessage():
                task = self._pop_task(sent, message.target)
                if task is not None:
                    self._return_unfetched([task], *validate_missed(message))
            case FilteredMessage():
                self._handle_filtered(sent, message)
            case RobotsMessage():
                if message.robots.host == sent.request.site:
                    self._robots.append(validate_robots(message, self._clock()))
            case EndMessage():
                self._handle_end(sent)
            case RequestFailure():
                outcome = Outcome.FAILED if message.is_final else Outcome.RETRY
                self._fail_tasks(self._requests.handle_failure(sent, message), outcome, message)

    def _fail_tasks(self, tasks: Iterable[FetchTask], outcome: Outcome, failure: RequestFailure) -> None:
        """Report the tasks of a failed request and end their spot checks."""
        for task in tasks:
            self._spot_checks.clear_mismatch(task.id)
            self._return_unfetched([task], outcome, failure.reason, failure.detail)

    def _pop_task(self, sent: SentRequest, target: int | str) -> FetchTask | None:
        task = self._requests.pop_task(sent, target)
        if task is not None and isinstance(target, int):
            self._spot_checks.clear_mismatch(task.id)
        return task

    def _handle_page(self, sent: SentRequest, message: PageMessage, received_bytes: int) -> None:
        task, page = self._pop_task(sent, message.target), build_received_page(sent, message, received_bytes)
        if task is not None:
            self._ready_pages.append((task, page))
        else:
            self._requests.store_early_page(sent, page)

    def _handle_filtered(self, sent: SentRequest, message: FilteredMessage) -> None:
        task = self._pop_task(sent, message.target) if sent.request.template_filter is not None else None
        if task is not None and self._template_matcher is not None:
            self._template_matcher.drop_filter(task.id)
            self._visits.append(
                validate_filtered(message, task, self._clock(), f"not similar; kept by {self._address.url}")
            )
        elif task is not None:
            self._return_unfetched([task], Outcome.RETRY, Reason.BROKEN_RESPONSE, "the migrant did not return the page")

    def _handle_end(self, sent: SentRequest) -> None:
        """Report tasks without a message as unchanged after a spot check, or as failed if they have no digest."""
        host, claims = sent.request.site, list[FetchTask]()
        for task in sent.open_tasks.values():
            if not task.digest:
                self._return_unfetched(
                    [task], Outcome.RETRY, Reason.BROKEN_RESPONSE, "the migrant did not return the page"
                )
            elif visit := self._spot_checks.confirm_mismatch(host, task.id):
                self._visits.append(visit)
            else:
                claims.append(task)
        self._report_not_modified(self._spot_checks.hold_claims(host, claims))
        self._requests.complete_request(sent)

    def _process_page(self, task: FetchTask, received: ReceivedPage) -> None:
        """Process a page; a wrong digest is a failure."""
        page, url = received.message, task.request_url or task.url
        request = FetchRequest(url, parse_endpoint(get_host(task.url)), None)
        lines = page.head.splitlines(keepends=True)
        response = FetchResponse(
            request, lines, page.body, page.duration_ms / 1000, received_bytes=received.received_bytes
        )
        visit = self._processor.process(task, response, min(received.fetched_at, self._clock()))
        if visit.outcome is Outcome.FETCHED and visit.digest[:DIGEST_CHECK_BYTES] != page.digest:
            self._return_unfetched(
                [task],
                Outcome.FAILED,
                Reason.DIGEST_MISMATCH,
                f"{self._address.url} sent a page that does not match its digest",
            )
            return
        self._heartbeat.count_visit(visit)
        self._visits.append(
            visit if self._template_matcher is None else self._template_matcher.park_unless_matching(visit)
        )

    def cancel(self, drop_in_flight: bool = True, host: Host | None = None) -> list[Visit]:  # noqa: ARG002 - the migrant ends by itself
        """Return the visits of all open tasks. A single host is not canceled."""
        if host is not None:
            return []
        for task, page in self._ready_pages:
            self._process_page(task, page)
        self._ready_pages.clear()
        visits, unchecked = self._spot_checks.cancel()
        self._visits += (
            visits if self._template_matcher is None else map(self._template_matcher.park_unless_matching, visits)
        )
        self._return_unfetched([*self._requests.cancel(), *unchecked], Outcome.RETURNED)
        return self._take_visits()

    def build_heartbeat(self) -> Heartbeat:
        return self._heartbeat.build(self._load)

    def close(self) -> None:
        self._spot_checks.close()
        self._requests.close()

    def _return_unfetched(
        self, tasks: Iterable[FetchTask], outcome: Outcome, reason: Reason = Reason.NONE, detail: str = ""
    ) -> None:
        now = self._clock()
        self._visits += [build_unfetched_visit(task, outcome, reason, now, detail[:200]) for task in tasks]

    def _take_visits(self) -> list[Visit]:
        visits, self._visits = self._visits, []
        self._load -= len(visits)
        return visits
