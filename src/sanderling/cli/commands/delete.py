"""sanderling forget: take pages out of a collection for good, and keep them out."""

import argparse
import contextlib
import sys
import time

import msgspec

from sanderling.cli.arguments import Call, agrees, print_json, print_rows, say
from sanderling.cli.time_format import moment
from sanderling.deletion.delete_pages import Forgotten, forget
from sanderling.deletion.selection import Choice, Meant, allow, banned, has_ages_left, is_unfinished, leave_ages, meant
from sanderling.errors import UsageError
from sanderling.storage.collection import read_collection
from sanderling.storage.queries import known_url
from sanderling.terminal import plain
from sanderling.urls.blocklist import ANY, read_pattern

HELP = (
    "Take pages out of the catalogue, the archive and the indexes for good. They are not fetched again, unless --undo;"
    " pages chosen by age may come back, should a later crawl find them there."
)
EXAMPLES = """\
examples:
  sanderling forget https://example.org/private/letter.html
  sanderling forget 'https://example.org/people/*' --dry-run      say what that would be
  sanderling forget 'https://example.org/*' --yes                 a whole host, without asking
  sanderling forget --gone 30d                                    pages that have been gone for a month
  sanderling forget --not-seen 90d 'https://example.org/*'        that nobody found there for three months
  sanderling forget --list                                        what is kept out
  sanderling forget --undo 'https://example.org/people/*'         the next crawl may fetch it again
  sanderling forget                                               finish what was cut short
  sanderling forget --undo                                        or leave the rest of it, if it was by age
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("url", nargs="*", metavar="URL|PATTERN", help="* in a pattern stands for anything")
    parser.add_argument("--gone", metavar="TIME", help="pages that have been gone for so long: 30d, 2026-09-01")
    parser.add_argument("--not-seen", metavar="TIME", help="pages that no visit found there for so long: 90d")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="say what would be forgotten, and change nothing")
    parser.add_argument("--list", action="store_true", help="list what is kept out")
    parser.add_argument(
        "--undo", action="store_true", help="let the next crawl fetch it again; what is gone stays gone"
    )


def run(call: Call) -> int:
    """Ask, forget, and say what was forgotten."""
    choice = _choice(call)
    if call.args.list or call.args.undo:
        if choice.is_by_age:
            raise UsageError(
                "pages chosen by age are not kept out: --gone and --not-seen do not go with --list, --undo"
            )
        return _list(call) if call.args.list else _undo(call, list(choice.patterns))
    if not choice.is_named and not is_unfinished(call.collection):
        raise UsageError("say what to forget: sanderling forget https://example.org/page, or --gone 30d")
    found = meant(call.collection, choice)
    if call.args.dry_run:
        _tell(call, found)
        return 0
    if not call.args.yes and _is_asked_about(call, choice, found) and not _agrees(call, found):
        if choice.is_named:
            raise UsageError("nothing was forgotten")
        return _leave(call)
    return _report(call, forget(call.collection, choice))


def _is_asked_about(call: Call, choice: Choice, found: Meant) -> bool:
    """Names that were left by an earlier call were agreed to; an age may mean nothing."""
    if choice.is_by_age or not choice.is_named:
        return found.urls > 0 and (choice.is_by_age or has_ages_left(call.collection))
    return True


def _leave(call: Call) -> int:
    """Keep what was chosen by age and is still here; what has begun to go is finished."""
    leave_ages(call.collection)
    return _report(call, forget(call.collection, Choice()))


def _choice(call: Call) -> Choice:
    """What is meant, read from the command."""
    args, now = call.args, time.time()
    return Choice(
        [_spelled(call, text) for text in args.url],
        gone=None if args.gone is None else moment(args.gone, now),
        unseen=None if args.not_seen is None else moment(args.not_seen, now),
    )


def _report(call: Call, report: Forgotten) -> int:
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
    if not patterns and has_ages_left(call.collection):
        return _leave(call)
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


def _agrees(call: Call, found: Meant) -> bool:
    """Nothing goes without a yes."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("what is forgotten is gone for good; say --yes where nobody can be asked")
    args = call.args
    aged = [f"{flag} {age}" for flag, age in (("--gone", args.gone), ("--not-seen", args.not_seen)) if age]
    named = plain(", ".join([*aged, *args.url])) or "the rest of what was cut short"
    what = f"{named} ({_counted(found.pages, found.urls)})"
    return agrees(f"forget {what} in {call.collection}, for good?")
