"""sanderling explain: why a URL has its place."""

import argparse
import time

import msgspec

from sanderling.cli.arguments import Call, folded, print_json
from sanderling.cli.time_format import iso, short
from sanderling.crawl.explain import PARTS, Standing, standing
from sanderling.frontier.ordering.ordering_registry import ORDERINGS
from sanderling.storage.collection import read_collection
from sanderling.storage.queries import known_url

HELP = "Say why a URL is visited when it is: its class, list and scores, when it is due, and what holds it back."
EXAMPLES = """\
examples:
  sanderling explain https://example.org/docs/
  sanderling explain https://example.org/docs/ --json
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("url", help="a known URL")


def run(call: Call) -> int:
    """Print what the rooms know of it."""
    with read_collection(call.collection) as collection:
        id_, _ = known_url(collection, call.args.url)
        found = standing(collection.db, id_, time.time())
    if call.json:
        print_json({**msgspec.to_builtins(found), "due_at": iso(found.due_at)})
    else:
        for name, text in _lines(found):
            print(f"  {name:<9} {folded(text, 12)}" if name else text)
    return 0


def _lines(found: Standing) -> list[tuple[str, str]]:
    what = f"{found.state}{f' ({found.reason})' if found.reason else ''}{f': {found.note}' if found.note else ''}"
    via = f" on {found.via}" if found.via else ""
    lines = [
        ("", found.url),
        ("state", what),
        ("found", f"by {found.source}{via}, level {found.level}"),
        ("class", f"{found.change_class}: {found.class_why}"),
    ]
    if found.place is not None:
        place = found.place
        lines += [
            ("place", f"{place.at_host:,} of {place.host_waiting:,} at its host, "
                      f"{place.among_all:,} of {place.all_waiting:,} in all"),
            ("list", f"{place.list} of {PARTS}"),
        ]  # fmt: skip
    says = f" ({ORDERINGS[found.order].says})" if found.order in ORDERINGS else ""
    rank = f"rank {found.place.rank:.4g}, smaller is sooner" if found.place else "it does not wait"
    lines.append(("order", f"{found.order}{says}: {rank}"))
    lines.append(("scores", ", ".join(f"{name} {value:g}" for name, value in found.scores.items())))
    due = f"{short(found.due_at)}: {found.due_why}" if found.due_at else "not planned"
    lines.append(("due", due))
    lines += [("held", sentence) for sentence in found.held] or [("held", "by nothing")]
    return lines
