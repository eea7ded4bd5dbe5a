"""The OpenAPI document is valid, and generated requests are answered as it says."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import CrawledSite, ServerThread
from tests.web.rest.conftest import API, create_secret

from sanderling.web.rest.routes import OPENAPI_DOCUMENT, OPERATIONS
from sanderling.web.server import ServerAddress, open_app_state

STREAMS = [operation.name for operation in OPERATIONS if operation.is_stream]
DOCS = Path(__file__).parents[3] / "docs"
RUN_SCHEMATHESIS = "from schemathesis.cli import schemathesis; schemathesis()"
CONFIG = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "401", "403", "404", "409", "422"]  # what a schema cannot say: two fields that exclude
[checks.negative_data_rejection]
expected-statuses = ["4xx"]
"""


def test_every_operation_is_described(client: TestClient) -> None:
    paths = client.get(f"{API}/openapi.json").json()["paths"]
    described = {one["operationId"]: one for path in paths.values() for one in path.values()}
    assert set(described) == {operation.name for operation in OPERATIONS}
    for operation in OPERATIONS:
        one = described[operation.name]
        assert one["security"] == ([{"token": []}] if operation.needs_token else [{}, {"token": []}])
        assert str(operation.status) in one["responses"]


def test_references_and_regular_expressions_are_valid() -> None:
    text = str(OPENAPI_DOCUMENT)
    schemas = OPENAPI_DOCUMENT["components"]["schemas"]
    assert set(re.findall(r"#/components/schemas/(\w+)", text)) <= set(schemas)
    assert schemas["PageEntry"]["properties"]["last_visit"]["anyOf"][0] == {"type": "string", "format": "date-time"}
    assert not [name for name in schemas if name.endswith("Parameters")]


def test_every_operation_is_in_the_guide() -> None:
    text = (DOCS / "how-to" / "http-api.md").read_text()
    assert not [op.name for op in OPERATIONS if f"`{op.method} {op.path}`" not in text]


@pytest.mark.slow
def test_generated_requests_are_answered_as_described(crawled_site: CrawledSite, tmp_path: Path) -> None:
    """Run property-based tests of the whole API on a copy, which they change; loopback is not crawled."""
    pytest.importorskip("schemathesis", reason="schemathesis is not installed (requirements-dev.txt)")
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    folder = tmp_path / "copy"
    shutil.copytree(crawled_site.folder, folder)
    server_thread = ServerThread(open_app_state(folder, ServerAddress()))
    server_thread.start()
    secret = create_secret(folder)
    command = [
        sys.executable, "-c", RUN_SCHEMATHESIS, "--config-file", str(tmp_path / "schemathesis.toml"), "run",
        f"{server_thread.root}{API}/openapi.json", "-H", f"Authorization: Bearer {secret}", "--max-examples", "12",
        "--generation-deterministic", "--request-timeout", "60", "--suppress-health-check", "all", "--no-color",
        *(word for name in STREAMS for word in ("--exclude-operation-id", name)),
    ]  # fmt: skip
    try:
        result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    finally:
        server_thread.stop()
        server_thread.app_state.close()
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]
