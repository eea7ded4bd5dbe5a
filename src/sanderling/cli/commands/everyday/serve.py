"""sanderling serve: web interface for search, stored pages, diffs, and the dashboard."""

import argparse
import importlib.util
import ipaddress

from sanderling.cli.arguments import CommandCall, print_json, print_message
from sanderling.errors import MissingExtra, UsageError

HELP = "Serve search, stored pages, changes, and a live dashboard in the browser. Changes require a login."
EXAMPLES = """\
examples:
  sanderling serve
  sanderling serve -C archive-2026 --port 8500                   replay of whole pages: port 9500
  sanderling serve --create                                          the first crawl is started by the API
  sanderling serve --host 0.0.0.0 --host-name search.example.org     reachable from other machines; use a TLS proxy
"""
REPLAY_PORT_DISTANCE = 1000


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to serve on (default 127.0.0.1: this machine only)"
    )
    parser.add_argument("--port", type=int, default=8420, help="port (default 8420; 0: any free one)")
    parser.add_argument(
        "--host-name", action="append", default=[], metavar="NAME", help="accepted host name (repeatable)"
    )
    parser.add_argument(
        "--trust-proxy", action="append", default=[], metavar="ADDRESS",
        help="address or network of a proxy whose X-Forwarded-For is trusted (repeatable; default: none)",
    )  # fmt: skip
    parser.add_argument(
        "--create", action="store_true", help="create the collection if there is none, for crawls started by the API"
    )
    parser.add_argument(
        "--replay-port", type=int, metavar="PORT",
        help="port of the replay of stored pages, with Memento and a CDX API (default: --port + 1000; 0: any free one)",
    )  # fmt: skip
    parser.add_argument("--no-replay", action="store_true", help="do not serve the replay of stored pages")
    parser.add_argument("--no-index", action="store_true", help="do not update the search index")


def _parse_network(text: str) -> str:
    """Parse the address or network of a proxy."""
    try:
        return str(ipaddress.ip_network(text)) if "/" in text else str(ipaddress.ip_address(text))
    except ValueError:
        raise UsageError(f"--trust-proxy {text}: write an address or a network, 127.0.0.1 or 10.0.0.0/8") from None


def _choose_replay_ports(call: CommandCall) -> tuple[int, ...]:
    """Return the ports to try for the replay: the given one, or a fixed one and then any free one."""
    if call.args.no_replay:
        return ()
    if call.args.replay_port is not None:
        return (call.args.replay_port,)
    fixed = call.args.port + REPLAY_PORT_DISTANCE
    return (fixed, 0) if call.args.port and fixed < 65536 else (0,)


def run(call: CommandCall) -> int:
    """Run the web server until interrupted."""
    for part in ("tantivy", "starlette", "uvicorn", "argon2", "jinja2"):
        if importlib.util.find_spec(part) is None:
            raise MissingExtra("serving", "search")
    if not 0 <= call.args.port < 65536 or not 0 <= (call.args.replay_port or 0) < 65536:
        raise UsageError("--port and --replay-port are numbers up to 65535")
    from sanderling.web.server import ServerAddress, serve

    names = tuple(name.lower() for name in call.args.host_name)
    proxies = tuple(map(_parse_network, call.args.trust_proxy))
    place = ServerAddress(call.args.host, call.args.port, names, proxies, _choose_replay_ports(call))

    def tell(text: str) -> None:
        if call.json and text.startswith("http"):
            print_json({"url": text})
        elif text.startswith("http"):
            print(text, flush=True)
        else:
            print_message(call, text)

    serve(call.collection, place, tell, keep_index=not call.args.no_index, create=call.args.create)
    return 0
