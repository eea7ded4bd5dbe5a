"""sanderling aliases: find alternative names in the stored pages."""

import argparse
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from sanderling.cli.arguments import CommandCall, parse_whole_number, print_json, print_message, print_rows
from sanderling.errors import MissingExtra, UsageError, build_write_error
from sanderling.search.aliases.anchors import find_anchor_mentions, find_redirect_mentions
from sanderling.search.aliases.cues import CUES, parse_pattern
from sanderling.search.aliases.finder import Alias, SourceText, add_mentions, find_evidence, rank_by_name
from sanderling.search.aliases.mentions import NameMatcher
from sanderling.search.aliases.sources import (
    join_lines,
    list_stored_pages,
    load_anchors,
    load_redirects,
    read_page_text,
)
from sanderling.search.background_indexer import can_index
from sanderling.storage.collection import open_collection_read_only

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
    cues = tuple(map(parse_pattern, call.args.pattern or ())) or CUES
    matcher = NameMatcher(names, cues)
    if call.args.text:
        found = find_evidence(list_text_files(call.args.text), names, cues, call.args.workers, load_text_file)
    else:
        with open_collection_read_only(call.collection) as collection:
            pages = list_stored_pages(collection.db, collection.archive_folder)
            found = find_evidence(pages, names, cues, call.args.workers, read_page_text)
            if call.args.links:
                add_mentions(found, find_anchor_mentions(lambda: load_anchors(collection.db), matcher))
                add_mentions(found, find_redirect_mentions(load_redirects(collection.db), matcher))
    answer = rank_by_name(names, matcher, found)
    print_aliases(call, answer)
    if call.args.expand:
        save_query_expansion(call, answer)
    return 0


def save_query_expansion(call: CommandCall, aliases_by_name: dict[str, list[Alias]]) -> None:
    """Add the aliases to the query expansion of the search index."""
    if not can_index():
        raise MissingExtra("expanding queries", "search")
    from sanderling.search.query_expansion import save_aliases

    names = {name: [alias.alias for alias in found[: call.args.most]] for name, found in aliases_by_name.items()}
    try:
        save_aliases(call.collection / "index", names)
    except OSError as error:
        raise build_write_error(f"these names with the index of {call.collection}", error) from None


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


def list_text_files(paths: list[str]) -> Iterator[Path]:
    """Return the files to read, including those in folders."""
    for path in map(Path, paths):
        if path.is_dir():
            yield from sorted(entry for entry in path.rglob("*") if entry.is_file() and not entry.is_symlink())
        elif path.is_file():
            yield path
        else:
            raise UsageError(f"there is no file or folder {path} to read")


def load_text_file(path: Path) -> Iterator[SourceText]:
    try:
        yield str(path), join_lines(path.read_bytes())
    except OSError:
        return


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
