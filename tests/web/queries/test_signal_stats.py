"""Every signal of the papers reaches the log and the dashboard when what it stands for happens."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.support.site import Site, tree
from tests.web.conftest import switch_on
from tests.web.test_tracking import search

from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.search.feedback.learn import learn_weights
from sanderling.search.indexer import update_index
from sanderling.storage.signal_log import SIGNAL_LOG_FILE, SIGNAL_ROUTES, Signal, load_last_events
from sanderling.web.app import build_app
from sanderling.web.live import build_dashboard_update
from sanderling.web.server import ServerAddress, open_app_state
from sanderling.web.state import AppState


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site that was crawled twice."""
    made = tmp_path_factory.mktemp("signals")
    with Site(tree(12)) as site:
        request = CrawlRequest(
            seeds=(site.root + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0),
            fetching=HttpSettings(allow_private=True), workers=WorkerSettings(workers=1),
        )  # fmt: skip
        crawl(made, request)
        crawl(made, request)
    update_index(made)
    return made


@pytest.fixture(scope="module")
def lived(folder: Path) -> Iterator[tuple[AppState, TestClient]]:
    """The app over it, after one user searched in vain and something was learned."""
    rooms = open_app_state(folder, ServerAddress())
    switch_on(rooms)
    with TestClient(build_app(rooms, ["testserver"]), headers={"sec-fetch-site": "same-origin"}) as client:
        client.post("/api/rating", json={"query_id": search(client, "page number"), "found": False})
        learn_weights(rooms.event_log, rooms.clock())
        yield rooms, client
    rooms.event_log.close()
    rooms.auth_store.close()


def test_no_signal_was_forgotten() -> None:
    assert set(SIGNAL_ROUTES) == set(Signal)


@pytest.mark.parametrize("signal", list(Signal))
def test_a_signal_reaches_the_log_and_the_dashboard(
    signal: Signal, lived: tuple[AppState, TestClient], folder: Path
) -> None:
    rooms, client = lived
    assert load_last_events(folder / "logs")[signal].count > 0
    (shown,) = (row for row in build_dashboard_update(rooms).signals if row.name == signal)
    assert (shown.source, shown.target, shown.meaning) == SIGNAL_ROUTES[signal]
    assert shown.at > 0
    assert shown.count > 0
    line = client.get("/dashboard").text.split(f'data-signal="{signal}"')[1].split("</tr>")[0]
    assert shown.target in line
    assert "not seen" not in line


def test_what_users_typed_is_on_the_dashboard_and_never_in_the_log_file(
    lived: tuple[AppState, TestClient], folder: Path
) -> None:
    assert "number" not in (folder / "logs" / SIGNAL_LOG_FILE).read_text()
    (low,) = (row for row in build_dashboard_update(lived[0]).signals if row.name == Signal.LOW_RATING)
    assert low.detail == "page number"
