"""A crawler that lives through a trace with all its rows in a database, as `refresh` keeps them: diary, tables and all.

Slower than `visits.Crawler`, which keeps rows in memory; a test sees that both make the same visits.
"""

from benchmarks.revisit.histories import DAY, Held, Trace

from sanderling.db.connection import Connection, transaction
from sanderling.revisit.intervals import RevisitBudget
from sanderling.revisit.policies.policy import RevisitPolicy
from sanderling.revisit.schedule import RevisitSchedule, VisitFacts

SITE = "site.test"
KNOWN = (
    "INSERT INTO urls (id, host, path, wire, state, reason, depth, source, via, hops, found_at, note, role)"
    " VALUES (?, 1, ?, '', 'visited', '', 1, 'link', 0, 0, 0, '', 'page')"
)


class StoredCrawler:
    """The production diary over the pages of a trace."""

    def __init__(self, policy: RevisitPolicy, trace: Trace, interval: float, db: Connection) -> None:
        self.db, self.trace, self.interval = db, trace, interval
        self.diary = RevisitSchedule(db, policy)
        self.visits: list[tuple[float, int]] = []
        db.execute("INSERT INTO hosts (id, name) VALUES (1, ?)", (f"http://{SITE}",))

    def allow(self, pages: int) -> None:
        """Follow the number of pages with the budget."""
        self.diary.planner.budget = RevisitBudget(max(pages, 1) / (self.interval * DAY))

    def enter(self, number: int, now: float) -> None:
        """A page is born, and fetched."""
        with transaction(self.db):
            self.db.execute(KNOWN, (number, self._path(number)))
            self.diary.schedule_visits([self._facts(number, now, 0.0, False)])

    def leave(self, number: int) -> None:
        """A page is no more."""
        with transaction(self.db):
            self.diary.delete_pages([number])

    def hear(self, number: int, at: float, now: float) -> None:
        """It reads no sitemap."""

    def turn(self, now: float, room: int, held: Held) -> int:
        """Visit as many pages as there is room for."""
        with transaction(self.db):
            chosen = [row.url_id for row in self.diary.load_due(now, room, include_early=True)]
        before = {number: held.since[number] for number in chosen}
        with transaction(self.db):
            self.diary.schedule_visits([self._facts(n, now, before[n], held.look(n, now)) for n in chosen])
        self.visits += [(now, number) for number in chosen]
        return len(chosen)

    def _facts(self, number: int, now: float, previous: float, changed: bool) -> VisitFacts:
        return VisitFacts(number, SITE, self._path(number), now, previous, changed)

    def _path(self, number: int) -> str:
        return f"/{self.trace.pages[number].path}"
