"""Authentication, scopes, and errors are the same for all operations."""

import pytest
from starlette.testclient import TestClient
from tests.web.rest.conftest import API, create_secret

from sanderling.web.rest.api_tokens import TokenScope
from sanderling.web.rest.operation import Operation
from sanderling.web.rest.routes import OPERATIONS
from sanderling.web.state import AppState

CHANGING = [operation for operation in OPERATIONS if operation.needs_token]


def address_of(path: str) -> str:
    return API + path.replace("{id}", "1")


@pytest.mark.parametrize("operation", CHANGING, ids=lambda operation: operation.name)
def test_changes_need_a_token_on_loopback_too(client: TestClient, app_state: AppState, operation: Operation) -> None:
    address, method = address_of(operation.path), operation.method
    answer = client.request(method, address, json={})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    secret = create_secret(app_state.crawl_view.folder, TokenScope.READ)
    refused = client.request(method, address, json={}, headers={"authorization": f"Bearer {secret}"})
    assert refused.status_code == 403
    assert refused.json() == {"error": f"this needs a token with the scope {operation.scope}"}


@pytest.mark.parametrize("header", ["Bearer sdl_wrong", "Bearer", "Basic YTpi", "Bearer " + "a" * 10_000])
def test_wrong_token_is_refused_even_where_none_is_needed(client: TestClient, header: str) -> None:
    assert client.get(f"{API}/status", headers={"authorization": header}).status_code == 401


def test_public_server_needs_a_token_except_for_search(client: TestClient, app_state: AppState) -> None:
    app_state.is_public = True
    for operation in OPERATIONS:
        if operation.method == "GET" and not operation.is_stream:
            answer = client.get(address_of(operation.path), params={"q": "tern"} if operation.is_open else {})
            assert answer.status_code == (200 if operation.is_open else 401), operation.name
    secret = create_secret(app_state.crawl_view.folder, TokenScope.READ)
    assert client.get(f"{API}/status", headers={"authorization": f"Bearer {secret}"}).status_code == 200


@pytest.mark.parametrize(
    ("path", "status", "error"),
    [
        ("pages?limit=0", 422, "invalid parameter"),
        ("pages?limits=5", 422, "unknown field `limits`"),
        ("pages?limit=5&limit=6", 422, "given twice"),
        ("changes?since=yesterday", 422, "invalid parameter"),
        ("changes?kind=color", 422, "invalid parameter"),
        ("page?url=https://never.example/", 404, "not in"),
        ("page", 422, "required field `url`"),
        ("crawls/99", 404, "there is no crawl 99"),
        ("crawls/x", 404, "not a number"),
        ("nothing", 404, "not found"),
    ],
)
def test_errors_are_sentences_in_json(api: TestClient, path: str, status: int, error: str) -> None:
    answer = api.get(path)
    assert answer.status_code == status
    assert error in answer.json()["error"]


def test_broken_body_and_wrong_method_are_refused(api: TestClient) -> None:
    assert api.post("crawls", content=b"{").status_code == 400
    assert api.post("crawls", content=b"[" * 50_000).status_code in (400, 422)
    assert api.post("crawls", content=b"x" * 100_000).json() == {"error": "The request body is too large."}
    wrong = api.put("crawls", json={})
    assert (wrong.status_code, wrong.json()) == (405, {"error": "method not allowed"})
    assert set(wrong.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}
