"""sanderling links: outgoing and incoming links of a page."""

import argparse

from sanderling.cli.arguments import CommandCall, print_json
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.link_graph import load_outgoing_links, load_source_ids
from sanderling.storage.queries import load_urls, resolve_known_url
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
    with open_collection_read_only(call.collection) as collection:
        id_, key = resolve_known_url(collection, call.args.url)
        forward = load_outgoing_links(collection.db, id_)
        back = load_source_ids(collection.db, id_) if both or call.args.back else []
        names = load_urls(collection.db, [*forward.target_ids, *back])
    out = [
        {"url": names[target], "anchor": anchor, "nofollow": number in forward.nofollow_positions}
        for number, (target, anchor) in enumerate(zip(forward.target_ids, forward.anchor_texts, strict=True))
    ]
    if call.json:
        print_json({"url": key, "forward": out, "back": [names[source] for source in back]})
        return 0
    if both or call.args.forward:
        print(f"{len(out)} links from {key}")
        for link in out:
            print(f"  -> {link['url']}" + (f"   {strip_control_characters(link['anchor'])}" if link["anchor"] else ""))
    if both or call.args.back:
        print(f"{len(back)} pages link to {key}")
        for source in back:
            print(f"  <- {names[source]}")
    return 0
