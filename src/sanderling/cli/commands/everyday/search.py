"""sanderling search: full-text search of the stored pages."""

import argparse
import os
import sys
import time
from typing import TYPE_CHECKING

from sanderling.api.searching.collection_search import search_collection
from sanderling.api.serialize import build_hit_object, format_pieces
from sanderling.cli.arguments import CommandCall, can_draw, fold_line, parse_whole_number, print_json, print_message
from sanderling.errors import UsageError

if TYPE_CHECKING:  # the index is an optional part
    from sanderling.api.types import SearchHit, SearchResults

HELP = "Search the stored pages. The index is updated first, unless a crawl or server is doing that."
DASHED = "; quote queries with excluded words: 'tide -storm'"
EXAMPLES = """\
examples:
  sanderling search tide tables
  sanderling search '"high water" -storm site:example.org type:pdf changed:30d'
  sanderling search 'harbour asof:2026-01-31'      versions of that date
  sanderling search harbour --explain --json
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "query", nargs="+", help='words, "phrases", -without, site: type: lang: changed: asof: intitle:'
    )
    parser.add_argument(
        "--first",
        "--limit",
        dest="first",
        type=parse_whole_number,
        default=10,
        metavar="N",
        help="number of results (default 10)",
    )
    parser.add_argument(
        "--from", type=parse_whole_number, default=1, metavar="N", dest="start", help="number of the first result"
    )
    parser.add_argument("--explain", action="store_true", help="explain each score")
    parser.add_argument("--no-update", action="store_true", help="do not update the index first")


def run(call: CommandCall) -> int:
    """Search and print the results."""
    args = call.args
    if args.first < 1 or args.start < 1:
        raise UsageError("--first and --from count from 1")
    began = time.perf_counter()
    results = search_collection(
        call.collection, " ".join(args.query), offset=args.start - 1, limit=args.first, explain=args.explain,
        update=not args.no_update, report=lambda text: print_message(call, text),
    )  # fmt: skip
    if call.json:
        for hit in results.hits:
            print_json(build_hit_object(hit))
    else:
        bold = can_draw(sys.stdout) and not os.environ.get("NO_COLOR")
        _print_results(results, explain=call.args.explain, highlight=("\033[1m", "\033[0m") if bold else ("", ""))
        print_message(call, f"{results.total:,} found in {(time.perf_counter() - began) * 1000:.0f} ms")
    return 0


def _print_results(results: "SearchResults", *, explain: bool, highlight: tuple[str, str]) -> None:
    if results.corrected_query:
        print(f"showing results for: {results.corrected_query}\n")
    if results.is_relaxed:
        print("few pages contain all words; pages with some of them follow\n")
    for hit in results.hits:
        print(f"{hit.position:>3}  {format_pieces(hit.title, highlight) or hit.url}\n     {hit.url}")
        print(f"     {fold_line(format_pieces(hit.snippet, highlight), 5)}")
        if explain:
            _print_score_parts(hit)
        print()


def _print_score_parts(hit: "SearchHit") -> None:
    parts = hit.score_parts
    print(
        f"     score {parts.score:.3f} = words {parts.text:.3f} x links {parts.link:.2f} x freshness"
        f" {parts.freshness:.2f} x readers {parts.behavior:.2f}"
    )
    for word, field, score in parts.field_scores:
        print(f"       {score:7.3f}  {word} in {field}")
