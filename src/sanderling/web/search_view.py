"""The search page: ask, show, log what was shown."""

import secrets
from collections.abc import Mapping
from urllib.parse import quote_plus

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from sanderling.search.feedback.event_log import query_key
from sanderling.search.feedback.events import Shown
from sanderling.search.feedback.unmet_queries import Brief, briefs
from sanderling.search.query import LONGEST, understand
from sanderling.search.search_types import Ask, Results
from sanderling.web.rendering import render
from sanderling.web.state import Rooms, rooms_of
from sanderling.web.tracking import ask_for_more, client_of, remember, retyped

PER_PAGE = 10
LAST_PAGE = 100
FACETS = {"site": "site", "type": "type", "language": "lang", "changed": "changed"}
AGES = {"day": "1d", "week": "7d", "month": "30d", "year": "365d"}


class Choice(Struct, frozen=True):
    """One value of a facet, as a link that adds it to the question or takes it away."""

    label: str
    count: int
    href: str
    chosen: bool


def search_page(request: Request) -> Response:
    """GET /: the empty search page, or results."""
    text = request.query_params.get("q", "")[:LONGEST].strip()
    if not text:
        return render(request, "home.html", {"pages": rooms_of(request).library.size()[0]})
    rooms, client = rooms_of(request), client_of(request)
    page = page_number(request)
    given_up = retyped(rooms, client, text, rooms.clock()) if page == 1 else ""
    if given_up:
        ask_for_more(rooms, given_up, client, rooms.clock())
    results = look(rooms, request, text, page)
    query_id = log_shown(rooms, client, text, results)
    about = {
        "q": text,
        "results": results,
        "page": page,
        "last_page": min(LAST_PAGE, -(-results.total // PER_PAGE)),
        "explain": request.query_params.get("explain") == "1",
        "query_id": query_id,
        "facets": facets(text, results),
        "brief": newest_brief(rooms, text),
        "given_up": given_up,
        "as_of": int(understand(text, rooms.clock()).as_of or 0),
    }
    response = render(request, "results.html", about)
    remember(response, request, client)
    return response


def page_number(request: Request) -> int:
    """The page of results asked for, from 1."""
    asked = request.query_params.get("page", "1")
    return min(LAST_PAGE, max(1, int(asked))) if asked.isascii() and asked.isdigit() and len(asked) < 6 else 1


def look(rooms: Rooms, request: Request, text: str, page: int) -> Results:
    """Ask the index."""
    explain = request.query_params.get("explain") == "1"
    return rooms.library.search(Ask(text, (page - 1) * PER_PAGE, PER_PAGE, explain, now=rooms.clock()))


def log_shown(rooms: Rooms, client: str, text: str, results: Results) -> str:
    """Log the ranking as it is shown, and give the id under which it was logged; empty if nothing is recorded."""
    if not client:
        return ""
    query_id = secrets.token_hex(12)
    first = results.hits[0].position if results.hits else 1
    rooms.log.show(Shown(query_id, client, text, rooms.clock(), tuple(hit.url for hit in results.hits), first))
    return query_id


def newest_brief(rooms: Rooms, text: str) -> Brief | None:
    """What is being looked for, or has come, because of this question."""
    found = briefs(rooms.log, query_key(text), 1)
    return found[0] if found else None


def facets(text: str, results: Results) -> dict[str, list[Choice]]:
    """Links that narrow the question, and links that widen it again."""
    made: dict[str, list[Choice]] = {}
    for name, operator in FACETS.items():
        counts = results.facets.get(name, ())
        choices = [_choice(text, operator, c.value, c.count) for c in counts]
        choices = [choice for choice in choices if choice.chosen or choice.count < results.total]
        known = {choice.label for choice in choices}
        absent = [_choice(text, operator, v, 0) for v in _written(text, operator) if v not in known]
        if choices or absent:
            made[name] = choices + absent
    return made


def _choice(text: str, operator: str, value: str, count: int) -> Choice:
    token = f"{operator}:{AGES.get(value, value)}"
    words = text.split()
    chosen = token in words
    others = [word for word in words if word != token and not (operator == "changed" and word.startswith("changed:"))]
    query = " ".join(others if chosen else [*others, token])
    label = next((age for age, short in AGES.items() if operator == "changed" and short == value), value)
    return Choice(label, count, f"/?q={quote_plus(query)}", chosen)


def _written(text: str, operator: str) -> list[str]:
    return [
        word.partition(":")[2]
        for word in text.split()
        if word.startswith(f"{operator}:") and len(word) > len(operator) + 1
    ]


def link(path: str, parameters: Mapping[str, object]) -> str:
    """A link with its parameters escaped."""
    return path + "?" + "&".join(f"{name}={quote_plus(str(value))}" for name, value in parameters.items() if value)
