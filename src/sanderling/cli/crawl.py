"""sanderling crawl: crawl sites into a collection, or go on where the last crawl stopped."""

import argparse
import shlex
import signal
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sanderling.cli.beside import company
from sanderling.cli.frame import (
    EXIT_DISK,
    EXIT_FAILED,
    EXIT_FORCED,
    EXIT_HELD,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_SIZE,
    EXIT_TIME,
    Call,
    print_json,
    say,
)  # fmt: skip
from sanderling.coordinator import Coordinator
from sanderling.ending import Finish, Progress
from sanderling.engines.parking import parked
from sanderling.errors import UsageError
from sanderling.migrants.guard import is_global, literal
from sanderling.organise.normalise import host_of, hostname
from sanderling.records import Reason
from sanderling.request import read_seed, without_secrets
from sanderling.session import Request, Summary, crawl
from sanderling.settings import (
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
from sanderling.store.catalogue import skipped
from sanderling.store.collection import exists, read_collection, remove_collection

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

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
LOG_EVERY = 10.0  # seconds between progress lines where there is no terminal

CODES = {
    Finish.DONE: EXIT_OK,
    Finish.LIMIT: EXIT_OK,
    Finish.TIME: EXIT_TIME,
    Finish.SIZE: EXIT_SIZE,
    Finish.INTERRUPTED: EXIT_INTERRUPTED,
    Finish.FORCED: EXIT_FORCED,
    Finish.DISK: EXIT_DISK,
    Finish.HELD: EXIT_HELD,
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("url", nargs="*", help="where to begin; none: go on with the seeds the collection has")
    parser.add_argument("--seed-file", metavar="FILE", help="file with one URL per line (- for standard input)")
    parser.add_argument("--clean", action="store_true", help="delete the collection first, after asking")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(call: Call) -> int:
    """Crawl, show progress, print the summary."""
    request = Request(
        seeds=(*call.args.url, *read_seed_file(call.args.seed_file)),
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
    if call.args.clean and exists(call.collection):
        clean(call)
    with (
        parked(request.workers.park, call.collection),
        show_progress(call) as shown,
        company(call, lambda crew: started(call, request, crew), shown) as (begin, look),
    ):
        summary = crawl(call.collection, request, on_start=begin, on_tick=look)
    report(call, summary)
    if came_back_empty(summary):
        tell_why(call)
    if summary.finish_reason == Finish.DISK and call.json:
        print(f"sanderling: {WHY[Finish.DISK]}", file=sys.stderr)
    return EXIT_FAILED if came_back_empty(summary) else CODES[Finish(summary.finish_reason)]


def came_back_empty(summary: Summary) -> bool:
    """Did a crawl that was not cut short bring nothing home, because the web gave nothing?"""
    seen = summary.fetched + summary.not_modified
    return summary.finish_reason == Finish.DONE and not seen and (summary.pages == 0 or summary.failed > 0)


ADVICE = {
    Reason.PRIVATE_ADDRESS: "--allow-private lets us in",
    Reason.ROBOTS: "its robots.txt keeps us out",
    "certificate": "--insecure-host HOST does without a valid one",
    "wrong version number": "does it speak plain http? Then say http://",
    Reason.OUT_OF_SCOPE: "--scope any goes there, or name it as a seed",
}


def tell_why(call: Call) -> None:
    """Nothing came: say what became of the first seeds."""
    with read_collection(call.collection) as collection:
        for row in islice(skipped(collection.db, "u.depth = 0"), SEEDS_TOLD):
            note = f" ({row.note})" if row.note else ""
            advice = next((f"; {text}" for sign, text in ADVICE.items() if sign in (row.reason, *_signs(row.note))), "")
            say(call, f"nothing from {row.url}: {row.reason or row.state}{note}{advice}")


def _signs(note: str) -> list[str]:
    return [sign for sign in ADVICE if sign in note]


def read_seed_file(name: str | None) -> list[str]:
    """One URL per line; blank lines and lines that begin with # do not count."""
    if not name:
        return []
    try:
        text = (sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read the seed file {name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"the seed file {name} is no text in UTF-8") from None
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    seeds = [(number, line) for number, line in lines if line and not line.startswith("#")]
    for number, line in seeds:
        try:
            read_seed(line)
        except UsageError as error:
            raise UsageError(f"{name}, line {number}: {error}") from None
    return [line for _, line in seeds]


def warn_of_credentials(call: Call, request: Request) -> None:
    """A password in a URL would travel to places it is not meant for, so it is left out."""
    for seed in request.seeds:
        if "@" in seed.partition("://")[2].partition("/")[0]:
            say(call, "warning: names and passwords inside URLs are not used; give --basic-auth HOST=USER:PASSWORD")
            return


def warn_without_contact(call: Call, request: Request) -> None:
    """A site owner who is unhappy with a crawl should be able to reach somebody."""
    if request.politeness.contact:
        return
    for seed in request.seeds:
        name = hostname(host_of(read_seed(seed).url))
        address = literal(name)
        if (address is None and name != "localhost") or (address is not None and is_global(address)):
            say(call, "warning: no --contact is set; give a URL or mail address so that site owners can reach you")
            return


def clean(call: Call) -> None:
    """Delete the collection, but never without a yes."""
    if not call.args.yes:
        if not sys.stdin.isatty():
            raise UsageError("--clean deletes the collection; say --yes as well where nobody can be asked")
        answer = input(f"delete everything in {call.collection}? [y/N] ")
        if answer.strip().lower() not in ("y", "yes"):
            raise UsageError("nothing was deleted")
    remove_collection(call.collection)


def started(call: Call, request: Request, coordinator: Coordinator) -> None:
    """Before the first request: warn, and listen to Ctrl-C."""
    warn_without_contact(call, request)
    warn_of_credentials(call, request)
    if call.verbose:
        coordinator.house.log.tell = lambda line: print(line, file=sys.stderr)
        coordinator.house.log.tell_all = call.verbose > 1
    stop_on_signals(coordinator)


def stop_on_signals(coordinator: Coordinator) -> None:
    """First Ctrl-C: finish what is in flight and save; second: at once. Neither loses anything."""

    def stop(number: int, _frame: object) -> None:
        first = coordinator.stopping is None
        coordinator.stop(Finish.INTERRUPTED)
        if number == signal.SIGINT and sys.stderr.isatty():
            print(
                "\nfinishing what is in flight; Ctrl-C again stops at once" if first else "\nstopping", file=sys.stderr
            )

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)


class show_progress:
    """A live line in a terminal, a log line now and then elsewhere, nothing with --quiet."""

    def __init__(self, call: Call) -> None:
        self.silent = call.quiet
        self.last = 0.0
        self.bar = live_bar() if sys.stderr.isatty() and not call.quiet and not call.verbose else None

    def __enter__(self) -> Callable[[Progress], None]:
        if self.bar is not None:
            self.bar.start()
        return self.show

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def show(self, progress: Progress) -> None:
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], description=one_line(progress))
        elif not self.silent and progress.seconds - self.last >= LOG_EVERY:
            self.last = progress.seconds
            print(f"crawled {one_line(progress)}", file=sys.stderr, flush=True)


def live_bar() -> "Bar":
    """A line that moves; what draws it is loaded only for a terminal."""
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    moving = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    bar = Bar(*moving, console=Console(stderr=True), transient=True)
    bar.add_task("starting", total=None)
    return bar


def one_line(progress: Progress) -> str:
    """How far we are, in one line."""
    return (
        f"{progress.pages:,} pages ({progress.pages_per_second:.1f}/s), {progress.waiting:,} waiting, "
        f"{progress.failed:,} failed, {progress.skipped:,} skipped, "
        f"{size_text(progress.bytes)}"
    )


def size_text(count: float) -> str:
    """Bytes as people read them."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


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
    print(f"{WHY[Finish(summary.finish_reason)]}: {call.collection}")
    rows = [
        ("pages stored", f"{summary.pages:,}"),
        ("fetched", f"{summary.fetched:,} in {summary.seconds:.1f} s ({summary.pages_per_second:.1f} pages/s)"),
        ("not modified", f"{summary.not_modified:,}"),
        ("duplicates", f"{summary.duplicates:,}"),
        ("failed", f"{summary.failed:,}"),
        ("skipped", f"{summary.skipped:,}   (sanderling pages --skipped says why)"),
        *([("evicted", f"{summary.evicted:,} for better ones")] if summary.evicted else []),
        ("downloaded", size_text(summary.bytes)),
    ]
    for name, value in rows:
        print(f"  {name:<13} {value}")
