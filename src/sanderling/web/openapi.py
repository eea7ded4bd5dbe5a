"""The OpenAPI 3.1 description of the API."""

from typing import Any

from sanderling import __version__

JsonObject = dict[str, Any]


def build_parameter(name: str, description: str, kind: str = "string", *, required: bool = False) -> JsonObject:
    return {"name": name, "in": "query", "required": required, "description": description, "schema": {"type": kind}}


def build_get(summary: str, parameters: list[JsonObject] | None = None, schema: JsonObject | None = None) -> JsonObject:
    body = {"application/json": {"schema": schema or {"type": "object"}}}
    return {
        "get": {"summary": summary, "parameters": parameters or [],
                "responses": {"200": {"description": summary, "content": body}}}
    }  # fmt: skip


def build_post(summary: str, fields: dict[str, str]) -> JsonObject:
    schema = {"type": "object", "properties": {name: {"type": kind} for name, kind in fields.items()}}
    return {
        "post": {
            "summary": summary,
            "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
            "responses": {"200": {"description": "accepted"}, "403": {"description": "not from this site"},
                          "422": {"description": "not valid"}},
        }
    }  # fmt: skip


QUERY_SYNTAX = 'words, "phrases", -excluded, OR, site: type: lang: changed: asof: intitle: inurl:'
URL_PARAMETER = build_parameter("url", "a stored URL", required=True)
LIMIT_PARAMETER = build_parameter("limit", "maximum number of entries", "integer")
DAYS_PARAMETER = build_parameter("days", "number of past days", "integer")
HIT_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in ("url", "title", "title_html", "snippet_html", "site")},
        "type": {"type": "string"}, "language": {"type": "string"},
        "position": {"type": "integer"}, "score": {"type": "number"},
        "changed_at": {"type": "string", "description": "date-time; empty if no change has been seen"},
        "first_seen_at": {"type": "string", "description": "date-time; empty if unknown"},
        "visited_at": {"type": "string", "format": "date-time"},
        "parts": {"type": "object", "description": "with explain=1: text x link x freshness x behavior = score"},
        "fields": {"type": "array", "description": "with explain=1: score of each word in each field"},
    },
}  # fmt: skip
RESULTS_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "query": {"type": "string"}, "query_id": {"type": "string"}, "total": {"type": "integer"},
        "corrected_query": {"type": "string", "description": "the query after spelling correction; empty: as typed"},
        "relaxed": {"type": "boolean"}, "hits": {"type": "array", "items": {"$ref": "#/components/schemas/Hit"}},
        "facets": {"type": "object", "additionalProperties": {"type": "object"}},
    },
}  # fmt: skip
LIST_SCHEMA: JsonObject = {"type": "array", "items": {"type": "object"}}

OPENAPI_DOCUMENT: JsonObject = {
    "openapi": "3.1.0",
    "info": {"title": "Sanderling", "version": __version__, "description": "Search and crawl status."},
    "paths": {
        "/api/search": build_get(
            "Search stored pages",
            [
                build_parameter("q", QUERY_SYNTAX, required=True),
                build_parameter("offset", "results to skip", "integer"),
                LIMIT_PARAMETER,
                build_parameter("explain", "1: add the parts of each score"),
                build_parameter("facets", "0: do not count facets"),
                build_parameter("snippets", "0: no snippets"),
                build_parameter("log", "0: do not log this ranking"),
            ],
            {"$ref": "#/components/schemas/Results"},
        ),
        "/api/status": build_get("Crawl status"),
        "/api/live": build_get("Crawl status every second, as server-sent events"),
        "/api/hosts": build_get("Hosts in the frontier", [LIMIT_PARAMETER], LIST_SCHEMA),
        "/api/workers": build_get("Running workers", [], LIST_SCHEMA),
        "/api/due": build_get("Next URLs to visit, with reasons", [LIMIT_PARAMETER], LIST_SCHEMA),
        "/api/changes": build_get(
            "Detected changes",
            [
                build_parameter(
                    "kind", "content, structure, presentation, behaviour, media, links, new, gone or moved"
                ),
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
            "Word diff of two versions",
            [
                URL_PARAMETER,
                build_parameter("old", "visit id; default: the version before the last", "integer"),
                build_parameter("new", "visit id; default: the last version", "integer"),
            ],
        ),
        "/api/unmet-queries": build_get("Unmet queries", [], LIST_SCHEMA),
        "/api/more": build_get(
            "State of the unmet query for a text", [build_parameter("q", "query text", required=True)]
        ),
        "/api/stats": build_get("User event counts", [DAYS_PARAMETER]),
        "/api/events": build_post(
            "Report behavior events", {"query_id": "string", "url": "string", "position": "integer", "events": "array"}
        ),
        "/api/rating": build_post("Rate a search", {"query_id": "string", "found": "boolean", "stars": "integer"}),
        "/healthz": build_get("Health check"),
    },
    "components": {"schemas": {"Hit": HIT_SCHEMA, "Results": RESULTS_SCHEMA}},
}
