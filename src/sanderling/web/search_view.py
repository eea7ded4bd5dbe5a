"""The search page."""

from urllib.parse import quote_plus

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from sanderling.api.searching.search_service import MAX_QUERY_LENGTH, get_query_date
from sanderling.api.types import SearchRequest, SearchResults
from sanderling.web.rendering import render_template
from sanderling.web.state import AppState, get_app_state
from sanderling.web.tracking import get_client_id, report_unmet_query, set_client_cookie

RESULTS_PER_PAGE = 10
MAX_PAGE_NUMBER = 100
FACET_OPERATORS = {"site": "site", "type": "type", "language": "lang", "changed": "changed"}
AGE_VALUES = {"day": "1d", "week": "7d", "month": "30d", "year": "365d"}


class FacetLink(Struct, frozen=True):
    """A facet value with a link that toggles it."""

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
    app_state, client = get_app_state(request), get_client_id(request)
    page = parse_page_number(request)
    if page == 1 and (abandoned := app_state.event_log.find_abandoned_query(client, text, app_state.clock())):
        report_unmet_query(app_state, abandoned, client, app_state.clock())
    results = run_search(app_state, request, text, page)
    query_id = app_state.event_log.log_ranking(client, text, results, app_state.clock()) if client else ""
    context = {
        "q": text,
        "results": results,
        "page": page,
        "last_page": min(MAX_PAGE_NUMBER, -(-results.total // RESULTS_PER_PAGE)),
        "explain": request.query_params.get("explain") == "1",
        "query_id": query_id,
        "facets": build_facet_links(text, results),
        "unmet_query": app_state.event_log.find_unmet_query(text),
        "as_of": get_query_date(text, app_state.clock()),
    }
    response = render_template(request, "results.html", context)
    set_client_cookie(response, request, client)
    return response


def parse_page_number(request: Request) -> int:
    text = request.query_params.get("page", "1")
    return min(MAX_PAGE_NUMBER, max(1, int(text))) if text.isascii() and text.isdigit() and len(text) < 6 else 1


def run_search(app_state: AppState, request: Request, text: str, page_number: int) -> SearchResults:
    explain = request.query_params.get("explain") == "1"
    return app_state.search_service.search(
        SearchRequest(text, (page_number - 1) * RESULTS_PER_PAGE, RESULTS_PER_PAGE, explain, now=app_state.clock())
    )


def build_facet_links(text: str, results: SearchResults) -> dict[str, list[FacetLink]]:
    links: dict[str, list[FacetLink]] = {}
    for name, operator in FACET_OPERATORS.items():
        counts = results.facets.get(name, ())
        shown = [_build_facet_link(text, operator, c.value, c.count) for c in counts]
        shown = [link for link in shown if link.is_selected or link.count < results.total]
        labels = {link.label for link in shown}
        absent = [
            _build_facet_link(text, operator, v, 0) for v in _find_operator_values(text, operator) if v not in labels
        ]
        if shown or absent:
            links[name] = shown + absent
    return links


def _build_facet_link(text: str, operator: str, value: str, count: int) -> FacetLink:
    token = f"{operator}:{AGE_VALUES.get(value, value)}"
    words = text.split()
    is_selected = token in words
    others = [word for word in words if word != token and not (operator == "changed" and word.startswith("changed:"))]
    query = " ".join(others if is_selected else [*others, token])
    label = next((age for age, short in AGE_VALUES.items() if operator == "changed" and short == value), value)
    return FacetLink(label, count, f"/?q={quote_plus(query)}", is_selected)


def _find_operator_values(text: str, operator: str) -> list[str]:
    return [
        word.partition(":")[2]
        for word in text.split()
        if word.startswith(f"{operator}:") and len(word) > len(operator) + 1
    ]
