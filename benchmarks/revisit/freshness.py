"""Freshness: replay real change histories under equal budgets, with the production planner and a simulated clock.

Every policy visits each page once per interval on average. Freshness is the share of up-to-date copies, averaged over
time and pages. Uniform visits all pages in turn. The oracle knows the true mean rate of every page and visits by value.
`left out`: the weight of the oldest-first term is the one that did best on the other traces.

SANDERLING_TRACES=DIR python -m benchmarks.revisit.freshness [--traces a,b] [--intervals 60,30,7] [--part N] [--write]
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.lib.doc_tables import put
from benchmarks.revisit.replay_runs import Place, Runs, add_arguments, compute_rows, describe_part

from sanderling.revisit.policies import DEFAULT_POLICY

CHART = Path("docs/images/freshness.svg")
BASELINES = ("fixed", "nutch", "heritrix", "cho")
CANDIDATES = (DEFAULT_POLICY, *(f"{DEFAULT_POLICY} + pull {weight:g}" for weight in (0.03, 0.3)))
COLUMNS = (*BASELINES, DEFAULT_POLICY, "oracle")
LEFT_OUT = "left out"
ALLOWED_BELOW = {"fixed": 0.001, "cho": 0.0015}
TARGETS = {60.0: 0.45, 30.0: 0.55, 7.0: 0.55}
COLORS = {"fixed": "#c9ccd3", "nutch": "#5c677d", "cho": "#8d99ae", LEFT_OUT: "#d1495b", "oracle": "#f0c987"}


def choose_candidate(runs: Runs, places: Sequence[Place], trace: str) -> str:
    """Return the candidate that closes most of the gap on all other traces; each gap counts at most once."""
    others = [place for place in places if place[0] != trace and runs.has(place, CANDIDATES)]

    def score(candidate: str) -> float:
        return fmean(min(runs.compute_gap_closed(place, candidate), 1.0) for place in others)

    return max(CANDIDATES, key=score) if others else DEFAULT_POLICY


def find_column(runs: Runs, places: Sequence[Place], place: Place, column: str) -> str:
    """Return the computed column to show: the chosen candidate for `left out`."""
    return choose_candidate(runs, places, place[0]) if column == LEFT_OUT else column


def format_table(runs: Runs, places: Sequence[Place]) -> str:
    """Format the freshness of every policy; the best without the knowledge of the oracle is bold."""
    shown = (*BASELINES, DEFAULT_POLICY, LEFT_OUT, "oracle")
    names = ["uniform" if name == "fixed" else name for name in shown]
    lines = [f"| trace, days | {' | '.join(names)} | gap closed |", "|---|" + "---:|" * (len(names) + 1)]
    for place in places:
        found = {name: runs.get(place, find_column(runs, places, place, name)).freshness for name in shown}
        best = max(value for name, value in found.items() if name != "oracle")
        cells = " | ".join(f"**{value:.4f}**" if value == best else f"{value:.4f}" for value in found.values())
        closed = runs.compute_gap_closed(place, choose_candidate(runs, places, place[0]))
        lines.append(f"| {place[0]}, {place[1]:g} | {cells} | {closed:.0%} |")
    return "\n".join(lines)


def format_targets(runs: Runs, places: Sequence[Place]) -> str:
    """List the targets and whether they were met."""
    lines = []
    for interval in sorted({interval for _, interval in places}, reverse=True):
        rows = [place for place in places if place[1] == interval]
        target = TARGETS.get(interval, 0.5)
        closed = [runs.compute_gap_closed(place, choose_candidate(runs, places, place[0])) for place in rows]
        lines.append(
            f"- {interval:g} days: {_mean_capped(closed):.0%} of the gap closed, each trace limited to 100%; at least"
            f" {min(closed):.0%}; target {target:.0%} {_format_result(min(closed) >= target)}"
        )
    for baseline, allowed in ALLOWED_BELOW.items():
        below = [
            f"{trace}, {interval:g} ({difference:+.4f})"
            for trace, interval in places
            if (difference := _compare(runs, places, (trace, interval), baseline)) < -allowed
        ]
        where = "in " + "; ".join(below) if below else "nowhere"
        lines.append(f"- more than {allowed} below {baseline}: {where} {_format_result(not below)}")
    costs = [runs.get(place, DEFAULT_POLICY) for place in places]
    cost = 1000 * sum(cell.seconds for cell in costs) / max(sum(cell.visits for cell in costs), 1)
    lines.append(f"- planning and replay: {cost:.3f} CPU-ms per visit")
    chosen = sorted({choose_candidate(runs, places, trace) for trace, _ in places})
    lines.append(f"- chosen for a trace left out: {', '.join(chosen)}")
    return "\n".join(lines)


def _compare(runs: Runs, places: Sequence[Place], place: Place, baseline: str) -> float:
    column = choose_candidate(runs, places, place[0])
    return runs.get(place, column).freshness - runs.get(place, baseline).freshness


def _mean_capped(shares: Sequence[float]) -> float:
    return fmean(min(share, 1.0) for share in shares if not math.isnan(share))


def _format_result(is_met: bool) -> str:
    return "(met)" if is_met else "(NOT met)"


def draw(runs: Runs, places: Sequence[Place]) -> None:
    """Draw the share of stale copies relative to uniform visits: shorter is better."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "sanderling"
    from matplotlib import pyplot

    intervals = sorted({interval for _, interval in places}, reverse=True)
    figure, grid = pyplot.subplots(1, len(intervals), figsize=(4.4 * len(intervals), 3.6), sharey=True, squeeze=False)
    for axes, interval in zip(grid[0], intervals, strict=True):
        rows = [place for place in places if place[1] == interval]
        for number, name in enumerate(COLORS):
            stale = [
                (1 - runs.get(place, find_column(runs, places, place, name)).freshness)
                / (1 - runs.get(place, "fixed").freshness)
                for place in rows
            ]
            lefts = [place + (number - len(COLORS) / 2) * 0.8 / len(COLORS) for place in range(len(rows))]
            axes.bar(lefts, stale, 0.8 / len(COLORS), color=COLORS[name], label=name, align="edge")
        axes.set_xticks(range(len(rows)), [trace.partition("-")[0] for trace, _ in rows], fontsize=8, rotation=30)
        axes.set_title(f"{interval:g} days between visits", fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylim(0, 1.5)
    grid[0][0].set_ylabel("stale copies, uniform = 1")
    figure.legend(*grid[0][0].get_legend_handles_labels(), loc="lower center", ncols=len(COLORS), frameon=False)
    figure.tight_layout(rect=(0, 0.09, 1, 1))
    CHART.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(CHART, metadata={"Date": None})


def main() -> None:
    """Replay every policy and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, "60,30,7")
    options = parser.parse_args()
    runs, places = compute_rows(options, dict.fromkeys((*COLUMNS, *CANDIDATES)), COLUMNS)
    text = (
        f"{describe_part(runs)}\n\n{format_table(runs, places)}\n\nTargets:\n\n{format_targets(runs, places)}".strip()
    )
    print(text)
    if options.write:
        draw(runs, places)
        put("freshness", f"![stale copies](../{CHART.relative_to('docs')})\n\n{text}")


if __name__ == "__main__":
    main()
