"""sanderling links: outgoing and incoming links of a page."""

import argparse

import msgspec

from sanderling.api.collection_access import Collection
from sanderling.cli.arguments import CommandCall, print_json
from sanderling.terminal import strip_control_characters

HELP = "List outgoing and incoming links of a stored page."
EXAMPLES = """\
examples:
  sanderling links https://example.org/
  sanderling links https://example.org/ --back
  sanderling links https://example.org/ --json
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("url", help="a known URL")
    parser.add_argument("--forward", action="store_true", help="only outgoing links")
    parser.add_argument("--back", action="store_true", help="only incoming links")


def run(call: CommandCall) -> int:
    """Print outgoing links, incoming links, or both."""
    both = call.args.forward == call.args.back
    with Collection(call.collection) as collection:
        found = collection.links(call.args.url)
    incoming = found.incoming if both or call.args.back else ()
    if call.json:
        print_json({"url": found.url, "forward": msgspec.to_builtins(found.outgoing), "back": list(incoming)})
        return 0
    if both or call.args.forward:
        print(f"{len(found.outgoing)} links from {found.url}")
        for link in found.outgoing:
            print(f"  -> {link.url}" + (f"   {strip_control_characters(link.anchor)}" if link.anchor else ""))
    if both or call.args.back:
        print(f"{len(incoming)} pages link to {found.url}")
        for source in incoming:
            print(f"  <- {source}")
    return 0
