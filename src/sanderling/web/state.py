"""The services shared by all handlers."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from starlette.requests import Request

from sanderling.search.engine import SearchEngine
from sanderling.search.feedback.event_log import EventLog
from sanderling.search.feedback.learn import ClickWeights, learn_weights
from sanderling.search.feedback.unmet_queries import OPEN, list_unmet_queries
from sanderling.search.index import open_search_index
from sanderling.search.query_expansion import AliasExpander
from sanderling.search.ranking import RankingWeights
from sanderling.search.search_types import SearchRequest, SearchResults
from sanderling.templates.similar_pages import StoredSimilarPages
from sanderling.web.auth import SESSION_COOKIE, AuthStore, LoginSession
from sanderling.web.crawl_view import CollectionCrawlView
from sanderling.web.result_cache import ResultCache

TRACKING_SETTING = "tracking"  # names of settings in the database
RETENTION_SETTING = "retention_days"
CRAWL_MORE_SETTING = "crawl_more"
UNMET_CHECK_SECONDS = 10.0  # between checks for unmet queries
LEARN_SECONDS = 300.0  # between two learning runs
DAY_SECONDS = 86400.0


class SearchService:
    """Searches an index, which may not exist yet."""

    def __init__(self, folder: Path, log: EventLog, ranking: RankingWeights | None = None) -> None:
        self.folder = folder / "index"
        self.click_weights = ClickWeights(log)
        self.ranking = ranking or RankingWeights()
        self.result_cache = ResultCache()
        self._engine: SearchEngine | None = None
        self._lock = threading.Lock()

    def get_engine(self) -> SearchEngine | None:
        """Return the engine, reopened after commits. None without an index."""
        with self._lock:
            if self._engine is None or self._engine.index.is_outdated():
                index = open_search_index(self.folder, write=False)
                self._engine = (
                    SearchEngine(index, self.click_weights, self.ranking, AliasExpander(self.folder)) if index else None
                )
            return self._engine

    def search(self, request: SearchRequest) -> SearchResults:
        engine = self.get_engine()
        if engine is None:
            return SearchResults(request.query, 0)
        state = engine.index.last_batch, len(engine.index), self.click_weights.get_version()
        return self.result_cache.get_or_search(request, state, engine.search)

    def get_index_state(self) -> tuple[int, int]:
        """Return the indexed pages and the last indexed visit."""
        engine = self.get_engine()
        return (len(engine.index), engine.index.last_batch) if engine else (0, 0)


class AppState(Struct):
    search_service: SearchService
    event_log: EventLog
    crawl_view: CollectionCrawlView
    auth_store: AuthStore
    clock: Callable[[], float] = time.time
    is_public: bool = False  # reachable from other machines: only search is open without login
    replay_port: int = 0  # 0: no replay

    @property
    def similar_pages(self) -> StoredSimilarPages:
        return StoredSimilarPages(self.crawl_view.folder)

    @property
    def is_tracking(self) -> bool:
        return self.auth_store.get_setting(TRACKING_SETTING, "off") == "on"

    @property
    def should_crawl_unmet(self) -> bool:
        return self.auth_store.get_setting(CRAWL_MORE_SETTING, "off") == "on"

    @property
    def retention_days(self) -> float:
        return float(self.auth_store.get_setting(RETENTION_SETTING, "90"))


def get_app_state(request: Request) -> AppState:
    app_state: AppState = request.app.state.app_state
    return app_state


def get_session(request: Request) -> LoginSession | None:
    app_state = get_app_state(request)
    return app_state.auth_store.get_session(request.cookies.get(SESSION_COOKIE, ""), app_state.clock())


class MaintenanceThread(threading.Thread):
    """Learns weights, deletes expired events, starts crawls for unmet queries."""

    def __init__(self, app_state: AppState, interval_seconds: float = LEARN_SECONDS) -> None:
        super().__init__(name="housekeeping", daemon=True)
        self.app_state = app_state
        self.interval_seconds = interval_seconds
        self.stop_event = threading.Event()

    def run(self) -> None:
        next_maintenance = time.monotonic() + self.interval_seconds
        while not self.stop_event.wait(min(self.interval_seconds, UNMET_CHECK_SECONDS)):
            self.crawl_unmet_queries()
            if time.monotonic() >= next_maintenance:
                self.run_maintenance()
                next_maintenance = time.monotonic() + self.interval_seconds

    def crawl_unmet_queries(self) -> None:
        if self.app_state.should_crawl_unmet and any(
            unmet.state == OPEN for unmet in list_unmet_queries(self.app_state.event_log)
        ):
            self.app_state.crawl_view.crawl_unmet_queries()

    def run_maintenance(self) -> None:
        now = self.app_state.clock()
        self.app_state.event_log.delete_expired(now, self.app_state.retention_days)
        learn_weights(self.app_state.event_log, now)

    def stop(self) -> None:
        self.stop_event.set()
        self.join()
