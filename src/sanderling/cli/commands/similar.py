"""sanderling similar: find pages built like the samples, stored or on the web."""

import argparse
import shlex
import signal
import sys
import threading
from collections.abc import Sequence

from msgspec.structs import replace

from sanderling.cli.arguments import CommandCall, parse_share, parse_whole_number, print_json, print_message
from sanderling.cli.commands.refresh import load_request
from sanderling.cli.progress import ProgressDisplay, stop_on_signals
from sanderling.cli.seeds import warn_about_missing_contact
from sanderling.cli.similar_output import print_result
from sanderling.config.redact import redact_command
from sanderling.config.settings import (
    AssignmentSettings,
    HttpSettings,
    IndexSettings,
    LimitSettings,
    PolitenessSettings,
    RenderSettings,
    RevisitSettings,
    ScopeSettings,
    WorkerSettings,
)
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.request import CrawlRequest, build_fetch_settings
from sanderling.crawl.stop import FinishReason
from sanderling.errors import MissingExtra, UsageError
from sanderling.search.background_indexer import can_index, index_in_background
from sanderling.storage.collection import has_collection, open_collection_read_only
from sanderling.templates.driven_crawl import find_on_web, is_worth_crawling, revisit_hubs
from sanderling.templates.sample_pages import Sample, SavedSamples, load_saved_samples, save_samples, take_sample
from sanderling.templates.similar_pages import Question, SimilarPages, find_exactly, find_stored
from sanderling.terminal import strip_control_characters

HELP = "Find pages of the same type as the samples, stored or on the live site."
EXAMPLES = """\
examples:
  sanderling similar https://shop.example/p/17 https://shop.example/p/4 https://shop.example/p/9 --stored
  sanderling similar https://shop.example/p/17 --stored                  asks about two or three more pages
  sanderling similar https://shop.example/p/17 --not https://shop.example/c/2 --save products
  sanderling similar --saved products --limit 200                        and on the live site
  sanderling similar --saved products --stored --export csv > products.csv
  sanderling similar --saved products --watch                            stay running and report new pages
  sanderling similar --briefs                                            crawl for unmet queries of search users
"""
GROUPS = (ScopeSettings, PolitenessSettings, HttpSettings, RenderSettings, WorkerSettings, IndexSettings)
DEFAULT_LIMIT = 100
MAX_QUESTIONS, ENOUGH_SAMPLES = 3, 3
EXTRA_FETCHES = 20  # fetches allowed beyond twice the limit, for finding the way
WATCH_SECONDS = 60.0  # between two looks at the pages that lead there


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("url", nargs="*", help="sample pages")
    parser.add_argument("--briefs", action="store_true", help="crawl for unmet queries of search users")
    parser.add_argument(
        "--not",
        dest="negatives",
        action="append",
        default=[],
        metavar="URL",
        help="a page of another type (repeatable)",
    )
    parser.add_argument("--save", metavar="NAME", help="remember the samples under a name")
    parser.add_argument("--saved", metavar="NAME", help="use the samples saved under this name, with those given")
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
    parser.add_argument("--threshold", type=parse_share, metavar="X", help="minimum probability, from 0 to 1")
    parser.add_argument(
        "--exact", action="store_true", help="compare whole trees (Simple Tree Matching, at least 0.4); slower"
    )
    parser.add_argument("--explain", action="store_true", help="show the shared features that decided")
    parser.add_argument("--no-questions", action="store_true", help="do not ask about more pages on a terminal")
    parser.add_argument("--watch", action="store_true", help="stay running and report new pages, until Ctrl-C")
    parser.add_argument("--export", choices=("csv", "json"), help="print the fields of the pages found as a table")


def run(call: CommandCall) -> int:
    """Find similar pages and print them; ask about more pages on a terminal; with --watch, keep reporting new ones."""
    _validate_arguments(call)
    if call.args.briefs:
        return answer_unmet_queries(call)
    saved = _select_samples(call)
    request = _build_request(call, saved.samples)
    samples, negatives = _load_samples(call, request, saved)
    samples, negatives = ask_questions(call, samples, negatives)
    if call.args.save:
        save_samples(call.collection, call.args.save, _name_samples(samples, negatives))
    shown: set[str] = set()
    with index_in_background(
        call.collection,
        lambda text: print_message(call, text),
        call.get_settings(IndexSettings).index and _uses_web(call),
    ):
        print_result(call, find_similar(call, request, samples, negatives), shown)
        if call.args.watch:
            watch_similar(call, request, saved, shown)
    return 0


def _select_samples(call: CommandCall) -> SavedSamples:
    given = SavedSamples(tuple(call.args.url), tuple(call.args.negatives))
    if not call.args.saved:
        return given
    saved = load_saved_samples(call.collection, call.args.saved)
    return SavedSamples((*saved.samples, *given.samples), (*saved.negatives, *given.negatives))


def _name_samples(samples: Sequence[Sample], negatives: Sequence[Sample]) -> SavedSamples:
    return SavedSamples(
        tuple(dict.fromkeys(sample.view.url for sample in samples)),
        tuple(dict.fromkeys(sample.view.url for sample in negatives)),
    )


def ask_questions(
    call: CommandCall, samples: list[Sample], negatives: list[Sample]
) -> tuple[list[Sample], list[Sample]]:
    """Ask on a terminal whether the pages that tell most are of the type, one at a time."""
    if not _may_ask(call) or not has_collection(call.collection):
        return samples, negatives
    for _ in range(MAX_QUESTIONS if len(samples) < ENOUGH_SAMPLES else 0):
        questions = find_stored(call.collection, samples, negatives).questions
        answer = _ask(questions[0]) if questions else ""
        if answer not in ("y", "n"):
            break
        with open_collection_read_only(call.collection) as collection:
            sample = take_sample(questions[0].url, collection, None)
        (samples if answer == "y" else negatives).append(sample)
    return samples, negatives


def _may_ask(call: CommandCall) -> bool:
    is_plain = not (call.json or call.quiet or call.args.export or call.args.no_questions or call.args.exact)
    return is_plain and sys.stdin.isatty() and sys.stdout.isatty()


def _ask(question: Question) -> str:
    title = f"  {strip_control_characters(question.title)}\n" if question.title else ""
    try:
        return input(f"{title}  {question.url}\nIs this one, too? [y/n, Enter: show the pages] ").strip().lower()[:1]
    except EOFError:
        return ""


def _uses_web(call: CommandCall) -> bool:
    return not call.args.stored


def watch_similar(call: CommandCall, request: CrawlRequest, saved: SavedSamples, shown_urls: set[str]) -> None:
    """Report new similar pages until Ctrl-C."""
    over = threading.Event()
    crews: list[Coordinator] = []
    most = call.args.most or DEFAULT_LIMIT

    def begin(coordinator: Coordinator) -> None:
        crews[:] = [coordinator]
        stop_on_signals(coordinator)

    while not over.wait(WATCH_SECONDS):
        samples, negatives = _load_samples(call, request, saved)
        revisit_hubs(call.collection, request, samples, call.args.fetches or 2 * most, most, begin)
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, lambda *_: over.set())
        print_result(call, _find_among_stored(call, samples, negatives, shown_urls), shown_urls)
        if crews[0].is_forced or crews[0].stop_reason is FinishReason.INTERRUPTED:
            return


def answer_unmet_queries(call: CommandCall) -> int:
    """Crawl for unmet queries of search users and report the pages found."""
    if not can_index():
        raise MissingExtra("answering what users asked for", "search")
    from sanderling.templates.query_fulfillment import fulfill_unmet_queries

    with index_in_background(
        call.collection, lambda text: print_message(call, text), call.get_settings(IndexSettings).index
    ):
        for unmet, found in fulfill_unmet_queries(call.collection, load_request(call)):
            if call.json:
                print_json({"brief": unmet.id, "query": unmet.query, "found": found})
            else:
                print(f"{found:>4} new pages for {unmet.query}")
    return 0


def find_similar(
    call: CommandCall, request: CrawlRequest, samples: Sequence[Sample], negatives: Sequence[Sample]
) -> SimilarPages:
    """Search the stored pages, then the web if there are too few."""
    found = SimilarPages([])
    if has_collection(call.collection):
        found = _find_among_stored(call, samples, negatives)
    most = call.args.most or DEFAULT_LIMIT
    if call.args.stored or len(found.pages) >= most or not is_worth_crawling(call.collection, samples):
        return found
    warn_about_missing_contact(call, request)
    missing = most - len(found.pages)
    budget = call.args.fetches or 2 * missing + EXTRA_FETCHES
    with ProgressDisplay(call) as progress:
        find_on_web(call.collection, request, samples, budget, missing, on_start=stop_on_signals, on_tick=progress)
    with open_collection_read_only(call.collection) as collection:
        samples = [take_sample(sample.view.url, collection, build_fetch_settings(request)) for sample in samples]
    return _find_among_stored(call, samples, negatives, {page.url for page in found.pages})


def _find_among_stored(
    call: CommandCall, samples: Sequence[Sample], negatives: Sequence[Sample], known: set[str] | None = None
) -> SimilarPages:
    """Return similar stored pages; pages that are not in `known` are marked as found on the web."""
    if call.args.exact:
        found = find_exactly(call.collection, samples, call.args.threshold)
    else:
        found = find_stored(
            call.collection, samples, negatives, threshold=call.args.threshold, explain=call.args.explain
        )
    pages = found.pages[: call.args.most]
    if known is not None:
        pages = [page if page.url in known else replace(page, source="web") for page in pages]
    return replace(found, pages=pages)


def _validate_arguments(call: CommandCall) -> None:
    if bool(call.args.url or call.args.saved) == call.args.briefs:
        raise UsageError("no sample page given; --briefs crawls for unmet queries")
    if call.args.most is not None and call.args.most < 1:
        raise UsageError(f"--limit {call.args.most} finds nothing: ask for at least 1")
    if call.args.watch and call.args.stored:
        raise UsageError("--watch and --stored cannot be used together")


def _build_request(call: CommandCall, urls: Sequence[str]) -> CrawlRequest:
    return CrawlRequest(
        tuple(urls),
        scope=call.get_settings(ScopeSettings),
        limits=LimitSettings(),
        politeness=call.get_settings(PolitenessSettings),
        fetching=call.get_settings(HttpSettings),
        rendering=call.get_settings(RenderSettings),
        workers=call.get_settings(WorkerSettings),
        scheduling=AssignmentSettings(),
        revisit=RevisitSettings(),
        command=shlex.join(redact_command(sys.argv[1:])),
    )


def _load_samples(call: CommandCall, request: CrawlRequest, saved: SavedSamples) -> tuple[list[Sample], list[Sample]]:
    settings = None if call.args.stored else build_fetch_settings(request)
    if settings is not None and not has_collection(call.collection):
        return [take_sample(text, None, settings) for text in saved.samples], []
    with open_collection_read_only(call.collection) as collection:
        samples = [take_sample(text, collection, settings) for text in saved.samples]
        return samples, [take_sample(text, collection, settings) for text in saved.negatives]
