"""sanderling diff: two versions of a page, word by word."""

import argparse
import sys
import time

from msgspec import to_builtins
from rich.console import Console

from sanderling.changes.change_store import entries
from sanderling.changes.render import lines, page
from sanderling.changes.versions import Stored, read_version, versions
from sanderling.changes.word_report import Report, compare
from sanderling.cli.arguments import Call, print_json, print_rows, say
from sanderling.cli.time_format import as_of, iso, short
from sanderling.config.settings import Watching
from sanderling.content.user_rules import Attention, check
from sanderling.errors import UsageError
from sanderling.storage.collection import Collection, read_collection
from sanderling.storage.queries import known_url

HELP = "Show what changed on a page: words added and removed inside its paragraphs, links, images, scripts."
EXAMPLES = """\
examples:
  sanderling diff https://example.org/                      the last two versions
  sanderling diff https://example.org/ --versions           which versions there are
  sanderling diff https://example.org/ 1 3                  by their numbers
  sanderling diff https://example.org/ 2026-11-01 7d        as it was then, and seven days ago
  sanderling diff https://example.org/ --html > diff.html   side by side
  sanderling diff https://example.org/ --watch '#price'     one part of it alone
"""


GROUPS = (Watching,)
NOTHING_WATCHED = "nothing on these pages is what --watch or --watch-text asks for; check the selector"


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("url", help="a stored URL")
    parser.add_argument(
        "version", nargs="*", default=[], help="two versions, each a number or a time (default: the last two)"
    )
    parser.add_argument("--versions", action="store_true", help="list the versions")
    parser.add_argument("--html", action="store_true", help="a page with both versions side by side")
    parser.add_argument("--furniture", action="store_true", help="also navigation, footers and banners")


def run(call: Call) -> int:
    """Compare two versions."""
    with read_collection(call.collection) as collection:
        id_, url = known_url(collection, call.args.url)
        found = versions(collection, id_)
        if call.args.versions:
            return _list(call, found)
        attention = read_attention(call)
        old, new = _pair(call.args.version, found, url, _replaced(collection, id_))
        before, after = (read_version(collection, one, attention) for one in (old, new))
    if attention.is_narrow and not before.mark.weight + after.mark.weight:
        say(call, NOTHING_WATCHED)
    _print(call, compare(before, after), url, old, new)
    return 0


def read_attention(call: Call) -> Attention:
    """What the user wants looked at."""
    asked = call.settings(Watching)
    return check(Attention(asked.ignore, asked.ignore_text, asked.watch, asked.watch_text))


def _list(call: Call, found: list[Stored]) -> int:
    if call.json:
        for one in found:
            print_json({"version": one.number, "at": iso(one.at), "digest": one.digest.hex(), "bytes": one.size})
    else:
        print_rows(((one.number, short(one.at), one.size) for one in found), ("version", "seen at", "bytes"))
    return 0


def _replaced(collection: Collection, url: int) -> str:
    """Say what a page uses that was replaced under its URL: the page itself is the same then."""
    swaps = {swap.url for one in entries(collection.db, url=url) for swap in one.change.resources}
    return f", only what it uses: {', '.join(sorted(swaps))}" if swaps else ""


def _pair(asked: list[str], found: list[Stored], url: str, replaced: str) -> tuple[Stored, Stored]:
    if not found:
        raise UsageError(f"no version of {url} is stored; sanderling explain says what became of it")
    if len(found) < 2:
        raise UsageError(f"there is only one version of {url}; it did not change since it was first seen{replaced}")
    if not asked:
        return found[-2], found[-1]
    if len(asked) != 2:
        raise UsageError("give two versions, or none for the last two; --versions lists them")
    return _version(asked[0], found), _version(asked[1], found)


def _version(asked: str, found: list[Stored]) -> Stored:
    if asked.isdecimal():
        if not 1 <= int(asked) <= len(found):
            raise UsageError(f"there is no version {asked}; there are 1 to {len(found)}")
        return found[int(asked) - 1]
    at = as_of(asked, time.time())
    before = [one for one in found if one.at <= at]
    if not before:
        raise UsageError(f"nothing was stored before {asked}; the first version is of {short(found[0].at)}")
    return before[-1]


def _print(call: Call, report: Report, url: str, old: Stored, new: Stored) -> None:
    if call.args.html:
        print(page(report, url, short(old.at), short(new.at)))
    elif call.json:
        print_json({"url": url, "old_at": iso(old.at), "new_at": iso(new.at), **to_builtins(report)})
    else:
        console = Console(soft_wrap=True, highlight=False, markup=False)
        colour = sys.stdout.isatty() and not console.no_color
        console.print(f"{url}\n{short(old.at)} -> {short(new.at)}")
        for line in lines(report, colour=colour, furniture=call.args.furniture):
            console.print(line)
