"""What the handlers of the app share, handed out through the request; nothing else is global."""

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
from sanderling.web.auth import SESSION_COOKIE, AuthStore, LoginSession
from sanderling.web.result_cache import ResultCache
from sanderling.web.view_models import CrawlView

TRACKING_SETTING = "tracking"  # settings of the app, by name in the database
RETENTION_SETTING = "retention_days"
CRAWL_MORE_SETTING = "crawl_more"
UNMET_CHECK_SECONDS = 10.0  # seconds between two looks at what users ask for
LEARN_SECONDS = 300.0  # seconds between two looks at what users taught
DAY_SECONDS = 86400.0


class SearchService:
    """The index, opened when there is one."""

    def __init__(self, folder: Path, log: EventLog, ranking: RankingWeights | None = None) -> None:
        self.folder = folder / "index"
        self.click_weights = ClickWeights(log)
        self.ranking = ranking or RankingWeights()
        self.result_cache = ResultCache()
        self._engine: SearchEngine | None = None
        self._lock = threading.Lock()

    def get_engine(self) -> SearchEngine | None:
        """Who answers questions; None as long as nothing was indexed."""
        with self._lock:
            if self._engine is None or self._engine.index.is_outdated():
                index = open_search_index(self.folder, write=False)
                self._engine = (
                    SearchEngine(index, self.click_weights, self.ranking, AliasExpander(self.folder)) if index else None
                )
            return self._engine

    def search(self, request: SearchRequest) -> SearchResults:
        """Answer a question, or say that nothing is there."""
        finder = self.get_engine()
        if finder is None:
            return SearchResults(request.query, 0)
        state = finder.index.last_batch, len(finder.index), self.click_weights.get_version()
        return self.result_cache.get_or_search(request, state, finder.search)

    def get_index_state(self) -> tuple[int, int]:
        """Pages in the index, and the last visit it knows."""
        finder = self.get_engine()
        return (len(finder.index), finder.index.last_batch) if finder else (0, 0)


class AppState(Struct):
    """Everything the app is made of."""

    search_service: SearchService
    event_log: EventLog
    crawl_view: CrawlView
    auth_store: AuthStore
    clock: Callable[[], float] = time.time
    is_public: bool = False  # served beyond this machine: then only searching is open to all

    @property
    def is_tracking(self) -> bool:
        """Has the owner switched on the recording of behaviour?"""
        return self.auth_store.get_setting(TRACKING_SETTING, "off") == "on"

    @property
    def should_crawl_unmet(self) -> bool:
        """Has the owner switched on crawls for what visitors did not find?"""
        return self.auth_store.get_setting(CRAWL_MORE_SETTING, "off") == "on"

    @property
    def retention_days(self) -> float:
        """How long behaviour is kept."""
        return float(self.auth_store.get_setting(RETENTION_SETTING, "90"))


def get_app_state(request: Request) -> AppState:
    """The rooms behind a request."""
    rooms: AppState = request.app.state.app_state
    return rooms


def get_session(request: Request) -> LoginSession | None:
    """Who is logged in; None for everybody else."""
    rooms = get_app_state(request)
    return rooms.auth_store.get_session(request.cookies.get(SESSION_COOKIE, ""), rooms.clock())


class MaintenanceThread(threading.Thread):
    """Learns from the log now and then, and forgets what is too old."""

    def __init__(self, app_state: AppState, interval_seconds: float = LEARN_SECONDS) -> None:
        super().__init__(name="housekeeping", daemon=True)
        self.app_state = app_state
        self.interval_seconds = interval_seconds
        self.stop_event = threading.Event()

    def run(self) -> None:
        """Until told to stop."""
        next_tidy = time.monotonic() + self.interval_seconds
        while not self.stop_event.wait(min(self.interval_seconds, UNMET_CHECK_SECONDS)):
            self.crawl_unmet_queries()
            if time.monotonic() >= next_tidy:
                self.run_maintenance()
                next_tidy = time.monotonic() + self.interval_seconds

    def crawl_unmet_queries(self) -> None:
        """Send migrants for what users ask for, where no crawl is running that would take it."""
        if self.app_state.should_crawl_unmet and any(
            brief.state == OPEN for brief in list_unmet_queries(self.app_state.event_log)
        ):
            self.app_state.crawl_view.crawl_unmet_queries()

    def run_maintenance(self) -> None:
        """One round."""
        now = self.app_state.clock()
        self.app_state.event_log.delete_expired(now, self.app_state.retention_days)
        learn_weights(self.app_state.event_log, now)

    def stop(self) -> None:
        """End after the round that is going on."""
        self.stop_event.set()
        self.join()
