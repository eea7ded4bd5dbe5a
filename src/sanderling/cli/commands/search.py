"""sanderling search: full-text search of the stored pages."""

import argparse
import importlib.util
import os
import sys
import time
from typing import TYPE_CHECKING

from sanderling.api.serialize import build_hit_object, format_pieces
from sanderling.cli.arguments import CommandCall, can_draw, fold_line, parse_whole_number, print_json, print_message
from sanderling.errors import CollectionError, DiskFull, MissingExtra, UsageError
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.reports import get_last_visit_id

if TYPE_CHECKING:  # the index is an optional part
    from sanderling.search.search_types import SearchHit, SearchResults

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
    if importlib.util.find_spec("tantivy") is None:
        raise MissingExtra("searching", "search")
    if call.args.first < 1 or call.args.start < 1:
        raise UsageError("--first and --from count from 1")
    open_collection_read_only(call.collection).close()
    if not call.args.no_update and _is_writable(call):
        _update_index(call)
    began = time.perf_counter()
    results = _run_search(call)
    if call.json:
        for hit in results.hits:
            print_json(build_hit_object(hit))
    else:
        bold = can_draw(sys.stdout) and not os.environ.get("NO_COLOR")
        _print_results(results, explain=call.args.explain, highlight=("\033[1m", "\033[0m") if bold else ("", ""))
        print_message(call, f"{results.total:,} found in {(time.perf_counter() - began) * 1000:.0f} ms")
    return 0


def _is_writable(call: CommandCall) -> bool:
    return os.access(call.collection, os.W_OK)


def _update_index(call: CommandCall) -> None:
    from sanderling.search.indexer import update_index

    try:
        update_index(
            call.collection,
            lambda behind: print_message(call, f"indexing, {behind:,} visits to go") if behind else None,
        )
    except DiskFull as error:
        print_message(call, f"{error}; the index is searched as it is")
    except CollectionError as error:
        if "LockBusy" not in str(error):
            raise


def _run_search(call: CommandCall) -> "SearchResults":
    from sanderling.search.engine import SearchEngine, ignore_behavior
    from sanderling.search.feedback.event_log import DATABASE, open_event_log
    from sanderling.search.feedback.learn import ClickWeights
    from sanderling.search.index import open_search_index
    from sanderling.search.query_expansion import AliasExpander
    from sanderling.search.search_types import SearchRequest, SearchResults

    text, args = " ".join(call.args.query), call.args
    index = open_search_index(call.collection / "index", write=False)
    if index is None:
        if not _is_writable(call):
            raise CollectionError(f"{call.collection} has no index yet, and none can be made: it cannot be written to")
        return SearchResults(text, 0)
    if not (args.no_update or _is_writable(call)):
        _warn_index_behind(call, index.last_batch)
    has_log = (call.collection / DATABASE).exists() and _is_writable(call)
    taught = ClickWeights(open_event_log(call.collection)) if has_log else ignore_behavior
    return SearchEngine(index, taught, expand_query=AliasExpander(call.collection / "index")).search(
        SearchRequest(text, args.start - 1, args.first, args.explain, False, now=time.time())
    )


def _warn_index_behind(call: CommandCall, since: int) -> None:
    """Warn how many visits are missing in an index that cannot be updated."""
    with open_collection_read_only(call.collection) as collection:
        newest = get_last_visit_id(collection.db)
    if newest > since:
        print_message(
            call,
            f"{call.collection} cannot be written to: the index is searched as it is, {newest - since:,} visits old",
        )


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
