"""Freshness with a sitemap of half the pages: honest, and with changes left out, false dates, and pages stamped daily.

SANDERLING_TRACES=DIR python -m benchmarks.revisit.sitemap_errors [--traces a,b] [--intervals 60,7] [--part N] [--write]
"""

import argparse
from collections.abc import Sequence

from benchmarks.lib.doc_tables import put
from benchmarks.revisit.replay_runs import Place, Runs, add_arguments, compute_rows, describe_part

from sanderling.revisit.policies import DEFAULT_POLICY

MIXTURES = ("30/0/0", "60/0/0", "0/30/0", "0/60/0", "0/0/30", "0/0/60", "30/30/30", "60/60/60")
HONEST_COLUMN = f"{DEFAULT_POLICY} + sitemap"
ERROR_COLUMNS = tuple(f"{DEFAULT_POLICY} + errors {mixture}" for mixture in MIXTURES)
COLUMNS = ("fixed", DEFAULT_POLICY, "oracle", HONEST_COLUMN, *ERROR_COLUMNS)
ALLOWED_LOSS = 0.004  # against the same policy without a sitemap


def format_table(runs: Runs, places: Sequence[Place]) -> str:
    """Format the freshness with each mixture of errors."""
    names = ["uniform", "no sitemap", "oracle", "honest", *MIXTURES]
    lines = [f"| trace, days | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for place in places:
        cells = " | ".join(f"{runs.get(place, name).freshness:.4f}" for name in COLUMNS)
        lines.append(f"| {place[0]}, {place[1]:g} | {cells} |")
    return "\n".join(lines)


def format_targets(runs: Runs, places: Sequence[Place]) -> str:
    """List the targets and whether they were met."""

    def find_below(columns: Sequence[str], baseline: str, allowed: float) -> str:
        below = [
            f"{trace}, {interval:g}, {column.rpartition(' ')[2]} ({difference:+.4f})"
            for trace, interval in places
            for column in columns
            if (difference := _compare(runs, (trace, interval), column, baseline)) < -allowed
        ]
        return f"{'; '.join(below)} (NOT met)" if below else "nowhere (met)"

    return "\n".join(
        (
            f"- honest, below the oracle: {find_below((HONEST_COLUMN,), 'oracle', 0)}",
            f"- with errors, below uniform: {find_below(ERROR_COLUMNS, 'fixed', 0)}",
            f"- with errors, more than {ALLOWED_LOSS} below no sitemap: "
            f"{find_below(ERROR_COLUMNS, DEFAULT_POLICY, ALLOWED_LOSS)}",
        )
    )


def _compare(runs: Runs, place: Place, column: str, baseline: str) -> float:
    return runs.get(place, column).freshness - runs.get(place, baseline).freshness


def main() -> None:
    """Replay every mixture and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, "60")
    options = parser.parse_args()
    runs, places = compute_rows(options, COLUMNS)
    text = (
        f"{describe_part(runs)}\n\n{format_table(runs, places)}\n\nTargets:\n\n{format_targets(runs, places)}".strip()
    )
    print(text)
    if options.write:
        put(
            "sitemap errors",
            f"Columns: per cent of changes left out / false announcements / pages stamped daily.\n\n{text}",
        )


if __name__ == "__main__":
    main()
