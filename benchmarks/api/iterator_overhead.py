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
PROGRAMS = {
    "wait()": OPEN + "run.wait()",
    "for page": OPEN + "n = sum(1 for page in run); assert n > 100",
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


def main() -> None:
    """Print the median CPU time per page of each program, and the median of its ratios to the command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    found: dict[str, list[float]] = {}
    with Site(tree(args.pages)) as site:
        for number in range(args.rounds):
            names = ["sanderling crawl", *PROGRAMS]
            for name in names if number % 2 else reversed(names):  # so that drift affects all
                with tempfile.TemporaryDirectory() as folder:
                    if name in PROGRAMS:
                        command = [sys.executable, "-c", PROGRAMS[name], str(Path(folder) / "c"), site.root + "/"]
                    else:
                        words = ["crawl", site.root + "/", "-C", str(Path(folder) / "c"), *FLAGS]
                        command = [sys.executable, "-m", "sanderling", *words]
                    found.setdefault(name, []).append(measure(command))
    base = found["sanderling crawl"]
    print(f"load average at the end: {os.getloadavg()[0]:.1f}")
    for name in ("sanderling crawl", *PROGRAMS):
        ratios = [own / other for own, other in zip(found[name], base, strict=True)]
        per_page = 1000 * statistics.median(found[name]) / args.pages
        print(f"{name:<18} {per_page:6.2f} ms of CPU per page  {100 * (statistics.median(ratios) - 1):+6.1f} %"
              f"  ({100 * (min(ratios) - 1):+.1f} to {100 * (max(ratios) - 1):+.1f})")  # fmt: skip


if __name__ == "__main__":
    main()
