"""sanderling workers: control the workers of a running crawl."""

import argparse

from sanderling.api.operations.crawl_control import ControlMessage, send_command
from sanderling.cli.arguments import CommandCall, print_json, print_rows
from sanderling.errors import UsageError

HELP = "List and control the workers of a running crawl."
EXAMPLES = """\
examples:
  sanderling workers list -C my-site
  sanderling workers clone m1-3fa9c2
  sanderling workers move m1-3fa9c2 --to https://host.example:8443     --to home calls it back
  sanderling workers pause --all && sanderling workers resume --all
  sanderling workers dispose m2-81b0aa
  sanderling workers create
  sanderling workers pause-others m1-3fa9c2                            pause all other workers
"""
ACTIONS = ("list", "create", "clone", "move", "pause", "resume", "dispose", "pause-others")
COLUMNS = ("id", "state", "place", "where", "load", "given", "pages", "cpu_share", "latency_seconds", "silent")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("order", choices=ACTIONS, metavar="|".join(ACTIONS), help="action")
    parser.add_argument("migrant", nargs="*", default=[], help="worker ids")
    parser.add_argument("--all", action="store_true", help="all workers")
    parser.add_argument("--to", metavar="PLACE", help="target: home, or the address of a migrant given with --migrant")


def run(call: CommandCall) -> int:
    """Send a command to the running crawl and print the reply."""
    args = call.args
    if args.order == "move" and not args.to:
        raise UsageError("target missing: --to PLACE, or --to home")
    command: ControlMessage = {"do": args.order, "place": args.to, "workers": "all" if args.all else args.migrant}
    answer = send_command(call.collection, command)
    if "error" in answer:
        raise UsageError(str(answer["error"]))
    rows = answer.get("workers", [])
    if call.json:
        for row in rows:
            print_json(row)
    else:
        print_rows([[row.get(column, "-") for column in COLUMNS] for row in rows], COLUMNS)
    return 0
