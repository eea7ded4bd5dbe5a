"""The description of the JSON API (OpenAPI 3.1); a test holds it against the routes."""

from typing import Any

from sanderling import __version__

JsonObject = dict[str, Any]


def build_parameter(name: str, description: str, kind: str = "string", *, required: bool = False) -> JsonObject:
    """One parameter of the address."""
    return {"name": name, "in": "query", "required": required, "description": description, "schema": {"type": kind}}


def build_get(summary: str, parameters: list[JsonObject] | None = None, schema: JsonObject | None = None) -> JsonObject:
    """One path that is read."""
    body = {"application/json": {"schema": schema or {"type": "object"}}}
    return {
        "get": {"summary": summary, "parameters": parameters or [],
                "responses": {"200": {"description": summary, "content": body}}}
    }  # fmt: skip


def build_post(summary: str, fields: dict[str, str]) -> JsonObject:
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


QUERY_SYNTAX = 'words, "phrases", -without, OR, site: type: lang: changed: asof: intitle: inurl:'
URL_PARAMETER = build_parameter("url", "a stored URL", required=True)
LIMIT_PARAMETER = build_parameter("limit", "at most so many", "integer")
DAYS_PARAMETER = build_parameter("days", "of the last so many days", "integer")
HIT_SCHEMA: JsonObject = {
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
RESULTS_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "query": {"type": "string"}, "query_id": {"type": "string"}, "total": {"type": "integer"},
        "meant": {"type": "string", "description": "the question as answered, where a word was taken for a slip"},
        "relaxed": {"type": "boolean"}, "hits": {"type": "array", "items": {"$ref": "#/components/schemas/Hit"}},
        "facets": {"type": "object", "additionalProperties": {"type": "object"}},
    },
}  # fmt: skip
LIST_SCHEMA: JsonObject = {"type": "array", "items": {"type": "object"}}

OPENAPI_DOCUMENT: JsonObject = {
    "openapi": "3.1.0",
    "info": {"title": "Sanderling", "version": __version__, "description": "Search, and a window into the crawl."},
    "paths": {
        "/api/search": build_get(
            "Search stored pages",
            [
                build_parameter("q", QUERY_SYNTAX, required=True),
                build_parameter("offset", "results to skip", "integer"),
                LIMIT_PARAMETER,
                build_parameter("explain", "1: show what each score is made of"),
                build_parameter("facets", "0: do not count facets"),
                build_parameter("snippets", "0: no snippets"),
                build_parameter("log", "0: do not log this ranking"),
            ],
            {"$ref": "#/components/schemas/Results"},
        ),
        "/api/status": build_get("The crawl in numbers"),
        "/api/live": build_get("The same each second, as server-sent events"),
        "/api/hosts": build_get("Hosts as the frontier sees them", [LIMIT_PARAMETER], LIST_SCHEMA),
        "/api/migrants": build_get("Migrants at work", [], LIST_SCHEMA),
        "/api/due": build_get("What is visited next, and why", [LIMIT_PARAMETER], LIST_SCHEMA),
        "/api/changes": build_get(
            "What changed",
            [
                build_parameter("kind", "content, structure, presentation, behaviour, media or links"),
                build_parameter("site", "part of a host name"),
                DAYS_PARAMETER,
                LIMIT_PARAMETER,
                build_parameter("offset", "changes to skip", "integer"),
            ],
            LIST_SCHEMA,
        ),
        "/api/page": build_get("A stored page", [URL_PARAMETER]),
        "/api/history": build_get("All visits to a page", [URL_PARAMETER, LIMIT_PARAMETER], LIST_SCHEMA),
        "/api/diff": build_get(
            "Two versions word by word",
            [
                URL_PARAMETER,
                build_parameter("old", "a visit; none: the version before the last", "integer"),
                build_parameter("new", "another; none: the last version", "integer"),
            ],
        ),
        "/api/briefs": build_get("What users did not find", [], LIST_SCHEMA),
        "/api/more": build_get(
            "Is more being looked for?", [build_parameter("q", "because of this question", required=True)]
        ),
        "/api/stats": build_get("What users do", [DAYS_PARAMETER]),
        "/api/events": build_post(
            "Report behaviour", {"query_id": "string", "url": "string", "position": "integer", "events": "array"}
        ),
        "/api/rating": build_post(
            "Say whether a search found it", {"query_id": "string", "found": "boolean", "stars": "integer"}
        ),
        "/healthz": build_get("Does the app answer?"),
    },
    "components": {"schemas": {"Hit": HIT_SCHEMA, "Results": RESULTS_SCHEMA}},
}
