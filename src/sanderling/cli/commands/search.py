"""sanderling search: find stored pages by their words."""

import argparse
import importlib.util
import os
import sys
import time
from typing import TYPE_CHECKING

from sanderling.cli.arguments import Call, can_draw, folded, print_json, say, whole
from sanderling.cli.time_format import iso
from sanderling.errors import CollectionError, DiskFull, MissingExtra, UsageError
from sanderling.storage.collection import read_collection

if TYPE_CHECKING:  # the index is an optional part
    from sanderling.search.search_types import Hit, Piece, Results

HELP = "Find stored pages. The index is brought up to date first, unless a crawl or a server is doing that already."
DASHED = "; a question with such a word goes in quotes: 'tide -storm'"
EXAMPLES = """\
examples:
  sanderling search tide tables
  sanderling search '"high water" -storm site:example.org type:pdf changed:30d'
  sanderling search 'harbour asof:2026-01-31'      as the pages were then
  sanderling search harbour --explain --json
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument(
        "query", nargs="+", help='words, "phrases", -without, site: type: lang: changed: asof: intitle:'
    )
    parser.add_argument(
        "--first", "--limit", dest="first", type=whole, default=10, metavar="N", help="so many results (default 10)"
    )
    parser.add_argument("--from", type=whole, default=1, metavar="N", dest="start", help="begin at this result")
    parser.add_argument("--explain", action="store_true", help="show what each score is made of")
    parser.add_argument("--no-update", action="store_true", help="search the index as it is")


def run(call: Call) -> int:
    """Search and print."""
    if importlib.util.find_spec("tantivy") is None:
        raise MissingExtra("searching", "search")
    if call.args.first < 1 or call.args.start < 1:
        raise UsageError("--first and --from count from 1")
    read_collection(call.collection).close()
    if not call.args.no_update and _is_writable(call):
        _update(call)
    began = time.perf_counter()
    results = _search(call)
    if call.json:
        for hit in results.hits:
            print_json(as_object(hit))
    else:
        bold = can_draw(sys.stdout) and not os.environ.get("NO_COLOR")
        _print(results, explain=call.args.explain, marks=("\033[1m", "\033[0m") if bold else ("", ""))
        say(call, f"{results.total:,} found in {(time.perf_counter() - began) * 1000:.0f} ms")
    return 0


def _is_writable(call: Call) -> bool:
    return os.access(call.collection, os.W_OK)


def _update(call: Call) -> None:
    from sanderling.search.indexer import catch_up

    try:
        catch_up(call.collection, lambda behind: say(call, f"indexing, {behind:,} visits to go") if behind else None)
    except DiskFull as error:
        say(call, f"{error}; the index is searched as it is")
    except CollectionError as error:
        if "LockBusy" not in str(error):
            raise


def _search(call: Call) -> "Results":
    from sanderling.search.engine import Finder, nothing_learned
    from sanderling.search.feedback.event_log import DATABASE, open_log
    from sanderling.search.feedback.learn import Taught
    from sanderling.search.index import open_index
    from sanderling.search.query_expansion import Also
    from sanderling.search.search_types import Ask, Results

    text, args = " ".join(call.args.query), call.args
    index = open_index(call.collection / "index", write=False)
    if index is None:
        if not _is_writable(call):
            raise CollectionError(f"{call.collection} has no index yet, and none can be made: it cannot be written to")
        return Results(text, 0)
    if not (args.no_update or _is_writable(call)):
        _tell_behind(call, index.missing_since)
    has_log = (call.collection / DATABASE).exists() and _is_writable(call)
    taught = Taught(open_log(call.collection)) if has_log else nothing_learned
    return Finder(index, taught, widen=Also(call.collection / "index")).search(
        Ask(text, args.start - 1, args.first, args.explain, False, now=time.time())
    )


def _tell_behind(call: Call, since: int) -> None:
    """Say what an index lacks that cannot be brought up to date."""
    with read_collection(call.collection) as collection:
        (newest,) = collection.db.execute("SELECT coalesce(max(id), 0) FROM visits").fetchone()
    if newest > since:
        say(
            call,
            f"{call.collection} cannot be written to: the index is searched as it is, {newest - since:,} visits old",
        )


def as_object(hit: "Hit") -> dict[str, object]:
    """A hit as a script reads it."""
    parts = hit.parts
    return {
        "position": hit.position,
        "url": hit.url,
        "title": plain(hit.title),
        "snippet": plain(hit.snippet),
        "site": hit.site,
        "type": hit.type,
        "language": hit.language,
        "changed_at": iso(hit.changed_at) if hit.changed_at > hit.first_seen_at else None,
        "first_seen_at": iso(hit.first_seen_at),
        "score": parts.score,
        "parts": {name: getattr(parts, name) for name in ("text", "link", "freshness", "behaviour")},
        "fields": [{"word": word, "field": field, "score": score} for word, field, score in parts.fields],
    }


def plain(pieces: "tuple[Piece, ...]", marks: tuple[str, str] = ("", "")) -> str:
    """Text with what was found between marks; control characters of a page never reach the terminal."""
    clean = [("".join(c if c.isprintable() else " " for c in piece.text), piece.hit) for piece in pieces]
    return "".join(f"{marks[0]}{text}{marks[1]}" if hit else text for text, hit in clean)


def _print(results: "Results", *, explain: bool, marks: tuple[str, str]) -> None:
    if results.meant:
        print(f"showing results for: {results.meant}\n")
    if results.relaxed:
        print("few pages have all the words; pages with some of them follow\n")
    for hit in results.hits:
        print(f"{hit.position:>3}  {plain(hit.title, marks) or hit.url}\n     {hit.url}")
        print(f"     {folded(plain(hit.snippet, marks), 5)}")
        if explain:
            _print_parts(hit)
        print()


def _print_parts(hit: "Hit") -> None:
    parts = hit.parts
    print(
        f"     score {parts.score:.3f} = words {parts.text:.3f} x links {parts.link:.2f} x freshness"
        f" {parts.freshness:.2f} x readers {parts.behaviour:.2f}"
    )
    for word, field, score in parts.fields:
        print(f"       {score:7.3f}  {word} in {field}")
