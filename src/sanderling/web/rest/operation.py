"""Operations of the HTTP API: authentication, parsing, and errors are the same for all.

A request that changes something needs a token with the scope of the operation, on loopback too: any page in a browser
can send requests to 127.0.0.1, but not with that header.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from sanderling.errors import CollectionError, SanderlingError, UsageError
from sanderling.web.rest.api_tokens import ApiToken, TokenScope
from sanderling.web.rest.services import RestServices
from sanderling.web.state import AppState, get_app_state, get_session

API_PREFIX = "/api/v1"
JSON_HEADERS = {"Cache-Control": "no-store"}
AUTHENTICATE = {"WWW-Authenticate": 'Bearer realm="sanderling"'}
MAX_TOKEN_LENGTH = 200


class ApiError(Exception):
    """An answer with an error: HTTP status and a sentence."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers or {}


class NoParameters(Struct, frozen=True, forbid_unknown_fields=True):
    """An operation without parameters in the query."""


class ErrorAnswer(Struct, frozen=True):
    """The answer to a request that failed."""

    error: str


class ApiCall(Struct, frozen=True):
    """An authorized request with its parsed input."""

    app_state: AppState
    services: RestServices
    parameters: Any
    body: Any = None
    id: int = 0  # of the path
    token: ApiToken | None = None  # None: without a token
    request: Request | None = None


class Operation(Struct, frozen=True, kw_only=True):
    """An operation of the API, as it is served and described."""

    name: str
    method: str
    path: str
    summary: str
    run: Callable[[ApiCall], Any]
    answer: Any  # type; Response: a stream
    parameters: type[Struct] = NoParameters
    body: type[Struct] | None = None
    scope: TokenScope = TokenScope.READ
    status: int = 200
    conflict: str = ""  # when the answer is 409
    is_stream: bool = False
    is_open: bool = False  # also on a server that other machines can reach

    @property
    def needs_token(self) -> bool:
        """Whether a token is required on loopback, too."""
        return self.method != "GET"


def build_routes(operations: Iterable[Operation]) -> list[BaseRoute]:
    """Build a route for each path, with the operations of all its methods."""
    by_path: dict[str, list[Operation]] = {}
    for operation in operations:
        by_path.setdefault(operation.path, []).append(operation)
    return [_build_route(path, found) for path, found in by_path.items()]


def _build_route(path: str, operations: Sequence[Operation]) -> Route:
    by_method = {operation.method: operation for operation in operations}

    async def handle(request: Request) -> Response:
        operation = by_method["GET" if request.method == "HEAD" else request.method]
        try:
            return await answer_request(operation, request)
        except ApiError as error:
            return build_error(error.status, error.message, error.headers)

    pattern = path.replace("{id}", "{id:str}")
    return Route(API_PREFIX + pattern, handle, methods=list(by_method), name=operations[0].name)


def build_error(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": message}, status, JSON_HEADERS | (headers or {}))


async def answer_request(operation: Operation, request: Request) -> Response:
    """Authorize, parse, run, and serialize. Raises ApiError."""
    token = await run_in_threadpool(authorize, operation, request)
    id_ = request.path_params.get("id", "0")
    if not (id_.isascii() and id_.isdigit() and len(id_) < 16):
        raise ApiError(404, f"{id_[:100]!r} is not a number")
    parameters = _parse_parameters(operation, request)
    body = _parse_body(operation.body, await request.body()) if operation.body is not None else None
    call = ApiCall(get_app_state(request), request.app.state.rest_services, parameters, body, int(id_), token, request)
    result = await run_in_threadpool(_run, operation, call)
    if isinstance(result, Response):
        return result
    if operation.status == 204:
        return Response(None, 204, JSON_HEADERS)
    return Response(msgspec.json.encode(result), operation.status, JSON_HEADERS, "application/json")


def authorize(operation: Operation, request: Request) -> ApiToken | None:
    """Return the token of a request. Raises ApiError unless the operation is allowed."""
    header = request.headers.get("authorization", "")
    app_state, services = get_app_state(request), request.app.state.rest_services
    if not header:
        is_open = operation.is_open or not app_state.is_public or get_session(request) is not None
        if is_open and not operation.needs_token:
            return None
        raise ApiError(401, "send a token: Authorization: Bearer sdl_... (sanderling token create)", AUTHENTICATE)
    kind, _, secret = header.partition(" ")
    known = kind.lower() == "bearer" and len(secret) <= MAX_TOKEN_LENGTH
    token: ApiToken | None = services.tokens.find_token(secret.strip(), app_state.clock()) if known else None
    if token is None:
        raise ApiError(401, "the token is unknown, revoked, or expired", AUTHENTICATE)
    if operation.scope not in token.scopes:
        raise ApiError(403, f"this needs a token with the scope {operation.scope}")
    return token


def _parse_parameters(operation: Operation, request: Request) -> Struct:
    parameters: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in parameters:
            raise ApiError(422, f"the parameter {name[:100]!r} is given twice")
        parameters[name] = value
    try:
        return msgspec.convert(parameters, operation.parameters, strict=False)
    except msgspec.ValidationError as error:
        raise ApiError(422, f"invalid parameter: {error}") from None


def _parse_body(kind: type[Struct], body: bytes) -> Struct:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise ApiError(422, f"invalid body: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ApiError(400, "the body is not valid JSON") from None


def _run(operation: Operation, call: ApiCall) -> Any:
    try:
        return operation.run(call)
    except UsageError as error:
        raise ApiError(422, str(error)) from None
    except CollectionError as error:
        raise ApiError(503, str(error)) from None
    except SanderlingError as error:
        raise ApiError(500, str(error)) from None
