"""The search page: ask, show, log what was shown."""

import secrets
from collections.abc import Mapping
from urllib.parse import quote_plus

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from sanderling.search.feedback.event_log import build_query_key
from sanderling.search.feedback.events import ShownRanking
from sanderling.search.feedback.unmet_queries import UnmetQuery, list_unmet_queries
from sanderling.search.query import MAX_QUERY_LENGTH, parse_query
from sanderling.search.search_types import SearchRequest, SearchResults
from sanderling.web.rendering import render_template
from sanderling.web.state import AppState, get_app_state
from sanderling.web.tracking import find_abandoned_query, get_client_id, report_unmet_query, set_client_cookie

RESULTS_PER_PAGE = 10
MAX_PAGE_NUMBER = 100
FACET_OPERATORS = {"site": "site", "type": "type", "language": "lang", "changed": "changed"}
AGE_VALUES = {"day": "1d", "week": "7d", "month": "30d", "year": "365d"}


class FacetLink(Struct, frozen=True):
    """One value of a facet, as a link that adds it to the question or takes it away."""

    label: str
    count: int
    href: str
    is_selected: bool


def search_page(request: Request) -> Response:
    """GET /: the empty search page, or results."""
    text = request.query_params.get("q", "")[:MAX_QUERY_LENGTH].strip()
    if not text:
        return render_template(
            request, "home.html", {"pages": get_app_state(request).search_service.get_index_state()[0]}
        )
    rooms, client = get_app_state(request), get_client_id(request)
    page = parse_page_number(request)
    given_up = find_abandoned_query(rooms, client, text, rooms.clock()) if page == 1 else ""
    if given_up:
        report_unmet_query(rooms, given_up, client, rooms.clock())
    results = run_search(rooms, request, text, page)
    query_id = log_ranking(rooms, client, text, results)
    about = {
        "q": text,
        "results": results,
        "page": page,
        "last_page": min(MAX_PAGE_NUMBER, -(-results.total // RESULTS_PER_PAGE)),
        "explain": request.query_params.get("explain") == "1",
        "query_id": query_id,
        "facets": build_facet_links(text, results),
        "brief": find_unmet_query(rooms, text),
        "given_up": given_up,
        "as_of": int(parse_query(text, rooms.clock()).as_of or 0),
    }
    response = render_template(request, "results.html", about)
    set_client_cookie(response, request, client)
    return response


def parse_page_number(request: Request) -> int:
    """The page of results asked for, from 1."""
    asked = request.query_params.get("page", "1")
    return min(MAX_PAGE_NUMBER, max(1, int(asked))) if asked.isascii() and asked.isdigit() and len(asked) < 6 else 1


def run_search(app_state: AppState, request: Request, text: str, page_number: int) -> SearchResults:
    """Ask the index."""
    explain = request.query_params.get("explain") == "1"
    return app_state.search_service.search(
        SearchRequest(text, (page_number - 1) * RESULTS_PER_PAGE, RESULTS_PER_PAGE, explain, now=app_state.clock())
    )


def log_ranking(app_state: AppState, client: str, text: str, results: SearchResults) -> str:
    """Log the ranking as it is shown, and give the id under which it was logged; empty if nothing is recorded."""
    if not client:
        return ""
    query_id = secrets.token_hex(12)
    first = results.hits[0].position if results.hits else 1
    app_state.event_log.record_ranking(
        ShownRanking(query_id, client, text, app_state.clock(), tuple(hit.url for hit in results.hits), first)
    )
    return query_id


def find_unmet_query(app_state: AppState, text: str) -> UnmetQuery | None:
    """What is being looked for, or has come, because of this question."""
    found = list_unmet_queries(app_state.event_log, build_query_key(text), 1)
    return found[0] if found else None


def build_facet_links(text: str, results: SearchResults) -> dict[str, list[FacetLink]]:
    """Links that narrow the question, and links that widen it again."""
    made: dict[str, list[FacetLink]] = {}
    for name, operator in FACET_OPERATORS.items():
        counts = results.facets.get(name, ())
        choices = [_build_facet_link(text, operator, c.value, c.count) for c in counts]
        choices = [choice for choice in choices if choice.is_selected or choice.count < results.total]
        known = {choice.label for choice in choices}
        absent = [
            _build_facet_link(text, operator, v, 0) for v in _find_operator_values(text, operator) if v not in known
        ]
        if choices or absent:
            made[name] = choices + absent
    return made


def _build_facet_link(text: str, operator: str, value: str, count: int) -> FacetLink:
    token = f"{operator}:{AGE_VALUES.get(value, value)}"
    words = text.split()
    chosen = token in words
    others = [word for word in words if word != token and not (operator == "changed" and word.startswith("changed:"))]
    query = " ".join(others if chosen else [*others, token])
    label = next((age for age, short in AGE_VALUES.items() if operator == "changed" and short == value), value)
    return FacetLink(label, count, f"/?q={quote_plus(query)}", chosen)


def _find_operator_values(text: str, operator: str) -> list[str]:
    return [
        word.partition(":")[2]
        for word in text.split()
        if word.startswith(f"{operator}:") and len(word) > len(operator) + 1
    ]


def build_link(path: str, parameters: Mapping[str, object]) -> str:
    """A link with its parameters escaped."""
    return path + "?" + "&".join(f"{name}={quote_plus(str(value))}" for name, value in parameters.items() if value)
