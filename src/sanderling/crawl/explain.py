"""Explain when a URL will be visited, and which rules block it."""

from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec import Struct

from sanderling.crawl.choose_ordering import OrderingChoice, merge_stored_choice, open_ordering
from sanderling.crawl.depth import load_drawn_depths
from sanderling.db.connection import Connection
from sanderling.fetch.robots import RobotsRules, build_robots_rules
from sanderling.fetch.usage_preferences import describe_usage
from sanderling.frontier.hosts import HostStore
from sanderling.frontier.ordering.pvalue import LIST_SHARES, compute_pvalue, get_list_number
from sanderling.frontier.ordering.topic import unpack_relevance
from sanderling.http.content_type import HTML_TYPES
from sanderling.models import Host, Url, UrlSource, UrlState
from sanderling.revisit.schedule import explain_due_times
from sanderling.storage.collection import get_robots_agent
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.link_graph import count_sources
from sanderling.storage.page_history import estimate_change_class, has_enough_history, load_observation
from sanderling.storage.render_templates import RENDERING, decode_rendering, describe_rendering
from sanderling.storage.reports import describe_form_query

PRIORITY_LIST_COUNT = len(LIST_SHARES)

MAX_DATE = 4e9  # seconds; later times are not planned


class QueuePosition(Struct, frozen=True):
    """Positions counted from 1, at the host and in the whole queue."""

    rank: float
    host_position: int
    host_waiting: int
    overall_position: int
    total_waiting: int
    priority_list: int  # 1 to 3


class UrlExplanation(Struct, frozen=True):
    """Everything that decides when a URL is visited."""

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
    queue_position: QueuePosition | None  # None: not queued
    scores: Mapping[str, float]
    due_at: float  # 0: not scheduled
    due_reason: str
    next_check: str  # in one sentence
    usage: Mapping[str, str]  # purposes that the owner denies, with the line that denies each
    form: str  # what was chosen in the form that led to it; empty: no form did
    rendering: str  # how its stored version was made; empty: as the server sent it, without a comparison
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
    SELECT u.id, u.host, h.name, u.path, u.request_url, u.state, u.reason, u.note, u.depth, u.source, u.via, u.attempts
    FROM urls AS u JOIN hosts AS h ON h.id = u.host WHERE u.id = ?
"""


def explain_url(db: Connection, url_id: int, now: float) -> UrlExplanation:
    row = _ExplainedUrl(*db.execute(URL_SQL, (url_id,)).fetchone())
    choice = merge_stored_choice(db, OrderingChoice())
    queue_position = _find_queue_position(db, row, choice.name)
    change_class, class_reason = _classify_change_rate(db, url_id)
    referrer = db.execute(URL_SQL, (row.referrer_id,)).fetchone()
    due_at, due_reason = _find_due_time(db, row, now)
    return UrlExplanation(
        row.url,
        row.state,
        row.reason,
        row.note,
        _compute_level(db, row),
        row.source,
        referrer[2] + referrer[3] if referrer else "",
        change_class,
        class_reason,
        choice.name,
        queue_position,
        _collect_scores(db, row, choice),
        due_at,
        due_reason,
        format_next_check(due_at, due_reason, now),
        _describe_usage(db, row),
        describe_form_query(db, url_id),
        _describe_rendering(db, url_id),
        tuple(_find_blockers(db, row, queue_position, now)),
    )


def _describe_usage(db: Connection, row: _ExplainedUrl) -> dict[str, str]:
    """Return the preferences in robots.txt, and the one that a skipped page stated."""
    robots = HostStore(db).get_robots(row.host_name)
    return describe_usage(robots, get_robots_agent(db), row.request_url or row.url, None)


def _describe_rendering(db: Connection, url_id: int) -> str:
    """Return whether a stored page was rendered, and why; empty: it is not HTML, or there is none."""
    row = db.execute("SELECT value FROM fingerprints WHERE url = ? AND kind = ?", (url_id, RENDERING)).fetchone()
    if row is None:
        page = db.execute("SELECT mime FROM pages WHERE url = ?", (url_id,)).fetchone()
        return "no, its HTML looks complete" if page and page[0] in HTML_TYPES else ""
    rendering = decode_rendering(row[0])
    return describe_rendering(rendering) if rendering is not None else ""


def _compute_level(db: Connection, row: _ExplainedUrl) -> int:
    """Count links from the seed, which may start at another level than 0."""
    ancestor, seen = row, set[int]()
    has_start_levels = len(set(load_drawn_depths(db).values())) > 1
    while has_start_levels and ancestor.source != UrlSource.SEED and ancestor.id not in seen:
        seen.add(ancestor.id)
        referrer = db.execute(URL_SQL, (ancestor.referrer_id,)).fetchone()
        ancestor = _ExplainedUrl(*referrer) if referrer else ancestor
    return row.depth - (ancestor.depth if ancestor.source == UrlSource.SEED else 0)


def _classify_change_rate(db: Connection, url_id: int) -> tuple[str, str]:
    hint = db.execute("SELECT changefreq FROM sitemap_hints WHERE url = ?", (url_id,)).fetchone()
    changefreq = hint[0] if hint else ""
    page = load_observation(db, url_id)
    first, last, visits, changes = page.first_seen, page.last_visit, page.visits, page.changes
    name = estimate_change_class(first, last, visits, changes, changefreq)
    if has_enough_history(first, last, visits):
        times = "once" if changes == 1 else f"{changes} times"
        return name, f"it changed {times} in {visits} visits over {(last - first) / 86_400:.1f} days"
    return name, "according to its sitemap" if changefreq else "too few visits to tell"


def _find_queue_position(db: Connection, row: _ExplainedUrl, ordering_name: str) -> QueuePosition | None:
    queued = db.execute("SELECT rank FROM queue WHERE url = ?", (row.id,)).fetchone()
    if queued is None:
        return None
    rank = float(queued[0])
    count_sql = "SELECT count(*) FILTER (WHERE rank < ? OR (rank = ? AND url < ?)), count(*) FROM queue"
    ahead, waiting = db.execute(f"{count_sql} WHERE host = ?", (rank, rank, row.id, row.host_id)).fetchone()
    ahead_all, all_ = db.execute(count_sql, (rank, rank, row.id)).fetchone()
    is_pvalue = ordering_name == "pvalue"
    priority_list = get_list_number(rank) if is_pvalue else 1 + PRIORITY_LIST_COUNT * ahead // max(1, waiting)
    return QueuePosition(rank, 1 + ahead, waiting, 1 + ahead_all, all_, priority_list)


def _collect_scores(db: Connection, row: _ExplainedUrl, choice: OrderingChoice) -> dict[str, float]:
    """Collect scores of the ordering, and inputs of other orderings."""
    ordering = open_ordering(db, choice)
    scores = {name: round(table[row.id], 6) for name, table in ordering.get_score_tables().items()}
    page = db.execute("SELECT link_count FROM pages WHERE url = ?", (row.id,)).fetchone()
    backlinks = count_sources(db, row.id)
    scores |= {"links in": backlinks}
    if page:
        scores |= {"links out": page[0], "pvalue": compute_pvalue(page[0], backlinks)}
    hint = db.execute("SELECT priority FROM sitemap_hints WHERE url = ?", (row.id,)).fetchone()
    if hint and hint[0] >= 0:
        scores["sitemap priority"] = hint[0]
    relevance = db.execute("SELECT value FROM fingerprints WHERE url = ? AND kind = 'relevance'", (row.id,)).fetchone()
    if relevance:
        scores["relevance"] = round(unpack_relevance(relevance[0]), 4)
    if counts := choice.popularity.counts.get(row.path):
        scores |= {"TEC": counts.tec, "UEC": counts.uec, "TIC": counts.tic, "UIC": counts.uic}
    return scores


def _find_due_time(db: Connection, row: _ExplainedUrl, now: float) -> tuple[float, str]:
    if row.state == UrlState.QUEUED:
        (next_request_at,) = db.execute("SELECT next_request_at FROM hosts WHERE id = ?", (row.host_id,)).fetchone()
        ready = db.execute("SELECT ready_at FROM queue WHERE url = ?", (row.id,)).fetchone()
        return max(now, next_request_at, ready[0] if ready else 0.0), "it is queued in this session"
    plan = db.execute("SELECT due_at FROM due WHERE url = ?", (row.id,)).fetchone()
    return (float(plan[0]), explain_due_times(db, [row.id], now)[row.id]) if plan else (0.0, "")


def format_next_check(due_at: float, reason: str, now: float) -> str:
    """Format the next visit as a sentence, such as `Next check tomorrow 09:00 UTC; changed at 5 of 16 checks`."""
    if not due_at:
        return "No check is planned."
    return f"Next check {format_day(due_at, now)}{f'; {reason}' if reason else ''}."


def format_day(at: float, now: float) -> str:
    """Format a time to come: `now`, `today 09:00 UTC`, `tomorrow 09:00 UTC`, `on 2026-11-20 09:00 UTC`."""
    if at <= now:
        return "at the next refresh"
    if at > MAX_DATE:
        return "after an announcement"
    moment, today = datetime.fromtimestamp(at, UTC), datetime.fromtimestamp(now, UTC)
    days = (moment.date() - today.date()).days
    return f"{('today', 'tomorrow')[days] if days < 2 else f'on {moment:%Y-%m-%d}'} {moment:%H:%M} UTC"


def _find_blockers(db: Connection, row: _ExplainedUrl, position: QueuePosition | None, now: float) -> list[str]:
    columns = "failure_reason, delay_reason, next_request_at, leased, worker, addresses, shared_address"
    failure, backoff_reason, next_request_at, leased, holder, addresses, address = db.execute(
        f"SELECT {columns} FROM hosts WHERE id = ?", (row.host_id,)
    ).fetchone()
    blockers = []
    if failure:
        blockers.append(f"the host was given up for this session: {failure}")
    rules = _load_robots_rules(db, row.host_name)
    if rules is not None and not rules.is_allowed(row.request_url or row.url):
        blockers.append("robots.txt does not allow it")
    if row.state != UrlState.QUEUED:
        return blockers
    lease = db.execute("SELECT worker, until FROM leases WHERE url = ?", (row.id,)).fetchone()
    if lease:
        blockers.append(f"leased by worker {lease[0]} until {_format_time(lease[1])}")
    if next_request_at > now:
        cause = f"back-off after {backoff_reason}" if backoff_reason else "crawl delay"
        blockers.append(f"the host is not requested before {_format_time(next_request_at)} ({cause})")
    ready = db.execute("SELECT ready_at FROM queue WHERE url = ?", (row.id,)).fetchone()
    if ready and ready[0] > now:
        blockers.append(f"{row.attempts} attempts failed; the next is not before {_format_time(ready[0])}")
    if not addresses:
        blockers.append("the host name is not resolved yet")
    blockers += _describe_crawl_delay(db, row.host_id, rules, position)
    if leased and not lease:
        blockers.append(f"worker {holder} has leased {leased} URLs of the host")
    sql = "SELECT 1 FROM hosts WHERE shared_address = ? AND id <> ? AND leased > 0"
    if address and db.execute(sql, (address, row.host_id)).fetchone():
        blockers.append(f"another host with the same IP address ({address}) is being crawled")
    return blockers


def _describe_crawl_delay(
    db: Connection, host_id: int, rules: RobotsRules | None, position: QueuePosition | None
) -> list[str]:
    robots_delay = rules.get_crawl_delay() if rules is not None else None
    (learned_delay,) = db.execute("SELECT learned_delay FROM hosts WHERE id = ?", (host_id,)).fetchone()
    settings = CollectionMeta(db).settings
    delay = max(float(settings.get("delay", 1.0)), robots_delay or 0.0, learned_delay)
    if position is None or not delay or position.host_position == 1:
        return []
    source = "from robots.txt" if robots_delay and robots_delay >= delay else "from the politeness settings"
    source = "learned from rate limits" if learned_delay >= delay else source
    ahead = position.host_position - 1
    return [
        f"crawl delay of {delay:g} s ({source}) with {ahead:,} URLs of the host ahead of it: {delay * ahead:,.0f} s"
    ]


def _load_robots_rules(db: Connection, host: Host) -> RobotsRules | None:
    robots = HostStore(db).get_robots(host)
    return build_robots_rules(robots, get_robots_agent(db)) if robots else None


def _format_time(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%d %H:%M:%S")
