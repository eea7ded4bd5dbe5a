"""The coordinator is told to stop amid anything."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.web import Site, tree

from sanderling.cli.progress import stop_on_signals
from sanderling.engines import processes
from sanderling.engines.wire import push
from sanderling.session import Request, crawl
from sanderling.settings import Fetching, Politeness, Scope, Workers

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

        monkeypatch.setattr(processes, "push", strike)
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
