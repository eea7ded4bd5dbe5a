"""sanderling diff: compare two versions of a page word by word."""

import argparse
import sys

from msgspec import to_builtins
from rich.console import Console

from sanderling.api.operations.version_comparison import VersionComparison, compare_page, list_page_versions
from sanderling.cli.arguments import CommandCall, print_json, print_message, print_rows
from sanderling.config.settings import ComparisonSettings
from sanderling.config.time_format import format_iso, format_short

HELP = "Compare two versions of a page: changed words, links, images, scripts."
EXAMPLES = """\
examples:
  sanderling diff https://example.org/                      the last two versions
  sanderling diff https://example.org/ --versions           list the versions
  sanderling diff https://example.org/ 1 3                  by their numbers
  sanderling diff https://example.org/ 2026-11-01 7d        at that time, and seven days ago
  sanderling diff https://example.org/ --html > diff.html   side by side
  sanderling diff https://example.org/ --markdown           as a list, for messages
  sanderling diff https://example.org/ --selector '#price'   only a part of the page
"""


GROUPS = (ComparisonSettings,)
NOTHING_WATCHED = "nothing on these pages matches --selector or --selector-text; check them"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("url", help="a stored URL")
    parser.add_argument(
        "version", nargs="*", default=[], help="two versions, each a number or a time (default: the last two)"
    )
    parser.add_argument("--versions", action="store_true", help="list the versions")
    parser.add_argument("--markdown", action="store_true", help="changed paragraphs as a Markdown list")
    parser.add_argument("--html", action="store_true", help="a page with both versions side by side")
    parser.add_argument("--boilerplate", action="store_true", help="also navigation, footers and banners")


def run(call: CommandCall) -> int:
    """Print the differences between two versions of a page."""
    if call.args.versions:
        return _print_versions(call)
    found = compare_page(call.collection, call.args.url, call.args.version, call.get_settings(ComparisonSettings))
    if not found.has_watched_part:
        print_message(call, NOTHING_WATCHED)
    _print_report(call, found)
    return 0


def _print_versions(call: CommandCall) -> int:
    stored_versions = list_page_versions(call.collection, call.args.url)
    if call.json:
        for one in stored_versions:
            print_json(
                {"version": one.number, "at": format_iso(one.fetched_at), "digest": one.digest.hex(), "bytes": one.size}
            )
    else:
        print_rows(
            ((one.number, format_short(one.fetched_at), one.size) for one in stored_versions),
            ("version", "seen at", "bytes"),
        )
    return 0


def _print_report(call: CommandCall, found: VersionComparison) -> None:
    url, old, new = found.url, found.old, found.new
    if call.args.html:
        print(found.render_html())
    elif call.args.markdown:
        print(f"# {url}\n\n{format_short(old.fetched_at)} -> {format_short(new.fetched_at)}\n")
        print(found.render_markdown(include_boilerplate=call.args.boilerplate))
    elif call.json:
        print_json(
            {
                "url": url,
                "old_at": format_iso(old.fetched_at),
                "new_at": format_iso(new.fetched_at),
                **to_builtins(found.report),
            }
        )
    else:
        console = Console(soft_wrap=True, highlight=False, markup=False)
        color = sys.stdout.isatty() and not console.no_color
        console.print(f"{url}\n{format_short(old.fetched_at)} -> {format_short(new.fetched_at)}")
        for line in found.render_lines(color=color, include_boilerplate=call.args.boilerplate):
            console.print(line)
