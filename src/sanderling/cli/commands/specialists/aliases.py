"""sanderling aliases: find alternative names in the stored pages."""

import argparse
import os
from dataclasses import asdict
from pathlib import Path

from sanderling.api.operations.name_aliases import Alias, find_aliases, find_aliases_in_files, save_query_expansion
from sanderling.cli.arguments import CommandCall, parse_whole_number, print_json, print_message, print_rows
from sanderling.errors import UsageError

HELP = "Find alternative names of a person, place, drug, or function in the stored pages."
EXAMPLES = """\
examples:
  sanderling aliases "New York City"
  sanderling aliases --names people.txt --json           many names, one pass
  sanderling aliases Mumbai --pattern "[name] hoy *"      your own cue between name and alias
  sanderling aliases Mumbai --links                       also read link texts and redirects
  sanderling aliases aspirin --text notes/                your own texts instead of a collection
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("name", nargs="*", help="name to find aliases of")
    parser.add_argument("--names", metavar="FILE", help="a file with one name per line")
    parser.add_argument("--pattern", action="append", metavar="P", help="'[name] better known as *' (repeatable)")
    parser.add_argument("--links", action="store_true", help="also read link texts and redirects")
    parser.add_argument("--text", action="append", metavar="PATH", help="read these files or folders instead")
    parser.add_argument(
        "--workers",
        type=parse_whole_number,
        metavar="N",
        default=os.cpu_count() or 1,
        help="processes (default: one per core)",
    )
    parser.add_argument(
        "--expand", action="store_true", help="expand searches for NAME with these aliases (--most 0: stop)"
    )
    parser.add_argument(
        "--most", type=parse_whole_number, metavar="N", default=10, help="candidates per name (default 10)"
    )


def run(call: CommandCall) -> int:
    """Find aliases and print them."""
    names = read_names(call.args)
    patterns, workers = call.args.pattern or (), call.args.workers
    if call.args.text:
        answer = find_aliases_in_files(call.args.text, names, patterns=patterns, workers=workers)
    else:
        answer = find_aliases(call.collection, names, patterns=patterns, workers=workers, links=call.args.links)
    print_aliases(call, answer)
    if call.args.expand:
        best = {name: [alias.alias for alias in found[: call.args.most]] for name, found in answer.items()}
        save_query_expansion(call.collection, best)
    return 0


def read_names(args: argparse.Namespace) -> list[str]:
    """Return the names from the command line and the names file."""
    names = list(args.name)
    if args.names:
        try:
            names += Path(args.names).read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise UsageError(f"cannot read the names in {args.names}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise UsageError(f"{args.names} is not a list of names in UTF-8") from None
    names = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if not names:
        raise UsageError("no name given: sanderling aliases NAME, or --names FILE")
    return names


def print_aliases(call: CommandCall, aliases_by_name: dict[str, list[Alias]]) -> None:
    """Print candidates by decreasing score."""
    for name, aliases in aliases_by_name.items():
        if not aliases:
            print_message(call, f"no alias of {name!r} found")
    rows = [(name, alias) for name, aliases in aliases_by_name.items() for alias in aliases[: call.args.most]]
    if call.json:
        for name, alias in rows:
            print_json({"name": name, **asdict(alias)})
    elif rows:
        table = [
            (name, alias.alias, alias.count, alias.source_count, ", ".join(alias.cues), alias.sentences[0])
            for name, alias in rows
        ]
        print_rows(table, ("name", "alias", "times", "sources", "words", "sentence"))
