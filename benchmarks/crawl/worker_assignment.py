"""Simulate unequal workers: duration of the crawl and distribution of the load by assignment strategy.

python -m benchmarks.crawl.worker_assignment [--pages N] [--seed N] [--write]

A seeded simulation by events. Workers, hosts and time are made up; the roster and the ways to choose are those of the
crawler itself (`schedule/`), fed with heartbeats every two seconds as in a real crawl.
"""

import argparse
import sys
from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush
from random import Random
from statistics import mean

from benchmarks.lib.doc_tables import written
from msgspec import Struct
from tests.support.simulated_clock import SimulatedClock

from sanderling.frontier.politeness import Politeness
from sanderling.models import FetchBatch, FetchTask, Heartbeat, Host, Outcome, Url, Visit
from sanderling.workers.assignment.strategies import (
    HOST_BOUND_STRATEGIES,
    SPEED_LIMITED_STRATEGIES,
    STRATEGIES,
    build_named_strategy,
)
from sanderling.workers.assignment.worker_assignment import WorkerAssignment
from sanderling.workers.assignment.worker_stats import MAX_TASKS

BATCH = Politeness().max_batch_size
UNBOUNDED = 10**6
BEAT = 2.0
PAGE_BYTES = 20_000
GB = 10**9


class Kind(Struct, frozen=True):
    """Capabilities of a simulated worker."""

    name: str
    cpu_seconds: float  # per page
    latency: float  # to an ordinary host
    bandwidth: float  # bytes per second
    memory: int
    disk: int

    def seconds(self, distance: float) -> float:
        """Time for a page of a host at this relative distance."""
        return self.cpu_seconds + self.latency * distance + PAGE_BYTES / self.bandwidth


# Unequal in speed, latency, bandwidth and capacity; about 8 to 1 between the best and the worst.
KINDS = (
    Kind("m1", 0.004, 0.010, 4.0e6, 8 * GB, 400 * GB),
    Kind("m2", 0.008, 0.020, 2.0e6, 4 * GB, 200 * GB),
    Kind("m3", 0.016, 0.050, 1.0e6, 2 * GB, 100 * GB),
    Kind("m4", 0.020, 0.120, 0.5e6, 1 * GB, 50 * GB),
)


class Result(Struct, frozen=True):
    schedule: str
    seconds: float
    spread: float  # largest distance between a migrant's share of the pages and its share of the ability
    shares: tuple[float, ...]
    half: int  # pages done when AHP had ended


class Simulation:
    def __init__(self, schedule: str, pages: int, seed: int, bounded: bool) -> None:
        self.clock = SimulatedClock()
        self.roster = WorkerAssignment(
            build_named_strategy(schedule),
            is_host_bound=schedule in HOST_BOUND_STRATEGIES,
            is_speed_limited=schedule in SPEED_LIMITED_STRATEGIES,
            clock=self.clock,
        )
        draw = Random(seed)
        sizes = [max(1, int(draw.paretovariate(1.1) * 4)) for _ in range(max(40, pages // 40))]
        total = sum(sizes)
        self.waiting = {
            Host(f"http://h{n}.example"): max(1, size * pages // total) for n, size in enumerate(sizes)
        }  # fmt: skip
        self.ready: deque[Host] = deque(draw.sample(list(self.waiting), len(self.waiting)))
        self.distance = {(kind.name, host): draw.uniform(0.5, 2.0) for host in self.waiting for kind in KINDS}
        self.kinds = {kind.name: kind for kind in KINDS}
        self.work: dict[str, deque[FetchBatch]] = {kind.name: deque() for kind in KINDS}
        self.free_at = dict.fromkeys(self.kinds, 0.0)
        self.done = dict.fromkeys(self.kinds, 0)
        self.ends: list[tuple[float, int]] = []
        self.token = 0
        for kind in KINDS:
            self.roster.add_worker(kind.name, capacity=MAX_TASKS if bounded else UNBOUNDED)
        self.events: list[tuple[float, int, str]] = [(0.0, 0, "")]
        self.turn = 0

    def run(self) -> None:
        """Crawl until nothing is left."""
        beat = 0.0
        while self.events:
            at, _, name = heappop(self.events)
            self.clock.now = max(self.clock.now, at)
            if name:
                self._finish(name)
            if self.clock.now >= beat:
                beat = self.clock.now + BEAT
                self._beat()
            self._hand_out()

    def _beat(self) -> None:
        for name, kind in self.kinds.items():
            load = self.roster.count_tasks(name)
            used = min(kind.memory // 2, load * 50_000)
            self.roster.record_heartbeat(
                Heartbeat(
                    name,
                    self.clock.now,
                    load,
                    memory_bytes=used,
                    free_memory_bytes=kind.memory - used,
                    free_disk_bytes=kind.disk,
                    page_count=self.done[name],
                )
            )

    def _hand_out(self) -> None:
        """Send batches as the coordinator does: hosts with most queued URLs first."""
        self.ready = deque(sorted(self.ready, key=lambda host: -self.waiting[host]))
        for _ in range(len(self.ready)):
            able = self.roster.list_available()
            if not able:
                return
            host = self.ready.popleft()
            winner = self.roster.choose_worker(host, able)
            if winner is None:
                self.ready.append(host)
                continue
            self._send(winner, host)

    def _send(self, name: str, host: Host) -> None:
        size = min(BATCH, self.waiting[host], self.roster.count_free_slots(name))
        self.waiting[host] -= size
        stops = []
        for _ in range(size):
            self.token += 1
            stops.append(FetchTask(self.token, self.token, Url(f"{host}/{self.token}")))
        batch = FetchBatch(host, tuple(stops))
        self.roster.record_batch(name, batch)
        self.work[name].append(batch)
        if len(self.work[name]) == 1:
            self._begin(name)

    def _begin(self, name: str) -> None:
        batch = self.work[name][0]
        seconds = self.kinds[name].seconds(self.distance[name, batch.host]) * len(batch.tasks)
        self.turn += 1
        heappush(self.events, (self.clock.now + seconds, self.turn, name))

    def _finish(self, name: str) -> None:
        batch = self.work[name].popleft()
        kind, host = self.kinds[name], batch.host
        seconds = kind.seconds(self.distance[name, host])
        self.roster.record_visits(name, [
            Visit(stop.id, stop.token, stop.url, Outcome.FETCHED, self.clock.now, duration_seconds=seconds,
                  received_bytes=PAGE_BYTES) for stop in batch.tasks
        ])  # fmt: skip
        self.done[name] += len(batch.tasks)
        self.ends.append((self.clock.now, len(batch.tasks)))
        if self.waiting[host]:
            self.ready.append(host)
        if self.work[name]:
            self._begin(name)


def abilities() -> tuple[float, ...]:
    """Return each worker's share of the total capacity at the mean distance."""
    speeds = [1 / kind.seconds(1.25) for kind in KINDS]
    return tuple(speed / sum(speeds) for speed in speeds)


def measure(pages: int, seeds: Sequence[int], bounded: bool) -> list[Result]:
    """Crawl the same web with every assignment strategy; means over the seeds."""
    runs = {name: [Simulation(name, pages, seed, bounded) for seed in seeds] for name in STRATEGIES}
    for crawls in runs.values():
        for crawl in crawls:
            crawl.run()
    ahp = [crawl.clock.now for crawl in runs["ahp"]]
    results = []
    for name, crawls in runs.items():
        shares = [mean(crawl.done[kind.name] / sum(crawl.done.values()) for crawl in crawls) for kind in KINDS]
        spread = max(abs(share - able) for share, able in zip(shares, abilities(), strict=True))
        half = mean(
            sum(count for at, count in crawl.ends if at <= end) for crawl, end in zip(crawls, ahp, strict=True)
        )  # fmt: skip
        results.append(Result(name, mean(crawl.clock.now for crawl in crawls), spread, tuple(shares), round(half)))
    return sorted(results, key=lambda result: result.seconds)


def table(results: Sequence[Result]) -> str:
    """A Markdown table, soonest first."""
    best = next(result for result in results if result.schedule == "ahp")
    lines = [
        "| assignment | seconds | times AHP | links when AHP ended | largest deviation from capacity | shares |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for r in results:
        shares = ", ".join(f"{share:.0%}" for share in r.shares)
        name = f"**{r.schedule}**" if r is best else r.schedule
        lines.append(
            f"| {name} | {r.seconds:,.1f} | {r.seconds / best.seconds:.2f} × | {r.half / best.half:.0%} | "
            f"{r.spread:.1%} | {shares} |"
        )
    return "\n".join(lines)


def targets(results: Sequence[Result]) -> str:
    """List the targets and whether they were met."""
    by_name = {result.schedule: result for result in results}
    ours = by_name["ahp"]
    lines = []
    for name in ("round-robin", "hash", "wrr"):
        sooner = ours.seconds < by_name[name].seconds
        gain = ours.half / by_name[name].half - 1
        lines.append(
            f"- faster than {name}: {ours.seconds:,.0f} s against {by_name[name].seconds:,.0f} s, {gain:+.1%} links in "
            f"equal time {_format_result(sooner)}"
        )
    off = max(abs(share / able - 1) for share, able in zip(ours.shares, abilities(), strict=True))
    lines.append(
        f"- load proportional within 10 %: {ours.spread:.1%} of pages {_format_result(ours.spread <= 0.10)}; "
        f"measured against its own share, the worst worker is {off:.1%} off {_format_result(off <= 0.10)}"
    )
    return "\n".join(lines)


def _format_result(held: bool) -> str:
    return "(met)" if held else "(NOT met)"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + 3)
    parts = [
        f"Four workers with capacities {' : '.join(f'{a:.0%}' for a in abilities())}; {options.pages:,} pages on many "
        "hosts, three seeds; a simulation with the production scheduler."
    ]
    for bounded, what in ((False, "As in the thesis: all ready URLs are assigned at once."),
                          (True, f"As in the crawler: a worker holds at most {MAX_TASKS} URLs.")):  # fmt: skip
        results = measure(options.pages, seeds, bounded)
        parts += [what, table(results), targets(results)]
    text = "\n\n".join(parts)
    with written("schedule", options.write):
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
