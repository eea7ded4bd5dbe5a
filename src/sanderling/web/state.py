"""What the handlers of the app share, handed out through the request; nothing else is global."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from starlette.requests import Request

from sanderling.search.engine import Finder
from sanderling.search.feedback.event_log import Log
from sanderling.search.feedback.learn import Taught, learn
from sanderling.search.feedback.unmet_queries import OPEN, briefs
from sanderling.search.index import open_index
from sanderling.search.query_expansion import Also
from sanderling.search.ranking import Ranking
from sanderling.search.search_types import Ask, Results
from sanderling.web.auth import COOKIE, Door, Session
from sanderling.web.result_cache import Lately
from sanderling.web.view_models import Window

TRACKING = "tracking"  # settings of the app, by name in the database
RETENTION = "retention_days"
MORE = "crawl_more"
SEND_EVERY = 10.0  # seconds between two looks at what users ask for
LEARN_EVERY = 300.0  # seconds between two looks at what users taught
DAY = 86400.0


class Library:
    """The index, opened when there is one."""

    def __init__(self, folder: Path, log: Log, ranking: Ranking | None = None) -> None:
        self.folder = folder / "index"
        self.taught = Taught(log)
        self.ranking = ranking or Ranking()
        self.lately = Lately()
        self._finder: Finder | None = None
        self._lock = threading.Lock()

    def finder(self) -> Finder | None:
        """Who answers questions; None as long as nothing was indexed."""
        with self._lock:
            if self._finder is None or self._finder.index.is_outdated():
                index = open_index(self.folder, write=False)
                self._finder = Finder(index, self.taught, self.ranking, Also(self.folder)) if index else None
            return self._finder

    def search(self, ask: Ask) -> Results:
        """Answer a question, or say that nothing is there."""
        finder = self.finder()
        if finder is None:
            return Results(ask.text, 0)
        state = finder.index.missing_since, len(finder.index), self.taught.state()
        return self.lately.answer(ask, state, finder.search)

    def size(self) -> tuple[int, int]:
        """Pages in the index, and the last visit it knows."""
        finder = self.finder()
        return (len(finder.index), finder.index.missing_since) if finder else (0, 0)


class Rooms(Struct):
    """Everything the app is made of."""

    library: Library
    log: Log
    window: Window
    door: Door
    clock: Callable[[], float] = time.time
    public: bool = False  # served beyond this machine: then only searching is open to all

    @property
    def tracking(self) -> bool:
        """Has the owner switched on the recording of behaviour?"""
        return self.door.get(TRACKING, "off") == "on"

    @property
    def sends_for_more(self) -> bool:
        """Has the owner switched on crawls for what visitors did not find?"""
        return self.door.get(MORE, "off") == "on"

    @property
    def retention_days(self) -> float:
        """How long behaviour is kept."""
        return float(self.door.get(RETENTION, "90"))


def rooms_of(request: Request) -> Rooms:
    """The rooms behind a request."""
    rooms: Rooms = request.app.state.rooms
    return rooms


def session_of(request: Request) -> Session | None:
    """Who is logged in; None for everybody else."""
    rooms = rooms_of(request)
    return rooms.door.session(request.cookies.get(COOKIE, ""), rooms.clock())


class Housekeeping(threading.Thread):
    """Learns from the log now and then, and forgets what is too old."""

    def __init__(self, rooms: Rooms, every: float = LEARN_EVERY) -> None:
        super().__init__(name="housekeeping", daemon=True)
        self.rooms = rooms
        self.every = every
        self.over = threading.Event()

    def run(self) -> None:
        """Until told to stop."""
        next_tidy = time.monotonic() + self.every
        while not self.over.wait(min(self.every, SEND_EVERY)):
            self.send()
            if time.monotonic() >= next_tidy:
                self.tidy()
                next_tidy = time.monotonic() + self.every

    def send(self) -> None:
        """Send migrants for what users ask for, where no crawl is running that would take it."""
        if self.rooms.sends_for_more and any(brief.state == OPEN for brief in briefs(self.rooms.log)):
            self.rooms.window.send_for_more()

    def tidy(self) -> None:
        """One round."""
        now = self.rooms.clock()
        self.rooms.log.forget(now, self.rooms.retention_days)
        learn(self.rooms.log, now)

    def stop(self) -> None:
        """End after the round that is going on."""
        self.over.set()
        self.join()
