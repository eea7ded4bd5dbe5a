"""A crawl that is driven towards pages like samples."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from sanderling.clock import system_clock
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.open_context import CrawlPlan, open_context
from sanderling.crawl.request import CrawlRequest, parse_seed
from sanderling.db.connection import transaction
from sanderling.templates.similar.driven_crawl import let_wait

SEED = "http://127.0.0.1:1/"


def test_guesses_that_are_no_urls_are_passed_over(tmp_path: Path) -> None:
    with open_context(CrawlPlan(tmp_path, CrawlRequest(seeds=(SEED,)), [parse_seed(SEED)])) as (house, _):
        coordinator = cast(Coordinator, SimpleNamespace(context=house, clock=system_clock))
        with transaction(house.db):
            ids = let_wait(coordinator, [f"{SEED}a", f"{SEED}{'long' * 1000}", "http://[/x", "http://elsewhere.test/a"])
        assert [url for url in ids if url.startswith(SEED)] == [f"{SEED}a"]
        assert house.frontier.queue.count_queued() == 1
