"""sanderling similar: find pages built like the samples, stored or on the web."""

import argparse
import csv
import shlex
import signal
import sys
import threading
from collections.abc import Iterable, Sequence
from random import Random

from sanderling.cli.arguments import CommandCall, parse_share, parse_whole_number, print_json, print_message
from sanderling.cli.commands.refresh import load_request
from sanderling.cli.progress import ProgressDisplay, stop_on_signals
from sanderling.cli.seeds import warn_about_missing_contact
from sanderling.config.redact import redact_command
from sanderling.config.settings import (
    AssignmentSettings,
    HttpSettings,
    IndexSettings,
    LimitSettings,
    PolitenessSettings,
    RevisitSettings,
    ScopeSettings,
    WorkerSettings,
)
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.request import CrawlRequest, build_fetch_settings
from sanderling.crawl.stop import FinishReason
from sanderling.errors import MissingExtra, UsageError
from sanderling.html.parser import Document
from sanderling.search.background_indexer import can_index, index_in_background
from sanderling.storage.collection import has_collection, open_collection_read_only
from sanderling.storage.queries import find_url_id
from sanderling.templates.field_extraction import Field, induce, read_fields
from sanderling.templates.similar.driven_crawl import find_on_web, is_worth_crawling, revisit_hubs
from sanderling.templates.similar.samples import Sample, take_sample
from sanderling.templates.similar.stored import SimilarPage, body_of, find_stored

HELP = "Find pages built from the same template as the samples, stored or on the live site."
EXAMPLES = """\
examples:
  sanderling similar https://shop.example/p/17 --stored              among the stored pages
  sanderling similar https://shop.example/p/17 https://shop.example/p/4 --limit 200
  sanderling similar https://shop.example/p/17 --stored --export csv > products.csv
  sanderling similar https://shop.example/p/17 --watch               stay running and report new pages
  sanderling similar --briefs                                        crawl for unmet queries of search users
"""
GROUPS = (ScopeSettings, PolitenessSettings, HttpSettings, WorkerSettings, IndexSettings)
DEFAULT_LIMIT = 100
EXTRA_FETCHES = 20  # fetches allowed beyond twice the limit, for finding the way
TRAINING_PAGES = 12  # pages that the fields of a table are learned from
WATCH_SECONDS = 60.0  # between two looks at the pages that lead there


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("url", nargs="*", help="sample pages")
    parser.add_argument("--briefs", action="store_true", help="crawl for unmet queries of search users")
    parser.add_argument("--stored", action="store_true", help="search only the stored pages")
    parser.add_argument(
        "--limit", dest="most", type=parse_whole_number, metavar="N", help=f"at most so many (web: {DEFAULT_LIMIT})"
    )
    parser.add_argument(
        "--fetches",
        type=parse_whole_number,
        metavar="N",
        help="maximum number of pages to fetch (default: twice the limit)",
    )
    parser.add_argument("--threshold", type=parse_share, metavar="X", help="minimum similarity, from 0 to 1")
    parser.add_argument("--exact", action="store_true", help="compare whole trees (Simple Tree Matching); slower")
    parser.add_argument("--watch", action="store_true", help="stay running and report new pages, until Ctrl-C")
    parser.add_argument("--export", choices=("csv", "json"), help="print the fields of the pages found as a table")


def run(call: CommandCall) -> int:
    """Find similar pages and print them; with --watch, keep reporting new ones."""
    _validate_arguments(call)
    if call.args.briefs:
        return answer_unmet_queries(call)
    request = _build_request(call)
    samples = _load_samples(call, request)
    shown: set[str] = set()
    with index_in_background(
        call.collection,
        lambda text: print_message(call, text),
        call.get_settings(IndexSettings).index and _uses_web(call),
    ):
        _print_pages(call, find_similar(call, request, samples), shown)
        if call.args.watch:
            watch_similar(call, request, shown)
    return 0


def _uses_web(call: CommandCall) -> bool:
    return not call.args.stored


def watch_similar(call: CommandCall, request: CrawlRequest, shown_urls: set[str]) -> None:
    """Report new similar pages until Ctrl-C."""
    over = threading.Event()
    crews: list[Coordinator] = []
    most = call.args.most or DEFAULT_LIMIT

    def begin(coordinator: Coordinator) -> None:
        crews[:] = [coordinator]
        stop_on_signals(coordinator)

    while not over.wait(WATCH_SECONDS):
        with open_collection_read_only(call.collection) as collection:
            samples = [take_sample(text, collection, build_fetch_settings(request)) for text in call.args.url]
        revisit_hubs(call.collection, request, samples, call.args.fetches or 2 * most, most, begin)
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, lambda *_: over.set())
        found = find_stored(call.collection, samples, call.args.exact)
        _print_pages(
            call,
            _limit_pages(call, [page if page.url in shown_urls else _mark_as_web(page) for page in found]),
            shown_urls,
        )
        if crews[0].is_forced or crews[0].stop_reason is FinishReason.INTERRUPTED:
            return


def answer_unmet_queries(call: CommandCall) -> int:
    """Crawl for unmet queries of search users and report the pages found."""
    if not can_index():
        raise MissingExtra("answering what users asked for", "search")
    from sanderling.templates.similar.query_fulfillment import fulfill_unmet_queries

    with index_in_background(
        call.collection, lambda text: print_message(call, text), call.get_settings(IndexSettings).index
    ):
        for brief, found in fulfill_unmet_queries(call.collection, load_request(call)):
            if call.json:
                print_json({"brief": brief.id, "query": brief.query, "found": found})
            else:
                print(f"{found:>4} new pages for {brief.query}")
    return 0


def find_similar(call: CommandCall, request: CrawlRequest, samples: Sequence[Sample]) -> list[SimilarPage]:
    """Search the stored pages, then the web if there are too few."""
    found: list[SimilarPage] = []
    if has_collection(call.collection):
        found = _limit_pages(call, find_stored(call.collection, samples, call.args.exact))
    most = call.args.most or DEFAULT_LIMIT
    if call.args.stored or len(found) >= most or not is_worth_crawling(call.collection, samples):
        return found
    warn_about_missing_contact(call, request)
    before = {page.url for page in found}
    budget = call.args.fetches or 2 * (most - len(found)) + EXTRA_FETCHES
    with ProgressDisplay(call) as progress:
        find_on_web(
            call.collection, request, samples, budget, most - len(found), on_start=stop_on_signals, on_tick=progress
        )
    again = find_stored(call.collection, samples, call.args.exact)
    return _limit_pages(call, [page if page.url in before else _mark_as_web(page) for page in again])


def _mark_as_web(page: SimilarPage) -> SimilarPage:
    return SimilarPage(page.url, page.similarity, "web")


def _validate_arguments(call: CommandCall) -> None:
    if bool(call.args.url) == call.args.briefs:
        raise UsageError("no sample page given; --briefs crawls for unmet queries")
    if call.args.most is not None and call.args.most < 1:
        raise UsageError(f"--limit {call.args.most} finds nothing: ask for at least 1")
    if call.args.watch and call.args.stored:
        raise UsageError("--watch and --stored cannot be used together")


def _build_request(call: CommandCall) -> CrawlRequest:
    return CrawlRequest(
        tuple(call.args.url),
        scope=call.get_settings(ScopeSettings),
        limits=LimitSettings(),
        politeness=call.get_settings(PolitenessSettings),
        fetching=call.get_settings(HttpSettings),
        workers=call.get_settings(WorkerSettings),
        scheduling=AssignmentSettings(),
        revisit=RevisitSettings(),
        command=shlex.join(redact_command(sys.argv[1:])),
    )


def _load_samples(call: CommandCall, request: CrawlRequest) -> list[Sample]:
    settings = None if call.args.stored else build_fetch_settings(request)
    if settings is not None and not has_collection(call.collection):
        return [take_sample(text, None, settings) for text in call.args.url]
    with open_collection_read_only(call.collection) as collection:
        return [take_sample(text, collection, settings) for text in call.args.url]


def _limit_pages(call: CommandCall, pages: Sequence[SimilarPage]) -> list[SimilarPage]:
    least = call.args.threshold or 0.0
    return [page for page in pages if page.similarity >= least][: call.args.most]


def _print_pages(call: CommandCall, pages: Iterable[SimilarPage], shown_urls: set[str]) -> None:
    new = [page for page in pages if page.url not in shown_urls]
    shown_urls.update(page.url for page in new)
    if call.args.export:
        export_fields(call, new)
        return
    for page in new:
        if call.json:
            print_json({"url": page.url, "similarity": page.similarity, "from": page.source})
        else:
            print(f"{page.similarity:.2f}  {page.source:<5}  {page.url}", flush=True)
    if not new:
        print_message(call, "no similar page found" if not call.args.watch else "nothing new")


def export_fields(call: CommandCall, pages: Sequence[SimilarPage]) -> None:
    with open_collection_read_only(call.collection) as collection:

        def body(page: SimilarPage) -> Document:
            return body_of(collection, find_url_id(collection.db, page.url), page.url)

        taught = Random(1).sample(pages, min(TRAINING_PAGES, len(pages)))
        fields = induce([body(page) for page in taught])
        print_message(
            call, "\n".join(f"{field.name}: {'   '.join(filter(None, (field.css, field.xpath)))}" for field in fields)
        )
        _write_table(call, fields, ((page.url, read_fields(body(page), fields)) for page in pages))


def _write_table(call: CommandCall, fields: Sequence[Field], rows: Iterable[tuple[str, Sequence[str]]]) -> None:
    names = [field.name for field in fields]
    if call.args.export == "json":
        for url, values in rows:
            print_json({"url": url, **dict(zip(names, values, strict=True))})
        return
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["url", *names])
    for url, values in rows:
        table.writerow([url, *values])
