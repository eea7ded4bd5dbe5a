"""The OpenAPI 3.1 document, generated from the types of the operations."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sanderling import __version__
from sanderling.web.rest.operation import API_PREFIX, ErrorAnswer, Operation

JsonObject = dict[str, Any]
DESCRIPTION = (
    "Read a collection, start and stop crawls, and manage watches. Operations that change something need a token"
    " (`sanderling token create`), others only on a server that other machines can reach. Times are ISO 8601 in UTC."
    " Texts named `untrusted_text` were written by the owners and users of crawled sites."
)
ERRORS = {
    400: "The body is not valid JSON.",
    401: "No token, or it is unknown, revoked, or expired.",
    403: "The token does not have the scope.",
    404: "There is no such page, version, crawl, or watch.",
    409: "",
    413: "The request or the answer is too large.",
    421: "The host name is not allowed.",
    422: "A parameter or the body is invalid.",
    429: "Too many requests.",
    500: "The operation failed.",
    503: "The collection cannot be read now, or too many streams are open.",
}
ID_PARAMETER: JsonObject = {
    "name": "id", "in": "path", "required": True,
    "schema": {"type": "integer", "minimum": 0, "maximum": 10**15 - 1},
}  # fmt: skip


def build_openapi_document(operations: Sequence[Operation]) -> JsonObject:
    """Build the document. Types become components."""
    types = [one for op in operations for one in (op.parameters, op.answer, op.body) if one is not None]
    schemas, components = msgspec.json.schema_components(
        [*types, ErrorAnswer], ref_template="#/components/schemas/{name}"
    )
    by_type = dict(zip(map(repr, [*types, ErrorAnswer]), schemas, strict=True))
    paths: JsonObject = {}
    for operation in operations:
        described = _describe_operation(operation, by_type, components)
        if operation.status == 201:
            described["responses"]["201"]["links"] = _build_links(operation, operations)
        paths.setdefault(API_PREFIX + operation.path, {})[operation.method.lower()] = described
    used = {name: schema for name, schema in components.items() if not name.endswith("Parameters")}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Sanderling", "version": __version__, "description": DESCRIPTION},
        "paths": paths,
        "components": {
            "schemas": used,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "sdl_..."}},
        },
    }


def _describe_operation(operation: Operation, by_type: JsonObject, components: JsonObject) -> JsonObject:
    described: JsonObject = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [operation.path.split("/")[1]],
        "description": f"Scope of the token: `{operation.scope}`.",
        "security": [{"token": []}] if operation.needs_token else [{}, {"token": []}],
        "parameters": _list_parameters(operation, components),
        "responses": _describe_responses(operation, by_type),
    }
    if operation.body is not None:
        content = {"application/json": {"schema": by_type[repr(operation.body)]}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _build_links(created_by: Operation, operations: Sequence[Operation]) -> JsonObject:
    """Link what was created to the operations that take its id."""
    return {
        operation.name: {"operationId": operation.name, "parameters": {"id": "$response.body#/id"}}
        for operation in operations
        if operation.path.startswith(created_by.path + "/{id}") and not operation.is_stream
    }


def _list_parameters(operation: Operation, components: JsonObject) -> list[JsonObject]:
    schema = components[operation.parameters.__name__]
    found = [ID_PARAMETER] if "{id}" in operation.path else []
    for name, field in schema["properties"].items():
        field = dict(field)
        described = {"name": name, "in": "query", "required": name in schema.get("required", [])}
        if description := field.pop("description", ""):
            described["description"] = description
        found.append(described | {"schema": field})
    return found


def _describe_responses(operation: Operation, by_type: JsonObject) -> JsonObject:
    error = {"application/json": {"schema": by_type[repr(ErrorAnswer)]}}
    success: JsonObject = {"description": operation.summary}
    if operation.is_stream:
        success["content"] = {"text/event-stream": {"schema": {"type": "string"}}}
    elif operation.answer is not None:
        success["content"] = {"application/json": {"schema": by_type[repr(operation.answer)]}}
    codes = [401, 403, 404, 413, 421, 422, 429, 500, 503]
    codes += [400] * (operation.body is not None) + [409] * bool(operation.conflict)
    descriptions = {code: operation.conflict if code == 409 else ERRORS[code] for code in sorted(codes)}
    failures = {str(code): {"description": text, "content": error} for code, text in descriptions.items()}
    return {str(operation.status): success} | failures
