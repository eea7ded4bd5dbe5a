"""sanderling diff: compare two versions of a page word by word."""

import argparse
import sys
import time

from msgspec import to_builtins
from rich.console import Console

from sanderling.changes.change_store import load_changes
from sanderling.changes.render import render_html, render_lines, render_markdown_diff
from sanderling.changes.versions import ArchivedVersion, list_versions, read_version
from sanderling.changes.word_report import DiffReport, build_diff_report
from sanderling.cli.arguments import CommandCall, print_json, print_message, print_rows
from sanderling.config.settings import ComparisonSettings
from sanderling.config.time_format import format_iso, format_short, parse_time_inclusive
from sanderling.content.user_rules import UserRules, validate_user_rules
from sanderling.errors import UsageError
from sanderling.storage.collection import StoredCollection, open_collection_read_only
from sanderling.storage.queries import resolve_known_url

HELP = "Compare two versions of a page: changed words, links, images, scripts."
EXAMPLES = """\
examples:
  sanderling diff https://example.org/                      the last two versions
  sanderling diff https://example.org/ --versions           list the versions
  sanderling diff https://example.org/ 1 3                  by their numbers
  sanderling diff https://example.org/ 2026-11-01 7d        at that time, and seven days ago
  sanderling diff https://example.org/ --html > diff.html   side by side
  sanderling diff https://example.org/ --markdown           as a list, for messages
  sanderling diff https://example.org/ --watch '#price'     only a part of the page
"""


GROUPS = (ComparisonSettings,)
NOTHING_WATCHED = "nothing on these pages matches --watch or --watch-text; check the selector"


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
    with open_collection_read_only(call.collection) as collection:
        id_, url = resolve_known_url(collection, call.args.url)
        found = list_versions(collection, id_)
        if call.args.versions:
            return _print_versions(call, found)
        attention = parse_user_rules(call)
        old, new = _select_versions(call.args.version, found, url, _describe_replaced_resources(collection, id_))
        before, after = (read_version(collection, one, attention) for one in (old, new))
    if attention.is_watch_only and not before.fingerprint.main_content_size + after.fingerprint.main_content_size:
        print_message(call, NOTHING_WATCHED)
    _print_report(call, build_diff_report(before, after), url, old, new)
    return 0


def parse_user_rules(call: CommandCall) -> UserRules:
    """Build the watch and ignore rules from the settings of a call."""
    asked = call.get_settings(ComparisonSettings)
    return validate_user_rules(UserRules(asked.ignore, asked.ignore_text, asked.watch, asked.watch_text))


def _print_versions(call: CommandCall, stored_versions: list[ArchivedVersion]) -> int:
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


def _describe_replaced_resources(collection: StoredCollection, url_id: int) -> str:
    """List resources of the page that were replaced under an unchanged URL."""
    swaps = {swap.url for one in load_changes(collection.db, url_id=url_id) for swap in one.change.resources}
    return f", only what it uses: {', '.join(sorted(swaps))}" if swaps else ""


def _select_versions(
    version_args: list[str], stored_versions: list[ArchivedVersion], url: str, replaced_note: str
) -> tuple[ArchivedVersion, ArchivedVersion]:
    if not stored_versions:
        raise UsageError(f"no version of {url} is stored; see sanderling explain")
    if len(stored_versions) < 2:
        raise UsageError(
            f"there is only one version of {url}; it did not change since it was first seen{replaced_note}"
        )
    if not version_args:
        return stored_versions[-2], stored_versions[-1]
    if len(version_args) != 2:
        raise UsageError("give two versions, or none for the last two; --versions lists them")
    return _find_version(version_args[0], stored_versions), _find_version(version_args[1], stored_versions)


def _find_version(version_arg: str, stored_versions: list[ArchivedVersion]) -> ArchivedVersion:
    if version_arg.isdecimal():
        if not 1 <= int(version_arg) <= len(stored_versions):
            raise UsageError(f"there is no version {version_arg}; there are 1 to {len(stored_versions)}")
        return stored_versions[int(version_arg) - 1]
    at = parse_time_inclusive(version_arg, time.time())
    before = [one for one in stored_versions if one.fetched_at <= at]
    if not before:
        raise UsageError(
            f"no version before {version_arg}; the first is from {format_short(stored_versions[0].fetched_at)}"
        )
    return before[-1]


def _print_report(call: CommandCall, report: DiffReport, url: str, old: ArchivedVersion, new: ArchivedVersion) -> None:
    if call.args.html:
        print(render_html(report, url, format_short(old.fetched_at), format_short(new.fetched_at)))
    elif call.args.markdown:
        print(f"# {url}\n\n{format_short(old.fetched_at)} -> {format_short(new.fetched_at)}\n")
        print(render_markdown_diff(report, include_boilerplate=call.args.boilerplate))
    elif call.json:
        print_json(
            {
                "url": url,
                "old_at": format_iso(old.fetched_at),
                "new_at": format_iso(new.fetched_at),
                **to_builtins(report),
            }
        )
    else:
        console = Console(soft_wrap=True, highlight=False, markup=False)
        color = sys.stdout.isatty() and not console.no_color
        console.print(f"{url}\n{format_short(old.fetched_at)} -> {format_short(new.fetched_at)}")
        for line in render_lines(report, color=color, include_boilerplate=call.args.boilerplate):
            console.print(line)
