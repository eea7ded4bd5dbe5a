"""sanderling shards: divide a collection into shards, join them, or list them."""

import argparse

import msgspec

from sanderling.api.operations.shard_sets import join_collection, list_shards, split_into_shards
from sanderling.cli.arguments import CommandCall, parse_whole_number, print_json, print_message, print_rows

HELP = "Divide a collection into shards with a coordinator each (crawl --shards), or join them, while no crawl runs."
EXAMPLES = """\
examples:
  sanderling shards                  list the shards of the set
  sanderling shards split 4          divide the collection by domain; a set is divided again
  sanderling shards join             make one collection of them
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("action", nargs="?", choices=("list", "split", "join"), default="list", help="default: list")
    parser.add_argument("count", nargs="?", type=parse_whole_number, default=4, help="number of shards (default 4)")


def run(call: CommandCall) -> int:
    """Convert the collection, and list its shards."""
    if call.args.action == "join":
        join_collection(call.collection)
        print_message(call, f"{call.collection} is one collection again; its search index is built at the next search")
        return 0
    if call.args.action == "split":
        split_into_shards(call.collection, call.args.count)
    states = list_shards(call.collection)
    if call.json:
        for state in states:
            print_json(msgspec.to_builtins(state))
        return 0
    rows = [(state.shard, state.hosts, state.pages, state.queued, state.folder) for state in states]
    print_rows(rows, ("shard", "hosts", "pages", "queued", "folder"))
    return 0
