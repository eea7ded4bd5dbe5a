"""Why a URL has its place: its class, list and scores, when it is due, and which rule of its host holds it back."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec import Struct

from sanderling.crawl.choose_ordering import Wish, open_order, remembered
from sanderling.crawl.depth import drawn
from sanderling.db.connection import Connection
from sanderling.fetch.robots import Rules, rules_for
from sanderling.frontier.hosts import Hosts
from sanderling.frontier.ordering.pvalue import PATTERN, list_of, pvalue
from sanderling.frontier.ordering.topic import unpack_relevance
from sanderling.models import Host, Source, State, Url
from sanderling.revisit.schedule import reasons
from sanderling.storage.collection import agent_of, get_meta
from sanderling.storage.link_graph import count_sources
from sanderling.storage.page_history import CHANGES, change_class, is_telling

PARTS = len(PATTERN)


class Place(Struct, frozen=True):
    """Where a waiting URL stands: counted from 1, at its host and among all that waits."""

    rank: float
    at_host: int
    host_waiting: int
    among_all: int
    all_waiting: int
    list: int  # of the three priority lists


class Standing(Struct, frozen=True):
    """All that decides when a URL is visited."""

    url: str
    state: str
    reason: str
    note: str
    level: int
    source: str
    via: str
    change_class: str
    class_why: str
    order: str
    place: Place | None  # None: it does not wait
    scores: Mapping[str, float]
    due_at: float  # 0: it is not planned
    due_why: str
    held: tuple[str, ...]


class _Row(Struct, frozen=True):
    id: int
    host: int
    name: Host
    path: str
    wire: str
    state: str
    reason: str
    note: str
    depth: int
    source: str
    via: int
    attempts: int

    @property
    def url(self) -> Url:
        return Url(self.name + self.path)


ROW = """
    SELECT u.id, u.host, h.name, u.path, u.wire, u.state, u.reason, u.note, u.depth, u.source, u.via, u.attempts
    FROM urls AS u JOIN hosts AS h ON h.id = u.host WHERE u.id = ?
"""


def standing(db: Connection, id_: int, now: float) -> Standing:
    """Gather what the rooms know of a URL."""
    row = _Row(*db.execute(ROW, (id_,)).fetchone())
    wish = remembered(db, Wish())
    place = _place(db, row, wish.name)
    klass, why = _class(db, id_)
    via = db.execute(ROW, (row.via,)).fetchone()
    due_at, due_why = _due(db, row, now)
    return Standing(
        row.url, row.state, row.reason, row.note, _level(db, row), row.source, via[2] + via[3] if via else "",
        klass, why, wish.name, place, _scores(db, row, wish), due_at, due_why, tuple(_held(db, row, place, now)),
    )  # fmt: skip


def _level(db: Connection, row: _Row) -> int:
    """Links from its seed, which may have begun at a level of its own."""
    at, seen = row, set[int]()
    while len(set(drawn(db).values())) > 1 and at.source != Source.SEED and at.id not in seen:
        seen.add(at.id)
        found = db.execute(ROW, (at.via,)).fetchone()
        at = _Row(*found) if found else at
    return row.depth - (at.depth if at.source == Source.SEED else 0)


def _class(db: Connection, id_: int) -> tuple[str, str]:
    hint = db.execute("SELECT changefreq FROM hints WHERE url = ?", (id_,)).fetchone()
    said = hint[0] if hint else ""
    seen = db.execute(
        f"SELECT first_seen, last_visit, visits, {CHANGES} FROM pages AS p WHERE url = ?", (id_,)
    ).fetchone()
    first, last, visits, changes = seen or (0.0, 0.0, 0, 0)
    name = change_class(first, last, visits, changes, said)
    if is_telling(first, last, visits):
        times = "once" if changes == 1 else f"{changes} times"
        return name, f"it changed {times} in {visits} visits over {(last - first) / 86_400:.1f} days"
    return name, "its sitemap says so" if said else "nothing is known yet"


def _place(db: Connection, row: _Row, order: str) -> Place | None:
    found = db.execute("SELECT rank FROM queue WHERE url = ?", (row.id,)).fetchone()
    if found is None:
        return None
    rank = float(found[0])
    ahead_of = "SELECT count(*) FILTER (WHERE rank < ? OR (rank = ? AND url < ?)), count(*) FROM queue"
    ahead, waiting = db.execute(f"{ahead_of} WHERE host = ?", (rank, rank, row.id, row.host)).fetchone()
    ahead_all, all_ = db.execute(ahead_of, (rank, rank, row.id)).fetchone()
    part = list_of(rank) if order == "pvalue" else 1 + PARTS * ahead // max(1, waiting)
    return Place(rank, 1 + ahead, waiting, 1 + ahead_all, all_, part)


def _scores(db: Connection, row: _Row, wish: Wish) -> dict[str, float]:
    """What the ordering remembers of it, and the numbers behind other orderings."""
    order = open_order(db, wish)
    scores = {name: round(tally[row.id], 6) for name, tally in order.tallies().items()}
    page = db.execute("SELECT link_count FROM pages WHERE url = ?", (row.id,)).fetchone()
    back = count_sources(db, row.id)
    scores |= {"links in": back}
    if page:
        scores |= {"links out": page[0], "pvalue": pvalue(page[0], back)}
    hint = db.execute("SELECT priority FROM hints WHERE url = ?", (row.id,)).fetchone()
    if hint and hint[0] >= 0:
        scores["sitemap priority"] = hint[0]
    mark = db.execute("SELECT value FROM marks WHERE url = ? AND kind = 'relevance'", (row.id,)).fetchone()
    if mark:
        scores["relevance"] = round(unpack_relevance(mark[0]), 4)
    if counts := wish.popularity.counts.get(row.path):
        scores |= {"TEC": counts.tec, "UEC": counts.uec, "TIC": counts.tic, "UIC": counts.uic}
    return scores


def _due(db: Connection, row: _Row, now: float) -> tuple[float, str]:
    if row.state == State.QUEUED:
        (open_at,) = db.execute("SELECT open_at FROM hosts WHERE id = ?", (row.host,)).fetchone()
        ready = db.execute("SELECT ready_at FROM queue WHERE url = ?", (row.id,)).fetchone()
        return max(now, open_at, ready[0] if ready else 0.0), "it waits to be visited in this session"
    found = db.execute("SELECT due_at FROM due WHERE url = ?", (row.id,)).fetchone()
    return (float(found[0]), reasons(db, [row.id], now)[row.id]) if found else (0.0, "")


def _held(db: Connection, row: _Row, place: Place | None, now: float) -> list[str]:
    """The rules of its host that hold it back now."""
    columns = "verdict, hold, open_at, leased, holder, addresses, place"
    verdict, hold, open_at, leased, holder, addresses, address = db.execute(
        f"SELECT {columns} FROM hosts WHERE id = ?", (row.host,)
    ).fetchone()
    said = []
    if verdict:
        said.append(f"the host is given up for this session: {verdict}")
    rules = _rules(db, row.name)
    if rules is not None and not rules.allowed(row.wire or row.url):
        said.append("robots.txt of the host does not allow it")
    if row.state != State.QUEUED:
        return said
    lease = db.execute("SELECT migrant, until FROM leases WHERE url = ?", (row.id,)).fetchone()
    if lease:
        said.append(f"it is in the hands of migrant {lease[0]} until {_clock(lease[1])}")
    if open_at > now:
        said.append(f"the host rests until {_clock(open_at)}" + (f": {hold}" if hold else ", between two requests"))
    ready = db.execute("SELECT ready_at FROM queue WHERE url = ?", (row.id,)).fetchone()
    if ready and ready[0] > now:
        said.append(f"it was tried {row.attempts} times and is left alone until {_clock(ready[0])}")
    if not addresses:
        said.append("the address of the host is not known yet")
    said += _pace(db, row.host, rules, place)
    if leased and not lease:
        said.append(f"migrant {holder} holds {leased} URLs of the host")
    if (
        address
        and db.execute("SELECT 1 FROM hosts WHERE place = ? AND id <> ? AND leased > 0", (address, row.host)).fetchone()
    ):
        said.append(f"another host at the same address ({address}) is being asked")
    return said


def _pace(db: Connection, host: int, rules: Rules | None, place: Place | None) -> list[str]:
    """How long those before it take, one after the other."""
    asked = rules.crawl_delay() if rules is not None else None
    (learned,) = db.execute("SELECT learned FROM hosts WHERE id = ?", (host,)).fetchone()
    pause = max(float(json.loads(get_meta(db, "settings", "{}")).get("delay", 1.0)), asked or 0.0, learned)
    if place is None or not pause or place.at_host == 1:
        return []
    whose = "robots.txt asks for" if asked and asked >= pause else "politeness keeps"
    whose = "its complaints taught" if learned >= pause else whose
    wait = pause * (place.at_host - 1)
    return [f"{whose} {pause:g} s between requests, and {place.at_host - 1:,} of the host go before it: {wait:,.0f} s"]


def _rules(db: Connection, host: Host) -> Rules | None:
    robots = Hosts(db).robots(host)
    return rules_for(robots, agent_of(db)) if robots else None


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
