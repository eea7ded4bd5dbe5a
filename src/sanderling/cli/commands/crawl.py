"""sanderling crawl: crawl sites into a collection, or go on where the last crawl stopped."""

import argparse
import shlex
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from itertools import islice

import msgspec

from sanderling.cli.arguments import EXIT_FAILED, Call, agrees, print_json, say
from sanderling.cli.background_tasks import company
from sanderling.cli.progress import CODES, show_progress, size_text, stop_on_signals, warn_of_damage
from sanderling.cli.seeds import read_seeds, warn_of_credentials, warn_without_contact
from sanderling.config.redact import without_secrets
from sanderling.config.settings import (
    Fetching,
    Limits,
    Memory,
    Order,
    Politeness,
    Revisit,
    Scheduling,
    Scope,
    Searching,
    Workers,
)
from sanderling.crawl.coordinator import Coordinator, Engine
from sanderling.crawl.run import unbegun
from sanderling.crawl.session import Request, Summary, checked, crawl, reached
from sanderling.crawl.stop import Finish
from sanderling.errors import UsageError
from sanderling.models import Reason
from sanderling.storage.collection import exists, read_collection, remove_collection
from sanderling.storage.queries import skipped
from sanderling.workers.parking import parked

HELP = "Crawl sites into a collection. The same command again goes on, or visits again what may have changed."
EXAMPLES = """\
examples:
  sanderling crawl https://example.org/ --contact https://me.example/bot
  sanderling crawl https://example.org/docs/ --scope prefix --depth 3 --limit 1000
  sanderling crawl --seed-file seeds.txt --time-limit 2h --exclude '\\?print='
  sanderling crawl http://localhost:8000/ --allow-private --delay 0     your own server, as fast as it goes
"""
GROUPS = (Scope, Limits, Order, Politeness, Fetching, Workers, Memory, Scheduling, Revisit, Searching)
SEEDS_TOLD = 5


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("url", nargs="*", help="where to begin; none: go on with the seeds the collection has")
    parser.add_argument("--seed-file", metavar="FILE", help="file with one URL per line (- for standard input)")
    parser.add_argument("--clean", action="store_true", help="delete the collection first, after asking")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(call: Call) -> int:
    """Crawl, show progress, print the summary."""
    request = Request(
        seeds=read_seeds(call.args.url, call.args.seed_file),
        scope=call.settings(Scope),
        limits=call.settings(Limits),
        order=call.settings(Order),
        politeness=call.settings(Politeness),
        fetching=call.settings(Fetching),
        workers=call.settings(Workers),
        memory=call.settings(Memory),
        scheduling=call.settings(Scheduling),
        revisit=call.settings(Revisit),
        command=shlex.join(without_secrets(sys.argv[1:])),
    )
    for name in ("order", "query", "like_text"):
        if call.found.get(name) == "":
            raise UsageError(f"--{name.replace('_', '-')} is empty; leave it out, or see sanderling crawl --help")
    if not request.seeds and (call.args.clean or not exists(call.collection)):
        raise UsageError("say what to crawl: sanderling crawl https://example.org/")
    if call.args.clean:
        checked(request, is_new=True)  # a slip of the pen must not cost what is there
    with (
        parked(request.workers.park, call.collection),
        cleaned(call, request) as engine,
        show_progress(call) as shown,
        company(call, lambda crew: started(call, request, crew), shown) as (begin, look),
    ):
        summary = crawl(call.collection, request, on_start=begin, on_tick=look, engine=engine)
    with suppress(BrokenPipeError):  # who asked did not wait; how it ended is said by the exit code
        report(call, summary)
    empty = came_back_empty(summary) and (tell_why(call) or summary.failed > 0)
    if summary.finish_reason == Finish.DISK and call.json:
        print(f"sanderling: {WHY[Finish.DISK]}", file=sys.stderr)
    return EXIT_FAILED if empty else CODES[Finish(summary.finish_reason)]


def interrupted(call: Call) -> None:
    """Before the crawl began: say to a script how it ended, as ever."""
    report(call, unbegun(call.collection))


def came_back_empty(summary: Summary) -> bool:
    """Did a crawl that was not cut short bring nothing home?"""
    return summary.finish_reason == Finish.DONE and not summary.fetched + summary.not_modified


ADVICE = {
    Reason.PRIVATE_ADDRESS: "--allow-private lets us in",
    Reason.ROBOTS: "its robots.txt keeps us out",
    "certificate": "--insecure-host HOST does without a valid one",
    "status 401": "--basic-auth HOST=USER:PASSWORD logs in",
    Reason.TOO_MANY_REDIRECTS: "a site that wants its cookies back gets them with --cookies",
    "wrong version number": "does it speak plain http? Then say http://",
    Reason.FORGOTTEN: "sanderling forget --undo lets it in again",
    Reason.OUT_OF_SCOPE: "--scope any goes there, or name it as a seed",
}


def tell_why(call: Call) -> bool:
    """Nothing came: say what became of the first seeds; False if all is well with them."""
    with read_collection(call.collection) as collection:
        rows = list(islice(skipped(collection.db, "u.depth = 0"), SEEDS_TOLD))
        for row in rows:
            note = f" ({row.note})" if row.note else ""
            advice = next((f"; {text}" for sign, text in ADVICE.items() if sign in (row.reason, *_signs(row.note))), "")
            say(call, f"nothing from {row.url}: {row.reason or row.state}{note}{advice}")
        return bool(rows) or not collection.db.execute("SELECT 1 FROM pages LIMIT 1").fetchone()


def _signs(note: str) -> list[str]:
    return [sign for sign in ADVICE if sign in note]


@contextmanager
def cleaned(call: Call, request: Request) -> Iterator[Engine | None]:
    """Delete the collection if that was asked for; what had to be woken before is there for the crawl."""
    if not (call.args.clean and exists(call.collection)):
        yield None
        return
    hear_a_yes(call)
    engine = reached(call.collection, checked(request, is_new=True))
    with closing(engine) if engine else nullcontext():
        remove_collection(call.collection)
        yield engine


def hear_a_yes(call: Call) -> None:
    """Ask whether the collection may be deleted; without a yes go no further."""
    if not call.args.yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise UsageError("--clean deletes the collection; say --yes as well where nobody can be asked")
        if not agrees(f"delete everything in {call.collection}?"):
            raise UsageError("nothing was deleted")


def started(call: Call, request: Request, coordinator: Coordinator) -> None:
    """Before the first request: warn, and listen to Ctrl-C."""
    warn_without_contact(call, request)
    warn_of_credentials(call, request)
    warn_of_damage(call, coordinator)
    if call.verbose:
        coordinator.house.log.tell = lambda line: print(line, file=sys.stderr)
        coordinator.house.log.tell_all = call.verbose > 1
    stop_on_signals(coordinator)


WHY = {
    Finish.DONE: "done",
    Finish.LIMIT: "page limit reached; the same command with a higher --limit goes on",
    Finish.TIME: "time limit reached; the same command goes on",
    Finish.SIZE: "size limit reached; the same command goes on",
    Finish.INTERRUPTED: "interrupted; the same command goes on",
    Finish.FORCED: "stopped at once; the same command goes on",
    Finish.HELD: "what is left asked us to come back later (sanderling status says when); the same command goes on",
    Finish.DISK: "the disk is full; make room, then the same command goes on",
}


def report(call: Call, summary: Summary) -> None:
    """The summary: for a script one object, for a person a few lines."""
    if call.json:
        print_json(msgspec.to_builtins(summary))
        return
    if call.quiet:
        return
    why = WHY[Finish(summary.finish_reason)]
    if summary.finish_reason == Finish.LIMIT and not summary.fetched + summary.not_modified:
        why = "this pass had its pages already; a higher --limit goes on, sanderling refresh visits them again"
    if came_back_empty(summary) and not summary.pages:
        why = "nothing could be fetched"
    print(f"{why}: {call.collection}")
    rows = [
        ("pages stored", f"{summary.pages:,}"),
        ("fetched", f"{summary.fetched:,} in {summary.seconds:.1f} s ({summary.pages_per_second:.1f} pages/s)"),
        ("not modified", f"{summary.not_modified:,}"),
        ("duplicates", f"{summary.duplicates:,}"),
        ("failed", f"{summary.failed:,}"),
        ("skipped", f"{summary.skipped:,}   (sanderling pages --skipped says why)"),
        *([("other sites", f"{summary.outside:,} links, not followed")] if summary.outside else []),
        *([("evicted", f"{summary.evicted:,} for better ones")] if summary.evicted else []),
        ("downloaded", size_text(summary.bytes)),
    ]
    for name, value in rows:
        print(f"  {name:<13} {value}")
