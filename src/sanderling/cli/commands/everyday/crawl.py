"""sanderling crawl: crawl sites into a collection, or resume a crawl."""

import argparse
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from sanderling.api.operations.runs import (
    RunHooks,
    delete_new_collection,
    follow_log,
    has_collection,
    list_failed_seeds,
    run_crawl,
    summarize_unstarted,
    validate_request,
)
from sanderling.api.operations.shard_sets import ShardSupervisor, crawl_shards, is_shard_set
from sanderling.api.types import Coordinator, CrawlProgress, CrawlRequest, CrawlSummary, FinishReason, Reason
from sanderling.cli.arguments import EXIT_FAILED, CommandCall, confirm, print_json, print_message
from sanderling.cli.crawl_request import (
    advise_rendering,
    build_request,
    read_seeds,
    warn_about_credentials,
    warn_about_missing_contact,
)
from sanderling.cli.progress import (
    EXIT_CODE_BY_FINISH,
    ProgressDisplay,
    format_size,
    stop_on_signals,
    warn_about_damage,
)
from sanderling.config.settings import CRAWL_GROUPS, IndexSettings
from sanderling.errors import UsageError

HELP = "Crawl sites into a collection. Run the same command again to resume, or to update a complete crawl."
EXAMPLES = """\
examples:
  sanderling crawl https://example.org/ --contact https://me.example/bot
  sanderling crawl https://example.org/docs/ --scope prefix --depth 3 --limit 1000
  sanderling crawl --seed-file seeds.txt --time-limit 2h --exclude '\\?print='
  sanderling crawl https://shop.example/ --fields price:price='css:.price' --fields name='json:$..name'
  sanderling crawl http://localhost:8000/ --allow-private --delay 0     your own server, at full speed
"""
GROUPS = CRAWL_GROUPS
MAX_EXPLAINED_SEEDS = 5


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("url", nargs="*", help="seed URLs (default: seeds of the collection)")
    parser.add_argument("--seed-file", metavar="FILE", help="file with one URL per line (- for standard input)")
    parser.add_argument("--clean", action="store_true", help="delete the collection first, after confirmation")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def run(call: CommandCall) -> int:
    """Crawl, show progress, and print the summary."""
    request = build_request(call, read_seeds(call.args.url, call.args.seed_file))
    for name in ("order", "query", "like_text"):
        if call.setting_values.get(name) == "":
            raise UsageError(f"--{name.replace('_', '-')} is empty; leave it out, or see sanderling crawl --help")
    if not request.seeds and (call.args.clean or not has_collection(call.collection)):
        raise UsageError("no seed given: sanderling crawl https://example.org/")
    existed, was_empty = call.collection.exists(), is_empty_folder(call.collection)
    if call.args.clean:
        validate_request(request, is_new=True)  # a typo must not delete the collection
        confirm_deletion(call)
    keep_index = call.get_settings(IndexSettings).index
    with ProgressDisplay(call) as shown:
        if request.workers.shards > 1 or is_shard_set(call.collection):
            return run_sharded(call, request, shown, keep_index=keep_index)
        hooks = RunHooks(lambda pool: configure_run(call, request, pool), shown, lambda text: print_message(call, text))
        summary = run_crawl(call.collection, request, hooks, keep_index=keep_index, clean=call.args.clean)
    is_kept = not (has_fetched_nothing(summary) and not summary.pages and was_empty)
    is_kept = is_kept or bool(request.workers.store or request.workers.archive)  # outside of the folder
    with suppress(BrokenPipeError):  # the reader of the output is gone; the exit code reports the result
        print_summary(call, summary, is_kept=is_kept)
    advise_rendering(call, request.rendering, summary.unrendered)
    empty = has_fetched_nothing(summary) and (explain_empty_crawl(call) or summary.failed > 0)
    if not is_kept:
        delete_new_collection(call.collection, delete_folder=not existed)
    if summary.finish_reason == FinishReason.DISK_FULL and call.json:
        print(f"sanderling: {FINISH_MESSAGES[FinishReason.DISK_FULL]}", file=sys.stderr)
    return EXIT_FAILED if empty else EXIT_CODE_BY_FINISH[FinishReason(summary.finish_reason)]


def run_sharded(
    call: CommandCall, request: CrawlRequest, show: Callable[[CrawlProgress], None], *, keep_index: bool
) -> int:
    """Crawl a set of shards, and print the summary."""
    warn_about_missing_contact(call, request)
    warn_about_credentials(call, request)

    def stop_on_signal(supervisor: ShardSupervisor) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: supervisor.stop())

    summary = crawl_shards(
        call.collection,
        request,
        show,
        lambda text: print_message(call, text),
        on_start=stop_on_signal,
        keep_index=keep_index,
        clean=call.args.clean,
    )
    print_summary(call, summary)
    is_empty = has_fetched_nothing(summary) and (explain_empty_crawl(call) or summary.failed > 0)
    return EXIT_FAILED if is_empty else EXIT_CODE_BY_FINISH[FinishReason(summary.finish_reason)]


def interrupted(call: CommandCall) -> None:
    """Print the JSON summary of a crawl interrupted before it started."""
    print_summary(call, summarize_unstarted(call.collection))


def is_empty_folder(folder: Path) -> bool:
    return not folder.is_dir() or not any(folder.iterdir())


def has_fetched_nothing(summary: CrawlSummary) -> bool:
    return summary.finish_reason == FinishReason.DONE and not summary.fetched + summary.not_modified


ADVICE = {
    Reason.PRIVATE_ADDRESS: "crawl private addresses with --allow-private",
    Reason.ROBOTS: "its robots.txt keeps us out",
    "certificate": "--insecure-host HOST does without a valid one",
    "status 401": "--basic-auth HOST=env:NAME logs in; the variable holds USER:PASSWORD",
    Reason.TOO_MANY_REDIRECTS: "a site that wants its cookies back gets them with --cookies",
    "wrong version number": "does it speak plain http? Then say http://",
    Reason.DELETED: "sanderling delete --undo lets it in again",
    Reason.OUT_OF_SCOPE: "--scope any goes there, or name it as a seed",
}


def explain_empty_crawl(call: CommandCall) -> bool:
    """Print why the seeds could not be fetched. Returns False if none failed."""
    failed = list_failed_seeds(call.collection, MAX_EXPLAINED_SEEDS)
    for row in failed.rows:
        note = f" ({row.detail})" if row.detail else ""
        advice = next(
            (f"; {text}" for sign, text in ADVICE.items() if sign in (row.reason, *_find_advice_keys(row.detail))),
            "",
        )
        print_message(call, f"nothing from {row.url}: {row.reason or row.state}{note}{advice}")
    return bool(failed.rows) or not failed.has_pages


def _find_advice_keys(note: str) -> list[str]:
    return [sign for sign in ADVICE if sign in note]


def confirm_deletion(call: CommandCall) -> None:
    """Ask before deleting a collection; raise UsageError without confirmation."""
    if has_collection(call.collection) and not call.args.yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise UsageError("--clean deletes the collection; add --yes to confirm without a terminal")
        if not confirm(f"delete everything in {call.collection}?"):
            raise UsageError("nothing was deleted")


def configure_run(call: CommandCall, request: CrawlRequest, coordinator: Coordinator) -> None:
    """Print warnings and install the Ctrl-C handler before the first request."""
    warn_about_missing_contact(call, request)
    warn_about_credentials(call, request)
    warn_about_damage(call, coordinator)
    if call.verbose:
        follow_log(coordinator, lambda line: print(line, file=sys.stderr), all_visits=call.verbose > 1)
    stop_on_signals(coordinator)


FINISH_MESSAGES = {
    FinishReason.DONE: "done",
    FinishReason.PAGE_LIMIT: "page limit reached; resume with a higher --limit",
    FinishReason.TIME_LIMIT: "time limit reached; run the same command to resume",
    FinishReason.SIZE_LIMIT: "size limit reached; run the same command to resume",
    FinishReason.INTERRUPTED: "interrupted; run the same command to resume",
    FinishReason.FORCED: "stopped; run the same command to resume",
    FinishReason.BACKED_OFF: "remaining hosts asked to retry later (see sanderling status); run the command again",
    FinishReason.DISK_FULL: "the disk is full; free some space and run the same command to resume",
}


def print_summary(call: CommandCall, summary: CrawlSummary, is_kept: bool = True) -> None:
    """Print the summary as text, or as JSON with --json. `is_kept`: the collection remains."""
    if call.json:
        print_json(msgspec.to_builtins(summary))
        return
    if call.quiet:
        return
    why = FINISH_MESSAGES[FinishReason(summary.finish_reason)]
    if summary.finish_reason == FinishReason.PAGE_LIMIT and not summary.fetched + summary.not_modified:
        why = "page limit reached by an earlier run; continue with a higher --limit, or run sanderling refresh"
    if has_fetched_nothing(summary) and not summary.pages:
        why = "nothing could be fetched"
    hint = "   (reasons: sanderling pages --skipped)" if summary.skipped and is_kept else ""
    print(f"{why}: {call.collection}" + ("" if is_kept else " was not created"))
    rows = [
        ("pages stored", f"{summary.pages:,}"),
        ("fetched", f"{summary.fetched:,} in {summary.seconds:.1f} s ({summary.pages_per_second:.1f} pages/s)"),
        *([("rendered", f"{summary.rendered:,} in a browser")] if summary.rendered else []),
        ("not modified", f"{summary.not_modified:,}"),
        ("duplicates", f"{summary.duplicates:,}"),
        ("failed", f"{summary.failed:,}"),
        ("skipped", f"{summary.skipped:,}{hint}"),
        *([("other sites", f"{summary.out_of_scope:,} links, not followed")] if summary.out_of_scope else []),
        *([("evicted", f"{summary.evicted:,} for better ones")] if summary.evicted else []),
        ("downloaded", format_size(summary.bytes)),
    ]
    for name, value in rows:
        print(f"  {name:<13} {value}")
