"""Operations that search, and that describe the collection and its crawl."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from sanderling.api.reports.view_models import CrawlStatus, WorkerRow
from sanderling.api.searching.search_service import MAX_QUERY_LENGTH
from sanderling.api.types import SearchHit, SearchRequest
from sanderling.web.live import build_dashboard_update
from sanderling.web.rendering import render_text_runs
from sanderling.web.rest import answers
from sanderling.web.rest.operation import ApiCall, NoParameters, Operation
from sanderling.web.rest.page_operations import Limit
from sanderling.web.rest.times import to_time
from sanderling.web.state import DAY_SECONDS
from sanderling.web.tracking import get_client_id

Switch = Literal["0", "1"]


class SearchParameters(Struct, frozen=True, forbid_unknown_fields=True):
    q: Annotated[
        str,
        Meta(
            max_length=MAX_QUERY_LENGTH,
            description='words, "phrases", -excluded, OR, site: type: lang: changed: asof: intitle: inurl:',
        ),
    ]
    offset: Annotated[int, Meta(ge=0, le=10_000, description="results to skip")] = 0
    limit: Limit = 10
    explain: Annotated[Switch, Meta(description="1: with the parts of each score")] = "0"
    facets: Annotated[Switch, Meta(description="0: do not count facets")] = "1"
    snippets: Annotated[Switch, Meta(description="0: no snippets")] = "1"
    log: Annotated[Switch, Meta(description="0: do not record this ranking, where behavior is recorded")] = "1"


class ListParameters(Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = 50


class StatisticsParameters(Struct, frozen=True, forbid_unknown_fields=True):
    group: Annotated[Literal["action", "page", "query", "day"], Meta(description="counted by")] = "action"
    days: Annotated[int, Meta(ge=1, le=3650, description="number of past days")] = 30


def search(call: ApiCall) -> answers.SearchAnswer:
    given, app_state = call.parameters, call.app_state
    request = SearchRequest(
        given.q,
        offset=given.offset,
        limit=given.limit,
        explain=given.explain == "1",
        include_facets=given.facets == "1",
        include_snippets=given.snippets == "1",
        now=app_state.clock(),
    )
    results = app_state.search_service.search(request)
    client = get_client_id(call.request) if call.request is not None else ""
    is_logged = given.log == "1" and bool(client)
    return answers.SearchAnswer(
        results.query,
        app_state.event_log.log_ranking(client, given.q, results, app_state.clock()) if is_logged else "",
        results.total,
        results.corrected_query,
        results.is_relaxed,
        [_build_hit(hit, explain=request.explain) for hit in results.hits],
        {name: {c.value: c.count for c in counts} for name, counts in results.facets.items()},
    )


def _build_hit(hit: SearchHit, *, explain: bool) -> answers.Hit:
    parts = hit.score_parts
    named = {"text": parts.text, "link": parts.link, "freshness": parts.freshness, "behavior": parts.behavior}
    return answers.Hit(
        position=hit.position,
        url=hit.url,
        title="".join(p.text for p in hit.title),
        title_html=render_text_runs(hit.title),
        snippet_html=render_text_runs(hit.snippet),
        site=hit.site,
        type=hit.type,
        language=hit.language,
        changed_at=to_time(hit.changed_at if hit.changed_at > hit.first_seen_at else 0),
        first_seen=to_time(hit.first_seen_at),
        visited_at=to_time(hit.visited_at),
        score=parts.score,
        parts=named if explain else {},
        fields=[answers.FieldScore(*score) for score in parts.field_scores] if explain else [],
    )


def get_status(call: ApiCall) -> answers.StatusAnswer:
    return build_status(build_dashboard_update(call.app_state).status)


def build_status(status: CrawlStatus) -> answers.StatusAnswer:
    names = answers.StatusAnswer.__struct_fields__
    values = {name: getattr(status, name) for name in names if name not in ("at", "seeds")}
    return answers.StatusAnswer(at=to_time(status.at), seeds=list(status.seeds), **values)


def list_hosts(call: ApiCall) -> list[answers.HostEntry]:
    rows = call.app_state.crawl_view.list_hosts(call.parameters.limit)
    return [
        answers.HostEntry(
            row.name, row.pages, row.waiting, row.leased, to_time(row.ready_at), row.delay_reason, row.failures,
            row.give_up_reason, row.robots_status,
        )
        for row in rows
    ]  # fmt: skip


def list_workers(call: ApiCall) -> list[WorkerRow]:
    return call.app_state.crawl_view.list_workers()


def list_due_urls(call: ApiCall) -> list[answers.DueEntry]:
    rows = call.app_state.crawl_view.list_due_urls(call.parameters.limit)
    return [answers.DueEntry(row.url, row.reason, to_time(row.due_at), row.depth, row.visited) for row in rows]


def list_unmet(call: ApiCall) -> list[answers.UnmetQueryEntry]:
    return [
        answers.UnmetQueryEntry(
            row.query, row.state, to_time(row.created_at), to_time(row.answered_at), row.result_count,
            row.new_page_count,
        )
        for row in call.app_state.event_log.list_unmet_queries()
    ]  # fmt: skip


def count_events(call: ApiCall) -> list[answers.EventCountEntry]:
    since = call.app_state.clock() - call.parameters.days * DAY_SECONDS
    rows = call.app_state.event_log.count_events(call.parameters.group, since)
    return [answers.EventCountEntry(row.name, row.count, row.clients, row.seconds) for row in rows]


STATUS_OPERATIONS = (
    Operation(
        name="search", method="GET", path="/search", summary="Search stored pages",
        run=search, answer=answers.SearchAnswer, parameters=SearchParameters, is_open=True,
    ),
    Operation(
        name="get_status", method="GET", path="/status", summary="Get the state of the collection and its crawl",
        run=get_status, answer=answers.StatusAnswer, parameters=NoParameters,
    ),
    Operation(
        name="list_hosts", method="GET", path="/hosts", summary="List hosts with waiting URLs",
        run=list_hosts, answer=list[answers.HostEntry], parameters=ListParameters,
    ),
    Operation(
        name="list_workers", method="GET", path="/workers", summary="List the workers of the running crawl",
        run=list_workers, answer=list[WorkerRow],
    ),
    Operation(
        name="list_due_urls", method="GET", path="/due", summary="List the URLs to visit next, with reasons",
        run=list_due_urls, answer=list[answers.DueEntry], parameters=ListParameters,
    ),
    Operation(
        name="list_unmet_queries", method="GET", path="/unmet-queries", summary="List queries without a good result",
        run=list_unmet, answer=list[answers.UnmetQueryEntry],
    ),
    Operation(
        name="count_events", method="GET", path="/statistics", summary="Count recorded user behavior",
        run=count_events, answer=list[answers.EventCountEntry], parameters=StatisticsParameters,
    ),
)  # fmt: skip
