"""A late result and the right one in the same batch: the right one is stored, once, whichever comes first."""

from pathlib import Path

import pytest

from sanderling.clock import system_clock
from sanderling.config.settings import ScopeSettings
from sanderling.crawl.open_context import build_context
from sanderling.crawl.pipeline import commit_batch, process_batch
from sanderling.crawl.request import CrawlRequest, parse_seed
from sanderling.db.connection import transaction
from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import CandidateUrl, FetchBatch, Outcome, UrlSource, UrlState, Visit, WorkerReport
from sanderling.storage.collection import open_collection

SEED = "http://127.0.0.1:1/"


def seen(migrant: str, trip: FetchBatch, title: str) -> WorkerReport:
    (stop,) = trip.tasks
    return WorkerReport(migrant, (Visit(stop.id, stop.token, stop.url, Outcome.FETCHED, 2.0, status=200, title=title),))


@pytest.mark.parametrize("late_first", [True, False])
def test_a_late_result_in_the_batch_of_the_right_one_is_refused(tmp_path: Path, late_first: bool) -> None:
    request = CrawlRequest(seeds=(SEED,), scope=ScopeSettings(sitemaps=False))
    with open_collection(tmp_path) as collection:
        seed = parse_seed(SEED)
        house = build_context(collection, request, [seed], -1, system_clock)
        with transaction(house.db):
            house.url_store.insert_and_enqueue(
                [FrontierEntry(CandidateUrl(seed.url, source=UrlSource.SEED), UrlState.QUEUED)], 1.0
            )
            house.hosts.set_addresses(1, ("127.0.0.1",), 1e12)
            (old,) = house.queue.lease_urls("paused", 1, 1.0)
            house.queue.release_leases("paused")
            (new,) = house.queue.lease_urls("awake", 1, 1.0)
        parcels = [seen("paused", old, "late"), seen("awake", new, "right")]
        commit_batch(process_batch(parcels if late_first else parcels[::-1], house, 2.0), house)
        stored = house.db.execute("SELECT title FROM pages").fetchall()
        visits = house.db.execute("SELECT count(*) FROM visits").fetchone()
        assert (stored, visits, house.stats["fenced"]) == ([("right",)], (1,), 1)
        assert (house.queue.count_leased(), house.queue.count_queued()) == (0, 0)
        house.archive.close()
        house.crawl_log.close()
