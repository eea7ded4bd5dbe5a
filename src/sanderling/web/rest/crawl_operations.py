"""Operations that start, stop, and describe crawls."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from sanderling.web.rest import answers
from sanderling.web.rest.api_tokens import TokenScope
from sanderling.web.rest.crawl_jobs import CrawlJob, JobConflict, JobKind
from sanderling.web.rest.crawl_options import CrawlOptions, build_flags, get_given_options, validate_options
from sanderling.web.rest.operation import ApiCall, ApiError, Operation
from sanderling.web.rest.page_operations import Limit
from sanderling.web.rest.times import to_time

MAX_URLS = 1_000
CONFLICT = "another crawl is running in this collection"
SeedUrl = Annotated[str, Meta(min_length=1, max_length=2_000)]


class CrawlStart(Struct, frozen=True, forbid_unknown_fields=True):
    """A job to start. Without `urls`, a crawl resumes or repeats the last one."""

    urls: Annotated[list[SeedUrl], Meta(max_length=MAX_URLS)] = []
    kind: JobKind = JobKind.CRAWL
    settings: CrawlOptions = CrawlOptions()  # type: ignore[valid-type]


class JobListParameters(Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = 20


class PauseAnswer(Struct, frozen=True):
    """What happened, as a sentence."""

    message: str


def start_crawl(call: ApiCall) -> answers.CrawlAnswer:
    start: CrawlStart = call.body
    options = get_given_options(start.settings, start.kind)
    urls = tuple(start.urls)
    validate_options(call.services.folder, start.kind, urls, options)
    token = call.token.name if call.token else ""
    try:
        job = call.services.jobs.start(start.kind, urls, options, build_flags(options), token)
    except JobConflict as error:
        raise ApiError(409, str(error)) from None
    return build_crawl_answer(job)


def list_crawls(call: ApiCall) -> list[answers.CrawlAnswer]:
    return [build_crawl_answer(job) for job in call.services.jobs.list_jobs(call.parameters.limit)]


def get_crawl(call: ApiCall) -> answers.CrawlAnswer:
    return build_crawl_answer(require_job(call))


def stop_crawl(call: ApiCall) -> answers.CrawlAnswer:
    require_job(call)
    job = call.services.jobs.stop(call.id)
    assert job is not None
    return build_crawl_answer(job)


def pause_crawl(call: ApiCall) -> PauseAnswer:
    _require_running(call)
    return PauseAnswer(call.app_state.crawl_view.pause_crawl())


def resume_crawl(call: ApiCall) -> PauseAnswer:
    _require_running(call)
    process = call.app_state.crawl_view.crawl_process
    resumed = process.send_command({"do": "resume", "workers": "all"}).get("workers", [])
    return PauseAnswer(f"resumed {len(resumed)} worker{'' if len(resumed) == 1 else 's'}")


def require_job(call: ApiCall) -> CrawlJob:
    job = call.services.jobs.find(call.id)
    if job is None:
        raise ApiError(404, f"there is no crawl {call.id}")
    return job


def _require_running(call: ApiCall) -> None:
    if require_job(call).ended_at:
        raise ApiError(409, f"the crawl {call.id} has ended")


def build_crawl_answer(job: CrawlJob) -> answers.CrawlAnswer:
    reason: Any = job.summary.get("finish_reason", "")
    return answers.CrawlAnswer(
        job.id, job.kind, job.state, list(job.urls), job.settings, job.token, to_time(job.started_at),
        to_time(job.ended_at), str(reason), job.summary, job.error,
    )  # fmt: skip


CRAWL_OPERATIONS = (
    Operation(
        name="start_crawl", method="POST", path="/crawls", summary="Start or resume a crawl, refresh, or watch service",
        run=start_crawl, answer=answers.CrawlAnswer, body=CrawlStart, scope=TokenScope.CRAWL, status=201,
        conflict=CONFLICT,
    ),
    Operation(
        name="list_crawls", method="GET", path="/crawls", summary="List the crawls started by the API, newest first",
        run=list_crawls, answer=list[answers.CrawlAnswer], parameters=JobListParameters,
    ),
    Operation(
        name="get_crawl", method="GET", path="/crawls/{id}", summary="Get state and result of a crawl",
        run=get_crawl, answer=answers.CrawlAnswer,
    ),
    Operation(
        name="stop_crawl", method="POST", path="/crawls/{id}/stop",
        summary="Stop a crawl after the requests in flight; it can be resumed",
        run=stop_crawl, answer=answers.CrawlAnswer, scope=TokenScope.CRAWL,
    ),
    Operation(
        name="pause_crawl", method="POST", path="/crawls/{id}/pause", summary="Pause the workers of a crawl",
        run=pause_crawl, answer=PauseAnswer, scope=TokenScope.CRAWL, conflict="the crawl has ended",
    ),
    Operation(
        name="resume_crawl", method="POST", path="/crawls/{id}/resume", summary="Resume the workers of a crawl",
        run=resume_crawl, answer=PauseAnswer, scope=TokenScope.CRAWL, conflict="the crawl has ended",
    ),
)  # fmt: skip
