"""The site as its own machine sees it."""

import pytest

from sanderling.models import FetchBatch, FetchTask, Url
from sanderling.workers.migrant.owner_rules import SiteRules
from sanderling.workers.migrant.site_reader import HttpSiteReader


def test_pages_that_were_let_in_do_not_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate counts them; a second pause here would halve what the owner allows."""
    local = HttpSiteReader(SiteRules("http://127.0.0.1:9", pages_per_second=0.001, connections=3), "sanderling")
    taken: list[FetchBatch] = []
    monkeypatch.setattr(local.fetch_loop, "submit", taken.append)
    local.submit([FetchTask(1, 0, Url("http://127.0.0.1:9/"))])
    assert (taken[0].delay_seconds, taken[0].max_connections) == (0.0, 3)
    local.close()
