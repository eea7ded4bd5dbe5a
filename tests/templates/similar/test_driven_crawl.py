"""A crawl that is driven towards pages like samples."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from sanderling.clock import real
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.open_context import open_house
from sanderling.crawl.request import Request, read_seed
from sanderling.db.connection import transaction
from sanderling.storage.collection import open_collection
from sanderling.templates.similar.driven_crawl import let_wait

SEED = "http://127.0.0.1:1/"


def test_guesses_that_are_no_urls_are_passed_over(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        house = open_house(collection, Request(seeds=(SEED,)), [read_seed(SEED)], -1, real)
        coordinator = cast(Coordinator, SimpleNamespace(house=house, clock=real))
        with transaction(house.db):
            ids = let_wait(coordinator, [f"{SEED}a", f"{SEED}{'long' * 1000}", "http://[/x", "http://elsewhere.test/a"])
        assert [url for url in ids if url.startswith(SEED)] == [f"{SEED}a"]
        assert house.queue.waiting() == 1
        house.archive.close()
        house.log.close()
