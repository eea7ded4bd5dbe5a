"""Coordinator: signals at any moment, and completion with nothing left in the queue."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.site import Site, tree

from sanderling.cli.progress import stop_on_signals
from sanderling.clock import real
from sanderling.config.settings import Fetching, Politeness, Scope, Workers
from sanderling.crawl.context import House
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.open_context import open_house
from sanderling.crawl.request import read_seed
from sanderling.crawl.session import Request, crawl
from sanderling.crawl.stop import Bounds, Finish
from sanderling.db.connection import transaction
from sanderling.fetch.dns import Resolver
from sanderling.frontier.url_store import Entry
from sanderling.models import Candidate, Host, Itinerary, Reason, Source, State, Url, Vitals
from sanderling.storage.collection import open_collection
from sanderling.workers import local
from sanderling.workers.local import Lost
from sanderling.workers.protocol import push

ITINERARY = 300  # bytes; all other orders are smaller


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("is_sent", [False, True])
def test_a_signal_that_comes_amid_a_word_to_a_migrant_breaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_sent: bool
) -> None:
    struck: list[bool] = []
    with Site(tree(60, fan=60)) as site:

        def strike(sock: socket.socket, outgoing: bytearray) -> int:
            if struck or len(outgoing) < ITINERARY or not site.hits["/"]:
                return push(sock, outgoing)
            struck.append(True)
            if is_sent:  # and is not yet taken off
                sent = sock.send(bytes(outgoing))
                signal.raise_signal(signal.SIGTERM)
                del outgoing[:sent]
            else:
                with memoryview(outgoing):
                    signal.raise_signal(signal.SIGTERM)
            return push(sock, outgoing)

        monkeypatch.setattr(local, "push", strike)
        request = Request(
            seeds=(site.root + "/",),
            scope=Scope(sitemaps=False),
            politeness=Politeness(delay=0.0),
            fetching=Fetching(allow_private=True),
            workers=Workers(migrants=1),
        )
        first = crawl(tmp_path, request, on_start=stop_on_signals)
        assert (struck, first.finish_reason) == ([True], "interrupted")
        assert max(site.hits.values()) == 1
        again = crawl(tmp_path, request)
        assert (again.finish_reason, again.pages) == ("done", 60)
        assert max(site.hits[path] for path in site.pages) == 1


class LosingEngine:
    """An engine whose only worker is lost right after its host was given up because of another worker's failures."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.created = 0
        self.sent: list[Itinerary] = []

    def create(self, name: str = "", place: str = "") -> str:
        self.created += 1
        return name or f"w{self.created}"

    def send(self, migrant: str, itinerary: Itinerary) -> None:
        self.sent.append(itinerary)

    def receive(self, timeout: float) -> list[Lost]:
        if len(self.sent) != 1:
            return []
        self.sent *= 2
        with transaction(self.house.db):
            self.house.hosts.condemn(1, Reason.CONNECT, State.FAILED)
        return [Lost("w1")]

    def migrants(self) -> list[str]:
        return []

    def places(self) -> list[str]:
        return [""]

    def where(self, migrant: str) -> str:
        return ""

    def vitals(self, migrant: str) -> Vitals | None:
        return None

    def abandon(self, migrant: str, host: Host | None = None) -> None: ...
    def dispose(self, migrant: str) -> None: ...
    def close(self) -> None: ...


def test_crawl_is_complete_only_when_no_url_of_a_given_up_host_is_queued(tmp_path: Path) -> None:
    request = Request(seeds=("http://127.0.0.1:1/",), scope=Scope(sitemaps=False), politeness=Politeness(delay=0.0))
    with open_collection(tmp_path) as collection:
        seed = read_seed(request.seeds[0])
        house = open_house(collection, request, [seed], -1, real)
        urls = [seed.url, *(Url(f"{seed.url}{number}") for number in range(4))]
        with transaction(house.db):
            house.book.add([Entry(Candidate(url, source=Source.SEED), State.QUEUED) for url in urls], 1.0)
        coordinator = Coordinator(
            house, LosingEngine(house), Resolver(), Bounds(), migrants=1, allow_private=True, folder=tmp_path
        )
        (tmp_path / "logs").mkdir(exist_ok=True)
        assert coordinator.run() is Finish.DONE
        states = house.db.execute("SELECT state, count(*) FROM urls GROUP BY state").fetchall()
        assert (states, house.queue.waiting()) == ([("failed", 5)], 0)
        assert house.db.execute("SELECT count(*) FROM queue").fetchone() == (0,)
        assert house.counts["lost"] == 5
        house.archive.close()
        house.log.close()
