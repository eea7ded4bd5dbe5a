"""One migrant's trip: itineraries of many hosts come in, parcels go out; one plain loop, no waiting for a slow host."""

import os
import socket
import time
from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush

from msgspec import Struct, structs

from sanderling.clock import Clock, MonotonicClock, system_clock
from sanderling.fetch.address_guard import can_request_by_name, filter_global, is_global, parse_ip_literal
from sanderling.fetch.curl_client import CurlClient
from sanderling.fetch.curl_transfer import FetchRequest, FetchResponse
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.heartbeat import HeartbeatMeter
from sanderling.fetch.host_queue import HostQueue, parse_endpoint
from sanderling.fetch.process import Fingerprinter, ResponseProcessor, build_unfetched_visit
from sanderling.fetch.response import build_conditional_headers, is_cookie_redirect, is_precondition_failed
from sanderling.fetch.robots import (
    MAX_BODY_BYTES,
    RobotsRules,
    build_unreachable_robots,
    get_retry_delay,
    parse_robots_response,
    waive_robots_rules,
)
from sanderling.fetch.template_filter import open_template_matcher
from sanderling.models import FetchBatch, FetchTask, Heartbeat, Host, Outcome, Reason, RobotsTxt, Visit, WorkerReport
from sanderling.urls.normalize import get_host

MAX_REPORT_VISITS = 64  # replies looked at before the parcel goes home
MIN_REPORT_VISITS = 8  # a parcel of fewer waits for all that is in hand
RESPONSES_PER_TURN = (
    4  # replies looked at before the next requests start: while we look, the server is not to wait for us
)
REPORT_WAIT_SECONDS = (
    0.02  # seconds a parcel waits for more, while more is in hand: sending one costs both sides half a page
)
MAX_IDLE_HOSTS = 4096  # idle hosts remembered for their pace and rules
MAX_WAIT_SECONDS = 3600.0
MAX_HOST_FAILURES = 3  # failures in a row before the rest of a host's stops go home untried
HOST_FAILURE_REASONS = frozenset({Reason.DNS, Reason.CONNECT, Reason.TLS, Reason.TIMEOUT})


class PendingRequest(Struct, frozen=True):
    """Why a request is on its way."""

    host_queue: HostQueue
    started_at: float
    task: FetchTask | None = None  # None: for robots.txt


class FetchLoop:
    """Fetches politely from many hosts at once and looks at what comes."""

    def __init__(
        self,
        settings: FetchSettings,
        compute_fingerprints: Fingerprinter,
        clock: Clock = system_clock,
        name: str = "",
        packs_links: bool = False,
    ) -> None:
        self._settings, self._clock, self._monotonic = settings, clock, MonotonicClock(clock)
        self._name = name or f"{socket.gethostname()}-{os.getpid()}"
        self._agent = settings.agent_token
        self._client = CurlClient(settings)
        self._processor = ResponseProcessor(settings, compute_fingerprints, packs_links)
        self._heartbeat_meter = HeartbeatMeter(self._name, clock)
        self._host_queues: dict[Host, HostQueue] = {}
        self._schedule: list[tuple[float, int, HostQueue]] = []  # lines that could knock, by when they may
        self._sequence = 0  # breaks ties in the queue: first come, first served
        self._responses: deque[FetchResponse] = deque()  # replies not looked at yet
        self._visits: list[Visit] = []
        self._robots: list[RobotsTxt] = []
        self._load = 0
        self._cookie_retried: set[int] = set()  # stops that were given a cookie and sent round once
        self._template_matcher = open_template_matcher(settings.parking_folder)
        self._announced_token = 0  # token of the suspect that was told to begin
        self._suspect_token = 0  # the same, until the parcel that tells it goes home
        self._is_isolated = False  # a suspect is on its way: nothing else is

    @property
    def load(self) -> int:
        """Stops in hand: waiting, on their way, or looked at and not yet handed over."""
        return self._load

    def submit(self, batch: FetchBatch) -> None:
        """Queue the stops of one host; what may not be connected to comes back with the next parcel."""
        now = self._clock()
        self._load += len(batch.tasks)
        if self._template_matcher is not None:
            known, batch = self._template_matcher.register_batch(batch, now)
            self._visits += known
        addresses = self._find_allowed_addresses(batch)
        if addresses is None:
            self._return_unfetched(batch.tasks, Outcome.SKIPPED, Reason.PRIVATE_ADDRESS, f"{batch.host} is not public")
            return
        if batch.robots is not None and not batch.robots.is_reachable:
            self._return_unfetched(batch.tasks, Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE)
            return
        self._drop_idle_hosts(self._monotonic())
        line = self._host_queues.get(batch.host) or self._host_queues.setdefault(batch.host, HostQueue(batch.host))
        line.extend(batch, addresses, self._agent, now)
        self._schedule_host(line)

    def run_for(self, timeout: float) -> WorkerReport:
        """Fetch and look until something is done, for `timeout` seconds at most; what is done soon comes along."""
        deadline, done = time.monotonic() + timeout, False
        while True:
            next_start = self._start_due_requests()
            if self._suspect_token:
                return self._build_report()
            turned_away = not done and bool(self._visits or self._robots)  # by us: nobody has to be waited for
            left = 0.0 if self._responses or turned_away else max(0.0, deadline - time.monotonic())
            self._responses.extend(self._client.wait(min(left, next_start)))
            was_alone = self._is_isolated
            for _ in range(min(len(self._responses), MAX_REPORT_VISITS - len(self._visits), RESPONSES_PER_TURN)):
                self._handle_response(self._responses.popleft())
            if was_alone and not self._is_isolated:
                return self._build_report()  # before anything else begins: it is not to be blamed for that
            if not done and (self._visits or self._robots):
                deadline, done = min(deadline, time.monotonic() + REPORT_WAIT_SECONDS), True
            if time.monotonic() >= deadline or (done and self._is_report_full):
                return self._build_report()

    def cancel(self, drop_in_flight: bool = True, host: Host | None = None) -> list[Visit]:
        """Give back every stop that waits, and those in flight too unless they are to be finished by `work`.

        Where a host is named, those that wait are its own.
        """
        while self._responses:
            self._handle_response(self._responses.popleft())  # it may let a stop wait for another try
        if drop_in_flight:
            for ask in self._client.cancel():
                self._cancel_request(ask.user_data)
        for line in [line for line in self._host_queues.values() if host in (None, line.host)]:
            self._return_unfetched(line.drain(), Outcome.RETURNED)
        return self._take_visits()

    def build_heartbeat(self) -> Heartbeat:
        """Say how this migrant is."""
        return self._heartbeat_meter.build(self._load)

    def close(self) -> None:
        """Close every connection."""
        self._client.close()

    @property
    def _is_report_full(self) -> bool:
        """Say whether the parcel need not wait: it holds a batch, or half of what is in hand, so that none runs out."""
        return len(self._visits) >= min(MAX_REPORT_VISITS, self._load, max(MIN_REPORT_VISITS, self._load // 2))

    def _find_allowed_addresses(self, batch: FetchBatch) -> tuple[str, ...] | None:
        """Choose the addresses a host may be reached at, none if its name says it; None if there is no way in."""
        name = parse_endpoint(batch.host).hostname
        address = parse_ip_literal(name)
        if self._settings.allow_private:
            return batch.addresses if address is None else ()
        if self._settings.proxy:
            return () if can_request_by_name(name) else None
        if address is not None:
            return () if is_global(address) else None
        return filter_global(batch.addresses) or (None if batch.addresses else ())

    def _drop_idle_hosts(self, now: float) -> None:
        """Let go of hosts that have nothing to do and may be knocked at again, when there are too many."""
        if len(self._host_queues) <= MAX_IDLE_HOSTS:
            return
        for line in [line for line in self._host_queues.values() if line.is_idle and line.ready_at <= now]:
            self._client.drop_addresses(self._host_queues.pop(line.host).endpoint)

    def _schedule_host(self, host_queue: HostQueue) -> None:
        """Give a line its place in the queue, if it has something to ask for."""
        if host_queue.is_ready and not host_queue.is_scheduled:
            host_queue.is_scheduled = True
            self._sequence += 1
            heappush(self._schedule, (host_queue.ready_at, self._sequence, host_queue))

    def _start_due_requests(self) -> float:
        """Start what may start now; say how many seconds later the next one may."""
        queue, now = self._schedule, self._monotonic()
        while queue and self._client.has_capacity(len(self._responses)):
            due, _, line = queue[0]
            if due > now:
                return due - now
            if line.ready_at <= now and line.is_ready and self._should_wait(line):
                return MAX_WAIT_SECONDS
            heappop(queue)
            line.is_scheduled = False
            if line.ready_at <= now and line.is_ready:
                self._start_request(line, now)
            self._schedule_host(line)
        return MAX_WAIT_SECONDS

    def _should_wait(self, host_queue: HostQueue) -> bool:
        """Let a suspect go alone, and have it told at home before it begins: who is lost then is lost over it."""
        stop = host_queue.tasks[0]
        if self._is_isolated or host_queue.robots_rules is None or not stop.is_suspect:
            return self._is_isolated
        if self._client.is_busy or self._responses:
            return True
        if self._announced_token != stop.token:
            self._announced_token = self._suspect_token = stop.token
        return bool(self._suspect_token)

    def _start_request(self, host_queue: HostQueue, now: float) -> None:
        """Start one request: for robots.txt if its rules are not known, else for the next stop they allow."""
        if host_queue.robots_rules is None:
            self._request_robots(host_queue, now)
            return
        while host_queue.tasks:
            stop = host_queue.tasks.popleft()
            url = stop.request_url or stop.url
            if not url.startswith(host_queue.url_prefix) or not url.isascii():
                self._return_unfetched([stop], Outcome.SKIPPED, Reason.BAD_URL, f"no URL of {host_queue.host}")
            elif not self._is_allowed(host_queue.robots_rules, url):
                self._return_unfetched([stop], Outcome.SKIPPED, Reason.ROBOTS)
            else:
                host_queue.mark_started(now)
                self._is_isolated = stop.is_suspect
                errand = PendingRequest(host_queue, now, stop)
                limits = self._settings.get_max_body(stop.role), self._settings.timeout
                known = build_conditional_headers(stop.etag, stop.last_modified)
                self._client.start(
                    FetchRequest(
                        url,
                        host_queue.endpoint,
                        errand,
                        known,
                        *limits,
                        uses_fresh_connection=host_queue.should_use_fresh_connection(stop),
                    )
                )
                return

    def _is_allowed(self, rules: RobotsRules, url: str) -> bool:
        """Check a URL against robots.txt; a worker beside a web server checks more than its spelling."""
        return rules.is_allowed(url)

    def _request_robots(self, host_queue: HostQueue, now: float) -> None:
        url = host_queue.robots_url
        door = host_queue.endpoint if get_host(url) == host_queue.host else parse_endpoint(get_host(url))
        host_queue.is_fetching_robots = True
        host_queue.mark_started(now)
        self._client.start(
            FetchRequest(
                url,
                door,
                PendingRequest(host_queue, now),
                (),
                MAX_BODY_BYTES,
                self._settings.robots_timeout,
                truncates_body=True,
            )
        )

    def _handle_response(self, response: FetchResponse) -> None:
        """Take one reply to where it belongs."""
        errand: PendingRequest = response.request.user_data
        errand.host_queue.in_flight -= 1
        self._is_isolated = False
        settings = self._settings
        errand.host_queue.delay_after_slow_response(
            errand.started_at, response.duration_seconds, settings.latency_factor, settings.max_latency_delay
        )
        if errand.task is None:
            self._process_robots(errand.host_queue, response, errand.started_at)
        elif settings.cookies and errand.task.id not in self._cookie_retried and is_cookie_redirect(response):
            self._cookie_retried.add(errand.task.id)
            self._retry_now(errand.host_queue, errand.task)  # with the cookie, as a browser would
        elif is_precondition_failed(response):
            self._retry_now(errand.host_queue, structs.replace(errand.task, etag="", last_modified=""))
        else:
            self._cookie_retried.discard(errand.task.id)
            self._process_task(errand.host_queue, errand.task, response)
        self._schedule_host(errand.host_queue)

    def _retry_now(self, host_queue: HostQueue, task: FetchTask) -> None:
        """Ask for a stop again, unless the others were sent home meanwhile: then this one goes after them."""
        if host_queue.is_drained:
            self._return_unfetched([task], Outcome.RETURNED)
        else:
            host_queue.tasks.appendleft(task)

    def _process_task(self, host_queue: HostQueue, task: FetchTask, response: FetchResponse) -> None:
        visit = self._processor.process(task, response, self._clock())
        self._heartbeat_meter.count_visit(visit)
        self._visits.append(
            visit if self._template_matcher is None else self._template_matcher.park_unless_matching(visit)
        )
        host_queue.failures = host_queue.failures + 1 if visit.reason in HOST_FAILURE_REASONS else 0
        if visit.reason is Reason.RATE_LIMITED or host_queue.failures >= MAX_HOST_FAILURES:
            self._return_unfetched(host_queue.drain(), Outcome.RETURNED, visit.reason, visit.detail, visit.retry_after)

    def _process_robots(self, host_queue: HostQueue, response: FetchResponse, started_at: float) -> None:
        now = self._clock()
        host_queue.is_fetching_robots = False
        found = parse_robots_response(host_queue.host, response, host_queue.robots_redirects, now)
        if isinstance(found, str) and self._can_follow(found):
            host_queue.robots_url, host_queue.robots_redirects = found, host_queue.robots_redirects + 1
            return
        robots = build_unreachable_robots(host_queue.host, now) if isinstance(found, str) else found
        if not host_queue.endpoint.setting_names.isdisjoint(self._settings.own_hosts):
            robots = waive_robots_rules(robots, self._agent)
        self._robots.append(robots)
        if robots.is_reachable:
            host_queue.set_robots(robots, self._agent)
            host_queue.ready_at = max(
                host_queue.ready_at, started_at + host_queue.crawl_delay
            )  # the pause it asks for begins with this answer
        else:
            host_queue.reset_robots()
            note, pause = response.detail or f"robots.txt: status {robots.status}", get_retry_delay(response, now)
            self._return_unfetched(host_queue.drain(), Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE, note, pause)

    def _can_follow(self, url: str) -> bool:
        """Say whether a moved robots.txt may be asked for through our proxy; without one the guard sees the address."""
        return (
            not self._settings.proxy
            or self._settings.allow_private
            or can_request_by_name(parse_endpoint(get_host(url)).hostname)
        )

    def _return_unfetched(
        self,
        tasks: Iterable[FetchTask],
        outcome: Outcome,
        reason: Reason = Reason.NONE,
        detail: str = "",
        retry_after: float = 0.0,
    ) -> None:
        """Let stops go home untried."""
        now = self._clock()
        self._visits += [build_unfetched_visit(stop, outcome, reason, now, detail, retry_after) for stop in tasks]

    def _cancel_request(self, pending: PendingRequest) -> None:
        """Give up a request on its way."""
        pending.host_queue.in_flight -= 1
        self._is_isolated = False
        pending.host_queue.is_fetching_robots = False
        if pending.task is not None:
            self._return_unfetched([pending.task], Outcome.RETURNED)

    def _take_visits(self) -> list[Visit]:
        """Give away the finished visits: they are no longer in our hands."""
        visits, self._visits = self._visits, []
        self._load -= len(visits)
        return visits

    def _build_report(self) -> WorkerReport:
        robots, self._robots = self._robots, []
        begins, self._suspect_token = self._suspect_token, 0
        return WorkerReport(self._name, tuple(self._take_visits()), tuple(robots), suspect_token=begins)
