"""Why a URL has its place: its class, list and scores, when it is due, and which rule of its host holds it back."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec import Struct

from sanderling.crawl.choose_ordering import OrderingChoice, merge_stored_choice, open_ordering
from sanderling.crawl.depth import load_drawn_depths
from sanderling.db.connection import Connection
from sanderling.fetch.robots import RobotsRules, build_robots_rules
from sanderling.frontier.hosts import HostStore
from sanderling.frontier.ordering.pvalue import LIST_SHARES, compute_pvalue, get_list_number
from sanderling.frontier.ordering.topic import unpack_relevance
from sanderling.models import Host, Url, UrlSource, UrlState
from sanderling.revisit.schedule import explain_due_times
from sanderling.storage.collection import get_meta, get_robots_agent
from sanderling.storage.link_graph import count_sources
from sanderling.storage.page_history import COUNT_CHANGES_SQL, estimate_change_class, has_enough_history

PRIORITY_LIST_COUNT = len(LIST_SHARES)


class QueuePosition(Struct, frozen=True):
    """Where a waiting URL stands: counted from 1, at its host and among all that waits."""

    rank: float
    host_position: int
    host_waiting: int
    overall_position: int
    total_waiting: int
    priority_list: int  # of the three priority lists


class UrlExplanation(Struct, frozen=True):
    """All that decides when a URL is visited."""

    url: str
    state: str
    reason: str
    note: str
    level: int
    source: str
    referrer: str
    change_class: str
    class_reason: str
    ordering: str
    queue_position: QueuePosition | None  # None: it does not wait
    scores: Mapping[str, float]
    due_at: float  # 0: it is not planned
    due_reason: str
    blockers: tuple[str, ...]


class _ExplainedUrl(Struct, frozen=True):
    id: int
    host_id: int
    host_name: Host
    path: str
    request_url: str
    state: str
    reason: str
    note: str
    depth: int
    source: str
    referrer_id: int
    attempts: int

    @property
    def url(self) -> Url:
        return Url(self.host_name + self.path)


URL_SQL = """
    SELECT u.id, u.host, h.name, u.path, u.wire, u.state, u.reason, u.note, u.depth, u.source, u.via, u.attempts
    FROM urls AS u JOIN hosts AS h ON h.id = u.host WHERE u.id = ?
"""


def explain_url(db: Connection, url_id: int, now: float) -> UrlExplanation:
    """Gather what the rooms know of a URL."""
    row = _ExplainedUrl(*db.execute(URL_SQL, (url_id,)).fetchone())
    wish = merge_stored_choice(db, OrderingChoice())
    place = _find_queue_position(db, row, wish.name)
    klass, why = _classify_change_rate(db, url_id)
    via = db.execute(URL_SQL, (row.referrer_id,)).fetchone()
    due_at, due_why = _find_due_time(db, row, now)
    return UrlExplanation(
        row.url,
        row.state,
        row.reason,
        row.note,
        _compute_level(db, row),
        row.source,
        via[2] + via[3] if via else "",
        klass,
        why,
        wish.name,
        place,
        _collect_scores(db, row, wish),
        due_at,
        due_why,
        tuple(_find_blockers(db, row, place, now)),
    )


def _compute_level(db: Connection, row: _ExplainedUrl) -> int:
    """Links from its seed, which may have begun at a level of its own."""
    at, seen = row, set[int]()
    while len(set(load_drawn_depths(db).values())) > 1 and at.source != UrlSource.SEED and at.id not in seen:
        seen.add(at.id)
        found = db.execute(URL_SQL, (at.referrer_id,)).fetchone()
        at = _ExplainedUrl(*found) if found else at
    return row.depth - (at.depth if at.source == UrlSource.SEED else 0)


def _classify_change_rate(db: Connection, url_id: int) -> tuple[str, str]:
    hint = db.execute("SELECT changefreq FROM hints WHERE url = ?", (url_id,)).fetchone()
    said = hint[0] if hint else ""
    seen = db.execute(
        f"SELECT first_seen, last_visit, visits, {COUNT_CHANGES_SQL} FROM pages AS p WHERE url = ?", (url_id,)
    ).fetchone()
    first, last, visits, changes = seen or (0.0, 0.0, 0, 0)
    name = estimate_change_class(first, last, visits, changes, said)
    if has_enough_history(first, last, visits):
        times = "once" if changes == 1 else f"{changes} times"
        return name, f"it changed {times} in {visits} visits over {(last - first) / 86_400:.1f} days"
    return name, "its sitemap says so" if said else "nothing is known yet"


def _find_queue_position(db: Connection, row: _ExplainedUrl, ordering_name: str) -> QueuePosition | None:
    found = db.execute("SELECT rank FROM queue WHERE url = ?", (row.id,)).fetchone()
    if found is None:
        return None
    rank = float(found[0])
    ahead_of = "SELECT count(*) FILTER (WHERE rank < ? OR (rank = ? AND url < ?)), count(*) FROM queue"
    ahead, waiting = db.execute(f"{ahead_of} WHERE host = ?", (rank, rank, row.id, row.host_id)).fetchone()
    ahead_all, all_ = db.execute(ahead_of, (rank, rank, row.id)).fetchone()
    part = get_list_number(rank) if ordering_name == "pvalue" else 1 + PRIORITY_LIST_COUNT * ahead // max(1, waiting)
    return QueuePosition(rank, 1 + ahead, waiting, 1 + ahead_all, all_, part)


def _collect_scores(db: Connection, row: _ExplainedUrl, choice: OrderingChoice) -> dict[str, float]:
    """What the ordering remembers of it, and the numbers behind other orderings."""
    order = open_ordering(db, choice)
    scores = {name: round(tally[row.id], 6) for name, tally in order.get_score_tables().items()}
    page = db.execute("SELECT link_count FROM pages WHERE url = ?", (row.id,)).fetchone()
    back = count_sources(db, row.id)
    scores |= {"links in": back}
    if page:
        scores |= {"links out": page[0], "pvalue": compute_pvalue(page[0], back)}
    hint = db.execute("SELECT priority FROM hints WHERE url = ?", (row.id,)).fetchone()
    if hint and hint[0] >= 0:
        scores["sitemap priority"] = hint[0]
    mark = db.execute("SELECT value FROM marks WHERE url = ? AND kind = 'relevance'", (row.id,)).fetchone()
    if mark:
        scores["relevance"] = round(unpack_relevance(mark[0]), 4)
    if counts := choice.popularity.counts.get(row.path):
        scores |= {"TEC": counts.tec, "UEC": counts.uec, "TIC": counts.tic, "UIC": counts.uic}
    return scores


def _find_due_time(db: Connection, row: _ExplainedUrl, now: float) -> tuple[float, str]:
    if row.state == UrlState.QUEUED:
        (open_at,) = db.execute("SELECT open_at FROM hosts WHERE id = ?", (row.host_id,)).fetchone()
        ready = db.execute("SELECT ready_at FROM queue WHERE url = ?", (row.id,)).fetchone()
        return max(now, open_at, ready[0] if ready else 0.0), "it waits to be visited in this session"
    found = db.execute("SELECT due_at FROM due WHERE url = ?", (row.id,)).fetchone()
    return (float(found[0]), explain_due_times(db, [row.id], now)[row.id]) if found else (0.0, "")


def _find_blockers(db: Connection, row: _ExplainedUrl, position: QueuePosition | None, now: float) -> list[str]:
    """The rules of its host that hold it back now."""
    columns = "verdict, hold, open_at, leased, holder, addresses, place"
    verdict, hold, open_at, leased, holder, addresses, address = db.execute(
        f"SELECT {columns} FROM hosts WHERE id = ?", (row.host_id,)
    ).fetchone()
    said = []
    if verdict:
        said.append(f"the host is given up for this session: {verdict}")
    rules = _load_robots_rules(db, row.host_name)
    if rules is not None and not rules.is_allowed(row.request_url or row.url):
        said.append("robots.txt of the host does not allow it")
    if row.state != UrlState.QUEUED:
        return said
    lease = db.execute("SELECT migrant, until FROM leases WHERE url = ?", (row.id,)).fetchone()
    if lease:
        said.append(f"it is in the hands of migrant {lease[0]} until {_format_time(lease[1])}")
    if open_at > now:
        said.append(
            f"the host rests until {_format_time(open_at)}" + (f": {hold}" if hold else ", between two requests")
        )
    ready = db.execute("SELECT ready_at FROM queue WHERE url = ?", (row.id,)).fetchone()
    if ready and ready[0] > now:
        said.append(f"it was tried {row.attempts} times and is left alone until {_format_time(ready[0])}")
    if not addresses:
        said.append("the address of the host is not known yet")
    said += _describe_crawl_delay(db, row.host_id, rules, position)
    if leased and not lease:
        said.append(f"migrant {holder} holds {leased} URLs of the host")
    if (
        address
        and db.execute(
            "SELECT 1 FROM hosts WHERE place = ? AND id <> ? AND leased > 0", (address, row.host_id)
        ).fetchone()
    ):
        said.append(f"another host at the same address ({address}) is being asked")
    return said


def _describe_crawl_delay(
    db: Connection, host_id: int, rules: RobotsRules | None, position: QueuePosition | None
) -> list[str]:
    """How long those before it take, one after the other."""
    asked = rules.get_crawl_delay() if rules is not None else None
    (learned,) = db.execute("SELECT learned FROM hosts WHERE id = ?", (host_id,)).fetchone()
    pause = max(float(json.loads(get_meta(db, "settings", "{}")).get("delay", 1.0)), asked or 0.0, learned)
    if position is None or not pause or position.host_position == 1:
        return []
    whose = "robots.txt asks for" if asked and asked >= pause else "politeness keeps"
    whose = "its complaints taught" if learned >= pause else whose
    wait = pause * (position.host_position - 1)
    return [
        f"{whose} {pause:g} s between requests, and {position.host_position - 1:,} of the host go before it: {wait:,.0f} s"
    ]


def _load_robots_rules(db: Connection, host: Host) -> RobotsRules | None:
    robots = HostStore(db).get_robots(host)
    return build_robots_rules(robots, get_robots_agent(db)) if robots else None


def _format_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
