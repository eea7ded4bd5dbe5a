"""Every signal of the papers reaches the log and the dashboard when what it stands for happens."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.support.site import Site, tree
from tests.web.conftest import switch_on
from tests.web.test_tracking import search

from sanderling.config.settings import Fetching, Politeness, Scope, Workers
from sanderling.crawl.session import Request, crawl
from sanderling.search.feedback.learn import learn
from sanderling.search.indexer import catch_up
from sanderling.storage.signal_log import FILE, ROUTES, Signal, last_raised
from sanderling.web.app import build
from sanderling.web.live import pulse
from sanderling.web.server import Place, open_rooms
from sanderling.web.state import Rooms


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site that was crawled twice."""
    made = tmp_path_factory.mktemp("signals")
    with Site(tree(12)) as site:
        request = Request(
            seeds=(site.root + "/",), scope=Scope(sitemaps=False), politeness=Politeness(delay=0),
            fetching=Fetching(allow_private=True), workers=Workers(migrants=1),
        )  # fmt: skip
        crawl(made, request)
        crawl(made, request)
    catch_up(made)
    return made


@pytest.fixture(scope="module")
def lived(folder: Path) -> Iterator[tuple[Rooms, TestClient]]:
    """The app over it, after one user searched in vain and something was learned."""
    rooms = open_rooms(folder, Place())
    switch_on(rooms)
    with TestClient(build(rooms, ["testserver"]), headers={"sec-fetch-site": "same-origin"}) as client:
        client.post("/api/rating", json={"query_id": search(client, "page number"), "found": False})
        learn(rooms.log, rooms.clock())
        yield rooms, client
    rooms.log.close()
    rooms.door.close()


def test_no_signal_was_forgotten() -> None:
    assert set(ROUTES) == set(Signal)


@pytest.mark.parametrize("signal", list(Signal))
def test_a_signal_reaches_the_log_and_the_dashboard(
    signal: Signal, lived: tuple[Rooms, TestClient], folder: Path
) -> None:
    rooms, client = lived
    assert last_raised(folder / "logs")[signal].count > 0
    (shown,) = (row for row in pulse(rooms).signals if row.name == signal)
    assert (shown.source, shown.target, shown.meaning) == ROUTES[signal]
    assert shown.at > 0
    assert shown.count > 0
    line = client.get("/dashboard").text.split(f'data-signal="{signal}"')[1].split("</tr>")[0]
    assert shown.target in line
    assert "not seen" not in line


def test_what_users_typed_is_on_the_dashboard_and_never_in_the_log_file(
    lived: tuple[Rooms, TestClient], folder: Path
) -> None:
    assert "number" not in (folder / "logs" / FILE).read_text()
    (low,) = (row for row in pulse(lived[0]).signals if row.name == Signal.LOW_RATING)
    assert low.detail == "page number"
