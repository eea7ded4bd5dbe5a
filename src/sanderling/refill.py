"""What a refresh queues while it runs: pages that have become due, within the budget."""

from collections.abc import Callable, Mapping

from sanderling.database import Connection
from sanderling.dedupe.spellings import doubles
from sanderling.frontier.again import queue_pages
from sanderling.home.house import MAPS_FIRST, House
from sanderling.home.planning import TROUBLE_WAIT
from sanderling.records import Host, Reason, State
from sanderling.refresh.budget import Budget
from sanderling.store.collection import get_meta
from sanderling.store.listing import urls_of

AT_ONCE = 2_000  # pages queued at a time
DOUBLE = "it is visited under another spelling"
REFRESHED = "refreshed"  # in the meta table: when the last refresh ended


class Refill:
    """Queues what has become due, within the budget."""

    def __init__(self, house: House, budget: Budget | None, now: float, stay: bool = False) -> None:
        self.house = house
        self.budget = budget
        self.ahead = stay and budget is not None  # a standing budget is spent, on what is worth it most
        self.begun = now - (saved_up(house.db, budget, now) if budget else 0.0)
        self.pardoned = now
        self.tell: Callable[[Mapping[Host, float]], None] | None = None  # who wants to know how lively the hosts are

    def __call__(self, now: float) -> int:
        """Queue the pages due now; say how many."""
        house, room = self.house, self._room(now)
        if now - self.pardoned > TROUBLE_WAIT:
            pardon(house)
            self.pardoned = now
        if house.use_maps:
            queue_pages(house.db, told := [*house.lists.stale(now), *house.maps.due(now)], MAPS_FIRST)
            if told:
                return len(told)
        urls = [row.url for row in house.diary.due(now, room, house.lists.least, self.ahead)]
        urls += house.lists.tests(now)[: room - len(urls)]
        urls = self._without_doubles(urls, now)
        sides = house.sides.instead(urls)
        house.diary.postpone(list(sides), now + TROUBLE_WAIT, "its side file is asked")
        queue_pages(house.db, [*sides.values(), *(url for url in urls if url not in sides)])
        house.counts["due"] += len(urls)
        if self.tell:
            self.tell(liveliness(house.db))
        return len(urls)

    def _without_doubles(self, urls: list[int], now: float) -> list[int]:
        """Leave out what is held under its usual spelling too; it comes up again, should its rule be taken back."""
        house = self.house
        double = doubles(house.db, house.judge.rules, urls_of(house.db, urls).items()) if house.judge.rules else set()
        house.diary.postpone(list(double), now + TROUBLE_WAIT, DOUBLE)
        return [url for url in urls if url not in double]

    def _room(self, now: float) -> int:
        """What the budget has left: what was saved up before, then more as time goes by."""
        if self.budget is None:
            return AT_ONCE
        return room_in(self.budget, now - self.begun, self.house.counts["due"], self.house.counts["bytes"])


def room_in(budget: Budget, seconds: float, queued: int, size: int) -> int:
    """How many pages may be queued, of a budget that was earned for so long and spent on so much."""
    earned = budget.room(seconds)
    if budget.in_bytes:
        return AT_ONCE if size < earned else 0
    return max(0, min(AT_ONCE, int(max(1.0, earned)) - queued))


def saved_up(db: Connection, budget: Budget, now: float) -> float:
    """Seconds for which a budget was not spent: since the last refresh, a minute at least, its period at most."""
    idle = now - float(get_meta(db, REFRESHED, "0"))
    return budget.period if idle < 0 else min(max(idle, 60.0), budget.period)


def pardon(house: House) -> None:
    """Give hosts that could not be reached, and what we hold of them, another chance."""
    house.hosts.pardon()
    house.judge.condemned.clear()
    house.db.execute(
        "UPDATE urls SET state = ? WHERE (state = ? OR (state = ? AND reason = ?)) AND id IN (SELECT url FROM pages)",
        (State.VISITED, State.FAILED, State.SKIPPED, Reason.ROBOTS_UNREACHABLE),
    )


def liveliness(db: Connection) -> dict[Host, float]:
    """The shortest interval planned for a page that waits, for each host."""
    rows = db.execute(
        "SELECT h.name, min(d.due_at - d.planned_at) FROM queue AS q JOIN due AS d ON d.url = q.url"
        " JOIN hosts AS h ON h.id = q.host WHERE d.planned_at > 0 GROUP BY h.name"
    )
    return {Host(name): float(interval) for name, interval in rows}
