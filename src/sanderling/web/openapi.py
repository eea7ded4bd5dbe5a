"""The description of the JSON API (OpenAPI 3.1); a test holds it against the routes."""

from typing import Any

from sanderling import __version__

Json = dict[str, Any]


def parameter(name: str, text: str, kind: str = "string", *, required: bool = False) -> Json:
    """One parameter of the address."""
    return {"name": name, "in": "query", "required": required, "description": text, "schema": {"type": kind}}


def get(summary: str, parameters: list[Json] | None = None, answer: Json | None = None) -> Json:
    """One path that is read."""
    body = {"application/json": {"schema": answer or {"type": "object"}}}
    return {
        "get": {"summary": summary, "parameters": parameters or [],
                "responses": {"200": {"description": summary, "content": body}}}
    }  # fmt: skip


def post(summary: str, fields: dict[str, str]) -> Json:
    """One path that takes a report from our own pages."""
    schema = {"type": "object", "properties": {name: {"type": kind} for name, kind in fields.items()}}
    return {
        "post": {
            "summary": summary,
            "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
            "responses": {"200": {"description": "taken"}, "403": {"description": "not from our own page"},
                          "422": {"description": "not understood"}},
        }
    }  # fmt: skip


QUERY = 'words, "phrases", -without, OR, site: type: lang: changed: asof: intitle: inurl:'
URL = parameter("url", "a stored URL", required=True)
LIMIT = parameter("limit", "at most so many", "integer")
DAYS = parameter("days", "of the last so many days", "integer")
HIT: Json = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in ("url", "title", "title_html", "snippet_html", "site")},
        "type": {"type": "string"}, "language": {"type": "string"},
        "position": {"type": "integer"}, "score": {"type": "number"},
        "changed_at": {"type": "string", "description": "date-time; empty if no change has been seen"},
        "first_seen_at": {"type": "string", "description": "date-time; empty if unknown"},
        "visited_at": {"type": "string", "format": "date-time"},
        "parts": {"type": "object", "description": "with explain=1: text x link x freshness x behaviour = score"},
        "fields": {"type": "array", "description": "with explain=1: what each word in each field gave"},
    },
}  # fmt: skip
RESULTS: Json = {
    "type": "object",
    "properties": {
        "query": {"type": "string"}, "query_id": {"type": "string"}, "total": {"type": "integer"},
        "meant": {"type": "string", "description": "the question as answered, where a word was taken for a slip"},
        "relaxed": {"type": "boolean"}, "hits": {"type": "array", "items": {"$ref": "#/components/schemas/Hit"}},
        "facets": {"type": "object", "additionalProperties": {"type": "object"}},
    },
}  # fmt: skip
LIST: Json = {"type": "array", "items": {"type": "object"}}

DESCRIPTION: Json = {
    "openapi": "3.1.0",
    "info": {"title": "Sanderling", "version": __version__, "description": "Search, and a window into the crawl."},
    "paths": {
        "/api/search": get(
            "Search stored pages",
            [
                parameter("q", QUERY, required=True),
                parameter("offset", "results to skip", "integer"), LIMIT,
                parameter("explain", "1: show what each score is made of"),
                parameter("facets", "0: do not count facets"), parameter("snippets", "0: no snippets"),
                parameter("log", "0: do not log this ranking"),
            ],
            {"$ref": "#/components/schemas/Results"},
        ),
        "/api/status": get("The crawl in numbers"),
        "/api/live": get("The same each second, as server-sent events"),
        "/api/hosts": get("Hosts as the frontier sees them", [LIMIT], LIST),
        "/api/migrants": get("Migrants at work", [], LIST),
        "/api/due": get("What is visited next, and why", [LIMIT], LIST),
        "/api/changes": get(
            "What changed",
            [parameter("kind", "content, structure, presentation, behaviour, media or links"),
             parameter("site", "part of a host name"), DAYS, LIMIT, parameter("offset", "changes to skip", "integer")],
            LIST,
        ),
        "/api/page": get("A stored page", [URL]),
        "/api/history": get("All visits to a page", [URL, LIMIT], LIST),
        "/api/diff": get(
            "Two versions word by word",
            [URL, parameter("old", "a visit; none: the version before the last", "integer"),
             parameter("new", "another; none: the last version", "integer")],
        ),
        "/api/briefs": get("What users did not find", [], LIST),
        "/api/more": get("Is more being looked for?", [parameter("q", "because of this question", required=True)]),
        "/api/stats": get("What users do", [DAYS]),
        "/api/events": post(
            "Report behaviour", {"query_id": "string", "url": "string", "position": "integer", "events": "array"}
        ),
        "/api/rating": post(
            "Say whether a search found it", {"query_id": "string", "found": "boolean", "stars": "integer"}
        ),
        "/healthz": get("Does the app answer?"),
    },
    "components": {"schemas": {"Hit": HIT, "Results": RESULTS}},
}  # fmt: skip
