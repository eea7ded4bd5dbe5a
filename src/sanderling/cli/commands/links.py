"""sanderling links: where a page links to, and who links to it."""

import argparse

from sanderling.cli.arguments import Call, print_json
from sanderling.storage.collection import read_collection
from sanderling.storage.link_graph import sources_of, targets_of
from sanderling.storage.queries import known_url, urls_of
from sanderling.terminal import plain

HELP = "List the forward and back links of a stored page."
EXAMPLES = """\
examples:
  sanderling links https://example.org/
  sanderling links https://example.org/ --back
  sanderling links https://example.org/ --json
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("url", help="a known URL")
    parser.add_argument("--forward", action="store_true", help="only where it links to")
    parser.add_argument("--back", action="store_true", help="only who links to it")


def run(call: Call) -> int:
    """Print both lists, or the one asked for."""
    both = call.args.forward == call.args.back
    with read_collection(call.collection) as collection:
        id_, key = known_url(collection, call.args.url)
        forward = targets_of(collection.db, id_)
        back = sources_of(collection.db, id_) if both or call.args.back else []
        names = urls_of(collection.db, [*forward.targets, *back])
    out = [
        {"url": names[target], "anchor": anchor, "nofollow": number in forward.nofollow}
        for number, (target, anchor) in enumerate(zip(forward.targets, forward.anchors, strict=True))
    ]
    if call.json:
        print_json({"url": key, "forward": out, "back": [names[source] for source in back]})
        return 0
    if both or call.args.forward:
        print(f"{len(out)} links from {key}")
        for link in out:
            print(f"  -> {link['url']}" + (f"   {plain(link['anchor'])}" if link["anchor"] else ""))
    if both or call.args.back:
        print(f"{len(back)} pages link to {key}")
        for source in back:
            print(f"  <- {names[source]}")
    return 0
