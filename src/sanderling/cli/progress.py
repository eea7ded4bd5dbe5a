"""Progress display, Ctrl-C handling, and exit codes of a crawl."""

import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from sanderling.api.operations.runs import list_damage
from sanderling.api.types import Coordinator, CrawlProgress, FinishReason
from sanderling.cli.arguments import (  # fmt: skip
    EXIT_BACKED_OFF,
    EXIT_DISK_FULL,
    EXIT_FORCED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_SIZE_LIMIT,
    EXIT_TIME_LIMIT,
    CommandCall,
    can_draw,
)

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

RENDERING_NOTE = "pages that look built by scripts are rendered in Chromium (--render never: none)"
LOG_INTERVAL_SECONDS = 10.0  # seconds between progress lines where there is no terminal

EXIT_CODE_BY_FINISH = {
    FinishReason.DONE: EXIT_OK,
    FinishReason.PAGE_LIMIT: EXIT_OK,
    FinishReason.TIME_LIMIT: EXIT_TIME_LIMIT,
    FinishReason.SIZE_LIMIT: EXIT_SIZE_LIMIT,
    FinishReason.INTERRUPTED: EXIT_INTERRUPTED,
    FinishReason.FORCED: EXIT_FORCED,
    FinishReason.DISK_FULL: EXIT_DISK_FULL,
    FinishReason.BACKED_OFF: EXIT_BACKED_OFF,
}


class ProgressDisplay:
    """A live line in a terminal, periodic lines elsewhere, nothing with --quiet."""

    def __init__(self, call: CommandCall) -> None:
        self.is_silent = call.quiet
        self.last_logged_at = 0.0
        self.has_named_browser = False
        self.bar = build_progress_bar() if can_draw(sys.stderr) and not call.quiet and not call.verbose else None

    def __enter__(self) -> Callable[[CrawlProgress], None]:
        if self.bar is not None:
            self.bar.start()
        return self.show

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def show(self, progress: CrawlProgress) -> None:
        if progress.rendered and not (self.is_silent or self.has_named_browser):
            self.has_named_browser = True
            print(RENDERING_NOTE, file=sys.stderr, flush=True)
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], description=format_progress(progress))
        elif not self.is_silent and progress.seconds - self.last_logged_at >= LOG_INTERVAL_SECONDS:
            self.last_logged_at = progress.seconds
            print(f"crawled {format_progress(progress)}", file=sys.stderr, flush=True)


def build_progress_bar() -> "Bar":
    """Build the live progress line; imports rich only for a terminal."""
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    spinner = "dots" if (sys.stderr.encoding or "").lower().startswith("utf") else "line"
    moving = (SpinnerColumn(spinner), TextColumn("{task.description}"), TimeElapsedColumn())
    bar = Bar(*moving, console=Console(stderr=True), transient=True)
    bar.add_task("starting", total=None)
    return bar


def format_progress(progress: CrawlProgress) -> str:
    return (
        f"{progress.pages:,} pages ({progress.pages_per_second:.1f}/s), {progress.waiting:,} queued, "
        f"{progress.failed:,} failed, {progress.skipped:,} skipped, "
        + (f"{progress.rendered:,} rendered, " if progress.rendered else "")
        + format_size(progress.bytes)
    )


def format_size(byte_count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if byte_count < 1000:
            return f"{byte_count:.0f} {unit}" if unit == "B" else f"{byte_count:.1f} {unit}"
        byte_count /= 1000
    return f"{byte_count:.1f} TB"


def prepare_run(call: CommandCall, coordinator: Coordinator) -> None:
    """Print warnings and install the Ctrl-C handler before the first request."""
    warn_about_damage(call, coordinator)
    stop_on_signals(coordinator)


def warn_about_damage(call: CommandCall, coordinator: Coordinator) -> None:
    """Print how many pages were lost in damaged WARC files."""
    for line in () if call.quiet else list_damage(coordinator):
        print(f"warning: {line}", file=sys.stderr)


def stop_on_signals(coordinator: Coordinator) -> None:
    """Stop cleanly on the first Ctrl-C, immediately on the second."""

    def stop(number: int, _frame: object) -> None:
        first = coordinator.stop_reason is None
        coordinator.stop(FinishReason.INTERRUPTED)
        if number == signal.SIGINT and sys.stderr.isatty():
            print(
                "\nfinishing requests in flight; press Ctrl-C again to stop immediately" if first else "\nstopping",
                file=sys.stderr,
            )

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # the terminal was closed; not so under nohup
        signal.signal(signal.SIGHUP, stop)
