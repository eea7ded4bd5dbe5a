"""sanderling changes: what changed, of which kind, and how much it matters."""

import argparse
import fnmatch
import re
import time
from collections.abc import Iterator
from hashlib import sha256
from math import inf

from msgspec import to_builtins

from sanderling.changes.alerts import alert, open_sender
from sanderling.changes.detect import FATES, Change, Kind, judge
from sanderling.changes.difference import difference
from sanderling.changes.feed import Item, atom, rss, summary
from sanderling.changes.ledger import UNREADABLE, Ledger, Noted, entries
from sanderling.changes.render import excerpt
from sanderling.changes.report import compare
from sanderling.changes.told import OVERLAP, Heard
from sanderling.changes.told import read as read_heard
from sanderling.changes.told import write as write_heard
from sanderling.cli.diff import NOTHING_WATCHED, read_attention
from sanderling.cli.frame import Call, print_json, print_rows, say
from sanderling.cli.times import iso, moment, short
from sanderling.cli.versions import read_words, versions
from sanderling.database import Connection
from sanderling.errors import UsageError
from sanderling.pages.attention import EVERYTHING, Attention
from sanderling.settings import Watching
from sanderling.store.collection import Collection, read_collection
from sanderling.store.comings import Move, came, first_complete, moved, went
from sanderling.store.listing import urls_of
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
STATE = "alerted"  # file in the collection: of what alerts were sent


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("--since", metavar="TIME", help="2026-11-15, 7d, 2h; last: since the last alert")
    parser.add_argument("--kind", action="append", metavar="KIND", help=f"one of {', '.join(Kind)} (repeatable)")
    parser.add_argument("--min-significance", type=float, default=0.0, metavar="X", help="from 0 to 1")
    parser.add_argument("--url", metavar="PATTERN", help="only URLs like this: * stands for anything")
    parser.add_argument("--words", action="store_true", help="also the words that came and went")
    parser.add_argument("--noise", action="store_true", help="also pages that differ in nothing that matters")
    parser.add_argument("--first", "--limit", dest="first", type=int, metavar="N", help="at most so many")
    parser.add_argument("--feed", choices=("atom", "rss"), help="print a feed")
    parser.add_argument("--alert", action="append", metavar="ADDRESS", help="send them there (apprise; repeatable)")


def run(call: Call) -> int:
    """Print, publish or send what changed."""
    for kind in call.args.kind or ():
        if kind not in set(Kind):
            raise UsageError(f"there is no kind of change {kind!r}; there are {', '.join(Kind)}")
    seen: list[bool] = []
    with read_collection(call.collection) as collection:
        since = _since(call)
        every = [*_fates(call, collection, since), *_chosen(call, collection, since, seen)]
        found = list(_first(call, iter(sorted(every, key=lambda item: -item.at))))
        more = "" if call.args.kind or call.args.feed or call.json else _more(call, collection, since)
    if seen and not any(seen):
        say(call, NOTHING_WATCHED)
    if call.args.alert:
        return _send(call, found)
    if call.args.feed:
        write = atom if call.args.feed == "atom" else rss
        print(write(found, f"Changes in {call.collection.name}", f"urn:sanderling:{call.collection.name}"), end="")
    elif call.json:
        for item in found:
            print_json(as_object(item) | ({"words": list(item.words)} if call.args.words else {}))
    elif call.args.words:
        for item in found:
            print(f"{short(item.at)}  {plain(item.url)}\n{summary(item.change)}", *item.words, sep="\n  ", end="\n\n")
    else:
        rows = ((short(i.at), f"{i.change.significance:.2f}", plain(i.url), summary(i.change)) for i in found)
        print_rows(rows, ("seen at", "weight", "url", "change"), "no change was seen")
    if more:
        say(call, f"pages beside these: {more}")
    return 0


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


def _fates(call: Call, collection: Collection, since: float) -> Iterator[Item]:
    """Pages that came, went or moved, where they are asked for."""
    args, db = call.args, collection.db
    wanted = re.compile(fnmatch.translate(args.url)) if args.url else None
    for kind in [fate for fate in FATES if fate in (args.kind or ()) and args.min_significance <= 1]:
        moves = _moves(call, db, kind, since)
        names = urls_of(db, sorted(move.url for move in moves))
        titles = dict(db.execute("SELECT url, title FROM pages").fetchall()) if moves else {}
        for move in moves:
            if wanted is None or wanted.match(names[move.url]):
                whole = Change(kinds=(kind,), significance=1.0, amount=1.0)
                yield Item(names[move.url], move.at, move.previous_at, whole, titles.get(move.url, ""))


def _moves(call: Call, db: Connection, kind: Kind, since: float) -> list[Move]:
    """Pages of one fate since then."""
    if kind is Kind.NEW:
        return came(db, _news_since(call, db, since))
    return went(db, since) if kind is Kind.GONE else moved(db, since)


def _news_since(call: Call, db: Connection, since: float) -> float:
    """From when on a page is new: what the first complete crawl found is not."""
    complete = first_complete(db)
    return since if call.args.since and complete == inf else max(since, complete)


def _more(call: Call, collection: Collection, since: float) -> str:
    """What else there is to ask for."""
    counts = {kind: len(_moves(call, collection.db, kind, since)) for kind in FATES}
    return ", ".join(f"{count:,} {kind} (--kind {kind})" for kind, count in counts.items() if count)


def _chosen(call: Call, collection: Collection, since: float, seen: list[bool]) -> Iterator[Item]:
    """The changes asked for; `seen` gets whether what is watched was there, page by page."""
    args = call.args
    wanted = re.compile(fnmatch.translate(args.url)) if args.url else None
    noted = list(entries(collection.db, since))
    names = urls_of(collection.db, sorted({one.url for one in noted}))
    titles = dict(collection.db.execute("SELECT url, title FROM pages").fetchall()) if args.feed or args.alert else {}
    attention, ledger = read_attention(call), Ledger(collection.db)
    for one in noted:
        url = names.get(one.url, "")
        if wanted is not None and not wanted.match(url):
            continue
        told = attention == EVERYTHING and one.change != UNREADABLE
        change = one.change if told else _again(collection, one, attention, ledger, seen)
        if (
            (change.matters or args.noise)
            and change.significance >= args.min_significance
            and (not args.kind or set(args.kind) & set(change.kinds))
        ):
            words = _words(collection, one, attention) if args.words or args.feed or args.alert else ()
            yield Item(url, one.at, one.previous_at, change, titles.get(one.url, ""), words=words)


def _again(collection: Collection, one: Noted, attention: Attention, ledger: Ledger, seen: list[bool]) -> Change:
    """Compare both versions once more, with other eyes, or word by word where no migrant made marks of them.

    What a page uses is no part of it that could be watched.
    """
    if one.change.resources:
        return Change() if attention.is_narrow else one.change
    found = [stored for stored in versions(collection, one.url) if stored.at <= one.at]
    old, new = (read_words(collection, stored, attention) for stored in found[-2:]) if len(found) > 1 else (None, None)
    if old is None or new is None:
        return one.change
    if attention.is_narrow:
        seen.append(old.mark.weight + new.mark.weight > 0)
    noise = None if attention.is_narrow else ledger.noise(one.site)  # who watches a part wants to hear of it each time
    return judge(difference(old.mark, new.mark), noise, one.url)


def _words(collection: Collection, one: Noted, attention: Attention) -> tuple[str, ...]:
    """The words of a change, a line for each paragraph; none where something a page uses was replaced."""
    found = [] if one.change.resources else [stored for stored in versions(collection, one.url) if stored.at <= one.at]
    if len(found) < 2:
        return ()
    old, new = (read_words(collection, stored, attention) for stored in found[-2:])
    return excerpt(compare(old, new)) if old is not None and new is not None else ()


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
        "behaviour": to_builtins(change.behaviour),
        "resources": to_builtins(change.resources),
        "noise": list(change.noise),
    }


def _send(call: Call, found: list[Item]) -> int:
    """Send one message; remember what was told, so that nobody hears of a change twice."""
    heard = _heard(call)
    known = set(heard.told) if call.args.since == LAST else set()
    news = [item for item in found if item.is_news and (item.url, item.at) not in known]
    sent = alert(news, open_sender(call.args.alert))
    if news and not sent:
        raise UsageError("the message could not be sent; check the address, and try with -v")
    heard.add((item.url, item.at) for item in found)
    write_heard(call.collection / STATE, read_heard(call.collection / STATE) | {_round(call): heard})
    say(call, f"told of {sent} changes" if sent else "nothing to tell")
    return 0
