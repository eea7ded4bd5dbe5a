"""The JSON API."""

from collections.abc import Callable

import msgspec
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from sanderling.search.feedback.event_log import build_query_key
from sanderling.search.feedback.unmet_queries import list_unmet_queries
from sanderling.search.query import MAX_QUERY_LENGTH
from sanderling.search.search_types import SearchHit, SearchRequest, SearchResults, TextRun
from sanderling.web.openapi import OPENAPI_DOCUMENT
from sanderling.web.rendering import format_iso
from sanderling.web.search_view import log_ranking
from sanderling.web.state import DAY_SECONDS, get_app_state, get_session
from sanderling.web.tracking import get_client_id, set_client_cookie
from sanderling.web.views import CHANGE_KINDS, get_int_param, get_url_param, get_version_params

MAX_CHANGES = 100
ApiEndpoint = Callable[[Request], object]


def make_json_handler(endpoint: ApiEndpoint, *, requires_login: bool = True) -> Callable[[Request], Response]:
    """Wrap an endpoint into a JSON handler; None becomes 404."""

    def handler(request: Request) -> Response:
        if requires_login and get_app_state(request).is_public and get_session(request) is None:
            return JSONResponse({"error": "please log in"}, 401)
        result = endpoint(request)
        if result is None:
            return JSONResponse({"error": "not found"}, 404)
        return Response(msgspec.json.encode(result), 200, {"Cache-Control": "no-store"}, "application/json")

    return handler


def search_api(request: Request) -> Response:
    app_state, client = get_app_state(request), get_client_id(request)
    params = request.query_params
    text = params.get("q", "")[:MAX_QUERY_LENGTH]
    limit = min(get_int_param(request, "limit") or 10, 1000)
    search_request = SearchRequest(
        text,
        offset=get_int_param(request, "offset", 10_000),
        limit=limit,
        explain=params.get("explain") == "1",
        include_facets=params.get("facets") != "0",
        include_snippets=params.get("snippets") != "0",
        now=app_state.clock(),
    )
    results = app_state.search_service.search(search_request)
    query_id = log_ranking(app_state, client, text, results) if params.get("log") != "0" else ""
    response = Response(
        msgspec.json.encode(serialize_results(results, query_id, explain=search_request.explain)),
        media_type="application/json",
    )
    set_client_cookie(response, request, client)
    return response


def serialize_results(results: SearchResults, query_id: str, *, explain: bool) -> dict[str, object]:
    return {
        "query": results.query,
        "query_id": query_id,
        "total": results.total,
        "corrected_query": results.corrected_query,
        "relaxed": results.is_relaxed,
        "hits": [serialize_hit(hit, explain=explain) for hit in results.hits],
        "facets": {name: {c.value: c.count for c in counts} for name, counts in results.facets.items()},
    }


def serialize_hit(hit: SearchHit, *, explain: bool) -> dict[str, object]:
    """Serialize a hit. Its HTML is escaped text with <mark>."""
    result: dict[str, object] = {
        "position": hit.position,
        "url": hit.url,
        "title": "".join(p.text for p in hit.title),
        "title_html": render_text_runs(hit.title),
        "snippet_html": render_text_runs(hit.snippet),
        "site": hit.site,
        "type": hit.type,
        "language": hit.language,
        "changed_at": format_iso(hit.changed_at if hit.changed_at > hit.first_seen_at else 0),
        "first_seen_at": format_iso(hit.first_seen_at),
        "visited_at": format_iso(hit.visited_at),
        "score": hit.score_parts.score,
    }
    if explain:
        parts = hit.score_parts
        result["parts"] = {"text": parts.text, "link": parts.link, "freshness": parts.freshness,
                         "behavior": parts.behavior}  # fmt: skip
        result["fields"] = [{"word": word, "field": field, "score": score} for word, field, score in parts.field_scores]
    return result


def render_text_runs(runs: tuple[TextRun, ...]) -> str:
    return str(
        Markup("").join(
            Markup("<mark>{}</mark>").format(run.text) if run.is_match else escape(run.text) for run in runs
        )
    )


def get_status(request: Request) -> object:
    app_state = get_app_state(request)
    indexed_pages, last_batch = app_state.search_service.get_index_state()
    status = app_state.crawl_view.get_status()
    return msgspec.structs.replace(status, indexed_pages=indexed_pages, index_lag=max(0, status.visits - last_batch))


def get_changes(request: Request) -> object:
    params = request.query_params
    kind, days = params.get("kind", ""), get_int_param(request, "days", 3650)
    app_state = get_app_state(request)
    since = app_state.clock() - days * DAY_SECONDS if days else 0.0
    limit, offset = min(get_int_param(request, "limit") or 50, MAX_CHANGES), get_int_param(request, "offset", 10_000)
    return app_state.crawl_view.list_changes(
        kind if kind in CHANGE_KINDS else "", params.get("site", "")[:200], since, offset, limit
    )


def get_page(request: Request) -> object:
    return get_app_state(request).crawl_view.get_page(get_url_param(request))


def get_history(request: Request) -> object:
    return (
        get_app_state(request).crawl_view.list_visits(
            get_url_param(request), min(get_int_param(request, "limit") or 100, 1000)
        )
        or None
    )


def get_diff(request: Request) -> object:
    return get_app_state(request).crawl_view.compare_versions(get_url_param(request), *get_version_params(request))


def get_due_urls(request: Request) -> object:
    return get_app_state(request).crawl_view.list_due_urls(min(get_int_param(request, "limit") or 50, 1000))


def get_hosts(request: Request) -> object:
    return get_app_state(request).crawl_view.list_hosts(min(get_int_param(request, "limit") or 50, 1000))


def get_workers(request: Request) -> object:
    return get_app_state(request).crawl_view.list_workers()


def get_unmet_queries(request: Request) -> object:
    return list_unmet_queries(get_app_state(request).event_log)


def get_unmet_query_state(request: Request) -> Response:
    """GET /api/more: state and new pages of an unmet query."""
    found = list_unmet_queries(
        get_app_state(request).event_log, build_query_key(request.query_params.get("q", "")[:MAX_QUERY_LENGTH]), 1
    )
    return JSONResponse(
        {"state": found[0].state, "found": found[0].new_page_count} if found else {"state": "", "found": 0}
    )


def get_stats(request: Request) -> object:
    app_state = get_app_state(request)
    since = app_state.clock() - (get_int_param(request, "days", 3650) or 30) * DAY_SECONDS
    return {group: app_state.event_log.count_events(group, since) for group in ("action", "page", "query", "day")}


def get_openapi(_: Request) -> Response:
    """GET /api/openapi.json."""
    return JSONResponse(OPENAPI_DOCUMENT)


def redirect_to_openapi(_: Request) -> Response:
    return RedirectResponse("/api/openapi.json", 302)


def check_health(request: Request) -> Response:
    app_state = get_app_state(request)
    app_state.event_log.db.execute("SELECT 1")
    return JSONResponse({"status": "ok", "indexed": app_state.search_service.get_index_state()[0]})
