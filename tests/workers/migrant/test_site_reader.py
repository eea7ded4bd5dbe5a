"""Site readers on the machine of the web server."""

import pytest

from sanderling.models import FetchBatch, FetchTask, Url
from sanderling.workers.migrant.owner_rules import SiteRules
from sanderling.workers.migrant.site_reader import HttpSiteReader


def test_http_reader_has_no_crawl_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rate limiter counts pages already; a crawl delay would halve the allowed rate."""
    reader = HttpSiteReader(SiteRules("http://127.0.0.1:9", pages_per_second=0.001, connections=3), "sanderling")
    batches: list[FetchBatch] = []
    monkeypatch.setattr(reader.fetch_loop, "submit", batches.append)
    reader.submit([FetchTask(1, 0, Url("http://127.0.0.1:9/"))])
    assert (batches[0].delay_seconds, batches[0].max_connections) == (0.0, 3)
    reader.close()
