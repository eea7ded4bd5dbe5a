"""Crawl real documentation sites with several crawlers, one after another, and write the table.

python -m benchmarks.crawl.crawlers_compared [--sites a,b] [--only name,name] [--rounds N] [--data DIR] [--write]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.crawl import crawl_report
from benchmarks.crawl.crawler_commands import Crawler, crawlers, is_there
from benchmarks.lib.doc_sites import DEFAULT, SITES, Web, build
from benchmarks.lib.measure import Cost, measure, tree_cpu_seconds
from benchmarks.lib.nginx import ServedRequests, read_log, serve
from msgspec import Struct

SOURCE = str(Path(__file__).parents[2] / "src")
PYTHON = {"PYTHONPATH": SOURCE, "PYTHONDONTWRITEBYTECODE": ""}  # what is installed comes compiled, ours and theirs
REST_SECONDS = 4.0  # thousands of files that were just deleted keep the file system busy for a while
ENDINGS = (0, 8)  # wget says 8 when a link was broken, and some are
CEILING = "wrk (no parsing, no links)"


class Run(Struct, frozen=True):
    """A crawl as measured by the server and the kernel."""

    name: str
    does: str
    cost: Cost
    seen: ServedRequests
    complete: float  # share of the reachable pages that were sent
    server_seconds: float  # CPU time of nginx

    @property
    def pages_per_second(self) -> float:
        """Distinct pages by wall time."""
        return self.seen.pages / self.cost.wall_seconds

    @property
    def disturbance(self) -> float:
        """Return the CPU share used by other processes."""
        others = self.cost.machine_seconds - self.cost.cpu_seconds - self.server_seconds
        return max(0.0, others / (self.cost.wall_seconds * (os.cpu_count() or 1)))

    @property
    def cpu_per_thousand(self) -> float:
        """CPU seconds of the crawler for a thousand pages; the server's are not in it."""
        return 1000 * self.cost.cpu_seconds / max(1, self.seen.pages)


def main() -> int:
    options = parse()
    names = tuple(options.sites.split(",")) if options.sites else DEFAULT
    web = build(options.data, names)
    peers = options.data / "peers"
    pages = reachable(options.data, web, peers)
    print(f"{len(pages)} pages can be reached on {', '.join(names)}", file=sys.stderr)
    selected = [
        one for one in crawlers(peers) if not options.only or one.name.lower() in options.only.lower().split(",")
    ]
    missing = [one.name for one in selected if not is_there(one)]
    if missing:
        print(f"not installed, left out: {', '.join(missing)}", file=sys.stderr)
    warm(web.root)
    runs = [
        run
        for number in range(options.rounds)
        for run in one_round(number, web, [one for one in selected if is_there(one)], pages, options.data)
    ]
    print(crawl_report.table(runs))
    print(crawl_report.targets(runs))
    if options.write:
        crawl_report.write(runs, names, len(pages), options.rounds)
    return 0


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", help=f"comma-separated, of: {', '.join(SITES)}")
    parser.add_argument("--only", help="comma-separated names of crawlers")
    parser.add_argument("--rounds", type=int, default=2, help="how often each runs; the fastest counts")
    parser.add_argument("--data", type=lambda text: Path(text).absolute(), default=Path("bench-data").absolute())
    parser.add_argument("--write", action="store_true", help="write docs/measurements/benchmarks.md and its chart")
    return parser.parse_args()


def reachable(data: Path, web: Web, peers: Path) -> frozenset[str]:
    """The pages there are to find, from a walk that uses nothing of ours; remembered."""
    cache = data / f"reachable-{web.root.name}.json"
    if not cache.exists():
        script = Path(__file__).with_name("reachable.py")
        done = subprocess.run(
            [str(peers / "bin/python"), str(script), str(web.root)], stdout=subprocess.PIPE, check=True
        )
        cache.write_bytes(done.stdout)
    return frozenset(json.loads(cache.read_bytes()))


def warm(root: Path) -> None:
    """Read every file into the page cache."""
    for folder, _, names in os.walk(root, followlinks=True):
        for path in (Path(folder) / name for name in names):
            if path.is_file():  # packages link to files of others
                path.read_bytes()


def one_round(number: int, web: Web, selected: list[Crawler], pages: frozenset[str], data: Path) -> list[Run]:
    """Run every crawler once, and wrk on the same pages."""
    runs = []
    for crawler in selected:
        run = crawl(crawler, web, pages, data / "tmp")
        print(f"  round {number + 1}: {crawl_report.line(run)}", file=sys.stderr)
        runs.append(run)
    if shutil.which("wrk"):
        runs.append(ceiling(web, pages, data / "tmp"))
    return runs


def crawl(crawler: Crawler, web: Web, pages: frozenset[str], folder: Path) -> Run:
    """Run a crawler in a new folder against a new server."""
    shutil.rmtree(folder, ignore_errors=True)
    out = folder / "out"
    out.mkdir(parents=True)
    os.sync()
    time.sleep(REST_SECONDS)
    with serve(web.root, folder / "nginx") as server:
        cost = measure(crawler.command(server.url, out), out, {"START_URL": server.url, **PYTHON})
        spent = tree_cpu_seconds(server.pid)
    seen = read_log(server.log)
    if cost.exit_code not in ENDINGS or not seen.pages:
        print(f"  {crawler.name} ended with {cost.exit_code}: {last_words(out)}", file=sys.stderr)
    return Run(crawler.name, crawler.does, cost, seen, len(seen.files & pages) / len(pages), spent)


def last_words(out: Path) -> str:
    """Return the end of the output."""
    return (out / "output.txt").read_text(errors="replace")[-400:].strip()


def ceiling(web: Web, pages: frozenset[str], folder: Path, seconds: int = 5) -> Run:
    """Measure the server with a client that ignores the pages."""
    shutil.rmtree(folder, ignore_errors=True)
    out = folder / "out"
    out.mkdir(parents=True)
    listed = ",".join(json.dumps(f"/{page}") for page in sorted(pages))
    (out / "pages.lua").write_text(
        f"local pages = {{{listed}}}\nlocal n = 0\n"
        "request = function() n = n % #pages + 1; return wrk.format(nil, pages[n]) end\n"
    )
    with serve(web.root, folder / "nginx") as server:
        command = ["wrk", "-t", "1", "-c", "32", "-d", f"{seconds}s", "-s", str(out / "pages.lua"), server.url]
        cost = measure(command, out)
        spent = tree_cpu_seconds(server.pid)
    seen = read_log(server.log)
    total = ServedRequests(seen.files, seen.pages + seen.repeats, 0, seen.requests, seen.body_bytes)
    return Run(CEILING, "nothing", cost, total, len(seen.files & pages) / len(pages), spent)


if __name__ == "__main__":
    started = time.monotonic()
    code = main()
    print(f"took {time.monotonic() - started:.0f} s", file=sys.stderr)
    sys.exit(code)
