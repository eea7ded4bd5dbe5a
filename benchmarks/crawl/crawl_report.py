"""The table, the targets and the chart of the crawl benchmark."""

import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.lib.doc_tables import put

if TYPE_CHECKING:
    from benchmarks.crawl.crawlers_compared import Run

CHART = Path("docs/images/crawl.svg")
OURS = "sanderling"
MB = 1_000_000
QUIET = 0.1  # largest share of the machine used by other processes in a fair run


def table(every: "Sequence[Run]") -> str:
    """Format the best run of each crawler, fastest first."""
    runs = best(every)
    ours = next((run for run in runs if run.name == OURS), None)
    names = (
        "crawler, pages/s, times ours, median, times ours, CPU-s per 1000 pages, peak memory, found,"
        " duplicate requests, other load, output"
    )
    head = f"| {names.replace(', ', ' | ')} |"
    lines = [head, "|---|" + "---:|" * 9 + "---|"]
    for run in runs:
        cells = (
            f"**{run.name}**" if run is ours else run.name,
            f"{run.pages_per_second:,.0f}",
            _times(ours.pages_per_second, run.pages_per_second) if ours else "",
            f"{middle(every, run.name):,.0f}",
            _times(middle(every, OURS), middle(every, run.name)) if ours else "",
            f"{run.cpu_per_thousand:.2f}",
            f"{run.cost.peak_bytes / MB:,.0f} MB",
            f"{100 * run.complete:.1f} %",
            f"{run.seen.repeats:,}",
            f"{run.disturbance:.0%}",
            run.does,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def best(runs: "Sequence[Run]") -> "list[Run]":
    """Return the fastest run of each crawler: slower runs measure other processes."""
    fastest: dict[str, Run] = {}
    for run in runs:
        if run.name not in fastest or run.pages_per_second > fastest[run.name].pages_per_second:
            fastest[run.name] = run
    return sorted(fastest.values(), key=lambda run: -run.pages_per_second)


def middle(runs: "Sequence[Run]", name: str) -> float:
    """Return the median speed of a crawler."""
    return median(run.pages_per_second for run in runs if run.name == name)


def _times(ours: float, theirs: float) -> str:
    return f"{ours / theirs:.2f} ×" if theirs else ""


def line(run: "Run") -> str:
    return (
        f"{run.name}: {run.seen.pages} pages in {run.cost.wall_seconds:.1f} s = {run.pages_per_second:.0f}/s, "
        f"{run.cpu_per_thousand:.2f} CPU-s per 1000, {run.cost.peak_bytes / MB:.0f} MB, "
        f"{100 * run.complete:.1f} % found, {run.seen.repeats} duplicate requests of {run.seen.requests}, "
        f"other load {run.disturbance:.0%}"
    )


def targets(every: "Sequence[Run]") -> str:
    """List the targets and whether the best runs met them."""
    runs = best(every)
    by_name = {run.name: run for run in runs}
    if OURS not in by_name:
        return ""
    ours = by_name[OURS]
    aims = [
        _ratio(ours, by_name.get(name), least)
        for name, least in (("Scrapy, as documented", 12.0), ("Scrapy, tuned", 5.0), ("wget", 1.0), ("wget2", 0.5))
    ]
    size = ours.seen.body_bytes / max(1, ours.seen.pages) / 1000
    aims.append(
        f"- at most 1.2 CPU-seconds per 1000 pages: {ours.cpu_per_thousand:.2f} (pages of {size:.0f} KB) "
        f"{_format_result(ours.cpu_per_thousand <= 1.2)}"
    )
    aims.append(f"- all reachable pages found: {100 * ours.complete:.2f} % {_format_result(ours.complete == 1)}")
    worst = max(run.disturbance for run in runs)
    if worst > QUIET:
        aims.append(
            f"- NOT a fair run: other processes used up to {worst:.0%} of the machine; repeat it on an idle one"
        )
    return "\n".join(aim for aim in aims if aim)


def _ratio(ours: "Run", other: "Run | None", least: float) -> str:
    if other is None or not other.pages_per_second:
        return ""
    ratio = ours.pages_per_second / other.pages_per_second
    return f"- at least {least:g} times {other.name}: {ratio:.2f} {_format_result(ratio >= least)}"


def _format_result(held: bool) -> str:
    return "(met)" if held else "(NOT met)"


def write(every: "Sequence[Run]", sites: Sequence[str], pages: int, rounds: int) -> None:
    """Put table, targets and chart into the documentation."""
    runs = best(every)
    draw(runs)
    size = max((run.seen.body_bytes / run.seen.pages for run in runs if run.name == OURS), default=0) / 1000
    python = f"Python {platform.python_version()} of {sys.base_prefix}"
    where = f"{os.cpu_count()} cores, {python}, {platform.system()} {platform.machine()}"
    text = (
        f"{pages:,} reachable pages of {size:.0f} KB ({', '.join(sites)}), nginx on loopback, {where}; "
        f"the fastest of {rounds} rounds each.\n\n{table(every)}\n\n"
        f"Targets:\n\n{targets(every)}\n\n"
        f"![pages per second](../{CHART.relative_to('docs')})"
    )
    put("crawl", text)


def draw(runs: "Sequence[Run]") -> None:
    """Draw speed and cost per page."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "sanderling"
    from matplotlib import pyplot

    shown = [run for run in reversed(runs) if not run.name.startswith("wrk")]
    names = [run.name for run in shown]
    colors = ["#d1495b" if run.name == OURS else "#8d99ae" for run in shown]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 0.5 * len(shown) + 1.2), sharey=True)
    for axes, values, title in (
        (left, [run.pages_per_second for run in shown], "pages per second"),
        (right, [run.cpu_per_thousand for run in shown], "CPU-seconds per 1000 pages"),
    ):
        bars = axes.barh(names, values, color=colors)
        axes.bar_label(bars, fmt="%.3g", padding=3)
        axes.set_title(title, fontsize=11)
        axes.margins(x=0.15)
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    CHART.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(CHART, metadata={"Date": None})
