"""Generate synthetic change histories of five kinds of sites, which the policies were not tuned for.

python -m benchmarks.revisit.synthetic_histories DIR [--pages 600] [--seed 1], then SANDERLING_TRACES=DIR python -m
benchmarks.revisit.freshness
"""

import argparse
import json
from collections.abc import Callable
from math import log
from pathlib import Path
from random import Random

DAY = 86_400.0
DAYS = 3 * 365
START = 1_500_000_000
FOLDERS = 12
Times = list[float]
"""When a page changes, in days."""


def steady(dice: Random, rate: float, begin: float = 0.0, end: float = DAYS) -> Times:
    """Return changes of a Poisson process."""
    times, at = [], begin + dice.expovariate(rate)
    while at < end:
        times.append(at)
        at += dice.expovariate(rate)
    return times


def slow(dice: Random, folder: int) -> Times:  # noqa: ARG001  one shape for all kinds
    """Independent pages with intervals from days to decades."""
    return steady(dice, dice.lognormvariate(log(1 / 200), 1.7))


def fast(dice: Random, folder: int) -> Times:  # noqa: ARG001
    """A news site: most pages change within days."""
    return steady(dice, dice.lognormvariate(log(1 / 6), 1.0))


def folders(dice: Random, folder: int) -> Times:
    """Directories with different rates, from never to weekly."""
    return steady(dice, (1 / 2000, 1 / 300, 1 / 60, 1 / 10)[folder % 4] * dice.lognormvariate(0, 0.5))


def batches(dice: Random, folder: int) -> Times:
    """Half of a directory is published at once at times; few changes in between."""
    together = steady(Random(folder), 1 / 90)
    return sorted(steady(dice, 1 / 1000) + [at + 0.01 * dice.random() for at in together if dice.random() < 0.5])


def bursts(dice: Random, folder: int) -> Times:  # noqa: ARG001
    """No changes for months, then several within a week."""
    starts = steady(dice, dice.lognormvariate(log(1 / 250), 0.8))
    return sorted(at for start in starts for at in [start, *steady(dice, 1 / 2, start, start + 7)])


KINDS: dict[str, Callable[[Random, int], Times]] = {
    "imagined-slow": slow,
    "imagined-fast": fast,
    "imagined-folders": folders,
    "imagined-batches": batches,
    "imagined-bursts": bursts,
}


def history(kind: str, number: int, seed: int) -> dict[str, object]:
    """Return a page in the format of traces."""
    dice, folder = Random(f"{kind} {number} {seed}"), number % FOLDERS
    changes = [START + int(at * DAY) for at in KINDS[kind](dice, folder)]
    page = f"f{folder}/page-{number}.html"
    return {"page": page, "born": START, "changes": changes, "died": None, "ver": list(range(len(changes) + 1))}


def main() -> None:
    """Write the traces."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        lines = [json.dumps(history(kind, number, options.seed)) for number in range(options.pages)]
        (options.folder / f"{kind}.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
