"""Plan stores: a replay in memory visits the same pages as the database."""

from pathlib import Path
from random import Random

import pytest
from benchmarks.revisit.database_replay import StoredCrawler
from benchmarks.revisit.histories import DAY, Held, Life, Trace
from benchmarks.revisit.trace_replay import Crawler, replay

from sanderling.db.connection import apply_migrations
from sanderling.db.schema.revisit import MIGRATIONS
from sanderling.revisit.plan_store import PlanRow
from sanderling.revisit.policies import DEFAULT_POLICY, POLICIES
from sanderling.storage.collection import open_collection

BEGIN, DAYS = 1_700_000_000.0, 150


class RecordingCrawler(Crawler):
    """An in-memory crawler that records its visits."""

    visits: tuple[tuple[float, int], ...] = ()

    def _visit(self, row: PlanRow, now: float, held: Held) -> PlanRow:
        self.visits = (*self.visits, (now, row.id))
        return super()._visit(row, now, held)


def page(random: Random, number: int, batches: list[float]) -> Life:
    """Build a page that changes alone and with a third of the batches of its directory."""
    born = BEGIN + (random.uniform(0, 60) * DAY if number % 5 == 0 else -DAY)
    died = BEGIN + (100 if number % 7 == 0 else DAYS) * DAY
    own = [BEGIN + random.uniform(0, DAYS) * DAY for _ in range(number % 4)]
    times = sorted(at for at in [*own, *(at for at in batches if random.random() < 0.3)] if born < at < died)
    return Life(f"d{number % 3}/p{number}.html", max(born, BEGIN), died, [born, *times], list(range(len(times) + 1)))


def trace(seed: int) -> Trace:
    """Build forty pages in three directories, some with limited lifetimes."""
    random = Random(seed)
    batches = [[BEGIN + random.uniform(0, DAYS) * DAY for _ in range(5)] for _ in range(3)]
    pages = [page(random, number, batches[number % 3]) for number in range(1, 41)]
    return Trace("short", BEGIN, BEGIN + DAYS * DAY, pages)


@pytest.mark.parametrize("name", [DEFAULT_POLICY, "fixed", "nutch"])
def test_table_and_memory_store_lead_to_same_visits(name: str, tmp_path: Path) -> None:
    short = trace(1)
    with open_collection(tmp_path / "c") as collection:
        apply_migrations(collection.db, {"revisit": MIGRATIONS})
        stored = StoredCrawler(POLICIES[name], short, 10.0, collection.db)
        found = replay(short, 10.0, stored)
    in_memory = RecordingCrawler(POLICIES[name], short, 10.0)
    expected = replay(short, 10.0, in_memory)
    assert stored.visits == list(in_memory.visits)
    assert len(stored.visits) > 400
    assert (found.freshness, found.age, found.visits) == (expected.freshness, expected.age, expected.visits)
