"""The site as its own machine sees it."""

import pytest

from sanderling.models import Itinerary, Stop, Url
from sanderling.workers.migrant.owner_rules import Site
from sanderling.workers.migrant.site_reader import ByHttp


def test_pages_that_were_let_in_do_not_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate counts them; a second pause here would halve what the owner allows."""
    local = ByHttp(Site("http://127.0.0.1:9", pages_per_second=0.001, connections=3), "sanderling")
    taken: list[Itinerary] = []
    monkeypatch.setattr(local.trip, "accept", taken.append)
    local.accept([Stop(1, 0, Url("http://127.0.0.1:9/"))])
    assert (taken[0].delay_seconds, taken[0].connections) == (0.0, 3)
    local.close()
