"""Replay a trace with the revisit schedule in a database, as `refresh` keeps it.

Slower than `trace_replay.Crawler`; a test checks that both make the same visits.
"""

from benchmarks.revisit.histories import DAY, Held, Trace

from sanderling.db.connection import Connection, transaction
from sanderling.revisit.intervals import RevisitBudget
from sanderling.revisit.policies.policy import RevisitPolicy
from sanderling.revisit.schedule import RevisitSchedule, VisitFacts

SITE = "site.test"
KNOWN = (
    "INSERT INTO urls (id, host, path, request_url, state, reason, depth, source, via, hops, found_at, note, role)"
    " VALUES (?, 1, ?, '', 'visited', '', 1, 'link', 0, 0, 0, '', 'page')"
)


class StoredCrawler:
    """The production schedule over the pages of a trace."""

    def __init__(self, policy: RevisitPolicy, trace: Trace, interval: float, db: Connection) -> None:
        self.db, self.trace, self.interval = db, trace, interval
        self.schedule = RevisitSchedule(db, policy)
        self.visits: list[tuple[float, int]] = []
        db.execute("INSERT INTO hosts (id, name) VALUES (1, ?)", (f"http://{SITE}",))

    def allow(self, pages: int) -> None:
        """Set the budget for this number of pages."""
        self.schedule.planner.budget = RevisitBudget(max(pages, 1) / (self.interval * DAY))

    def enter(self, number: int, now: float) -> None:
        """Add a new page, fetched now."""
        with transaction(self.db):
            self.db.execute(KNOWN, (number, self._path(number)))
            self.schedule.schedule_visits([self._facts(number, now, 0.0, False)])

    def leave(self, number: int) -> None:
        """Remove a deleted page."""
        with transaction(self.db):
            self.schedule.delete_pages([number])

    def announce(self, number: int, at: float, now: float) -> None:
        """Ignore announcements."""

    def turn(self, now: float, room: int, held: Held) -> int:
        """Visit at most `room` pages. Returns the number of visits."""
        with transaction(self.db):
            chosen = [row.url_id for row in self.schedule.load_due(now, room, include_early=True)]
        before = {number: held.since[number] for number in chosen}
        with transaction(self.db):
            self.schedule.schedule_visits([self._facts(n, now, before[n], held.look(n, now)) for n in chosen])
        self.visits += [(now, number) for number in chosen]
        return len(chosen)

    def _facts(self, number: int, now: float, previous: float, changed: bool) -> VisitFacts:
        return VisitFacts(number, SITE, self._path(number), now, previous, changed)

    def _path(self, number: int) -> str:
        return f"/{self.trace.pages[number].path}"
