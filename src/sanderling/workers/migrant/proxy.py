"""A trip whose pages are looked at by a host beside the web server: same orders, same parcels, far fewer bytes.

Letters go out as itineraries come in (correspondence.py). The host sends pages as their server gave them; they are
parsed, marked and packed here, exactly as if they had been fetched here. So a digest is always that of the body in the
parcel, and a host whose digests do not fit its pages is found out.
"""

import time
from collections import deque
from collections.abc import Iterable

from sanderling.clock import Clock, system_clock
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.heartbeat import HeartbeatMeter
from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.process import Fingerprinter, ResponseProcessor, build_unfetched_visit
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
    """Has the face of a `Trip`, but its eyes are at the host."""

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
        self._requests = MigrantRequests(address, settings.user_agent, clock)
        self._ready_pages: deque[tuple[FetchTask, ReceivedPage]] = deque()
        self._visits: list[Visit] = []
        self._robots: list[RobotsTxt] = []
        self._load = 0
        self._template_matcher = open_template_matcher(settings.parking_folder)
        self._spot_checks = SpotChecks(address, settings, fingerprinter)

    @property
    def load(self) -> int:
        """Stops in hand."""
        return self._load

    def submit(self, batch: FetchBatch) -> None:
        """Send for the stops of one site; a site we come to for the first time is asked for as a whole."""
        self._load += len(batch.tasks)
        if self._template_matcher is not None:
            known, batch = self._template_matcher.register_batch(batch, self._clock())
            self._visits += known
        first = self._requests.add_site(batch.host)
        if batch.robots is not None and not batch.robots.is_reachable:
            self._return_unfetched(batch.tasks, Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE)
            return
        self._spot_checks.add_site(batch)
        if self._spot_checks.is_distrusted(batch.host):
            self._spot_checks.fetch_directly(batch.host, batch.tasks)
            return
        whole = first and batch.template_filter is None and all(s.depth == 0 and not s.digest for s in batch.tasks)
        self._ready_pages += self._requests.request_batch(batch, whole)

    def run_for(self, timeout: float) -> WorkerReport:
        """Take what the host sent and look at it, for one batch of pages at most."""
        deadline = time.monotonic() + timeout
        self._requests.send_due_retries()
        self._run_spot_checks()
        done = 0
        while done < MAX_PAGES_PER_TURN:
            while self._ready_pages and done < MAX_PAGES_PER_TURN:
                self._process_page(*self._ready_pages.popleft())
                done += 1
            news = self._requests.receive(0.0 if done or self._visits else max(0.0, deadline - time.monotonic()))
            if news is None:
                break
            self._handle_message(*news)
        robots, self._robots = self._robots, []
        return WorkerReport(self._name, tuple(self._take_visits()), tuple(robots))

    def _run_spot_checks(self) -> None:
        visits, believed, again = self._spot_checks.collect_results()
        self._visits += (
            visits if self._template_matcher is None else map(self._template_matcher.park_unless_matching, visits)
        )
        self._report_not_modified(believed)
        for host, stop in again:
            self._requests.send_request(host, [stop])

    def _report_not_modified(self, tasks: Iterable[FetchTask]) -> None:
        now = self._clock()
        self._visits += [
            Visit(stop.id, stop.token, stop.url, Outcome.NOT_MODIFIED, now, status=304, etag=stop.etag,
                  last_modified=stop.last_modified, role=stop.role) for stop in tasks
        ]  # fmt: skip

    def _handle_message(self, sent: SentRequest, message: MigrantMessage | RequestFailure, received_bytes: int) -> None:
        match message:
            case PageMessage():
                self._handle_page(sent, message, received_bytes)
            case MissedMessage():
                stop = self._pop_task(sent, message.target)
                if stop is not None:
                    self._return_unfetched([stop], *validate_missed(message))
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
        """The host does not answer: nothing is believed of these, and nobody waits for its word on them."""
        for stop in tasks:
            self._spot_checks.clear_mismatch(stop.id)
            self._return_unfetched([stop], outcome, failure.reason, failure.detail)

    def _pop_task(self, sent: SentRequest, target: int | str) -> FetchTask | None:
        stop = self._requests.pop_task(sent, target)
        if stop is not None and isinstance(target, int):
            self._spot_checks.clear_mismatch(stop.id)
        return stop

    def _handle_page(self, sent: SentRequest, message: PageMessage, received_bytes: int) -> None:
        stop, brought = self._pop_task(sent, message.target), build_received_page(sent, message, received_bytes)
        if stop is not None:
            self._ready_pages.append((stop, brought))
        else:
            self._requests.store_early_page(sent, brought)

    def _handle_filtered(self, sent: SentRequest, message: FilteredMessage) -> None:
        """A page that the host does not send because it is not what our brief asks for; it has it when we want it."""
        stop = self._pop_task(sent, message.target) if sent.request.template_filter is not None else None
        if stop is not None and self._template_matcher is not None:
            self._template_matcher.drop_filter(stop.id)
            self._visits.append(validate_filtered(message, stop, self._clock(), f"{self._address.url} has it"))
        elif stop is not None:
            self._return_unfetched([stop], Outcome.RETRY, Reason.BROKEN_RESPONSE, "the host did not bring it")

    def _handle_end(self, sent: SentRequest) -> None:
        """What was not mentioned is as we know it."""
        host, claims = sent.request.site, list[FetchTask]()
        for stop in sent.open_tasks.values():
            if not stop.digest:
                self._return_unfetched([stop], Outcome.RETRY, Reason.BROKEN_RESPONSE, "the host did not bring it")
            elif lied := self._spot_checks.confirm_mismatch(host, stop.id):
                self._visits.append(lied)
            else:
                claims.append(stop)
        self._report_not_modified(self._spot_checks.hold_claims(host, claims))
        self._requests.complete_request(sent)

    def _process_page(self, task: FetchTask, received: ReceivedPage) -> None:
        """Look at a page as if we had fetched it; a digest that does not fit its body is a failure of the host."""
        page, url = received.message, task.request_url or task.url
        ask = FetchRequest(url, parse_endpoint(get_host(task.url)), None)
        lines = page.head.splitlines(keepends=True)
        reply = FetchResponse(ask, lines, page.body, page.duration_ms / 1000, received_bytes=received.received_bytes)
        visit = self._processor.process(task, reply, min(received.fetched_at, self._clock()))
        if visit.outcome is Outcome.FETCHED and visit.digest[:DIGEST_CHECK_BYTES] != page.digest:
            self._return_unfetched(
                [task], Outcome.FAILED, Reason.DIGEST_MISMATCH, f"{self._address.url} sent another page"
            )
            return
        self._heartbeat.count_visit(visit)
        self._visits.append(
            visit if self._template_matcher is None else self._template_matcher.park_unless_matching(visit)
        )

    def cancel(self, drop_in_flight: bool = True, host: Host | None = None) -> list[Visit]:  # noqa: ARG002 - the host ends by itself
        """Give back what has not come; what it still sends is dropped. One site alone goes at its owner's pace."""
        if host is not None:
            return []
        for stop, brought in self._ready_pages:
            self._process_page(stop, brought)
        self._ready_pages.clear()
        visits, stops = self._spot_checks.cancel()
        self._visits += (
            visits if self._template_matcher is None else map(self._template_matcher.park_unless_matching, visits)
        )
        self._return_unfetched([*self._requests.cancel(), *stops], Outcome.RETURNED)
        return self._take_visits()

    def build_heartbeat(self) -> Heartbeat:
        """Say how this migrant is."""
        return self._heartbeat.build(self._load)

    def close(self) -> None:
        """Leave the host."""
        self._spot_checks.close()
        self._requests.close()

    def _return_unfetched(
        self, tasks: Iterable[FetchTask], outcome: Outcome, reason: Reason = Reason.NONE, detail: str = ""
    ) -> None:
        now = self._clock()
        self._visits += [build_unfetched_visit(stop, outcome, reason, now, detail[:200]) for stop in tasks]

    def _take_visits(self) -> list[Visit]:
        visits, self._visits = self._visits, []
        self._load -= len(visits)
        return visits
