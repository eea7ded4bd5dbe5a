"""What a person sees and may do while a crawl runs: a line that moves, Ctrl-C, and the code it ends with."""

import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from sanderling.cli.arguments import (  # fmt: skip
    EXIT_DISK,
    EXIT_FORCED,
    EXIT_HELD,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_SIZE,
    EXIT_TIME,
    Call,
    can_draw,
)
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.stop import Finish, Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

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


class show_progress:
    """A live line in a terminal, a log line now and then elsewhere, nothing with --quiet."""

    def __init__(self, call: Call) -> None:
        self.silent = call.quiet
        self.last = 0.0
        self.bar = live_bar() if can_draw(sys.stderr) and not call.quiet and not call.verbose else None

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

    spinner = "dots" if (sys.stderr.encoding or "").lower().startswith("utf") else "line"
    moving = (SpinnerColumn(spinner), TextColumn("{task.description}"), TimeElapsedColumn())
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


def warn_of_damage(call: Call, coordinator: Coordinator) -> None:
    """Print how many pages damaged WARC files have lost; nothing with --quiet."""
    for line in () if call.quiet else coordinator.house.damage:
        print(f"warning: {line}", file=sys.stderr)


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
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # the terminal was closed; not so under nohup
        signal.signal(signal.SIGHUP, stop)
