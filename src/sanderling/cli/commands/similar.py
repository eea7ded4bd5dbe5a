"""sanderling like: pages built like the samples, in the store first, then on the web."""

import argparse
import csv
import shlex
import signal
import sys
import threading
from collections.abc import Iterable, Sequence
from random import Random

from sanderling.cli.arguments import Call, print_json, say, share, whole
from sanderling.cli.commands.refresh import remembered
from sanderling.cli.progress import show_progress, stop_on_signals
from sanderling.cli.seeds import warn_without_contact
from sanderling.config.redact import without_secrets
from sanderling.config.settings import Fetching, Limits, Politeness, Revisit, Scheduling, Scope, Searching, Workers
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.request import Request, fetch_settings
from sanderling.crawl.stop import Finish
from sanderling.errors import MissingExtra, UsageError
from sanderling.html.parser import Document
from sanderling.search.background_indexer import can_index, indexing
from sanderling.storage.collection import exists, read_collection
from sanderling.storage.queries import url_id
from sanderling.templates.field_extraction import Field, induce, read
from sanderling.templates.similar.driven_crawl import find_on_web, is_worth_crawling, look_again
from sanderling.templates.similar.samples import Sample, take_sample
from sanderling.templates.similar.stored import Found, body_of, find_stored

HELP = "Find pages built like one or more samples: in the store first, then on the web, fetching little else."
EXAMPLES = """\
examples:
  sanderling like https://shop.example/p/17 --stored              among the stored pages
  sanderling like https://shop.example/p/17 https://shop.example/p/4 --limit 200
  sanderling like https://shop.example/p/17 --stored --export csv > products.csv
  sanderling like https://shop.example/p/17 --watch               and those that appear later
  sanderling like --briefs                                        what users searched for and did not find
"""
GROUPS = (Scope, Politeness, Fetching, Workers, Searching)
LIMIT = 100
SPARE = 20  # fetches allowed beyond twice the limit, for finding the way
LEARN_PAGES = 12  # pages that the fields of a table are learned from
WATCH_SECONDS = 60.0  # between two looks at the pages that lead there


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("url", nargs="*", help="sample pages")
    parser.add_argument(
        "--briefs", action="store_true", help="look for what users of the search page asked for and did not find"
    )
    parser.add_argument("--stored", action="store_true", help="only look among the stored pages")
    parser.add_argument("--limit", dest="most", type=whole, metavar="N", help=f"at most so many (web: {LIMIT})")
    parser.add_argument("--fetches", type=whole, metavar="N", help="pages to fetch at most (default: twice the limit)")
    parser.add_argument("--threshold", type=share, metavar="X", help="only at least this similar, from 0 to 1")
    parser.add_argument("--exact", action="store_true", help="compare whole trees (Simple Tree Matching); slower")
    parser.add_argument("--watch", action="store_true", help="stay and report those that appear later, until Ctrl-C")
    parser.add_argument("--export", choices=("csv", "json"), help="print the fields of the pages found as a table")


def run(call: Call) -> int:
    """Find, print, perhaps stay."""
    _check(call)
    if call.args.briefs:
        return answer_all(call)
    request = _request(call)
    samples = _samples(call, request)
    shown: set[str] = set()
    with indexing(call.collection, lambda text: say(call, text), call.settings(Searching).index and _goes_out(call)):
        _show(call, search(call, request, samples), shown)
        if call.args.watch:
            watch(call, request, shown)
    return 0


def _goes_out(call: Call) -> bool:
    return not call.args.stored


def watch(call: Call, request: Request, shown: set[str]) -> None:
    """Stay, and tell of pages like the samples that appear, until Ctrl-C."""
    over = threading.Event()
    crews: list[Coordinator] = []
    most = call.args.most or LIMIT

    def begin(coordinator: Coordinator) -> None:
        crews[:] = [coordinator]
        stop_on_signals(coordinator)

    while not over.wait(WATCH_SECONDS):
        with read_collection(call.collection) as collection:
            samples = [take_sample(text, collection, fetch_settings(request)) for text in call.args.url]
        look_again(call.collection, request, samples, call.args.fetches or 2 * most, most, begin)
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, lambda *_: over.set())
        found = find_stored(call.collection, samples, call.args.exact)
        _show(call, _limited(call, [page if page.url in shown else _of_web(page) for page in found]), shown)
        if crews[0].forced or crews[0].stopping is Finish.INTERRUPTED:
            return


def answer_all(call: Call) -> int:
    """Send specialised migrants for what users asked for; say what came."""
    if not can_index():
        raise MissingExtra("answering what users asked for", "search")
    from sanderling.templates.similar.query_fulfillment import answer_briefs

    with indexing(call.collection, lambda text: say(call, text), call.settings(Searching).index):
        for brief, found in answer_briefs(call.collection, remembered(call)):
            if call.json:
                print_json({"brief": brief.id, "query": brief.query, "found": found})
            else:
                print(f"{found:>4} new pages for {brief.query}")
    return 0


def search(call: Call, request: Request, samples: Sequence[Sample]) -> list[Found]:
    """Look in the store, and on the web if that is not enough."""
    found: list[Found] = []
    if exists(call.collection):
        found = _limited(call, find_stored(call.collection, samples, call.args.exact))
    most = call.args.most or LIMIT
    if call.args.stored or len(found) >= most or not is_worth_crawling(call.collection, samples):
        return found
    warn_without_contact(call, request)
    before = {page.url for page in found}
    budget = call.args.fetches or 2 * (most - len(found)) + SPARE
    with show_progress(call) as progress:
        find_on_web(
            call.collection, request, samples, budget, most - len(found), on_start=stop_on_signals, on_tick=progress
        )
    again = find_stored(call.collection, samples, call.args.exact)
    return _limited(call, [page if page.url in before else _of_web(page) for page in again])


def _of_web(page: Found) -> Found:
    return Found(page.url, page.similarity, "web")


def _check(call: Call) -> None:
    if bool(call.args.url) == call.args.briefs:
        raise UsageError("give a sample page, or --briefs for what users of the search page asked for")
    if call.args.most is not None and call.args.most < 1:
        raise UsageError(f"--limit {call.args.most} finds nothing: ask for at least 1")
    if call.args.watch and call.args.stored:
        raise UsageError("--watch goes to the web and --stored does not: leave one of them out")


def _request(call: Call) -> Request:
    return Request(
        tuple(call.args.url),
        scope=call.settings(Scope),
        limits=Limits(),
        politeness=call.settings(Politeness),
        fetching=call.settings(Fetching),
        workers=call.settings(Workers),
        scheduling=Scheduling(),
        revisit=Revisit(),
        command=shlex.join(without_secrets(sys.argv[1:])),
    )


def _samples(call: Call, request: Request) -> list[Sample]:
    settings = None if call.args.stored else fetch_settings(request)
    if settings is not None and not exists(call.collection):
        return [take_sample(text, None, settings) for text in call.args.url]
    with read_collection(call.collection) as collection:
        return [take_sample(text, collection, settings) for text in call.args.url]


def _limited(call: Call, found: Sequence[Found]) -> list[Found]:
    least = call.args.threshold or 0.0
    return [page for page in found if page.similarity >= least][: call.args.most]


def _show(call: Call, found: Iterable[Found], shown: set[str]) -> None:
    new = [page for page in found if page.url not in shown]
    shown.update(page.url for page in new)
    if call.args.export:
        export(call, new)
        return
    for page in new:
        if call.json:
            print_json({"url": page.url, "similarity": page.similarity, "from": page.source})
        else:
            print(f"{page.similarity:.2f}  {page.source:<5}  {page.url}", flush=True)
    if not new:
        say(call, "no page is built like that" if not call.args.watch else "nothing new")


def export(call: Call, found: Sequence[Found]) -> None:
    """Print one row per page with the fields its template fills in; say where each field is."""
    with read_collection(call.collection) as collection:

        def body(page: Found) -> Document:
            return body_of(collection, url_id(collection.db, page.url), page.url)

        taught = Random(1).sample(found, min(LEARN_PAGES, len(found)))
        fields = induce([body(page) for page in taught])
        say(call, "\n".join(f"{field.name}: {'   '.join(filter(None, (field.css, field.xpath)))}" for field in fields))
        _write(call, fields, ((page.url, read(body(page), fields)) for page in found))


def _write(call: Call, fields: Sequence[Field], rows: Iterable[tuple[str, Sequence[str]]]) -> None:
    names = [field.name for field in fields]
    if call.args.export == "json":
        for url, values in rows:
            print_json({"url": url, **dict(zip(names, values, strict=True))})
        return
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["url", *names])
    for url, values in rows:
        table.writerow([url, *values])
