"""Delay: time from a change to the visit that finds it, at equal visits, with the objective `delay`.

Every policy visits each page once per interval on average. Changes that no visit found until the page or the trace
ended have waited until then. Fixed intervals are what changedetection.io, urlwatch and webchanges use. The oracle knows
the true mean rate of every page, also of changes that no visit can tell apart. Figures are relative to fixed intervals:
mean and, in brackets, 90th percentile.

SANDERLING_TRACES=DIR python -m benchmarks.revisit.change_delay [--traces a,b] [--intervals 30,7,1] [--write]
"""

import argparse
from collections.abc import Sequence

from benchmarks.lib.doc_tables import put
from benchmarks.revisit.replay_runs import Place, Runs, add_arguments, compute_rows, describe_part

COLUMNS = ("fixed", "nutch", "heritrix", "cho", "learned + delay", "oracle + delay")
DELAYED = "learned + delay"
TARGETS = {"ota-contrib": 0.6, "julia-packages": 0.6}


def format_table(runs: Runs, places: Sequence[Place]) -> str:
    """Format the delays relative to fixed intervals."""
    lines = [f"| trace, days | fixed, days | {' | '.join(COLUMNS[1:])} |", "|---|" + "---:|" * len(COLUMNS)]
    for place in places:
        fixed = runs.get(place, "fixed")
        cells = [
            f"{(cell := runs.get(place, name)).delay / fixed.delay:.2f} ({cell.late / fixed.late:.2f})"
            for name in COLUMNS[1:]
        ]
        lines.append(f"| {place[0]}, {place[1]:g} | {fixed.delay:.2f} ({fixed.late:.1f}) | {' | '.join(cells)} |")
    return "\n".join(lines)


def format_targets(runs: Runs, places: Sequence[Place]) -> str:
    """List the targets and whether they were met."""
    lines = []
    for trace, interval in places:
        limit = TARGETS.get(trace, 1.0)
        ratio = runs.get((trace, interval), DELAYED).delay / runs.get((trace, interval), "fixed").delay
        if ratio > limit or trace in TARGETS:
            result = "(met)" if ratio <= limit else "(NOT met)"
            lines.append(f"- {trace}, {interval:g} days: {ratio:.2f}, target {limit:g} {result}")
    return "\n".join([*lines, "- all others at most 1.0 (met)"])


def main() -> None:
    """Replay every policy and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, "60,30,7")
    options = parser.parse_args()
    runs, places = compute_rows(options, COLUMNS)
    text = (
        f"{describe_part(runs)}\n\n{format_table(runs, places)}\n\nTargets:\n\n{format_targets(runs, places)}".strip()
    )
    print(text)
    if options.write:
        put("delay", text)


if __name__ == "__main__":
    main()
