"""A client of the HTTP API with all scopes, and a server of an empty collection that may crawl loopback."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.support.site import Site, tree

from sanderling.web.app import build_app
from sanderling.web.rest.api_tokens import TokenScope, TokenStore
from sanderling.web.server import ServerAddress, open_app_state
from sanderling.web.state import AppState

API = "/api/v1"


def create_secret(folder: Path, *scopes: TokenScope) -> str:
    store = TokenStore(folder)
    try:
        return store.create_token("test", scopes or tuple(TokenScope), 1.0)[1]
    finally:
        store.close()


@pytest.fixture
def api(app_state: AppState) -> Iterator[TestClient]:
    """Return a client with a token of all scopes, for the crawled site."""
    with TestClient(build_app(app_state, ["testserver"])) as client:
        client.base_url = client.base_url.join(API + "/")
        client.headers["authorization"] = f"Bearer {create_secret(app_state.crawl_view.folder)}"
        yield client


@pytest.fixture
def new_api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """Return a client with a token of all scopes, for an empty collection. Its crawls may visit loopback."""
    monkeypatch.setenv("SANDERLING_ALLOW_PRIVATE", "1")
    monkeypatch.setenv("SANDERLING_WORKERS", "1")
    state = open_app_state(tmp_path / "c", ServerAddress(), create=True)
    with TestClient(build_app(state, ["testserver"])) as client:
        client.base_url = client.base_url.join(API + "/")
        client.headers["authorization"] = f"Bearer {create_secret(tmp_path / 'c')}"
        yield client
    state.close()


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(tree(30)) as running:
        yield running
