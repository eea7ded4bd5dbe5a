"""Compute the table of docs/explanation/cluster.md: simulate crawls in shards, one coordinator and machine for each.

python -m benchmarks.crawl.cluster_model [--known N] [--write]

Each part of a crawl is a station with servers and a time per page: fetching and parsing (workers), links that the
database of a shard is asked for (look-ups), everything else a coordinator does (with the exchange of links between
shards), DNS, and bytes to disk. The costs of workers, coordinator, and look-up, and the bytes per URL, are measured
here; a look-up in an index larger than memory adds one random read. Pages arrive at random, queue, and are served.
"""

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from datetime import date
from heapq import heappop, heappush
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

from benchmarks.lib.doc_tables import put
from msgspec import Struct

from sanderling.db.connection import apply_migrations, connect_sqlite, transaction
from sanderling.db.schema.frontier import MIGRATIONS
from sanderling.frontier.url_store import FrontierEntry, UrlStore
from sanderling.models import CandidateUrl, Url, UrlState

DOCUMENT = Path("docs/explanation/cluster.md")
MONTH = 30 * 86_400
LINKS = 100  # on a page
NEW_NAMES = 0.02  # of pages, a host whose name is asked for (50 pages per host)
DNS_SECONDS = 0.05
DISK_RATE = 200e6  # bytes per second of one disk
WARC_BYTES = 10_000  # of a page
EXCHANGE_SHARE = 0.05  # of the coordinator's time with several shards: at most 5 % with 8 (shard_cost.py)
READ_SECONDS = 80e-6  # a random read of an NVMe disk
MEMORY = 32e9  # bytes of the machine of a shard
JOBS = 40_000
CRAWL = """
import json, os, pathlib, sys, time
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.session import crawl
from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
request = CrawlRequest((sys.argv[1],), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0),
                  fetching=HttpSettings(allow_private=True), workers=WorkerSettings(workers=2))
summary = crawl(pathlib.Path(sys.argv[2]), request)
used = os.times()
print(json.dumps([summary.pages, used.user + used.system, used.children_user + used.children_system]))
"""


class Costs(Struct, frozen=True):
    """Seconds of a core, and bytes."""

    look_up: float  # one link that the coordinator has to ask the database for, index in memory
    coordinator: float  # everything a coordinator does for a page
    worker: float  # everything a worker does for a page
    url_bytes: float  # of a known URL in the frontier, with its indexes


class Plan(Struct, frozen=True):
    """A cluster."""

    urls: float
    shards: int
    workers: int

    @property
    def rate(self) -> float:
        """Pages per second for a pass per month."""
        return self.urls / MONTH


class Station(Struct, frozen=True):
    """A part that can be full."""

    name: str
    servers: int
    seconds: float  # that one page keeps one server busy


class Web(ThreadingHTTPServer):
    """Pages of ten kilobytes with a hundred links each."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, pages: int) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.pages = pages


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Web

    def do_GET(self) -> None:
        """Draw a page by its number."""
        known = self.path == "/" or self.path.startswith("/p")
        draw = Random(self.path)
        number = int(self.path[2:] or 0) if self.path.startswith("/p") else 0
        following = [(number * 7 + n + 1) % self.server.pages for n in range(7)]
        targets = following + [draw.randrange(self.server.pages) for _ in range(LINKS - 7)]
        words = " ".join(f"{draw.getrandbits(30):x}" for _ in range(600))
        body = (f"<p>{words}</p>" + "".join(f'<a href="/p{n}">{n}</a> ' for n in targets)).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def measure_crawl(pages: int) -> tuple[float, float]:
    """Processor seconds of coordinator and workers for a page."""
    web = Web(pages)
    threading.Thread(target=web.serve_forever, args=(0.05,), daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", CRAWL, f"http://127.0.0.1:{web.server_port}/", folder]
        environment = {**os.environ, "PYTHONPATH": str(Path("src").resolve())}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    web.shutdown()
    web.server_close()
    count, own, others = json.loads(done.stdout.splitlines()[-1])
    return own / count, others / count


def measure_look_ups(count: int) -> tuple[float, float]:
    """Return processor seconds of a look-up in a frontier on this machine's disk, and its bytes per URL."""
    with tempfile.TemporaryDirectory() as folder:
        db = connect_sqlite(Path(folder) / "db")
        apply_migrations(db, {"frontier": MIGRATIONS})
        book = UrlStore(db)
        urls = [Url(f"http://h{n % 50}.example/page/{n}") for n in range(count)]
        with transaction(db):
            for start in range(0, count, 5000):
                book.insert_and_enqueue(
                    [FrontierEntry(CandidateUrl(url), UrlState.QUEUED) for url in urls[start : start + 5000]], 1.0
                )
        sought = Random(1).choices(urls, k=count)
        began = time.process_time()
        for start in range(0, count, 5000):
            UrlStore(db).get(sought[start : start + 5000])  # one that remembers nothing: every link is asked for
        seconds = (time.process_time() - began) / count
        db.close()  # writes the log back
        return seconds, (Path(folder) / "db").stat().st_size / count


def build_stations(plan: Plan, costs: Costs) -> list[Station]:
    """Return the parts of a cluster with the cost of a page at each."""
    missed = max(0.0, 1 - MEMORY / (plan.urls * costs.url_bytes / plan.shards))
    exchange = EXCHANGE_SHARE if plan.shards > 1 else 0.0
    return [
        Station("workers", plan.workers, costs.worker),
        Station("link look-ups", plan.shards, LINKS * (costs.look_up + missed * READ_SECONDS)),
        Station("coordinators", plan.shards, costs.coordinator * (1 + exchange)),
        Station("names", 64 * plan.shards, NEW_NAMES * DNS_SECONDS),
        Station("disks", plan.shards, WARC_BYTES / DISK_RATE),
    ]


def simulate(parts: Sequence[Station], rate: float, jobs: int = JOBS) -> dict[str, float]:
    """Simulate pages that arrive at this rate and pass all stations.

    Returns the utilization of each station, and under "late" the mean wait of the last tenth of the pages in seconds.
    """
    draw = Random(7)
    free: list[list[float]] = [[0.0] * part.servers for part in parts]
    busy, now, waits = dict.fromkeys((part.name for part in parts), 0.0), 0.0, []
    for _ in range(jobs):
        now += draw.expovariate(rate)
        at = now
        for part, servers in zip(parts, free, strict=True):
            seconds = draw.expovariate(1 / part.seconds) if part.seconds else 0.0
            start = max(at, heappop(servers))
            at = start + seconds
            heappush(servers, at)
            busy[part.name] += seconds
        waits.append(at - now)
    span = max(now, 1e-9)
    shares = {part.name: busy[part.name] / (span * part.servers) for part in parts}
    return shares | {"late": sum(waits[-jobs // 10 :]) / (jobs // 10)}


def capacity(parts: Sequence[Station]) -> tuple[float, str]:
    """Return the rate at which the first station is full, and its name."""
    return min((part.servers / part.seconds, part.name) for part in parts)


PLANS = (
    Plan(1e8, 1, 1),
    Plan(1e9, 1, 4),
    Plan(1e9, 8, 4),
    Plan(1e10, 8, 32),
    Plan(1e10, 80, 32),
)


def build_table(costs: Costs) -> str:
    lines = [
        "| URLs | shards | workers | frontier of a shard | needs pages/s | can do | full first | busy there | delay"
        " | core-hours per million pages | holds |",
        "|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---|",
    ]  # fmt: skip
    for plan in PLANS:
        parts = build_stations(plan, costs)
        most, first = capacity(parts)
        found = simulate(parts, plan.rate)
        holds = most >= plan.rate and found["late"] < 60
        delay = f"{found['late']:.2f} s" if holds else "grows"
        size = plan.urls * costs.url_bytes / plan.shards
        core_hours = sum(part.seconds for part in parts[:3]) * 1e6 / 3600
        lines.append(
            f"| {plan.urls:,.0f} | {plan.shards} | {plan.workers} | {size / 1e9:,.0f} GB | {plan.rate:,.0f} |"
            f" {most:,.0f} | {first} | {min(found[first], 1.0):.0%} | {delay} | {core_hours:.2f} |"
            f" {'yes' if holds else 'no'} |"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--known", type=int, default=100_000, help="URLs in the frontier that is measured")
    parser.add_argument("--pages", type=int, default=1500, help="of the crawl that is measured")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    own, others = measure_crawl(options.pages)
    look_up, url_bytes = measure_look_ups(options.known)
    costs = Costs(look_up, own, others, url_bytes)
    text = (
        f"Measured {date.today()}, in processor time, with {options.pages:,} pages of 10 kB and {LINKS} links: a page"
        f" costs workers {costs.worker * 1000:.2f} ms and the coordinator {costs.coordinator * 1000:.2f} ms (start"
        f" included); a look-up costs {costs.look_up * 1e6:.1f} µs, and a URL takes {url_bytes:.0f} bytes of"
        f" the frontier (SQLite {sqlite3.sqlite_version}, {options.known:,} known URLs). Assumed: a random read of"
        f" {READ_SECONDS * 1e6:.0f} µs where the frontier is larger than {MEMORY / 1e9:.0f} GB, no link known from"
        f" memory, {EXCHANGE_SHARE:.0%} for links between shards.\n\n{build_table(costs)}"
    )
    print(text)
    if options.write:
        put("simulation", text, DOCUMENT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
