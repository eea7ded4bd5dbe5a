"""Fetch loop that renders pages: the document comes by HTTP, and its scripts run in a browser.

response -> document -> Renderer -> Subrequest -> host queue -> transport -> SubresponseCommand
                                 -> RenderedPage -> visit
"""

import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from sanderling.clock import Clock, system_clock
from sanderling.fetch.curl_client import CurlClient
from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import HostQueue
from sanderling.fetch.report_buffer import ReportBuffer
from sanderling.fetch.response import classify_status, classify_transport_error, decode_header
from sanderling.fetch.response_processor import Fingerprinter
from sanderling.fetch.transport import FetchRequest, FetchResponse
from sanderling.html.parser import is_html
from sanderling.http.decoding import decode_body
from sanderling.http.head import get_media_type, parse_head
from sanderling.models import FetchBatch, FetchTask, Host, Outcome, Reason, Url, UrlRole, Visit
from sanderling.urls.normalize import get_host, resolve_url
from sanderling.workers.browser.rendered_response import (  # fmt: skip
    CapturePacker,
    PageJob,
    add_previous_picture,
    build_rendered_response,
    make_storable,
)
from sanderling.workers.browser.renderer import Renderer, find_chromium
from sanderling.workers.browser.source_check import record_source
from sanderling.workers.browser.subrequests import (
    MAX_REDIRECTS,
    Subresponse,
    SubresponseCache,
    build_header_lines,
    filter_response_headers,
    is_sendable,
)
from sanderling.workers.browser.tab_protocol import (
    BrowserConfig,
    RenderCommand,
    RenderedPage,
    Subrequest,
    SubresponseCommand,
)

MAX_SUBRESPONSE_BYTES, MAX_CAPTURE_BYTES = 10_000_000, 50_000_000  # of a response; of all responses of a page
SCRIPT_TAG = re.compile(rb"<script|\son[a-z]{3,20}\s*=|javascript:", re.IGNORECASE)
REFUSED_BY_WORKER = SubresponseCommand(0, 0, is_refused=True)


class PendingSubrequest(Struct, frozen=True):
    """A request of a page, as a task of a host queue."""

    request: Subrequest
    redirects: int = 0


class SubrequestReport(ReportBuffer):
    """Report buffer that answers the page instead when a request of a page was not sent."""

    refuse: Callable[[FetchTask, Reason], None]

    def add_unfetched(
        self,
        tasks: Iterable[FetchTask],
        outcome: Outcome,
        reason: Reason = Reason.NONE,
        detail: str = "",
        retry_after: float = 0.0,
    ) -> None:
        own = []
        for task in tasks:
            if task.id < 0:
                self.refuse(task, reason)
            else:
                own.append(task)
        super().add_unfetched(own, outcome, reason, detail, retry_after)


class RenderingLoop(FetchLoop):
    """Renders the pages that its settings select; fetches all others as `FetchLoop` does."""

    def __init__(
        self,
        settings: FetchSettings,
        compute_fingerprints: Fingerprinter,
        clock: Clock = system_clock,
        name: str = "",
        packs_links: bool = False,
    ) -> None:
        self._client = CurlClient(settings)
        super().__init__(settings, compute_fingerprints, clock, name, packs_links, lambda _: self._client)
        self._report = self._subrequest_report = SubrequestReport(self._name, clock)
        self._subrequest_report.refuse = self._refuse_subrequest
        config = BrowserConfig(
            settings.user_agent, find_chromium(), max_html=settings.max_body, screenshots=settings.screenshots,
            allows_unsandboxed=settings.allows_unsandboxed,
        )  # fmt: skip
        self._renderer = Renderer(config, settings.tabs, self._client.watch_descriptor, self._client.unwatch_descriptor)
        self._packer = CapturePacker(settings)
        self._cache = SubresponseCache()
        self._always = [re.compile(pattern) for pattern in settings.render_always]
        self._never = [re.compile(pattern) for pattern in settings.render_never]
        self._jobs: dict[int, PageJob] = {}
        self._subrequests: dict[int, PendingSubrequest] = {}
        self._guest_hosts: set[Host] = set()  # hosts of requests of pages, without pages of their own here
        self._last_id = 0

    def close(self) -> None:
        self._renderer.close()
        super().close()

    def cancel(self, drop_in_flight: bool = True, host: Host | None = None) -> list[Visit]:
        """Return queued tasks as visits, and the documents that the browser has not started."""
        for page_id in self._renderer.take_waiting() if host is None else ():
            self._report.add_unfetched([self._jobs.pop(page_id).task], Outcome.RETURNED)
        if drop_in_flight:
            self._report.add_unfetched([job.task for job in self._jobs.values()], Outcome.RETURNED)
            self._jobs.clear()
            self._renderer.close()
        return super().cancel(drop_in_flight, host)

    def submit(self, batch: FetchBatch) -> None:
        self._guest_hosts.discard(batch.host)
        super().submit(batch)

    def _start_due_requests(self) -> float:
        for message in self._renderer.receive():
            if isinstance(message, Subrequest):
                self._handle_subrequest(message)
            elif isinstance(message, RenderedPage) and message.page_id in self._jobs:
                self._finish_page(self._jobs.pop(message.page_id), message)
        return super()._start_due_requests()

    def _build_request(self, host_queue: HostQueue, task: FetchTask, url: str, now: float) -> FetchRequest:
        request = super()._build_request(host_queue, task, url, now)
        if task.id >= 0:
            return request
        subrequest = self._subrequests[task.id].request
        return replace(
            request,
            max_body=min(request.max_body, MAX_SUBRESPONSE_BYTES),
            method=subrequest.method,
            headers=(*build_header_lines(subrequest), *request.headers),
            request_body=subrequest.body,
        )

    def _process_task(self, host_queue: HostQueue, task: FetchTask, response: FetchResponse) -> None:
        if task.id < 0:
            self._finish_subrequest(task, response)
            return
        document = self._read_document(task, response) if self._should_render(task) else None
        if document is None:
            super()._process_task(host_queue, task, response)
        else:
            self._render(PageJob(task, host_queue, response, self._clock()), document)

    def _render(self, job: PageJob, document: RenderCommand) -> None:
        self._last_id += 1
        self._jobs[self._last_id] = job
        document = add_previous_picture(document, job.task, self._settings)
        self._renderer.render(replace(document, page_id=self._last_id))

    def _should_render(self, task: FetchTask) -> bool:
        url = task.request_url or task.url
        if task.role is not UrlRole.PAGE or any(pattern.search(url) for pattern in self._never):
            return False
        return self._settings.render == "always" or any(pattern.search(url) for pattern in self._always)

    def _read_document(self, task: FetchTask, response: FetchResponse) -> RenderCommand | None:
        """Return the document for the browser. None: there is nothing to render."""
        status, fields = parse_head(response.head_lines)
        result = classify_transport_error(response) or classify_status(status, fields, response, 0.0)
        if result.outcome is not Outcome.FETCHED:
            return None
        coding = decode_header(fields.get(b"content-encoding", b""))
        body, reason = decode_body(response.body, coding, self._settings.get_max_body(task.role))
        if reason or not is_html(get_media_type(fields), body) or len(body) > self._settings.max_page:
            return None
        if not SCRIPT_TAG.search(body) and not self._settings.screenshots:
            return None  # without scripts the DOM is the document
        return RenderCommand(0, response.request.url, status, filter_response_headers(fields), body)

    def _handle_subrequest(self, request: Subrequest) -> None:
        """Answer a request from the cache, refuse it, or queue it at its host."""
        job = self._jobs.get(request.page_id)
        cached = self._cache.find(request, time.monotonic())
        if cached is not None:
            self._answer(request, cached, job)
        elif job is None or not is_sendable(request):
            self._refuse(request, "method" if job else "")
        else:
            self._queue_subrequest(job, PendingSubrequest(request), request.url)

    def _queue_subrequest(self, job: PageJob, pending: PendingSubrequest, url: str) -> None:
        """Queue a request before the pages of its host, with the crawl delay of the page's host."""
        try:
            host = get_host(url)
        except ValueError:
            self._refuse(pending.request, Reason.BAD_URL)
            return
        self._last_id += 1
        task = FetchTask(-self._last_id, 0, Url(url), url)
        self._subrequests[task.id] = pending
        queue = self._host_queues.get(host)
        if queue is not None:
            queue.tasks.appendleft(task)
            self._schedule_host(queue)
            return
        self._guest_hosts.add(host)
        delay, connections = job.host_queue.base_delay, job.host_queue.connections
        self._report.load -= 1  # a request of a page has no visit
        super().submit(FetchBatch(host, (task,), delay_seconds=delay, max_connections=connections))

    def _finish_subrequest(self, task: FetchTask, response: FetchResponse) -> None:
        """Record a response of a page and pass it on; follow a redirect."""
        pending = self._subrequests.pop(task.id)
        request, job = pending.request, self._jobs.get(pending.request.page_id)
        if job is None:
            return
        status, fields = parse_head(response.head_lines)
        body, reason = decode_body(
            response.body, decode_header(fields.get(b"content-encoding", b"")), MAX_SUBRESPONSE_BYTES
        )
        if classify_transport_error(response) is not None or reason or status < 200:
            self._refuse(request, response.abort_reason or reason or Reason.CONNECT)
            return
        self._record_subresponse(job, response, status)
        location = fields.get(b"location", b"") if 300 <= status < 400 else b""
        target = resolve_url(response.request.url, decode_header(location)) if location else None
        if target is not None and request.method == "GET" and pending.redirects < MAX_REDIRECTS:
            following = PendingSubrequest(request, pending.redirects + 1)
            self._queue_subrequest(job, following, target.request_url)
            return
        answer = Subresponse(status, filter_response_headers(fields), body)
        self._cache.add(request, answer, time.monotonic())
        self._answer(request, answer, job)

    def _record_subresponse(self, job: PageJob, response: FetchResponse, status: int) -> None:
        if status in (429, 503) and get_host(response.request.url) == job.host_queue.host:
            job.limited_by = response
        if sum(len(capture.member) for capture in job.captures) < MAX_CAPTURE_BYTES:
            job.captures.append(self._packer.pack_exchange(response, job.record_id, self._clock()))

    def _answer(self, request: Subrequest, response: Subresponse, job: PageJob | None) -> None:
        if job is not None:
            record_source(job, request, response)
        self._renderer.answer(
            SubresponseCommand(request.page_id, request.request_id, response.status, response.headers, response.body)
        )

    def _refuse(self, request: Subrequest, reason: str) -> None:
        job = self._jobs.get(request.page_id)
        if job is not None and reason:
            job.refused[reason] = job.refused.get(reason, 0) + 1
        self._renderer.answer(replace(REFUSED_BY_WORKER, page_id=request.page_id, request_id=request.request_id))

    def _refuse_subrequest(self, task: FetchTask, reason: Reason) -> None:
        with suppress(KeyError):
            self._refuse(self._subrequests.pop(task.id).request, reason or "returned")

    def _process_robots(self, host_queue: HostQueue, response: FetchResponse, started_at: float) -> None:
        super()._process_robots(host_queue, response, started_at)
        if host_queue.host in self._guest_hosts:  # the coordinator has no queue for it
            self._report.robots = [robots for robots in self._report.robots if robots.host != host_queue.host]

    def _finish_page(self, job: PageJob, rendered: RenderedPage) -> None:
        """Turn a rendered page into a visit."""
        if job.limited_by is not None:
            super()._process_task(job.host_queue, job.task, replace(job.limited_by, request=job.response.request))
            return
        if rendered.redirect_url:
            location = b"Location: %s\r\n" % rendered.redirect_url.encode("ascii", "ignore")
            lines = [b"HTTP/1.1 302 Found\r\n", location, b"\r\n"]
            super()._process_task(job.host_queue, job.task, replace(job.response, head_lines=lines, body=b""))
            return
        if rendered.problem:
            self._report_problem(job, rendered)
            return
        task, response = make_storable(job.task, rendered), build_rendered_response(job, rendered.html)
        super()._process_task(job.host_queue, task, response)
        self._report.visits[-1] = self._packer.finish_visit(job, self._report.visits[-1], rendered)

    def _report_problem(self, job: PageJob, rendered: RenderedPage) -> None:
        """Report a page that could not be rendered, with what the server sent if nothing else is stored."""
        reason = Reason(rendered.problem)
        if job.task.digest:
            self._report.add_unfetched([job.task], Outcome.FAILED, reason, rendered.detail)
            return
        super()._process_task(job.host_queue, job.task, job.response)
        visit = self._report.visits[-1]
        self._report.visits[-1] = replace(visit, reason=reason, detail=rendered.detail)
