"""A late result and the right one in the same batch: the right one is stored, once, whichever comes first."""

from pathlib import Path

import pytest

from sanderling.clock import real
from sanderling.config.settings import Scope
from sanderling.crawl.open_context import open_house
from sanderling.crawl.pipeline import bring_home, seal
from sanderling.crawl.request import Request, read_seed
from sanderling.db.connection import transaction
from sanderling.frontier.url_store import Entry
from sanderling.models import Candidate, Itinerary, Outcome, Parcel, Source, State, Visit
from sanderling.storage.collection import open_collection

SEED = "http://127.0.0.1:1/"


def seen(migrant: str, trip: Itinerary, title: str) -> Parcel:
    (stop,) = trip.stops
    return Parcel(migrant, (Visit(stop.id, stop.token, stop.url, Outcome.FETCHED, 2.0, status=200, title=title),))


@pytest.mark.parametrize("late_first", [True, False])
def test_a_late_result_in_the_batch_of_the_right_one_is_refused(tmp_path: Path, late_first: bool) -> None:
    request = Request(seeds=(SEED,), scope=Scope(sitemaps=False))
    with open_collection(tmp_path) as collection:
        seed = read_seed(SEED)
        house = open_house(collection, request, [seed], -1, real)
        with transaction(house.db):
            house.book.add([Entry(Candidate(seed.url, source=Source.SEED), State.QUEUED)], 1.0)
            house.hosts.locate(1, ("127.0.0.1",), 1e12)
            (old,) = house.queue.take("paused", 1, 1.0)
            house.queue.release("paused")
            (new,) = house.queue.take("awake", 1, 1.0)
        parcels = [seen("paused", old, "late"), seen("awake", new, "right")]
        seal(bring_home(parcels if late_first else parcels[::-1], house, 2.0), house)
        stored = house.db.execute("SELECT title FROM pages").fetchall()
        visits = house.db.execute("SELECT count(*) FROM visits").fetchone()
        assert (stored, visits, house.counts["fenced"]) == ([("right",)], (1,), 1)
        assert (house.queue.outstanding(), house.queue.waiting()) == (0, 0)
        house.archive.close()
        house.log.close()
