"""sanderling changes: list, publish, or send changes."""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from hashlib import sha256

from sanderling.changes.alert_state import (
    OVERLAP_SECONDS,
    AlertState,
    load_alert_states,
    lock_alert_state,
    save_alert_states,
)
from sanderling.changes.alerts import open_sender, send_alert
from sanderling.changes.change_groups import group_changes
from sanderling.changes.change_json import build_change_object
from sanderling.changes.change_query import (
    ChangeFilter,
    QueryRemarks,
    find_changes,
    find_lifecycle_changes,
    summarize_lifecycle_changes,
)
from sanderling.changes.classify import ChangeKind
from sanderling.changes.feed import (
    ReportedChange,
    build_feed_id,
    list_change_parts,
    summarize_change,
    write_atom_feed,
    write_rss_feed,
)
from sanderling.cli.arguments import (
    CommandCall,
    fold_line,
    parse_share,
    parse_whole_number,
    print_json,
    print_message,
    print_rows,
)
from sanderling.cli.commands.diff import NOTHING_WATCHED, parse_user_rules
from sanderling.config.settings import ComparisonSettings
from sanderling.config.time_format import format_short, parse_time
from sanderling.errors import UsageError, build_write_error
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_urls
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
  sanderling changes --watch '#price' --ignore-text 'Stock: [0-9]+'
"""
GROUPS = (ComparisonSettings,)
SINCE_LAST_ALERT = "last"
MAX_NAMED_PAGES = 3
ALWAYS_CHANGING_MESSAGE = (
    "left out, for it differs at every visit (--noise shows it, --watch follows it): a part of {pages}"
)
DAMAGED_MESSAGE = "without their words, for a version of them is damaged or missing in the archive: {pages}"
ALERT_STATE_FILE = "alerted"  # file in the collection: of what alerts were sent


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
    for kind in call.args.kind or ():
        if kind not in set(ChangeKind):
            raise UsageError(f"unknown kind of change {kind!r}; choose from {', '.join(ChangeKind)}")
    remarks = QueryRemarks()
    with open_collection_read_only(call.collection) as collection:
        since, change_filter = _parse_since(call), _build_filter(call)
        every = [
            *find_lifecycle_changes(change_filter, collection, since),
            *find_changes(change_filter, collection, since, remarks),
        ]
        ordered = sorted(every, key=lambda item: -item.seen_at)
        found = list(_take_first(call, iter(ordered if call.args.no_group else group_changes(ordered))))
        more = (
            ""
            if call.args.kind or call.args.feed or call.json
            else summarize_lifecycle_changes(change_filter, collection, since)
        )
        unread = list(load_urls(collection.db, sorted(set(remarks.unreadable_url_ids))).values())
    if remarks.watched_parts_found and not any(remarks.watched_parts_found):
        print_message(call, NOTHING_WATCHED)
    if remarks.always_changing_urls and not call.args.noise:
        print_message(call, ALWAYS_CHANGING_MESSAGE.format(pages=_format_urls(remarks.always_changing_urls)))
    if unread:
        print_message(call, DAMAGED_MESSAGE.format(pages=_format_urls(unread)))
    if call.args.alert:
        return _send_alerts(call, found)
    _print_changes(call, found)
    if more:
        print_message(call, f"other pages: {more}")
    return 0


def _print_changes(call: CommandCall, found: Sequence[ReportedChange]) -> None:
    if call.args.feed:
        write = write_atom_feed if call.args.feed == "atom" else write_rss_feed
        name = call.collection.resolve().name
        feed = write(found, f"Changes in {name}", build_feed_id(name))
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
        user_rules=parse_user_rules(call),
    )


def _format_urls(urls: list[str]) -> str:
    """Format a few distinct URLs."""
    known = list(dict.fromkeys(urls))
    more = f" and {len(known) - MAX_NAMED_PAGES:,} more" if len(known) > MAX_NAMED_PAGES else ""
    return f"{', '.join(map(strip_control_characters, known[:MAX_NAMED_PAGES]))}{more}"


def _parse_since(call: CommandCall) -> float:
    if call.args.since == SINCE_LAST_ALERT:
        return _load_alert_state(call).since
    return parse_time(call.args.since, time.time()) if call.args.since else 0.0


def _load_alert_state(call: CommandCall) -> AlertState:
    """Load the alert state for the same filters and targets; without targets, the latest."""
    known = load_alert_states(call.collection / ALERT_STATE_FILE)
    if call.args.alert:
        return known.get(_compute_alert_key(call), AlertState())
    return AlertState(max((state.until for state in known.values()), default=0.0) + OVERLAP_SECONDS)


def _compute_alert_key(call: CommandCall) -> str:
    """Return the key of the alert state for these filters and targets."""
    args = call.args
    asked = (*sorted(args.alert), "", *sorted(args.kind or ()), args.url, args.min_significance)
    return sha256(repr((asked, parse_user_rules(call))).encode()).hexdigest()[:16]


def _take_first(call: CommandCall, items: Iterator[ReportedChange]) -> Iterator[ReportedChange]:
    for number, item in enumerate(items):
        if call.args.first is not None and number >= call.args.first:
            return
        yield item


def _send_alerts(call: CommandCall, items: list[ReportedChange]) -> int:
    """Send an alert and record the sent changes."""
    remembers = os.access(call.collection, os.W_OK)
    if call.args.since == SINCE_LAST_ALERT and not remembers:
        raise UsageError(
            f"nothing was sent: {call.collection} is read-only, so the same changes would be sent again;"
            " use --since 1d instead of --since last"
        )
    # Runs at the same time read the same changes: they send one after the other, and each looks at what was sent.
    with lock_alert_state(call.collection / ALERT_STATE_FILE) if remembers else nullcontext():
        return _send_unsent_alerts(call, items, remembers)


def _send_unsent_alerts(call: CommandCall, items: list[ReportedChange], can_save_state: bool) -> int:
    state = _load_alert_state(call)
    known, since = (set(state.sent_changes), state.since) if call.args.since == SINCE_LAST_ALERT else (set(), 0.0)
    unsent = [
        item for item in items if item.is_reportable and item.seen_at >= since and (item.url, item.seen_at) not in known
    ]
    sent = send_alert(unsent, open_sender(call.args.alert))
    if unsent and not sent:
        raise UsageError("the alert could not be sent; check the address, or run with -v")
    state.add((item.url, item.seen_at) for item in items)
    if can_save_state:
        _save_alert_state(call, state)
    print_message(call, f"Sent {sent} change{'' if sent == 1 else 's'}" if sent else "nothing to tell")
    return 0


def _save_alert_state(call: CommandCall, alert_state: AlertState) -> None:
    path = call.collection / ALERT_STATE_FILE
    try:
        save_alert_states(path, load_alert_states(path) | {_compute_alert_key(call): alert_state})
    except OSError as error:
        raise build_write_error(f"the alert state to {path}", error) from None
