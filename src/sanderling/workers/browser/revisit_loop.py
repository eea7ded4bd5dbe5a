"""Fetch loop that revisits rendered pages by HTTP first: a page whose HTML and data are unchanged is not rendered."""

import time

from msgspec.structs import replace

from sanderling.clock import Clock, system_clock
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import HostQueue
from sanderling.fetch.response import classify_transport_error, decode_header
from sanderling.fetch.response_processor import Fingerprinter
from sanderling.fetch.transport import FetchRequest, FetchResponse
from sanderling.http.decoding import decode_body
from sanderling.http.head import parse_head
from sanderling.models import FetchTask, Outcome, Reason
from sanderling.page_rendering import PageRendering, RenderReason
from sanderling.workers.browser.rendered_response import PageJob
from sanderling.workers.browser.rendering_loop import MAX_SUBRESPONSE_BYTES, PendingSubrequest, RenderingLoop
from sanderling.workers.browser.source_check import (
    SourceCheck,
    build_source_headers,
    can_check,
    compute_page_digest,
    confirm_version,
    is_same_source,
)
from sanderling.workers.browser.subrequests import Subresponse, filter_response_headers
from sanderling.workers.browser.tab_protocol import RenderCommand, RenderedPage, Subrequest

KEEP_SECONDS = 60.0  # a changed source, until its page is rendered


class RevisitLoop(RenderingLoop):
    """Checks the HTML and the data of rendered pages before it renders them again."""

    def __init__(
        self,
        settings: FetchSettings,
        compute_fingerprints: Fingerprinter,
        clock: Clock = system_clock,
        name: str = "",
        packs_links: bool = False,
    ) -> None:
        super().__init__(settings, compute_fingerprints, clock, name, packs_links)
        self._checks: dict[int, SourceCheck] = {}  # by id of the task of a source
        self._refetched: dict[int, PageJob] = {}  # by task id: pages that changed, requested without validators

    def _process_task(self, host_queue: HostQueue, task: FetchTask, response: FetchResponse) -> None:
        if task.id < 0:
            self._finish_subrequest(task, response)
            return
        if not self._may_render(task):
            self._process_as_sent(host_queue, task, response)
            return
        if self._is_processed_as_sent(host_queue, task, response):
            return
        job = self._refetched.pop(task.id, None)
        is_checked = job is not None
        job = replace(job, task=task, response=response) if job else PageJob(task, host_queue, response, self._clock())
        document = self._read_document(task, response)
        if not is_checked and self._can_check(job, document):
            self._check_sources(job)
        elif document is not None:
            self._choose(job, document)
        elif is_not_modified(response) and self._needs_document(task):
            self._refetch(job)
        else:
            self._process_as_sent(host_queue, task, response)
            if self._should_render(task):
                self._attach_no_scripts(task)

    def _is_processed_as_sent(self, host_queue: HostQueue, task: FetchTask, response: FetchResponse) -> bool:
        """Process a page that looks complete, as most pages do. False: it may have to be rendered."""
        if self._may_compare(host_queue, task) or self._template_matcher is not None:
            return False
        self._process_as_sent(host_queue, task, response)
        if not self._is_complete(task):
            self._report.visits.pop()
            return False
        return True

    def _may_compare(self, _host_queue: HostQueue, _task: FetchTask) -> bool:
        return True

    def _is_complete(self, _task: FetchTask) -> bool:
        return True

    def _needs_document(self, task: FetchTask) -> bool:
        """Return whether a page is rendered, or was not considered yet, although it is not modified."""
        rendering = task.rendering
        if rendering is not None and (rendering.is_rendered or rendering.reason is RenderReason.SHELL):
            return not self._renderer.is_broken
        return self._should_render(task) and (rendering is None or rendering.reason is not RenderReason.NO_SCRIPTS)

    def _attach_no_scripts(self, task: FetchTask) -> None:
        visit = self._report.visits[-1]
        if visit.id == task.id and visit.outcome is Outcome.FETCHED:
            self._report.visits[-1] = replace(visit, rendering=PageRendering(False, RenderReason.NO_SCRIPTS))

    def _may_render(self, task: FetchTask) -> bool:
        return self._should_render(task)

    def _choose(self, job: PageJob, document: RenderCommand) -> None:
        self._render(job, document)

    def _process_as_sent(self, host_queue: HostQueue, task: FetchTask, response: FetchResponse) -> None:
        """Process a response without rendering."""
        super(RenderingLoop, self)._process_task(host_queue, make_comparable(task, False), response)

    def _finish_page(self, job: PageJob, rendered: RenderedPage) -> None:
        if not (rendered.problem or rendered.redirect_url or job.limited_by):
            job.task = make_comparable(job.task, True)
        super()._finish_page(job, rendered)

    def _can_check(self, job: PageJob, document: RenderCommand | None) -> bool:
        """Return whether the HTML is that of the stored version, and its sources can be asked."""
        rendering = job.task.rendering
        if self._settings.screenshots:
            return False  # a picture may differ although the document and its data are the same
        if rendering is None or not can_check(rendering, job.task, self._clock()):
            return False
        if document is not None:
            return compute_page_digest(document.body) == rendering.page_digest
        return is_not_modified(job.response)

    def _check_sources(self, job: PageJob) -> None:
        """Ask for the documents that the page was rendered from, with their validators."""
        sources = job.task.rendering.sources if job.task.rendering else ()
        check = SourceCheck(job, {})
        for source in sources:
            before = self._last_id
            self._queue_subrequest(job, PendingSubrequest(Subrequest(0, 0, source.url, "GET", "fetch")), source.url)
            if self._last_id > before and -self._last_id in self._subrequests:
                check.waiting[-self._last_id] = source
                self._checks[-self._last_id] = check
            else:
                check.has_changed = True
        if not check.waiting:
            self._finish_check(check)

    def _build_request(self, host_queue: HostQueue, task: FetchTask, url: str, now: float) -> FetchRequest:
        request = super()._build_request(host_queue, task, url, now)
        check = self._checks.get(task.id)
        if check is None:
            return request
        return replace(request, conditional_headers=build_source_headers(check.waiting[task.id]))

    def _finish_subrequest(self, task: FetchTask, response: FetchResponse) -> None:
        check = self._checks.pop(task.id, None)
        if check is None:
            super()._finish_subrequest(task, response)
            return
        request = self._subrequests.pop(task.id).request
        status, fields = parse_head(response.head_lines)
        coding = decode_header(fields.get(b"content-encoding", b""))
        body, reason = decode_body(response.body, coding, MAX_SUBRESPONSE_BYTES)
        is_complete = classify_transport_error(response) is None and not reason
        source = check.waiting.pop(task.id)
        if not is_complete or not is_same_source(source, response, body):
            check.has_changed = True
        if is_complete and 200 <= status < 300:
            answer = Subresponse(status, filter_response_headers(fields), body)
            self._cache.keep(request.url, answer, time.monotonic() + KEEP_SECONDS)
        if is_complete and status != 304:
            self._record_subresponse(check.job, response, status)
        if not check.waiting:
            self._finish_check(check)

    def _refuse_subrequest(self, task: FetchTask, reason: Reason) -> None:
        check = self._checks.pop(task.id, None)
        if check is None:
            super()._refuse_subrequest(task, reason)
            return
        del self._subrequests[task.id], check.waiting[task.id]
        check.has_changed = True
        if not check.waiting:
            self._finish_check(check)

    def _finish_check(self, check: SourceCheck) -> None:
        """Report an unchanged page, or render the changed one."""
        job = check.job
        document = self._read_document(job.task, job.response)
        if job.limited_by is not None:
            super()._finish_page(job, RenderedPage(0))
        elif not check.has_changed:
            self._report_unchanged(job)
        elif document is not None:
            self._choose(job, document)
        else:
            self._refetch(job)

    def _report_unchanged(self, job: PageJob) -> None:
        """Report a rendered page as not modified, without rendering it."""
        super(RenderingLoop, self)._process_task(job.host_queue, job.task, confirm_version(job.response))
        self._report.visits[-1] = replace(self._report.visits[-1], head=b"", is_rendered=True)

    def _refetch(self, job: PageJob) -> None:
        """Request the HTML again without validators: the page is rendered from it."""
        self._refetched[job.task.id] = job
        self._retry_now(job.host_queue, replace(job.task, etag="", last_modified=""))
        if job.host_queue.is_drained:
            del self._refetched[job.task.id]
        self._schedule_host(job.host_queue)


def is_not_modified(response: FetchResponse) -> bool:
    is_complete = classify_transport_error(response) is None
    return is_complete and parse_head(response.head_lines)[0] == 304 and bool(response.request.conditional_headers)


def make_comparable(task: FetchTask, is_rendered: bool) -> FetchTask:
    """Remove the last version from a task if it was made in the other way: the difference is not a change."""
    was_rendered = task.rendering is not None and task.rendering.is_rendered
    return task if was_rendered == is_rendered else replace(task, digest=b"", last_version=None)
