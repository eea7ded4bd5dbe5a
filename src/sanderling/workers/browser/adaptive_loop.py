"""Fetch loop that renders pages only where it adds content.

RevisitLoop:   is the stored version rendered from this HTML, and from unchanged data?  -> not modified
AdaptiveLoop:  does rendering add content to pages of its template?  -> rendered, or as the server sent it
"""

from collections import defaultdict

from msgspec import Struct
from msgspec.structs import replace

from sanderling.clock import Clock, system_clock
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import HostQueue
from sanderling.fetch.response import decode_header
from sanderling.fetch.response_processor import Fingerprinter
from sanderling.fetch.transport import FetchResponse
from sanderling.fingerprint.fast.fast_scan import scan_page
from sanderling.fingerprint.structure import fingerprint_structure
from sanderling.html.parser import parse_charset, parse_html
from sanderling.html.script_built import looks_built_by_scripts
from sanderling.http.decoding import decode_body
from sanderling.http.head import parse_head
from sanderling.models import FetchBatch, FetchTask, Host, Outcome, UrlRole, Visit
from sanderling.page_rendering import PageRendering, RenderReason, VisualChange
from sanderling.workers.browser.render_choice import Choice, RenderChoices
from sanderling.workers.browser.rendered_response import PageJob
from sanderling.workers.browser.rendering_gain import Gain, HostAdditions
from sanderling.workers.browser.revisit_loop import RevisitLoop
from sanderling.workers.browser.source_check import compute_page_digest
from sanderling.workers.browser.tab_protocol import RenderCommand, RenderedPage

MAX_UNDECIDED_BYTES = 64 * 1024 * 1024  # documents that wait for a probe of their template
MAX_HOSTS = 64  # whose additions are remembered


class UndecidedPage(Struct, frozen=True):
    """A page that waits for a probe of its template."""

    job: PageJob
    document: RenderCommand


class AdaptiveLoop(RevisitLoop):
    """Decides by comparison which pages are rendered; revisits rendered pages by HTTP first."""

    def __init__(
        self,
        settings: FetchSettings,
        compute_fingerprints: Fingerprinter,
        clock: Clock = system_clock,
        name: str = "",
        packs_links: bool = False,
    ) -> None:
        super().__init__(settings, compute_fingerprints, clock, name, packs_links)
        self._choices = RenderChoices()
        self._additions: dict[Host, HostAdditions] = {}
        self._undecided: dict[Host, list[UndecidedPage]] = defaultdict(list)
        self._undecided_bytes = 0

    def submit(self, batch: FetchBatch) -> None:
        self._choices.adopt(batch.host, batch.render_templates)
        super().submit(batch)

    def cancel(self, drop_in_flight: bool = True, host: Host | None = None) -> list[Visit]:
        for undecided_host in [known for known in self._undecided if host in (None, known)]:
            pages = self._take_undecided(undecided_host)
            self._report.add_unfetched([page.job.task for page in pages], Outcome.RETURNED)
        for job in self._jobs.values() if drop_in_flight else ():
            self._abandon_probe(job)
        return super().cancel(drop_in_flight, host)

    def _may_render(self, task: FetchTask) -> bool:
        return self._should_render(task) or self._should_compare(task)

    def _should_compare(self, task: FetchTask) -> bool:
        url = task.request_url or task.url
        is_refused = any(pattern.search(url) for pattern in self._never)
        return self._settings.render == "auto" and task.role is UrlRole.PAGE and not is_refused

    def _choose(self, job: PageJob, document: RenderCommand) -> None:
        """Render a page, process it as it was sent, or let it wait for a probe."""
        if self._should_render(job.task):
            self._render(job, document)
            return
        if self._renderer.is_broken:
            self._process_as_sent(job.host_queue, job.task, job.response)
            return
        structure, is_shell = _fingerprint_structure(document), looks_built_by_scripts(document.body)
        choice = self._choices.decide(job.host_queue.host, document.body, structure, is_shell)
        if choice is None and self._undecided_bytes < MAX_UNDECIDED_BYTES:
            self._undecided[job.host_queue.host].append(UndecidedPage(job, document))
            self._undecided_bytes += len(document.body)
        elif choice is not None and choice.is_rendered:
            job.choice = choice
            self._render(job, document)
        else:
            self._process_as_sent(job.host_queue, job.task, job.response)
            self._attach_rendering(job, choice, is_rendered=False)

    def _take_undecided(self, host: Host) -> list[UndecidedPage]:
        pages = self._undecided.pop(host, [])
        self._undecided_bytes -= sum(len(page.document.body) for page in pages)
        return pages

    def _is_complete(self, task: FetchTask) -> bool:
        """Return whether the page just processed needs no rendering: it looks complete, like all pages of its host."""
        visit = self._report.visits[-1]
        is_shell = visit.id == task.id and visit.rendering is not None and visit.rendering.reason is RenderReason.SHELL
        return self._renderer.is_broken or not is_shell

    def _may_compare(self, host_queue: HostQueue, task: FetchTask) -> bool:
        """Return whether a page is compared although it looks complete."""
        is_known = task.rendering is not None and task.rendering.reason is not RenderReason.COMPLETE
        return self._should_render(task) or is_known or self._choices.has_gains(host_queue.host)

    def _finish_page(self, job: PageJob, rendered: RenderedPage) -> None:
        host, choice, gain = job.host_queue.host, job.choice, None
        if choice is not None and self._renderer.is_broken:
            for page in (UndecidedPage(job, RenderCommand(0, "", 0, (), b"")), *self._take_undecided(host)):
                self._process_as_sent(page.job.host_queue, page.job.task, page.job.response)
            return
        if choice is not None and not job.limited_by and not rendered.redirect_url and not rendered.problem:
            gain = self._compare(job, rendered)
        if choice is not None and choice.reason is RenderReason.PROBE and self._is_better_as_sent(job, rendered, gain):
            self._process_as_sent(job.host_queue, job.task, job.response)
        else:
            super()._finish_page(job, rendered)
        if choice is not None:
            self._record_result(job, choice, rendered, gain)
        is_rendered = self._report.visits[-1].is_rendered
        if is_rendered or choice is not None:
            self._attach_rendering(job, job.choice, is_rendered, gain, rendered.visual)
        for page in self._take_undecided(host):
            self._choose(page.job, page.document)

    def _is_better_as_sent(self, job: PageJob, rendered: RenderedPage, gain: Gain | None) -> bool:
        """Return whether a probe added nothing, or failed where the page is stored as it was sent."""
        if gain is not None:
            return not gain.is_relevant
        is_stored_as_sent = bool(job.task.digest) and not (job.task.rendering and job.task.rendering.is_rendered)
        return bool(rendered.problem) and is_stored_as_sent and job.limited_by is None

    def _record_result(self, job: PageJob, choice: Choice, rendered: RenderedPage, gain: Gain | None) -> None:
        if job.limited_by is not None:
            self._abandon_probe(job)
            return
        has_gain = gain.is_relevant if gain else True if rendered.redirect_url else None
        job.choice = replace(choice, template=self._choices.record(job.host_queue.host, choice, has_gain))

    def _abandon_probe(self, job: PageJob) -> None:
        if job.choice is not None:
            self._choices.abandon(job.host_queue.host, job.choice)

    def _compare(self, job: PageJob, rendered: RenderedPage) -> Gain:
        """Compare the rendered page with the page as it was sent."""
        host, (body, charset) = job.host_queue.host, self._decode_document(job.response)
        additions = self._additions.pop(host, None) or HostAdditions()
        self._additions[host] = additions  # the most recently used is last
        if len(self._additions) > MAX_HOSTS:
            del self._additions[next(iter(self._additions))]
        url = job.response.request.url
        is_shell = looks_built_by_scripts(body)
        return additions.compare(url, parse_html(body, charset), parse_html(rendered.html, "utf-8"), is_shell)

    def _decode_document(self, response: FetchResponse) -> tuple[bytes, str]:
        _, fields = parse_head(response.head_lines)
        coding = decode_header(fields.get(b"content-encoding", b""))
        body, _ = decode_body(response.body, coding, self._settings.max_body)
        return body, parse_charset(decode_header(fields.get(b"content-type", b"")))

    def _attach_rendering(
        self,
        job: PageJob,
        choice: Choice | None,
        is_rendered: bool,
        gain: Gain | None = None,
        visual: VisualChange | None = None,
    ) -> None:
        """Add to the visit how its version was made."""
        visit = self._report.visits[-1]
        if visit.id != job.task.id or visit.outcome is not Outcome.FETCHED:
            return
        template = choice.template if choice else None
        rendering = PageRendering(
            is_rendered=is_rendered,
            reason=choice.reason if choice else RenderReason.SETTING,
            rendered_at=job.fetched_at if is_rendered else 0.0,
            words_added=gain.words if gain else -1,
            links_added=gain.links if gain else -1,
            probes=template.probes if template else 0,
            gains=template.gains if template else 0,
            page_digest=compute_page_digest(self._decode_document(job.response)[0]) if is_rendered else b"",
            sources=tuple(job.sources.values()) if is_rendered else (),
            can_check_sources=job.can_check_sources,
            template=template,
            visual=visual,
        )
        self._report.visits[-1] = replace(visit, rendering=rendering)


def _fingerprint_structure(document: RenderCommand) -> bytes:
    return fingerprint_structure(scan_page(document.body, "") or parse_html(document.body, ""))
