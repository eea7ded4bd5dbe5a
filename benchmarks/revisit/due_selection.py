"""Measure the time and memory of selecting due pages among a million.

Uses the production schedule and its tables with synthetic pages and histories; half of them are due. Each batch is
selected, recorded as visited, and planned again, as a refresh does. Only the selection has a target. Caches are filled
by as many batches beforehand.

python -m benchmarks.revisit.due_selection [--records 1000000] [--batches 50] [--write]
"""

import argparse
import random
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.lib.doc_tables import written
from msgspec import Struct

from sanderling.db.connection import Connection, apply_migrations, transaction
from sanderling.db.schema.revisit import MIGRATIONS
from sanderling.revisit.intervals import parse_budget
from sanderling.revisit.policies import DEFAULT_POLICY, POLICIES
from sanderling.revisit.schedule import RevisitSchedule, VisitFacts
from sanderling.revisit.visit_history import VisitHistory, encode_history
from sanderling.storage.collection import open_collection

DAY = 86_400.0
NOW = 1_700_000_000.0
AIM = 0.050  # seconds
HOSTS = 1000
BATCH = 500


class Timed(Struct, frozen=True):
    """CPU time of selecting and planning one batch."""

    budget: str
    median_ms: float  # CPU time
    worst_ms: float
    wall_ms: float  # median
    plan_ms: float  # planning the batch again
    memory_before: int
    memory_after: int


def fill(db: Connection, records: int) -> None:
    """Insert pages with histories and due times spread evenly around now."""
    dice = random.Random(1)
    with transaction(db):
        db.executemany("INSERT INTO hosts (id, name) VALUES (?, ?)", [(n, f"http://h{n}.test") for n in range(HOSTS)])
        for start in range(0, records, 10_000):
            ids = range(start, min(start + 10_000, records))
            db.executemany(
                "INSERT INTO urls (id, host, path, request_url, state, reason, depth, source, via, hops, found_at,"
                " note, role)"
                " VALUES (?, ?, ?, '', 'visited', '', 1, 'link', 0, 0, 0, '', 'page')",
                [(n, n % HOSTS, f"/d{n % 97}/p{n}.html") for n in ids],
            )
            db.executemany(
                "INSERT INTO due (url, due_at, why, state, planned_at) VALUES (?, ?, '', ?, ?)",
                [(n, NOW + DAY * dice.uniform(-30, 30), _history(dice), NOW - n) for n in ids],
            )


def _history(dice: random.Random) -> bytes:
    last = NOW - DAY * dice.uniform(1, 60)
    return encode_history(VisitHistory(last - 90 * DAY, last, 5, 2, last, exposure=60 * dice.random(), evidence=2.0))


def measure(db: Connection, way: str, batches: int) -> Timed:
    """Select and plan batches; the first half fills caches."""
    schedule = RevisitSchedule(db, POLICIES[DEFAULT_POLICY], parse_budget(way) if way else None)
    selecting: list[float] = []
    wall_times: list[float] = []
    planning: list[float] = []
    before = 0
    for number in range(2 * batches):
        if number == batches:
            selecting, wall_times, planning, before = [], [], [], read_memory()
        now = NOW + 60.0 * number
        start, wall = time.process_time(), time.perf_counter()
        with transaction(db):
            rows = schedule.load_due(now, BATCH, include_early=bool(way))
        selecting.append(time.process_time() - start)
        wall_times.append(time.perf_counter() - wall)
        start = time.process_time()
        with transaction(db):
            schedule.schedule_visits([_facts(row.url_id, now) for row in rows])
        planning.append(time.process_time() - start)
    selected, worst, waited, planned = (
        1000 * t for t in (median(selecting), max(selecting), median(wall_times), median(planning))
    )
    return Timed(way or "none", selected, worst, waited, planned, before, read_memory())


def _facts(url: int, now: float) -> VisitFacts:
    return VisitFacts(url, f"h{url % HOSTS}.test", f"/d{url % 97}/p{url}.html", now, now - DAY, url % 5 == 0, 6)


def read_memory() -> int:
    """Return the resident bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def report(records: int, found: list[Timed]) -> str:
    """Format a table and whether the target was met."""
    lines = [
        f"{records:,} pages on {HOSTS:,} hosts, {BATCH} per batch.",
        "",
        "| budget | selection, median | maximum | median wall time | planning | memory before | after |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *(f"| {t.budget} | {t.median_ms:.1f} ms | {t.worst_ms:.1f} ms | {t.wall_ms:.1f} ms | {t.plan_ms:.0f} ms |"
          f" {t.memory_before / 1e6:.0f} MB | {t.memory_after / 1e6:.0f} MB |" for t in found),
        "",
        f"Target: a median of at most {1000 * AIM:.0f} ms per batch "
        + ("(met)" if all(t.median_ms <= 1000 * AIM for t in found) else "(NOT met)"),
    ]  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--batches", type=int, default=50)
    parser.add_argument("--write", action="store_true", help="write docs/measurements/benchmarks.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, open_collection(Path(folder) / "c") as collection:
        apply_migrations(collection.db, {"refresh": MIGRATIONS})
        fill(collection.db, options.records)
        found = [measure(collection.db, way, options.batches) for way in ("", "100000/day")]
    text = report(options.records, found)
    with written("due", options.write):
        print(text)


if __name__ == "__main__":
    main()
