"""sanderling similar: find pages built like the samples, stored or on the web."""

import argparse
import signal
import sys
import threading
from collections.abc import Sequence
from functools import partial

from sanderling.api.similarity import (
    Question,
    Sample,
    SavedSamples,
    SimilaritySearch,
    SimilarPages,
    answer_unmet_queries,
    find_on_web,
    index_in_background,
    is_worth_crawling,
    load_samples,
    load_saved_samples,
    renew_samples,
    revisit_hubs,
    save_samples,
    take_stored_sample,
)
from sanderling.api.types import Coordinator, CrawlRequest, FinishReason
from sanderling.cli.arguments import CommandCall, parse_share, parse_whole_number, print_json, print_message
from sanderling.cli.crawl_request import describe_command, load_request, warn_about_missing_contact
from sanderling.cli.progress import ProgressDisplay, stop_on_signals
from sanderling.cli.similar_output import print_result
from sanderling.config.settings import (
    HttpSettings,
    IndexSettings,
    PolitenessSettings,
    RenderSettings,
    ScopeSettings,
    WorkerSettings,
)
from sanderling.errors import UsageError
from sanderling.terminal import strip_control_characters

HELP = "Find pages of the same type as the samples, stored or on the live site."
EXAMPLES = """\
examples:
  sanderling similar https://shop.example/p/17 https://shop.example/p/4 https://shop.example/p/9 --stored
  sanderling similar https://shop.example/p/17 --stored                  asks about two or three more pages
  sanderling similar https://shop.example/p/17 --not https://shop.example/c/2 --save products
  sanderling similar --saved products --limit 200                        and on the live site
  sanderling similar --saved products --stored --export csv > products.csv
  sanderling similar --saved products --follow                           stay running and report new pages
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
    parser.add_argument("--follow", action="store_true", help="stay running and report new pages, until Ctrl-C")
    parser.add_argument("--export", choices=("csv", "json"), help="print the fields of the pages found as a table")


def run(call: CommandCall) -> int:
    """Find similar pages and print them; ask about more pages on a terminal; with --follow, keep reporting new ones."""
    _validate_arguments(call)
    if call.args.briefs:
        return print_answered_queries(call)
    saved = _select_samples(call)
    request = _build_request(call, saved.samples)
    samples, negatives = load_samples(call.collection, saved, None if call.args.stored else request)
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
        if call.args.follow:
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
    if not _may_ask(call):
        return samples, negatives
    for _ in range(MAX_QUESTIONS if len(samples) < ENOUGH_SAMPLES else 0):
        question = _build_search(call).find_question(samples, negatives)
        answer = _ask(question) if question else ""
        if question is None or answer not in ("y", "n"):
            break
        (samples if answer == "y" else negatives).append(take_stored_sample(call.collection, question.url))
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
        samples, negatives = load_samples(call.collection, saved, None if call.args.stored else request)
        revisit_hubs(call.collection, request, samples, call.args.fetches or 2 * most, most, begin)
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, lambda *_: over.set())
        print_result(call, _build_search(call).find(samples, negatives, shown_urls), shown_urls)
        if crews[0].is_forced or crews[0].stop_reason is FinishReason.INTERRUPTED:
            return


def print_answered_queries(call: CommandCall) -> int:
    """Crawl for unmet queries of search users and report the pages found."""
    keep_index = call.get_settings(IndexSettings).index
    report = partial(print_message, call)
    for unmet, found in answer_unmet_queries(call.collection, load_request(call), report, keep_index=keep_index):
        if call.json:
            print_json({"brief": unmet.id, "query": unmet.query, "found": found})
        else:
            print(f"{found:>4} new pages for {unmet.query}")
    return 0


def find_similar(
    call: CommandCall, request: CrawlRequest, samples: Sequence[Sample], negatives: Sequence[Sample]
) -> SimilarPages:
    """Search the stored pages, then the web if there are too few."""
    search = _build_search(call)
    found = search.find(samples, negatives)
    most = call.args.most or DEFAULT_LIMIT
    if call.args.stored or len(found.pages) >= most or not is_worth_crawling(call.collection, samples):
        return found
    warn_about_missing_contact(call, request)
    missing = most - len(found.pages)
    budget = call.args.fetches or 2 * missing + EXTRA_FETCHES
    with ProgressDisplay(call) as progress:
        find_on_web(call.collection, request, samples, budget, missing, on_start=stop_on_signals, on_tick=progress)
    samples = renew_samples(call.collection, samples, request)
    return search.find(samples, negatives, {page.url for page in found.pages})


def _build_search(call: CommandCall) -> SimilaritySearch:
    args = call.args
    return SimilaritySearch(call.collection, args.threshold, args.explain, args.exact, args.most)


def _validate_arguments(call: CommandCall) -> None:
    if bool(call.args.url or call.args.saved) == call.args.briefs:
        raise UsageError("no sample page given; --briefs crawls for unmet queries")
    if call.args.most is not None and call.args.most < 1:
        raise UsageError(f"--limit {call.args.most} finds nothing: ask for at least 1")
    if call.args.follow and call.args.stored:
        raise UsageError("--follow and --stored cannot be used together")


def _build_request(call: CommandCall, urls: Sequence[str]) -> CrawlRequest:
    return CrawlRequest(
        tuple(urls),
        scope=call.get_settings(ScopeSettings),
        politeness=call.get_settings(PolitenessSettings),
        fetching=call.get_settings(HttpSettings),
        rendering=call.get_settings(RenderSettings),
        workers=call.get_settings(WorkerSettings),
        command=describe_command(),
    )
