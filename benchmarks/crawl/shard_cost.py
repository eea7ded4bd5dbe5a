"""Measure what a page costs the coordinators of a shard set, with 1, 2, 4 and 8 shards.

Each shard is a process with the real coordinator, queue, URL store, catalog, archive, and exchange; only its workers
are simulated: they return pages of the synthetic web (benchmarks/lib/synthetic_graph.py), where 10 of 100 links of a
page lead to any of 64 domains. The processor time of the simulation is subtracted, and that of reading the public
suffix list (0.3 s once per process). All sets share one page limit, and run on so many cores as there are, so that only
processor time can be compared.

python -m benchmarks.crawl.shard_cost [--shards 1,2,4,8] [--pages 4000] [--store postgresql://...] [--json]
"""

import argparse
import json
import resource
import shutil
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.frontier.known_urls import Dreamers, Meter
from benchmarks.lib.synthetic_graph import Web
from msgspec import Struct
from msgspec.structs import asdict

from sanderling.config.settings import HttpSettings, LimitSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.session import CrawlGuide, crawl
from sanderling.crawl.sharding.shard_coordinator import build_membership
from sanderling.crawl.sharding.shard_member import ShardMember
from sanderling.fetch.dns import DnsResolver
from sanderling.storage.collection import read_database_url
from sanderling.storage.shard_set import create_shard_set, get_shard_folder, load_identity, open_control
from sanderling.urls.registrable_domain import get_registrable_domain

HOSTS = 64
LEASE_SECONDS = 300.0


class ShardCost(Struct, frozen=True):
    """Processor time of a shard, without that of the simulation."""

    pages: int
    cpu_seconds: float
    exchange_seconds: float
    exchanges: int
    foreign_links: int
    memory_bytes: int


class SetCost(Struct, frozen=True):
    """Cost of a whole set."""

    shards: int
    pages: int
    cpu_ms_per_page: float
    exchange_ms_per_page: float  # of it: the exchange with the control database, and the links received
    foreign_links_per_page: float
    memory_mb_per_shard: float


class SilentMeter(Meter):
    """Counts the time of the simulation, and never stops the crawl."""

    def look(self) -> None:
        """Measure nothing."""


class TimedMember(ShardMember):
    """Measures the exchange."""

    seconds = 0.0

    def exchange(self, *arguments: object) -> object:  # type: ignore[override]
        """Exchange, and add its processor time."""
        before = time.process_time()
        orders = super().exchange(*arguments)  # type: ignore[arg-type]
        self.seconds += time.process_time() - before
        return orders


def crawl_synthetic_shard(folder: Path, shard: int, pages: int) -> ShardCost:
    """Crawl a shard of the synthetic web until the set has this many pages."""
    web, meter = Web(HOSTS, "http://h{}.test"), SilentMeter((), folder)
    control = open_control(folder)
    token = control.acquire_shard(shard, "benchmark", time.time(), LEASE_SECONDS)
    member = TimedMember(control, shard, token, LEASE_SECONDS)
    shard_folder = get_shard_folder(folder, shard)
    request = CrawlRequest(
        tuple(web.roots()),
        scope=ScopeSettings(sitemaps=False, scope="any"),
        limits=LimitSettings(limit=pages),
        politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=2, store=read_database_url(shard_folder)),
    )
    get_registrable_domain(web.roots()[0])  # reads the public suffix list
    started = time.process_time()
    summary = crawl(
        shard_folder,
        request,
        engine=Dreamers(web, meter),
        resolver=DnsResolver(lambda _name: ("192.0.2.1",)),
        guide=CrawlGuide(shard=build_membership(member, load_identity(control, shard), True)),
    )
    cpu = time.process_time() - started - meter.free.cpu
    control.release_shard(shard, token, time.time())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return ShardCost(summary.fetched, cpu, member.seconds, member.exchange_count, count_foreign(shard_folder), memory)


def count_foreign(folder: Path) -> int:
    from sanderling.storage.collection import open_collection_read_only

    with open_collection_read_only(folder) as collection:
        return int(collection.db.execute("SELECT count(*) FROM foreign_urls").fetchone()[0])


def measure(folder: Path, shards: int, pages: int, store: str = "") -> SetCost:
    """Crawl the synthetic web with a set of shards."""
    shutil.rmtree(folder, ignore_errors=True)
    create_shard_set(folder, shards, store.split())
    control = open_control(folder)
    control.begin_run(pages)
    control.close()
    with ProcessPoolExecutor(shards, get_context("spawn")) as pool:
        jobs = [pool.submit(crawl_synthetic_shard, folder, shard, pages) for shard in range(shards)]
        costs = [job.result() for job in jobs]
    shutil.rmtree(folder, ignore_errors=True)
    return summarize(costs)


def summarize(costs: Sequence[ShardCost]) -> SetCost:
    pages = sum(cost.pages for cost in costs)
    return SetCost(
        len(costs),
        pages,
        round(1e3 * sum(cost.cpu_seconds for cost in costs) / pages, 3),
        round(1e3 * sum(cost.exchange_seconds for cost in costs) / pages, 3),
        round(sum(cost.foreign_links for cost in costs) / pages, 2),
        round(max(cost.memory_bytes for cost in costs) / 1e6),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shards", default="1,2,4,8")
    parser.add_argument("--pages", type=int, default=4000, help="pages per shard")
    parser.add_argument("--store", default="")
    parser.add_argument("--data", type=Path, default=Path("bench-data"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for number in options.shards.split(","):
        cost = measure(options.data.absolute() / "shards", int(number), options.pages * int(number), options.store)
        print(json.dumps(asdict(cost)) if options.json else cost, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
