"""sanderling changes: list, publish, or send changes."""

import argparse
import sys
import time
from collections.abc import Sequence
from hashlib import sha256

from sanderling.api.operations.change_report import (
    ChangeFilter,
    ChangeKind,
    ReportedChange,
    build_change_object,
    get_alert_start,
    list_change_parts,
    list_changes,
    send_new_alerts,
    summarize_change,
    validate_kinds,
    write_feed,
)
from sanderling.api.operations.version_comparison import build_user_rules
from sanderling.cli.arguments import (
    CommandCall,
    fold_line,
    parse_share,
    parse_whole_number,
    print_json,
    print_message,
    print_rows,
)
from sanderling.cli.commands.look_closer.diff import NOTHING_WATCHED
from sanderling.config.settings import ComparisonSettings
from sanderling.config.time_format import format_short, parse_time
from sanderling.terminal import strip_control_characters

HELP = "List changes of stored pages by kind and significance, without noise; write a feed or send alerts."
EXAMPLES = """\
examples:
  sanderling changes --since 1d
  sanderling changes --since 7d --words                     with added and removed words
  sanderling changes --kind content --min-significance 0.5 --json
  sanderling changes --since 7d --kind new --kind gone      new and deleted pages; --kind moved: redirects
  sanderling changes --url '*/docs/*' --since 7d --feed atom > changes.xml
  sanderling changes --since last --alert mailto://user:password@example.org
  sanderling changes --selector '#price' --ignore-text 'Stock: [0-9]+'
"""
GROUPS = (ComparisonSettings,)
SINCE_LAST_ALERT = "last"
MAX_NAMED_PAGES = 3
ALWAYS_CHANGING_MESSAGE = (
    "left out, for it differs at every visit (--noise shows it, --selector shows it): a part of {pages}"
)
DAMAGED_MESSAGE = "without their words, for a version of them is damaged or missing in the archive: {pages}"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--since", metavar="TIME", help="2026-11-15, 7d, 2h; last: since the last alert")
    parser.add_argument("--kind", action="append", metavar="KIND", help=f"one of {', '.join(ChangeKind)} (repeatable)")
    parser.add_argument("--min-significance", type=parse_share, default=0.0, metavar="X", help="from 0 to 1")
    parser.add_argument("--url", metavar="PATTERN", help="only URLs that match this pattern (* matches anything)")
    parser.add_argument(
        "--words",
        action=argparse.BooleanOptionalAction,
        help="show all changed paragraphs, or none (default: the first; with --json all)",
    )
    parser.add_argument("--no-group", action="store_true", help="list a change that several pages share for each page")
    parser.add_argument("--noise", action="store_true", help="also pages with insignificant differences")
    parser.add_argument(
        "--first", "--limit", dest="first", type=parse_whole_number, metavar="N", help="maximum number of changes"
    )
    parser.add_argument("--feed", choices=("atom", "rss"), help="print a feed")
    parser.add_argument(
        "--alert", action="append", metavar="ADDRESS", help="send an alert to this apprise URL (repeatable)"
    )


def run(call: CommandCall) -> int:
    """Print changes, write a feed, or send an alert."""
    validate_kinds(call.args.kind or ())
    listing = list_changes(call.collection, _build_filter(call), _parse_since(call), group=not call.args.no_group)
    found = listing.changes[: call.args.first]
    if not listing.has_watched_part:
        print_message(call, NOTHING_WATCHED)
    if listing.always_changing_urls and not call.args.noise:
        print_message(call, ALWAYS_CHANGING_MESSAGE.format(pages=_format_urls(listing.always_changing_urls)))
    if listing.unreadable_urls:
        print_message(call, DAMAGED_MESSAGE.format(pages=_format_urls(listing.unreadable_urls)))
    if call.args.alert:
        return _send_alerts(call, found)
    _print_changes(call, found)
    if listing.other_pages and not (call.args.feed or call.json):
        print_message(call, f"other pages: {listing.other_pages}")
    return 0


def _print_changes(call: CommandCall, found: Sequence[ReportedChange]) -> None:
    if call.args.feed:
        feed = write_feed(found, call.args.feed, call.collection.resolve().name)
        sys.stdout.flush()
        sys.stdout.buffer.write(feed.encode())
    elif call.json:
        for item in found:
            print_json(build_change_object(item) | ({"words": item.words} if call.args.words else {}))
    elif call.args.words:
        for item in found:
            words = (fold_line(line, 4) for line in item.words)
            print(
                f"{format_short(item.seen_at)}  {_format_place(item)}\n{summarize_change(item.change)}",
                *words,
                sep="\n  ",
                end="\n\n",
            )
    else:
        rows = (
            (
                format_short(i.seen_at),
                f"{i.change.significance:.2f}",
                _format_place(i),
                "; ".join([*list_change_parts(i.change), *i.words[:1]]),
            )
            for i in found
        )
        print_rows(rows, ("seen at", "significance", "url", "change"), "no changes")


def _format_place(item: ReportedChange) -> str:
    return strip_control_characters(item.name if item.shared_urls else item.url)


def _build_filter(call: CommandCall) -> ChangeFilter:
    args = call.args
    return ChangeFilter(
        url_pattern=args.url or "*",
        kinds=tuple(args.kind or ()),
        min_significance=args.min_significance,
        has_start=bool(args.since),
        include_noise=args.noise,
        include_texts=args.words is not False,
        is_message=bool(args.feed or args.alert),
        user_rules=build_user_rules(call.get_settings(ComparisonSettings)),
    )


def _format_urls(urls: list[str]) -> str:
    """Format a few distinct URLs."""
    known = list(dict.fromkeys(urls))
    remainder = f" and {len(known) - MAX_NAMED_PAGES:,} more" if len(known) > MAX_NAMED_PAGES else ""
    return f"{', '.join(map(strip_control_characters, known[:MAX_NAMED_PAGES]))}{remainder}"


def _parse_since(call: CommandCall) -> float:
    if call.args.since == SINCE_LAST_ALERT:
        return get_alert_start(call.collection, _compute_alert_key(call) if call.args.alert else "")
    return parse_time(call.args.since, time.time()) if call.args.since else 0.0


def _compute_alert_key(call: CommandCall) -> str:
    """Return the key of the alert state for these filters and targets."""
    args = call.args
    asked = (*sorted(args.alert), "", *sorted(args.kind or ()), args.url, args.min_significance)
    return sha256(repr((asked, build_user_rules(call.get_settings(ComparisonSettings)))).encode()).hexdigest()[:16]


def _send_alerts(call: CommandCall, items: list[ReportedChange]) -> int:
    """Send an alert and record the sent changes."""
    since_last = call.args.since == SINCE_LAST_ALERT
    sent = send_new_alerts(call.collection, items, call.args.alert, _compute_alert_key(call), since_last=since_last)
    print_message(call, f"Sent {sent} change{'' if sent == 1 else 's'}" if sent else "nothing to tell")
    return 0
