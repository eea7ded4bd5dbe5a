"""sanderling changes: what changed, of which kind, and how much it matters."""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from hashlib import sha256

from msgspec import to_builtins

from sanderling.changes.alert_state import OVERLAP, Heard, locked
from sanderling.changes.alert_state import read as read_heard
from sanderling.changes.alert_state import write as write_heard
from sanderling.changes.alerts import alert, open_sender
from sanderling.changes.change_query import ChangeFilter, Remarks, chosen, fates, others
from sanderling.changes.classify import Kind
from sanderling.changes.feed import Item, atom, feed_id, parts_of, rss, summary
from sanderling.cli.arguments import Call, folded, print_json, print_rows, say, share, whole
from sanderling.cli.commands.diff import NOTHING_WATCHED, read_attention
from sanderling.cli.time_format import iso, moment, short
from sanderling.config.settings import Watching
from sanderling.errors import UsageError, unwritten
from sanderling.storage.collection import read_collection
from sanderling.storage.queries import urls_of
from sanderling.terminal import plain

HELP = "List changes of stored pages by kind and significance; noise is left out. Also as a feed, or sent to you."
EXAMPLES = """\
examples:
  sanderling changes --since 1d
  sanderling changes --since 7d --words                     with the words that came and went
  sanderling changes --kind content --min-significance 0.5 --json
  sanderling changes --since 7d --kind new --kind gone      pages that came and went; --kind moved: lead elsewhere now
  sanderling changes --url '*/docs/*' --since 7d --feed atom > changes.xml
  sanderling changes --since last --alert mailto://user:password@example.org
  sanderling changes --watch '#price' --ignore-text 'Stock: [0-9]+'
"""
GROUPS = (Watching,)
LAST = "last"
MOST_NAMED = 3
NEVER_REST = "left out, for it differs at every visit (--noise shows it, --watch follows it): a part of {pages}"
DAMAGED = "without their words, for a version of them is damaged or missing in the archive: {pages}"
STATE = "alerted"  # file in the collection: of what alerts were sent


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("--since", metavar="TIME", help="2026-11-15, 7d, 2h; last: since the last alert")
    parser.add_argument("--kind", action="append", metavar="KIND", help=f"one of {', '.join(Kind)} (repeatable)")
    parser.add_argument("--min-significance", type=share, default=0.0, metavar="X", help="from 0 to 1")
    parser.add_argument("--url", metavar="PATTERN", help="only URLs like this: * stands for anything")
    parser.add_argument("--words", action="store_true", help="also the words that came and went")
    parser.add_argument("--noise", action="store_true", help="also pages that differ in nothing that matters")
    parser.add_argument("--first", "--limit", dest="first", type=whole, metavar="N", help="at most so many")
    parser.add_argument("--feed", choices=("atom", "rss"), help="print a feed")
    parser.add_argument("--alert", action="append", metavar="ADDRESS", help="send them there (apprise; repeatable)")


def run(call: Call) -> int:
    """Print, publish or send what changed."""
    for kind in call.args.kind or ():
        if kind not in set(Kind):
            raise UsageError(f"there is no kind of change {kind!r}; there are {', '.join(Kind)}")
    remarks = Remarks()
    with read_collection(call.collection) as collection:
        since, wanted = _since(call), _filter(call)
        every = [*fates(wanted, collection, since), *chosen(wanted, collection, since, remarks)]
        found = list(_first(call, iter(sorted(every, key=lambda item: -item.at))))
        more = "" if call.args.kind or call.args.feed or call.json else others(wanted, collection, since)
        unread = list(urls_of(collection.db, sorted(set(remarks.unread))).values())
    if remarks.seen and not any(remarks.seen):
        say(call, NOTHING_WATCHED)
    if remarks.hushed and not call.args.noise:
        say(call, NEVER_REST.format(pages=_named(remarks.hushed)))
    if unread:
        say(call, DAMAGED.format(pages=_named(unread)))
    if call.args.alert:
        return _send(call, found)
    if call.args.feed:
        write = atom if call.args.feed == "atom" else rss
        name = call.collection.resolve().name
        feed = write(found, f"Changes in {name}", feed_id(name))
        sys.stdout.flush()
        sys.stdout.buffer.write(feed.encode())
    elif call.json:
        for item in found:
            print_json(as_object(item) | ({"words": list(item.words)} if call.args.words else {}))
    elif call.args.words:
        for item in found:
            words = (folded(line, 4) for line in item.words)
            print(f"{short(item.at)}  {plain(item.url)}\n{summary(item.change)}", *words, sep="\n  ", end="\n\n")
    else:
        rows = (
            (short(i.at), f"{i.change.significance:.2f}", plain(i.url), "; ".join(parts_of(i.change))) for i in found
        )
        print_rows(rows, ("seen at", "significance", "url", "change"), "no change was seen")
    if more:
        say(call, f"pages beside these: {more}")
    return 0


def _filter(call: Call) -> ChangeFilter:
    args = call.args
    return ChangeFilter(
        url=args.url or "*",
        kinds=tuple(args.kind or ()),
        min_significance=args.min_significance,
        has_start=bool(args.since),
        noise=args.noise,
        words=args.words,
        is_message=bool(args.feed or args.alert),
        attention=read_attention(call),
    )


def _named(urls: list[str]) -> str:
    """Name some pages, each once."""
    known = list(dict.fromkeys(urls))
    more = f" and {len(known) - MOST_NAMED:,} more" if len(known) > MOST_NAMED else ""
    return f"{', '.join(map(plain, known[:MOST_NAMED]))}{more}"


def _since(call: Call) -> float:
    if call.args.since == LAST:
        return _heard(call).since
    return moment(call.args.since, time.time()) if call.args.since else 0.0


def _heard(call: Call) -> Heard:
    """What was told under the same conditions; who sends nothing asks for the latest of all messages."""
    known = read_heard(call.collection / STATE)
    if call.args.alert:
        return known.get(_round(call), Heard())
    return Heard(max((heard.until for heard in known.values()), default=0.0) + OVERLAP)


def _round(call: Call) -> str:
    """Name the messages that go to these addresses under these conditions."""
    args = call.args
    asked = (*sorted(args.alert), "", *sorted(args.kind or ()), args.url, args.min_significance)
    return sha256(repr((asked, read_attention(call))).encode()).hexdigest()[:16]


def _first(call: Call, items: Iterator[Item]) -> Iterator[Item]:
    for number, item in enumerate(items):
        if call.args.first is not None and number >= call.args.first:
            return
        yield item


def as_object(item: Item) -> dict[str, object]:
    """A change as a script reads it."""
    change = item.change
    return {
        "url": item.url,
        "seen_at": iso(item.at),
        "previous_at": iso(item.previous_at),
        "kinds": list(change.kinds),
        "significance": change.significance,
        "amount": change.amount,
        "paragraphs": to_builtins(change.paragraphs),
        "counts": dict(change.counts),
        "structure": to_builtins(change.structure),
        "links": to_builtins(change.links),
        "media": to_builtins(change.media),
        "title": to_builtins(change.title),
        "behaviour": to_builtins(change.behaviour),
        "resources": to_builtins(change.resources),
        "noise": list(change.noise),
    }


def _send(call: Call, found: list[Item]) -> int:
    """Send one message; remember what was told, so that nobody hears of a change twice."""
    remembers = os.access(call.collection, os.W_OK)
    if call.args.since == LAST and not remembers:
        raise UsageError(
            f"nothing was sent: {call.collection} cannot be written to, so all would be told again the next time;"
            " say since when instead (--since 1d)"
        )
    # Runs at the same time read the same changes: they send one after the other, and each looks at what was sent.
    with locked(call.collection / STATE) if remembers else nullcontext():
        return _send_unsent(call, found, remembers)


def _send_unsent(call: Call, found: list[Item], remembers: bool) -> int:
    heard = _heard(call)
    known, since = (set(heard.told), heard.since) if call.args.since == LAST else (set(), 0.0)
    news = [item for item in found if item.is_news and item.at >= since and (item.url, item.at) not in known]
    sent = alert(news, open_sender(call.args.alert))
    if news and not sent:
        raise UsageError("the message could not be sent; check the address, and try with -v")
    heard.add((item.url, item.at) for item in found)
    if remembers:
        _remember(call, heard)
    say(call, f"told of {sent} changes" if sent else "nothing to tell")
    return 0


def _remember(call: Call, heard: Heard) -> None:
    path = call.collection / STATE
    try:
        write_heard(path, read_heard(path) | {_round(call): heard})
    except OSError as error:
        raise unwritten(f"what was told to {path}", error) from None
