"""sanderling forget: take pages out of a collection for good, and keep them out."""

import argparse
import contextlib
import sys

import msgspec

from sanderling.cli.frame import Call, print_json, print_rows, say
from sanderling.errors import UsageError
from sanderling.forgetting import Meant, allow, banned, forget, is_unfinished, meant
from sanderling.organise.forgotten import ANY, read_pattern
from sanderling.store.collection import read_collection
from sanderling.store.look import known_url
from sanderling.terminal import plain

HELP = (
    "Take pages out of the catalogue, the archive and the indexes for good. They are not fetched again, unless --undo."
)
EXAMPLES = """\
examples:
  sanderling forget https://example.org/private/letter.html
  sanderling forget 'https://example.org/people/*' --dry-run      say what that would be
  sanderling forget 'https://example.org/*' --yes                 a whole host, without asking
  sanderling forget --list                                        what is kept out
  sanderling forget --undo 'https://example.org/people/*'         the next crawl may fetch it again
  sanderling forget                                               finish what was cut short
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("url", nargs="*", metavar="URL|PATTERN", help="* in a pattern stands for anything")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="say what would be forgotten, and change nothing")
    parser.add_argument("--list", action="store_true", help="list what is kept out")
    parser.add_argument(
        "--undo", action="store_true", help="let the next crawl fetch it again; what is gone stays gone"
    )


def run(call: Call) -> int:
    """Ask, forget, and say what was forgotten."""
    patterns = [_spelled(call, text) for text in call.args.url]
    if call.args.list:
        return _list(call)
    if call.args.undo:
        return _undo(call, patterns)
    if not patterns and not is_unfinished(call.collection):
        raise UsageError("say what to forget: sanderling forget https://example.org/page")
    found = meant(call.collection, patterns)
    if call.args.dry_run:
        _tell(call, found)
        return 0
    if patterns and not call.args.yes:
        _ask(call, found, patterns)
    report = forget(call.collection, patterns)
    if call.json:
        print_json(msgspec.to_builtins(report))
        return 0
    print(f"forgot {_counted(report.pages, report.urls)}; {report.records:,} records erased")
    if report.elsewhere:
        print(f"{report.elsewhere:,} of its records lie in files that are not here and stay as they are")
    if report.copies:
        print(f"copies of the archive in {report.copies} were not touched")
    return 0


def _spelled(call: Call, text: str) -> str:
    """What is meant: a URL as the collection knows it, or a pattern; what is not known yet may be kept out too."""
    if ANY not in text:
        with read_collection(call.collection) as collection, contextlib.suppress(UsageError):
            return known_url(collection, text)[1]
    return read_pattern(text)


def _list(call: Call) -> int:
    patterns = banned(call.collection)
    if call.json:
        for pattern in patterns:
            print_json({"pattern": pattern})
    else:
        print_rows(((pattern,) for pattern in patterns), ("kept out",))
    return 0


def _undo(call: Call, patterns: list[str]) -> int:
    if not patterns:
        raise UsageError("say what may come back: sanderling forget --undo URL|PATTERN (--list names them)")
    undone = allow(call.collection, patterns)
    missing = [pattern for pattern in patterns if pattern not in undone]
    if missing:
        raise UsageError(f"{missing[0]!r} was not kept out as such; sanderling forget --list names what is")
    if call.json:
        print_json({"allowed": undone})
    else:
        say(call, "the next crawl may fetch it again")
    return 0


def _counted(pages: int, urls: int) -> str:
    others = urls - pages
    more = f" and {others:,} other known URL{'' if others == 1 else 's'}" if others else ""
    return f"{pages:,} page{'' if pages == 1 else 's'}{more}"


def _tell(call: Call, found: Meant) -> None:
    if call.json:
        print_json(msgspec.to_builtins(found))
        return
    print(_counted(found.pages, found.urls))
    for url in found.some:
        print(f"  {plain(url)}")
    if found.urls > len(found.some):
        print(f"  and {found.urls - len(found.some):,} more")


def _ask(call: Call, found: Meant, patterns: list[str]) -> None:
    """Nothing goes without a yes."""
    if not sys.stdin.isatty():
        raise UsageError("what is forgotten is gone for good; say --yes where nobody can be asked")
    what = f"{plain(', '.join(patterns))} ({_counted(found.pages, found.urls)})"
    answer = input(f"forget {what} in {call.collection}, for good? [y/N] ")
    if answer.strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was forgotten")
