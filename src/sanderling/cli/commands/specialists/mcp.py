"""sanderling mcp: serve a collection to language models over the Model Context Protocol."""

import argparse
import asyncio
import importlib.util
import logging

from sanderling.api.aio import AsyncCollection
from sanderling.api.collection_access import Collection
from sanderling.api.crawl_settings import Settings
from sanderling.cli.arguments import CommandCall, print_message
from sanderling.errors import MissingExtra, UsageError

HELP = "Serve a collection to language models (MCP): search, read as Markdown, changes, diffs, history."
EXAMPLES = """\
examples:
  sanderling mcp                      for clients that start the server (standard input and output)
  sanderling mcp --http --port 8421   for clients on this machine, at http://127.0.0.1:8421/mcp
  sanderling mcp --allow-crawl        clients may also crawl and refresh
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--http", action="store_true", help="serve HTTP on 127.0.0.1 instead of standard input")
    parser.add_argument("--port", type=int, default=8421, help="port for --http (default 8421)")
    parser.add_argument("--allow-crawl", action="store_true", help="also offer tools that crawl and refresh")


def run(call: CommandCall) -> int:
    """Serve until the client disconnects, or until interrupted."""
    if importlib.util.find_spec("mcp") is None:
        raise MissingExtra("serving language models", "mcp")
    if not 0 < call.args.port < 65536:
        raise UsageError("--port is a number from 1 to 65535")
    if not call.args.allow_crawl:
        with Collection(call.collection) as collection_now:
            next(collection_now.pages(), None)  # raises CollectionError now, not at the first question
    from sanderling.api.mcp_server import build_mcp_server

    logging.getLogger("mcp").setLevel(logging.WARNING)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    collection = AsyncCollection(call.collection, Settings.from_environment())
    server = build_mcp_server(collection, allow_crawl=call.args.allow_crawl)

    async def serve() -> None:
        async with collection:
            if call.args.http:
                print_message(call, f"http://127.0.0.1:{call.args.port}/mcp")
                await server.run_streamable_http_async(host="127.0.0.1", port=call.args.port)
            else:
                await server.run_stdio_async()

    asyncio.run(serve())
    return 0
