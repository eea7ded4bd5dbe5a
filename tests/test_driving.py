"""A crawl that is driven towards pages like samples."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from sanderling.clock import real
from sanderling.coordinator import Coordinator
from sanderling.database import transaction
from sanderling.driving import let_wait
from sanderling.opening import open_house
from sanderling.request import Request, read_seed
from sanderling.store.collection import open_collection

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
