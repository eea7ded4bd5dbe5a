"""Freshness: replay real change histories under equal budgets, with the production planner and a simulated clock.

Every policy visits each page once per interval on average. Freshness is the share of up-to-date copies, averaged over
time and pages; age is the number of days for which copies have been out of date. Uniform visits all pages in turn. The
oracle knows the true mean rate of every page and visits by value. `+ sitemap`: half of the pages are in a sitemap with
correct dates, read before every turn.

SANDERLING_TRACES=DIR python -m benchmarks.revisit.freshness [--traces a,b] [--intervals 60,30,7] [--part N] [--write]
"""

import argparse
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from benchmarks.lib.doc_tables import put
from benchmarks.revisit.histories import Trace, read, traces_in
from benchmarks.revisit.trace_replay import Cell, Crawler, Oracle, Visitor, replay

from sanderling.revisit.policies.policy_registry import DEFAULT_POLICY, POLICIES

CHART = Path("docs/images/freshness.svg")
Places = Sequence[tuple[str, float]]
"""Rows of the table: (trace, mean days between visits of a page)."""

BASELINES = ("fixed", "self-adjusting", "nutch")
WITH_SITEMAP = f"{DEFAULT_POLICY} + sitemap"
COLUMNS = (*BASELINES, "heritrix", "cho", "lambda-crawl", DEFAULT_POLICY, "oracle", WITH_SITEMAP)
INFORMED = ("oracle", WITH_SITEMAP)  # not comparable: they have information that the others lack
COLORS = {
    "fixed": "#c9ccd3", "self-adjusting": "#8d99ae", "nutch": "#5c677d", "oracle": "#f0c987",
    DEFAULT_POLICY: "#d1495b", WITH_SITEMAP: "#7a1f2e",
}  # fmt: skip


class Runs:
    """Computed cells, kept in a file because a full replay takes an hour."""

    def __init__(self, folder: Path, part: int, file: Path | None) -> None:
        self.folder, self.part, self.file = folder, part, file
        self.cells: dict[str, Cell] = {}
        if file and file.exists():
            self.cells = msgspec.json.decode(file.read_bytes(), type=dict[str, Cell])

    def work(self, trace: str, interval: float, columns: Sequence[str]) -> None:
        """Compute the missing cells of a trace at one budget."""
        missing = [name for name in columns if f"{trace} {interval:g} {name}" not in self.cells]
        if not missing:
            return
        pages = read(self.folder, trace, self.part)
        for name in missing:
            key = f"{trace} {interval:g} {name}"
            cell = self.cells[key] = replay(pages, interval, crawler_of(name, pages, interval))
            print(f"{key}: {cell.freshness:.4f}, {cell.visits:,} visits, {cell.seconds:.0f} s", file=sys.stderr)
            if self.file:
                self.file.write_bytes(msgspec.json.encode(self.cells))

    def has(self, trace: str, interval: float, columns: Sequence[str]) -> bool:
        """Return whether a row is computed; the sitemap column is optional."""
        return all(f"{trace} {interval:g} {name}" in self.cells for name in columns if name != WITH_SITEMAP)

    def cell(self, trace: str, interval: float, column: str) -> Cell:
        """Return a cell, or NaN if it was not computed."""
        return self.cells.get(f"{trace} {interval:g} {column}", Cell(math.nan, math.nan, 0, 0.0))

    def closed(self, trace: str, interval: float, column: str) -> float:
        """Return the share of the gap between uniform and the oracle that a policy closes."""
        low, high = (self.cell(trace, interval, name).freshness for name in ("fixed", "oracle"))
        return (self.cell(trace, interval, column).freshness - low) / (high - low)


def crawler_of(column: str, trace: Trace, interval: float) -> Visitor:
    """Build the oracle, a policy, or a policy that also reads a sitemap."""
    name, _, sitemap = column.partition(" + ")
    if name == "oracle":
        return Oracle(trace)
    return Crawler(POLICIES[name], trace, interval, bool(sitemap))


def table(runs: Runs, places: Places, columns: Sequence[str]) -> str:
    """Format the freshness of every policy; the best without extra information is bold."""
    names = ["uniform" if name == "fixed" else name for name in columns]
    lines = [f"| trace, days | {' | '.join(names)} | of the gap |", "|---|" + "---:|" * (len(names) + 1)]
    for trace, interval in places:
        found = {name: runs.cell(trace, interval, name).freshness for name in columns}
        best = max((value for name, value in found.items() if name not in INFORMED), default=math.nan)
        cells = " | ".join(f"**{value:.4f}**" if value == best else f"{value:.4f}" for value in found.values())
        lines.append(f"| {trace}, {interval:g} | {cells} | {runs.closed(trace, interval, DEFAULT_POLICY):.0%} |")
    return "\n".join(lines)


def ages(runs: Runs, places: Places, columns: Sequence[str]) -> str:
    """Format the mean age of the copies in days."""
    names = ["uniform" if name == "fixed" else name for name in columns]
    lines = [f"| age in days | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for trace, interval in places:
        cells = " | ".join(f"{runs.cell(trace, interval, name).age:.3f}" for name in columns)
        lines.append(f"| {trace}, {interval:g} | {cells} |")
    return "\n".join(lines)


def targets(runs: Runs, places: Places) -> str:
    """List the targets and whether they were met."""
    aims = []
    for interval in sorted({interval for _, interval in places}, reverse=True):
        traces = [trace for trace, each in places if each == interval]
        share = sum(runs.closed(trace, interval, DEFAULT_POLICY) for trace in traces) / len(traces)
        capped = sum(_capped(runs.closed(trace, interval, DEFAULT_POLICY)) for trace in traces) / len(traces)
        won, gap = (sum(_gain(runs, trace, interval, name) for trace in traces) for name in (DEFAULT_POLICY, "oracle"))
        aims.append(
            f"- {interval:g} days: {share:.0%} of the gap between uniform and the oracle is closed, mean of traces; "
            f"{won / gap:.0%} of all gaps together, target 90% {_format_result(share >= 0.9)}; "
            f"{capped:.0%} with each trace limited to 100% {_format_result(capped >= 0.9)}"
        )
    for baseline in (baseline for baseline in BASELINES if _replayed(runs, places, baseline)):
        below = [
            f"{t}, {i:g}"
            for t, i in places
            if runs.cell(t, i, DEFAULT_POLICY).freshness < runs.cell(t, i, baseline).freshness
        ]
        aims.append(
            f"- {DEFAULT_POLICY} is below {baseline} {'in ' + '; '.join(below) if below else 'nowhere'}"
            f" {_format_result(not below)}"
        )
    if not _replayed(runs, places, WITH_SITEMAP):
        return "\n".join(aims)
    below = [f"{t}, {i:g}" for t, i in places if runs.closed(t, i, WITH_SITEMAP) < 1]
    missing = [f"{t}, {i:g}" for t, i in places if math.isnan(runs.closed(t, i, WITH_SITEMAP))]
    where = "but in " + "; ".join(below) if below else "everywhere"
    aims.append(f"- with a sitemap of half the pages above the oracle {where} {_format_result(not below)}"
                + (f"; not replayed for {'; '.join(missing)}" if missing else ""))  # fmt: skip
    return "\n".join(aims)


def _capped(share: float) -> float:
    """Limit a share to 1; NaN stays."""
    return share if share < 1 or math.isnan(share) else 1.0


def _replayed(runs: Runs, places: Places, column: str) -> bool:
    return any(runs.cell(*place, column).visits for place in places)


def _gain(runs: Runs, trace: str, interval: float, column: str) -> float:
    return runs.cell(trace, interval, column).freshness - runs.cell(trace, interval, "fixed").freshness


def _format_result(held: bool) -> str:
    return "(met)" if held else "(NOT met)"


def draw(runs: Runs, places: Places, columns: Sequence[str]) -> None:
    """Draw the share of stale copies relative to uniform visits: shorter is better."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "sanderling"
    from matplotlib import pyplot

    intervals = sorted({interval for _, interval in places}, reverse=True)
    figure, grid = pyplot.subplots(1, len(intervals), figsize=(4 * len(intervals), 3.6), sharey=True, squeeze=False)
    for axes, interval in zip(grid[0], intervals, strict=True):
        traces = [trace for trace, each in places if each == interval]
        for number, name in enumerate(columns):
            stale = [(1 - runs.cell(trace, interval, name).freshness)
                     / (1 - runs.cell(trace, interval, "fixed").freshness) for trace in traces]  # fmt: skip
            lefts = [place + (number - len(columns) / 2) * 0.8 / len(columns) for place in range(len(traces))]
            axes.bar(lefts, stale, 0.8 / len(columns), color=COLORS[name], label=name, align="edge")
        axes.set_xticks(range(len(traces)), [trace.partition("-")[0] for trace in traces], fontsize=9)
        axes.set_title(f"{interval:g} days between visits", fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    grid[0][0].set_ylabel("stale copies, uniform = 1")
    figure.legend(*grid[0][0].get_legend_handles_labels(), loc="lower center", ncols=len(columns), frameon=False)
    figure.tight_layout(rect=(0, 0.09, 1, 1))
    CHART.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(CHART, metadata={"Date": None})


def main() -> None:
    """Replay every policy and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", default="", help="names, separated by commas (default: all in the folder)")
    parser.add_argument("--intervals", default="60,30,7", help="mean days between visits of a page")
    parser.add_argument("--policies", default=",".join(COLUMNS), help="and oracle")
    parser.add_argument("--part", type=int, default=1, help="only each N-th hundred of the pages: quick, rough")
    parser.add_argument("--keep", type=Path, help="file of computed cells, to resume from")
    parser.add_argument("--kept", action="store_true", help="compute nothing: show the rows of that file")
    parser.add_argument("--write", action="store_true", help="write docs/measurements/benchmarks.md and its chart")
    options = parser.parse_args()
    folder = Path(os.environ.get("SANDERLING_TRACES") or sys.exit("SANDERLING_TRACES names no folder of traces"))
    traces = options.traces.split(",") if options.traces else traces_in(folder)
    intervals, columns = list(map(float, options.intervals.split(","))), options.policies.split(",")
    runs = Runs(folder, options.part, options.keep)
    for interval in () if options.kept else intervals:
        for trace in traces:
            runs.work(trace, interval, columns)
    places = [(trace, interval) for trace in traces for interval in intervals if runs.has(trace, interval, columns)]
    parts = (table(runs, places, columns), "Targets:",
             targets(runs, places), ages(runs, places, columns))  # fmt: skip
    text = "\n\n".join(parts).replace("nan", "–")
    print(text)
    if options.write and options.part > 1:
        put(
            "freshness in part",
            f"Policy `{DEFAULT_POLICY}`; every {options.part}th hundred of the pages in URL order.\n\n{text}",
        )
    elif options.write:
        draw(runs, places, [name for name in columns if name in COLORS])
        put("freshness", f"Policy `{DEFAULT_POLICY}`.\n\n![stale copies](../{CHART.relative_to('docs')})\n\n{text}")


if __name__ == "__main__":
    main()
