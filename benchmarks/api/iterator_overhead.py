"""CPU time per page of the Python API, compared with `sanderling crawl`, on a site on loopback.

python -m benchmarks.api.iterator_overhead [--pages 3000] [--rounds 5]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.site import Site, tree

SETTINGS = "allow_private=True, delay=0, workers=1, sitemaps=False"
OPEN = "import sys, sanderling; run = sanderling.open(sys.argv[1]).crawl(sys.argv[2], " + SETTINGS + "); "
COMMAND = "sanderling crawl"
SMALL = 100  # pages of the site that shows the cost of the start
PROGRAMS = {
    "wait()": OPEN + "run.wait()",
    "for page": OPEN + "n = sum(1 for page in run); assert n",
    "page.title": OPEN + "n = sum(len(page.title) for page in run)",
    "page.markdown": OPEN + "n = sum(len(page.markdown) for page in run)",
}
FLAGS = ["--allow-private", "--delay", "0", "--workers", "1", "--no-sitemaps", "--no-index", "--quiet"]


def measure(command: list[str]) -> float:
    """Return the seconds of CPU time that a command and its children take."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)  # with the children that it has waited for
    assert status == 0, command
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime


def run_program(name: str, root: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        if name in PROGRAMS:
            return measure([sys.executable, "-c", PROGRAMS[name], str(Path(folder) / "c"), root + "/"])
        return measure([sys.executable, "-m", "sanderling", "crawl", root + "/", "-C", str(Path(folder) / "c"), *FLAGS])


def main() -> None:
    """Print CPU time to start, and per page: the difference between a large and a small site."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    names = [COMMAND, *PROGRAMS]
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    with Site(tree(args.pages)) as large, Site(tree(SMALL)) as small:
        for number in range(args.rounds):
            for name in names if number % 2 else reversed(names):  # so that drift affects all
                start = run_program(name, small.root)
                found[name].append((start, (run_program(name, large.root) - start) / (args.pages - SMALL)))
    base = statistics.median(per_page for _, per_page in found[COMMAND])
    print(f"{args.pages} pages, {args.rounds} rounds, load average at the end: {os.getloadavg()[0]:.1f}")
    for name in names:
        start = statistics.median(start for start, _ in found[name])
        costs = sorted(1000 * per_page for _, per_page in found[name])
        middle = statistics.median(costs)
        share = f"{100 * (middle / 1000 / base - 1):+5.1f} %"
        print(
            f"{name:<16} {start:.2f} s to start, {middle:.3f} ms per page ({costs[0]:.3f} to {costs[-1]:.3f}), {share}"
        )


if __name__ == "__main__":
    main()
