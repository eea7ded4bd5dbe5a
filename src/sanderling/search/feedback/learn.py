"""From the log to weights, and from weights to the search: what users did yesterday orders today's results."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from sanderling.search.feedback.apriori import MIN_CONFIDENCE, MIN_SUPPORT, PatternWeight, compute_page_weight
from sanderling.search.feedback.click_model import (
    ANY_QUERY,
    MIN_CLIENTS,
    ClickWeight,
    RankingImpression,
    compute_weights,
)
from sanderling.search.feedback.event_log import DATABASE, EventLog, build_query_key, open_event_log
from sanderling.search.feedback.events import ACTION_NUMBERS, STRONG_ACTIONS, UserAction
from sanderling.search.fields import compute_page_id
from sanderling.storage.signal_log import Signal

TOP_QUERIES = 20  # mined for patterns of actions, MIG-14
MAX_RANKINGS = 100_000  # the newest are learned from
SATISFIED_SECONDS = 20.0  # active for so long, a reader was satisfied
BOUNCE_SECONDS = 5.0  # gone after so long, it was not
DEFAULT_SATISFACTION = 0.6  # satisfaction of a click nothing more is known of
ANY_QUERY_SHARE = 0.4  # how much of a page's own weight counts for a question nobody asked before
PATTERN_SHARE = 0.25  # how much a pattern of actions may add to what clicks say


class LearningSummary(Struct, frozen=True):
    """How much was learned."""

    rankings: int
    weights: int
    patterns: int


def learn_weights(
    log: EventLog, now: float, min_support: float = MIN_SUPPORT, min_confidence: float = MIN_CONFIDENCE
) -> LearningSummary:
    """Read the log, weigh clicks and patterns of actions, and put the result in the place of the last one."""
    log.raise_signal(Signal.MINING, "weights are learned", now)
    looks = load_impressions(log)
    weights = compute_weights(looks)
    patterns = mine_patterns(log, _find_top_queries(looks), min_support, min_confidence)
    rows = [_build_weight_row(pair, weights.get(pair), patterns.get(pair)) for pair in weights.keys() | patterns.keys()]
    with log.lock:
        log.db.execute("BEGIN IMMEDIATE")
        log.db.execute("DELETE FROM weights")
        log.db.executemany("INSERT INTO weights VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        log.db.execute("INSERT OR REPLACE INTO meta VALUES ('learned_at', ?)", (str(now),))
        log.db.execute("COMMIT")
    return LearningSummary(len(looks), len(rows), len(patterns))


def load_impressions(log: EventLog) -> list[RankingImpression]:
    """Join rankings with what was chosen from them, and how that went."""
    rows = log.db.execute(
        "SELECT query_id, client_id, key, urls, first_position FROM rankings ORDER BY at DESC LIMIT ?", (MAX_RANKINGS,)
    ).fetchall()
    done = _load_actions(log)
    looks = []
    for query_id, client, key, packed, first in reversed(rows):
        urls = tuple(json.loads(packed))
        place = {url: i for i, url in enumerate(urls)}
        chosen = {place[u]: compute_satisfaction(acts) for u, acts in done.get(query_id, {}).items() if u in place}
        looks.append(RankingImpression(client, key, urls, {i: s for i, s in chosen.items() if s > 0}, first))
    return looks


def _load_actions(log: EventLog) -> dict[str, dict[str, dict[str, float]]]:
    """Per ranking and page, each action with its value (seconds) or count."""
    done: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for query_id, url, action, value, count in log.db.execute(
        "SELECT query_id, object_id, action_name, max(value), sum(count) FROM events"
        " WHERE query_id <> '' AND object_id <> '' GROUP BY 1, 2, 3"
    ):
        done[query_id][url][action] = value if action in (UserAction.DWELL, UserAction.ACTIVE) else count
    return done


def compute_satisfaction(actions: Mapping[str, float]) -> float:
    """How a visit from a result went, 0 to 1; 0 if the result was not chosen at all."""
    if UserAction.CLICK not in actions:
        return 0.0
    if STRONG_ACTIONS & actions.keys() or actions.get(UserAction.ACTIVE, 0.0) >= SATISFIED_SECONDS:
        return 1.0
    if 0 < actions.get(UserAction.DWELL, BOUNCE_SECONDS) < BOUNCE_SECONDS:
        return 0.2
    return DEFAULT_SATISFACTION


def _find_top_queries(impressions: Sequence[RankingImpression]) -> list[str]:
    counts: dict[str, int] = defaultdict(int)
    for look in impressions:
        counts[look.query_key] += bool(look.query_key)
    return sorted(counts, key=lambda key: (-counts[key], key))[:TOP_QUERIES]


def mine_patterns(
    log: EventLog, keys: Sequence[str], min_support: float, min_confidence: float
) -> dict[tuple[str, str], PatternWeight]:
    """For each of the questions, weigh its pages by what users did on them: one transaction per user."""
    found = {}
    for key in keys:
        transactions: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        for url, client, action in log.db.execute(
            "SELECT e.object_id, e.client_id, e.action_name FROM events AS e JOIN rankings AS r USING (query_id)"
            " WHERE r.key = ? AND e.object_id <> '' GROUP BY 1, 2, 3",
            (key,),
        ):
            if action in ACTION_NUMBERS:
                transactions[url][client].add(ACTION_NUMBERS[UserAction(action)])
        for url, users in transactions.items():
            weight = compute_page_weight(list(users.values()), min_support, min_confidence)
            if weight.pattern and len(users) >= MIN_CLIENTS:
                found[key, url] = weight
    return found


def _build_weight_row(
    pair: tuple[str, str], weight: ClickWeight | None, pattern: PatternWeight | None
) -> tuple[object, ...]:
    clicks = weight or ClickWeight(0.0, 0.0, 0.0, 0)
    value = clicks.value
    if pattern and value >= 0:
        value = min(1.0, value + PATTERN_SHARE * pattern.normalized_weight)
    names = ",".join(map(str, pattern.pattern)) if pattern else ""
    score = pattern.normalized_weight if pattern else 0.0
    return (*pair, value, clicks.clicks, clicks.expected_views, clicks.clients, names, score)


class ClickWeights:
    """The weights as the search asks for them; read again when something new was learned."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self._version = ""
        self._page_weights: dict[int, float] = {}

    def __call__(self, query: str) -> Callable[[int], float]:
        """Give the weight function of one question, backing off to what holds for any question."""
        self._refresh()
        mine = self._load_weights(build_query_key(query))
        pages = self._page_weights
        if not mine and not pages:
            return lambda _: 0.0
        return lambda page: mine[page] if page in mine else ANY_QUERY_SHARE * pages.get(page, 0.0)

    def _load_weights(self, key: str) -> dict[int, float]:
        rows = self.log.db.execute("SELECT url, weight FROM weights WHERE key = ?", (key,)).fetchall()
        return {compute_page_id(url): weight for url, weight in rows}

    def get_version(self) -> str:
        """When something was last learned; empty if it never was, or was erased since."""
        row = self.log.db.execute(
            "SELECT value FROM meta WHERE name = 'learned_at' AND EXISTS (SELECT 1 FROM weights)"
        ).fetchone()
        return str(row[0]) if row else ""

    def _refresh(self) -> None:
        read_at = self.get_version()
        if read_at != self._version:
            self._page_weights = {page: weight for page, weight in self._load_weights(ANY_QUERY).items() if weight}
            self._version = read_at


def load_page_weights(folder: Path) -> dict[str, float]:
    """What users think of pages whatever they asked, from -1 to 1; nothing where nobody was listened to."""
    if not (folder / DATABASE).exists():
        return {}
    with closing(open_event_log(folder)) as log:
        rows = log.db.execute("SELECT url, weight FROM weights WHERE key = ? AND weight <> 0", (ANY_QUERY,))
        return dict(rows.fetchall())
