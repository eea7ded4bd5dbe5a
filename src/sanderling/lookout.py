"""Looking out for new pages like samples: the pages that led to such pages before are visited again."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from sanderling.alike import Found
from sanderling.coordinator import Coordinator
from sanderling.database import Connection, transaction
from sanderling.driving import find_on_web
from sanderling.frontier.again import queue_pages
from sanderling.request import Request
from sanderling.samples import Sample
from sanderling.store.graph import sources_of

FIRST = 1e6  # ranks that a promising link moves forward: before everything that is not
HUBS = 10  # pages looked at again each time


def hubs_of(db: Connection, pages: Sequence[int]) -> list[int]:
    """Pages that link to these, those with most such links first."""
    counts = Counter(source for page in pages for source in sources_of(db, page))
    return [source for source, _ in counts.most_common(HUBS)]


def look_again(
    folder: Path,
    request: Request,
    samples: Sequence[Sample],
    budget: int,
    enough: int,
    on_start: Callable[[Coordinator], None] | None = None,
) -> list[Found]:
    """Visit again the pages that lead to pages like the samples, and follow what is new there."""
    ids = [sample.look.id for sample in samples if sample.look.id]

    def start(coordinator: Coordinator) -> None:
        db = coordinator.house.db
        with transaction(db):
            hubs = hubs_of(db, ids)
            queue_pages(db, hubs, rank=-FIRST)
            coordinator.house.queue.promote(dict.fromkeys(hubs, FIRST))
        if on_start:
            on_start(coordinator)

    known = replace(request, seeds=())
    return find_on_web(folder, known, samples, budget, enough, on_start=start)
