"""Test the MCP server with the client of the official library, in process and as a child process."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from tests.api.test_api import OPTIONS, change_price, folder, site  # noqa: F401 - fixtures
from tests.support.site import Site, free_port

import sanderling
from sanderling.api.mcp_server import build_mcp_server
from sanderling.cli import main

READING_TOOLS = {"search", "read", "changes", "diff", "history", "similar", "status"}


def run_with_client(folder: Path, use: Callable[[Client], Awaitable[None]], *, allow_crawl: bool = False) -> None:  # noqa: F811
    async def serve() -> None:
        async with (
            sanderling.open_async(folder, OPTIONS) as collection,
            Client(build_mcp_server(collection, allow_crawl=allow_crawl)) as client,
        ):
            await use(client)

    asyncio.run(serve())


async def call_tool(client: Client, name: str, **arguments: object) -> Any:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return json.loads(result.content[0].text)  # type: ignore[union-attr]


def test_tools_answer_with_url_time_and_digest(folder: Path, site: Site) -> None:  # noqa: F811
    url = site.root + "/"
    change_price(site, "12.50")
    with sanderling.open(folder, OPTIONS) as collection:
        collection.refresh(every_page=True).wait()

    async def use(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING_TOOLS
        page = await call_tool(client, "read", url=url)
        assert page["url"] == url
        assert page["digest"].startswith("sha256:")
        assert page["time"].endswith("+00:00")
        assert page["untrusted_page_text"].startswith("# Tide tables")
        part = await call_tool(client, "read", url=url, offset=2, max_chars=4)
        assert (part["untrusted_page_text"], part["next_offset"]) == ("Tide", 6)
        versions = (await call_tool(client, "history", url=url))["versions"]
        assert [version["number"] for version in versions] == [1, 2]
        assert "9.99" in (await call_tool(client, "read", url=url, at=versions[0]["time"]))["untrusted_page_text"]
        changes = (await call_tool(client, "changes", kind="content"))["changes"]
        assert [change["url"] for change in changes] == [url]
        diff = await call_tool(client, "diff", url=url, old="1", new="2")
        assert "~~9~~**12**" in diff["untrusted_page_text"]
        assert diff["new"]["digest"] == page["digest"]
        assert (await call_tool(client, "search", query="tide tables"))["hits"][0]["url"] == url
        similar = (await call_tool(client, "similar", url=url))["pages"]
        assert all(page["digest"] and 0 <= page["probability"] <= 1 for page in similar)
        assert (await call_tool(client, "status"))["pages"] == 2

    run_with_client(folder, use)


def test_mistakes_are_answered_in_a_sentence(folder: Path) -> None:  # noqa: F811
    async def use(client: Client) -> None:
        result = await client.call_tool("read", {"url": "https://unknown.example/"})
        assert result.is_error
        assert "https://unknown.example/ is not in" in result.content[0].text  # type: ignore[union-attr]

    run_with_client(folder, use)


def test_crawling_is_offered_only_where_it_is_allowed(folder: Path, site: Site) -> None:  # noqa: F811
    async def use(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING_TOOLS | {"crawl", "refresh"}
        assert (await call_tool(client, "crawl", url=site.root + "/"))["finish_reason"] == "done"
        change_price(site, "15.00")
        assert "changes" in await call_tool(client, "refresh")

    run_with_client(folder, use, allow_crawl=True)


def test_command_serves_over_standard_input(folder: Path, site: Site) -> None:  # noqa: F811
    command = ["-m", "sanderling", "mcp", "-C", str(folder), "--quiet"]
    parameters = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))

    async def ask() -> None:
        async with Client(stdio_client(parameters)) as client:
            assert (await call_tool(client, "read", url=site.root + "/"))["title"] == "Tide tables"

    asyncio.run(ask())


def test_command_serves_http_on_this_machine(folder: Path, site: Site) -> None:  # noqa: F811
    port = free_port()
    command = [sys.executable, "-m", "sanderling", "mcp", "--http", "--port", str(port), "-C", str(folder)]

    async def ask() -> None:
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            assert (await call_tool(client, "status"))["pages"] == 2

    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        assert f"http://127.0.0.1:{port}/mcp" in server.stderr.readline()
        wait_for_port(port)
        asyncio.run(ask())
        server.terminate()
        server.stderr.read()


def wait_for_port(port: int) -> None:
    for _ in range(200):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on port {port}")


def test_missing_collection_is_reported_before_serving(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "-C", str(tmp_path / "none")]) == 4
    assert "there is no collection" in capsys.readouterr().err
