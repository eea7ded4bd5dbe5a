"""Every signal of the papers reaches the signal log and the dashboard."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.support.site import Site, tree
from tests.web.conftest import enable_tracking
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
    collection = tmp_path_factory.mktemp("signals")
    with Site(tree(12)) as site:
        request = CrawlRequest(
            seeds=(site.root + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0),
            fetching=HttpSettings(allow_private=True), workers=WorkerSettings(workers=1),
        )  # fmt: skip
        crawl(collection, request)
        crawl(collection, request)
    update_index(collection)
    return collection


@pytest.fixture(scope="module")
def used_app(folder: Path) -> Iterator[tuple[AppState, TestClient]]:
    """Return the application after a bad rating and a learning run."""
    app_state = open_app_state(folder, ServerAddress())
    enable_tracking(app_state)
    with TestClient(build_app(app_state, ["testserver"]), headers={"sec-fetch-site": "same-origin"}) as client:
        client.post("/api/rating", json={"query_id": search(client, "page number"), "found": False})
        learn_weights(app_state.event_log, app_state.clock())
        yield app_state, client
    app_state.close()


def test_every_signal_has_a_route() -> None:
    assert set(SIGNAL_ROUTES) == set(Signal)


@pytest.mark.parametrize("signal", list(Signal))
def test_signal_reaches_the_log_and_the_dashboard(
    signal: Signal, used_app: tuple[AppState, TestClient], folder: Path
) -> None:
    app_state, client = used_app
    assert load_last_events(folder / "logs")[signal].count > 0
    (row,) = (row for row in build_dashboard_update(app_state).signals if row.name == signal)
    assert (row.source, row.target, row.meaning) == SIGNAL_ROUTES[signal]
    assert row.at > 0
    assert row.count > 0
    line = client.get("/dashboard").text.split(f'data-signal="{signal}"')[1].split("</tr>")[0]
    assert row.target in line
    assert "never" not in line


def test_query_text_is_on_the_dashboard_and_not_in_the_log(used_app: tuple[AppState, TestClient], folder: Path) -> None:
    assert "number" not in (folder / "logs" / SIGNAL_LOG_FILE).read_text()
    (low_rating,) = (row for row in build_dashboard_update(used_app[0]).signals if row.name == Signal.LOW_RATING)
    assert low_rating.detail == "page number"
