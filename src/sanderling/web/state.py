"""The services shared by all handlers."""

import threading
import time
from collections.abc import Callable

from msgspec import Struct
from starlette.requests import Request

from sanderling.api.reports.crawl_view import CollectionCrawlView
from sanderling.api.searching.search_service import SearchService
from sanderling.api.searching.user_feedback import UserFeedback
from sanderling.api.similarity import StoredSimilarPages
from sanderling.web.auth import SESSION_COOKIE, AuthStore, LoginSession

TRACKING_SETTING = "tracking"  # names of settings in the database
RETENTION_SETTING = "retention_days"
CRAWL_MORE_SETTING = "crawl_more"
UNMET_CHECK_SECONDS = 10.0  # between checks for unmet queries
LEARN_SECONDS = 300.0  # between two learning runs
DAY_SECONDS = 86400.0


class AppState(Struct):
    search_service: SearchService
    event_log: UserFeedback
    crawl_view: CollectionCrawlView
    auth_store: AuthStore
    clock: Callable[[], float] = time.time
    is_public: bool = False  # reachable from other machines: only search is open without login
    replay_port: int = 0  # 0: no replay

    def close(self) -> None:
        self.event_log.close()
        self.auth_store.close()

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
        if self.app_state.should_crawl_unmet and self.app_state.event_log.has_open_queries():
            self.app_state.crawl_view.crawl_unmet_queries()

    def run_maintenance(self) -> None:
        now = self.app_state.clock()
        self.app_state.event_log.delete_expired(now, self.app_state.retention_days)
        self.app_state.event_log.learn_weights(now)

    def stop(self) -> None:
        self.stop_event.set()
        self.join()
