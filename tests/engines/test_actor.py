"""One turn of a migrant on a cluster, without the cluster."""

import msgspec
from tests.web import Site, html

from sanderling.engines.actor import Migrant
from sanderling.engines.wire import Go, parcel_of
from sanderling.migrants.settings import FetchSettings
from sanderling.records import SUSPECT, Host, Itinerary, Parcel, Stop, Url


def turns(migrant: Migrant, *orders: Go) -> Parcel:
    """Turns until something is said."""
    sent = [msgspec.msgpack.encode(order) for order in orders]
    while True:
        body, load = migrant.turn(sent)
        parcel, sent = parcel_of(body), []
        if parcel.visits or parcel.begins or not load:
            return parcel


def test_what_became_of_a_suspect_goes_home_before_anything_else_begins() -> None:
    with Site({f"/{n}": html(text=f"page {n}") for n in range(4)}) as site:
        stops = [Stop(n, n + 1, Url(f"{site.root}/{n}"), losses=SUSPECT * (n == 0)) for n in range(4)]
        migrant = Migrant("m", msgspec.msgpack.encode(FetchSettings(allow_private=True)))
        try:
            told = turns(migrant, Go(Itinerary(Host(site.root), tuple(stops), delay_seconds=0.0, connections=4)))
            assert (told.begins, told.visits, site.hits["/0"]) == (1, (), 0), "it is told before it is asked for"
            came = turns(migrant)
            assert [visit.id for visit in came.visits] == [0]
            assert sum(site.hits[f"/{n}"] for n in (1, 2, 3)) == 0, "else it would be to blame for what they do"
            found: list[int] = []
            while len(found) < 3:
                found += [visit.id for visit in turns(migrant).visits]
            assert sorted(found) == [1, 2, 3]
        finally:
            migrant.trip.close()
