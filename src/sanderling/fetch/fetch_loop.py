"""Fetch loop of a worker: takes fetch batches, requests many hosts politely at once, returns worker reports.

    submit(batch) -> HostQueue per host -> transport -> ResponseProcessor -> run_for() returns a WorkerReport
A single thread without blocking calls.
"""

import os
import socket
import time
from collections import deque
from heapq import heappop, heappush

from msgspec import Struct, structs

from sanderling.clock import Clock, MonotonicClock, system_clock
from sanderling.fetch.address_guard import can_request_by_name, find_allowed_addresses
from sanderling.fetch.curl_client import CurlClient
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.heartbeat import HeartbeatMeter
from sanderling.fetch.host_queue import HostQueue, parse_endpoint
from sanderling.fetch.report_buffer import MAX_REPORT_VISITS, ReportBuffer
from sanderling.fetch.response import build_conditional_headers, is_cookie_redirect, is_precondition_failed
from sanderling.fetch.response_processor import Fingerprinter, ResponseProcessor
from sanderling.fetch.robots import (
    MAX_BODY_BYTES,
    RobotsRules,
    build_unreachable_robots,
    get_retry_delay,
    parse_robots_response,
    waive_robots_rules,
)
from sanderling.fetch.template_filter import open_template_matcher
from sanderling.fetch.transport import FetchRequest, FetchResponse, TransportFactory, build_post_request
from sanderling.fetch.usage_preferences import append_policy, find_denial, skip_denied_visit
from sanderling.http.request_signing import build_request_signer
from sanderling.models import FetchBatch, FetchTask, Heartbeat, Host, Outcome, Reason, Visit, WorkerReport
from sanderling.urls.normalize import get_host

RESPONSES_PER_TURN = 4  # processed before the next requests start, so that servers do not wait for parsing
REPORT_WAIT_SECONDS = 0.02  # wait for further visits: sending a report costs as much as half a page
MAX_IDLE_HOSTS = 4096  # idle hosts whose delay and robots.txt are kept
MAX_WAIT_SECONDS = 3600.0
MAX_HOST_FAILURES = 3  # consecutive failures after which the remaining tasks of a host are returned
HOST_FAILURE_REASONS = frozenset({Reason.DNS, Reason.CONNECT, Reason.TLS, Reason.TIMEOUT})


class PendingRequest(Struct, frozen=True):
    """The purpose of a request in flight."""

    host_queue: HostQueue
    started_at: float
    task: FetchTask | None = None  # None: robots.txt


class FetchLoop:
    """Fetches politely from many hosts at once and processes the responses."""

    def __init__(
        self,
        settings: FetchSettings,
        compute_fingerprints: Fingerprinter,
        clock: Clock = system_clock,
        name: str = "",
        packs_links: bool = False,
        open_transport: TransportFactory = CurlClient,
    ) -> None:
        self._settings, self._clock, self._monotonic = settings, clock, MonotonicClock(clock)
        self._name = name or f"{socket.gethostname()}-{os.getpid()}"
        self._agent = settings.agent_token
        self._transport = open_transport(settings)
        self._processor = ResponseProcessor(settings, compute_fingerprints, packs_links)
        self._heartbeat_meter = HeartbeatMeter(self._name, clock)
        self._report = ReportBuffer(self._name, clock)
        self._host_queues: dict[Host, HostQueue] = {}
        self._schedule: list[tuple[float, int, HostQueue]] = []  # heap of hosts with tasks, by ready time
        self._sequence = 0  # breaks ties of ready times: first in, first out
        self._responses: deque[FetchResponse] = deque()  # not processed yet
        self._cookie_retried: set[int] = set()  # tasks that were retried once with a new cookie
        self._template_matcher = open_template_matcher(settings.parking_folder)
        self._sign = build_request_signer(settings.signing_key, settings.signature_agent, clock, settings.bearer)
        self._announced_token = 0  # of the suspect task that was announced last
        self._is_isolated = False  # a suspect task is in flight, and nothing else

    @property
    def load(self) -> int:
        """Return the number of tasks without a report."""
        return self._report.load

    def submit(self, batch: FetchBatch) -> None:
        """Queue the tasks of a host. Forbidden tasks come back with the next report."""
        now = self._clock()
        self._report.load += len(batch.tasks)
        if self._template_matcher is not None:
            parked, batch = self._template_matcher.register_batch(batch, now)
            self._report.visits += parked
        name, settings = parse_endpoint(batch.host).hostname, self._settings
        addresses = find_allowed_addresses(name, batch.addresses, settings.allow_private, bool(settings.proxy))
        if addresses is None:
            detail = f"{batch.host} is not a public address"
            self._report.add_unfetched(batch.tasks, Outcome.SKIPPED, Reason.PRIVATE_ADDRESS, detail)
            return
        if batch.robots is not None and not batch.robots.is_reachable:
            self._report.add_unfetched(batch.tasks, Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE)
            return
        self._drop_idle_hosts(self._monotonic())
        queues = self._host_queues
        host_queue = queues.get(batch.host) or queues.setdefault(batch.host, HostQueue(batch.host))
        host_queue.extend(batch, addresses, self._agent, now)
        self._schedule_host(host_queue)

    def run_for(self, timeout: float) -> WorkerReport:
        """Fetch and process until a report is worth sending, at most `timeout` seconds."""
        deadline, done = time.monotonic() + timeout, False
        while True:
            next_start = self._start_due_requests()
            if self._report.suspect_token:
                return self._report.take()
            has_rejected = not (done or self._report.is_empty)  # reported without waiting for a response
            remaining = 0.0 if self._responses or has_rejected else max(0.0, deadline - time.monotonic())
            self._responses.extend(self._transport.wait(min(remaining, next_start)))
            was_isolated = self._is_isolated
            for _ in range(min(len(self._responses), MAX_REPORT_VISITS - len(self._report.visits), RESPONSES_PER_TURN)):
                self._handle_response(self._responses.popleft())
            if was_isolated and not self._is_isolated:
                return self._report.take()  # before another request starts: a later crash has another cause
            if not (done or self._report.is_empty):
                deadline, done = min(deadline, time.monotonic() + REPORT_WAIT_SECONDS), True
            if time.monotonic() >= deadline or (done and self._report.is_full):
                return self._report.take()

    def cancel(self, drop_in_flight: bool = True, host: Host | None = None) -> list[Visit]:
        """Return all queued tasks, or those of `host`, as visits; requests in flight are dropped or left to finish."""
        while self._responses:
            self._handle_response(self._responses.popleft())  # may requeue a task
        if drop_in_flight:
            for request in self._transport.cancel():
                self._cancel_request(request.user_data)
        for host_queue in [queue for queue in self._host_queues.values() if host in (None, queue.host)]:
            self._report.add_unfetched(host_queue.drain(), Outcome.RETURNED)
        return self._report.take_visits()

    def build_heartbeat(self) -> Heartbeat:
        """Return the current status of this worker."""
        return self._heartbeat_meter.build(self._report.load)

    def close(self) -> None:
        self._transport.close()

    def _drop_idle_hosts(self, now: float) -> None:
        if len(self._host_queues) <= MAX_IDLE_HOSTS:
            return
        for idle in [queue for queue in self._host_queues.values() if queue.is_idle and queue.ready_at <= now]:
            self._transport.drop_addresses(self._host_queues.pop(idle.host).endpoint)

    def _schedule_host(self, host_queue: HostQueue) -> None:
        if host_queue.is_ready and not host_queue.is_scheduled:
            host_queue.is_scheduled = True
            self._sequence += 1
            heappush(self._schedule, (host_queue.ready_at, self._sequence, host_queue))

    def _start_due_requests(self) -> float:
        """Return the seconds until the next request is due."""
        schedule, now = self._schedule, self._monotonic()
        while schedule and self._transport.has_capacity(len(self._responses)):
            due, _, host_queue = schedule[0]
            if due > now:
                return due - now
            if host_queue.ready_at <= now and host_queue.is_ready and self._should_wait(host_queue):
                return MAX_WAIT_SECONDS
            heappop(schedule)
            host_queue.is_scheduled = False
            if host_queue.ready_at <= now and host_queue.is_ready:
                self._start_request(host_queue, now)
            self._schedule_host(host_queue)
        return MAX_WAIT_SECONDS

    def _should_wait(self, host_queue: HostQueue) -> bool:
        """Return True while a suspect task must run alone or be announced first, so that a crash has a known cause."""
        task = host_queue.tasks[0]
        if self._is_isolated or host_queue.robots_rules is None or not task.is_suspect:
            return self._is_isolated
        if self._transport.is_busy or self._responses:
            return True
        if self._announced_token != task.token:
            self._announced_token = self._report.suspect_token = task.token
        return bool(self._report.suspect_token)

    def _start_request(self, host_queue: HostQueue, now: float) -> None:
        """Request robots.txt if it is unknown, else the next allowed task."""
        if host_queue.robots_rules is None:
            self._request_robots(host_queue, now)
            return
        while host_queue.tasks:
            task = host_queue.tasks.popleft()
            url = task.request_url or task.url
            if not url.startswith(host_queue.url_prefix) or not url.isascii():
                self._report.add_unfetched([task], Outcome.SKIPPED, Reason.BAD_URL, f"not a URL of {host_queue.host}")
            elif not self._is_allowed(host_queue.robots_rules, url):
                self._report.add_unfetched([task], Outcome.SKIPPED, Reason.ROBOTS)
            elif denial := find_denial(host_queue.usage_rules, url, self._settings.purpose):
                self._report.add_unfetched([task], Outcome.SKIPPED, Reason.USAGE, f"robots.txt: {denial}")
            else:
                host_queue.mark_started(now)
                self._is_isolated = task.is_suspect
                self._transport.start(self._build_request(host_queue, task, url, now))
                return

    def _build_request(self, host_queue: HostQueue, task: FetchTask, url: str, now: float) -> FetchRequest:
        pending = PendingRequest(host_queue, now, task)
        headers = build_conditional_headers(task.etag, task.last_modified)
        limits = self._settings.get_max_body(task.role), self._settings.timeout
        is_fresh = host_queue.should_use_fresh_connection(task)
        request = FetchRequest(url, host_queue.endpoint, pending, headers, *limits, uses_fresh_connection=is_fresh)
        request = structs.replace(request, headers=self._sign(host_queue.host))
        return build_post_request(request, self._settings.post_forms)

    def _is_allowed(self, rules: RobotsRules, url: str) -> bool:
        return rules.is_allowed(url)

    def _request_robots(self, host_queue: HostQueue, now: float) -> None:
        url = host_queue.robots_url
        endpoint = host_queue.endpoint if get_host(url) == host_queue.host else parse_endpoint(get_host(url))
        host_queue.is_fetching_robots = True
        host_queue.mark_started(now)
        limits = MAX_BODY_BYTES, self._settings.robots_timeout
        request = FetchRequest(url, endpoint, PendingRequest(host_queue, now), (), *limits, truncates_body=True)
        self._transport.start(structs.replace(request, headers=self._sign(endpoint.host)))

    def _handle_response(self, response: FetchResponse) -> None:
        pending: PendingRequest = response.request.user_data
        host_queue, task, settings = pending.host_queue, pending.task, self._settings
        host_queue.in_flight -= 1
        self._is_isolated = False
        host_queue.delay_after_slow_response(
            pending.started_at, response.duration_seconds, settings.latency_factor, settings.max_latency_delay
        )
        sent_at = self._monotonic() - (time.monotonic() - response.sent_at) if response.sent_at else pending.started_at
        host_queue.delay_after_request(sent_at)
        if task is None:
            self._process_robots(host_queue, response, sent_at)
        elif settings.cookies and task.id not in self._cookie_retried and is_cookie_redirect(response):
            self._cookie_retried.add(task.id)
            self._retry_now(host_queue, task)  # with the cookie, as a browser would
        elif is_precondition_failed(response):
            self._retry_now(host_queue, structs.replace(task, etag="", last_modified=""))
        else:
            self._cookie_retried.discard(task.id)
            self._process_task(host_queue, task, response)
        self._schedule_host(host_queue)

    def _retry_now(self, host_queue: HostQueue, task: FetchTask) -> None:
        if host_queue.is_drained:
            self._report.add_unfetched([task], Outcome.RETURNED)
        else:
            host_queue.tasks.appendleft(task)

    def _process_task(self, host_queue: HostQueue, task: FetchTask, response: FetchResponse) -> None:
        visit = skip_denied_visit(self._processor.process(task, response, self._clock()), response, self._settings)
        self._heartbeat_meter.count_visit(visit)
        matcher = self._template_matcher
        self._report.visits.append(visit if matcher is None else matcher.park_unless_matching(visit))
        host_queue.failures = host_queue.failures + 1 if visit.reason in HOST_FAILURE_REASONS else 0
        if visit.reason is Reason.RATE_LIMITED or host_queue.failures >= MAX_HOST_FAILURES:
            tasks, detail = host_queue.drain(), visit.detail
            self._report.add_unfetched(tasks, Outcome.RETURNED, visit.reason, detail, visit.retry_after)

    def _process_robots(self, host_queue: HostQueue, response: FetchResponse, started_at: float) -> None:
        now, host_queue.is_fetching_robots = self._clock(), False
        if host_queue.draft is None:
            parsed = parse_robots_response(host_queue.host, response, host_queue.robots_redirects, now)
            if isinstance(parsed, str) and self._can_follow(parsed):
                host_queue.robots_url, host_queue.robots_redirects = parsed, host_queue.robots_redirects + 1
                return
            robots = build_unreachable_robots(host_queue.host, now) if isinstance(parsed, str) else parsed
            if not host_queue.endpoint.setting_names.isdisjoint(self._settings.own_hosts):
                robots = waive_robots_rules(robots, self._agent)
        else:
            robots = append_policy(host_queue.draft, response.request.url, response)
        if host_queue.request_policies(robots, self._settings.purpose):
            return
        self._report.robots.append(robots)
        if robots.is_reachable:
            host_queue.set_robots(robots, self._agent)
            # The Crawl-delay counts from this request on.
            host_queue.ready_at = max(host_queue.ready_at, started_at + host_queue.crawl_delay)
        else:
            host_queue.reset_robots()
            detail, delay = response.detail or f"robots.txt: status {robots.status}", get_retry_delay(response, now)
            self._report.add_unfetched(host_queue.drain(), Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE, detail, delay)

    def _can_follow(self, url: str) -> bool:
        settings, name = self._settings, parse_endpoint(get_host(url)).hostname
        return not settings.proxy or settings.allow_private or can_request_by_name(name)

    def _cancel_request(self, pending: PendingRequest) -> None:
        pending.host_queue.in_flight -= 1
        self._is_isolated = pending.host_queue.is_fetching_robots = False
        if pending.task is not None:
            self._report.add_unfetched([pending.task], Outcome.RETURNED)
