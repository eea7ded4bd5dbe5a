"""Measure how a crawl scales with its workers, on slow hosts and on a fast one.

python -m benchmarks.crawl.worker_scaling [--pages N] [--seconds S] [--write]

Four hosts on loopback that need a while for every page. Each migrant keeps one connection to each host, so that what
limits a crawl is how many workers are at work. Pages per second are counted by the servers, from the first question to
the last answer; with them the distinct URLs and the fetches, which must be the same number. Then a site that nginx
serves at full speed; there the cores of this machine are the limit. Also measured: the cost of choosing workers.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

from benchmarks.lib.doc_tables import written
from benchmarks.lib.nginx import serve
from msgspec import Struct

from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, crawl

HOSTS = ("127.0.0.31", "127.0.0.32", "127.0.0.33", "127.0.0.34")
AIM = 3.6


class Run(Struct, frozen=True):
    """A crawl as measured by the servers."""

    workers: int
    pages: int
    fetches: int
    pages_per_second: float
    choosing: float = 0.0  # share of the coordinator's processor time


class Slow(ThreadingHTTPServer):
    """A slow host whose first page links to all others."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: str, pages: int, seconds: float) -> None:
        self.seconds = seconds
        self.seen: list[tuple[float, float, str]] = []  # asked, answered, path
        self.index = "".join(f'<a href="/p{n}">{n}</a>' for n in range(pages)).encode()
        super().__init__((address, 0), Answer)
        self.root = f"http://{address}:{self.server_port}/"


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Slow

    def do_GET(self) -> None:
        """Wait, then answer."""
        known = self.path == "/" or self.path.startswith("/p")
        if self.path.startswith("/p"):
            began = time.monotonic()
            time.sleep(self.server.seconds)
            self.server.seen.append((began, time.monotonic(), self.path))
        body = self.server.index if self.path == "/" else b"<p>a page</p>"
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Write no log."""


class Stillness(threading.Thread):
    """Notices when this machine stood still: then a measure by the clock means nothing."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.done = threading.Event()
        self.longest = 0.0

    def run(self) -> None:
        """Look at the clock again and again."""
        last = time.monotonic()
        while not self.done.wait(0.05):
            now = time.monotonic()
            self.longest, last = max(self.longest, now - last), now


def measure(workers: int, pages: int, seconds: float) -> Run:
    """Crawl all hosts with so many workers; again if the machine stood still meanwhile."""
    while True:
        still = Stillness()
        still.start()
        run = crawl_once(workers, pages, seconds)
        still.done.set()
        if still.longest < seconds / 2:
            print(run, flush=True)
            return run
        print(f"the machine stood still for {still.longest:.1f} s: once more", flush=True)


def crawl_once(workers: int, pages: int, seconds: float) -> Run:
    """Crawl all hosts with so many workers."""
    servers = [Slow(address, pages, seconds) for address in HOSTS]
    for server in servers:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    request = CrawlRequest(
        seeds=tuple(server.root for server in servers), scope=ScopeSettings(sitemaps=False),
        politeness=PolitenessSettings(delay=0.0, concurrency=workers), fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=workers),
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        crawl(Path(folder), request)
    for server in servers:
        server.shutdown()
        server.server_close()
    seen = [(began, ended, server.root + path) for server in servers for began, ended, path in server.seen]
    seconds = max(ended for _, ended, _ in seen) - min(began for began, _, _ in seen)
    return Run(workers, len({url for _, _, url in seen}), len(seen), len(seen) / seconds)


def write_site(root: Path, pages: int) -> None:
    """Pages of about eight kilobytes with a hundred links each."""
    for number in range(pages):
        draw = Random(number)
        targets = [(number * 7 + n + 1) % pages for n in range(7)] + [draw.randrange(pages) for _ in range(93)]
        words = " ".join(f"{draw.getrandbits(30):x}" for _ in range(500))
        links = "".join(f'<a href="/p{n}.html">{n}</a> ' for n in targets)
        (root / f"p{number}.html").write_text(f"<title>page {number}</title><p>{words}</p>{links}")


def measure_fast(workers: int, root: Path) -> Run:
    """Crawl a site that nginx serves."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serve(root, folder / "nginx") as server:
            command = [sys.executable, "-c", "import sys; from sanderling.cli import main; sys.exit(main())", "crawl",
                       f"{server.url}p0.html", "-C", str(folder / "c"), "--delay", "0", "--allow-private", "--json",
                       "--quiet", "--no-sitemaps", "--workers", str(workers)]  # fmt: skip
            environment = {**os.environ, "PYTHONPATH": str(Path("src").resolve())}
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        summary = json.loads(done.stdout.splitlines()[-1])
        asked = [line.split()[-1] for line in server.log.read_text().splitlines() if line.startswith("200 ")]
        share = json.loads((folder / "c" / "logs" / "schedule.json").read_text())["share_of_coordinator"]
    run = Run(workers, len(set(asked)), len(asked), summary["pages_per_second"], share)
    print(run, flush=True)
    return run


def table(runs: list[Run]) -> str:
    """A Markdown table."""
    shown = any(run.choosing for run in runs)
    lines = [
        "| workers | pages/s | relative | distinct URLs | fetches |" + (" assignment |" if shown else ""),
        "|---:|---:|---:|---:|---:|" + ("---:|" if shown else ""),
    ]
    first = runs[0].pages_per_second
    for run in runs:
        speed = run.pages_per_second
        line = f"| {run.workers} | {speed:,.1f} | {speed / first:.2f} × | {run.pages:,} | {run.fetches:,} |"
        lines.append(line + (f" {run.choosing:.1%} |" if shown else ""))
    return "\n".join(lines)


def fast(pages: int) -> str:
    """The second part: until the cores are full."""
    with tempfile.TemporaryDirectory() as name:
        write_site(Path(name), pages)
        Path(name).chmod(0o755)
        runs = [measure_fast(workers, Path(name)) for workers in (1, 2, 4, 8)]
    overlap = max(run.fetches - run.pages for run in runs)
    most = max(run.choosing for run in runs)
    return (
        f"A site of {pages:,} pages served by nginx; coordinator, workers and nginx share {os.cpu_count()} cores."
        f" Assignment: share of the coordinator's CPU time."
        f"\n\n{table(runs)}\n\n"
        f"- duplicate fetches: {overlap} {_format_result(overlap == 0)}\n"
        f"- assignment below 5 % of the coordinator's CPU time: {most:.1%} {_format_result(most < 0.05)}"
    )


def _format_result(held: bool) -> str:
    return "(met)" if held else "(NOT met)"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=80, help="of each of the four hosts")
    parser.add_argument("--seconds", type=float, default=1.0, help="that a host needs for a page")
    parser.add_argument("--fast", type=int, default=2500, help="pages of the fast site")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    runs = [measure(workers, options.pages, options.seconds) for workers in (1, 2, 4)]
    ratio = runs[-1].pages_per_second / runs[0].pages_per_second
    text = (
        f"Four hosts that take {options.seconds:g} s per page, one connection per worker and host: one worker fetches "
        f"at most {len(HOSTS) / options.seconds:g} pages/s.\n\n"
        f"{table(runs)}\n\n- at least {AIM} times from one to four workers: {ratio:.2f} "
        f"{_format_result(ratio >= AIM)}\n\n{fast(options.fast)}"
    )
    with written("scale", options.write):
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
