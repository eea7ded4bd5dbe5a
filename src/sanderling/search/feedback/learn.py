"""Learn page weights from the event log for the search."""

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

TOP_QUERIES = 20  # mined for action patterns (MIG)
MAX_RANKINGS = 100_000  # newest first
SATISFIED_SECONDS = 20.0  # activity of a satisfied reader
BOUNCE_SECONDS = 5.0  # a shorter visit is not satisfied
DEFAULT_SATISFACTION = 0.6  # of a click without further events
ANY_QUERY_SHARE = 0.4  # share of a page's general weight for a query without own weights
PATTERN_SHARE = 0.25  # largest addition of an action pattern to a click weight


class LearningSummary(Struct, frozen=True):
    rankings: int
    weights: int
    patterns: int


def learn_weights(
    log: EventLog, now: float, min_support: float = MIN_SUPPORT, min_confidence: float = MIN_CONFIDENCE
) -> LearningSummary:
    """Replace the stored weights by those of clicks and action patterns."""
    log.raise_signal(Signal.MINING, "weights are learned", now)
    impressions = load_impressions(log)
    weights = compute_weights(impressions)
    patterns = mine_patterns(log, _find_top_queries(impressions), min_support, min_confidence)
    rows = [_build_weight_row(pair, weights.get(pair), patterns.get(pair)) for pair in weights.keys() | patterns.keys()]
    with log.lock:
        log.db.execute("BEGIN IMMEDIATE")
        log.db.execute("DELETE FROM weights")
        log.db.executemany("INSERT INTO weights VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        log.db.execute("INSERT OR REPLACE INTO meta VALUES ('learned_at', ?)", (str(now),))
        log.db.execute("COMMIT")
    return LearningSummary(len(impressions), len(rows), len(patterns))


def load_impressions(log: EventLog) -> list[RankingImpression]:
    rows = log.db.execute(
        "SELECT query_id, client_id, key, urls, first_position FROM rankings ORDER BY at DESC LIMIT ?", (MAX_RANKINGS,)
    ).fetchall()
    actions = _load_actions(log)
    impressions = []
    for query_id, client, key, urls_json, first in reversed(rows):
        urls = tuple(json.loads(urls_json))
        positions = {url: i for i, url in enumerate(urls)}
        clicks = {
            positions[u]: compute_satisfaction(url_actions)
            for u, url_actions in actions.get(query_id, {}).items()
            if u in positions
        }
        impressions.append(RankingImpression(client, key, urls, {i: s for i, s in clicks.items() if s > 0}, first))
    return impressions


def _load_actions(log: EventLog) -> dict[str, dict[str, dict[str, float]]]:
    """Return seconds or count of each action, per ranking and URL."""
    actions: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for query_id, url, action, value, count in log.db.execute(
        "SELECT query_id, object_id, action_name, max(value), sum(count) FROM events"
        " WHERE query_id <> '' AND object_id <> '' GROUP BY 1, 2, 3"
    ):
        actions[query_id][url][action] = value if action in (UserAction.DWELL, UserAction.ACTIVE) else count
    return actions


def compute_satisfaction(actions: Mapping[str, float]) -> float:
    """Return satisfaction from 0 (not clicked) to 1."""
    if UserAction.CLICK not in actions:
        return 0.0
    if STRONG_ACTIONS & actions.keys() or actions.get(UserAction.ACTIVE, 0.0) >= SATISFIED_SECONDS:
        return 1.0
    if 0 < actions.get(UserAction.DWELL, BOUNCE_SECONDS) < BOUNCE_SECONDS:
        return 0.2
    return DEFAULT_SATISFACTION


def _find_top_queries(impressions: Sequence[RankingImpression]) -> list[str]:
    counts: dict[str, int] = defaultdict(int)
    for impression in impressions:
        counts[impression.query_key] += bool(impression.query_key)
    return sorted(counts, key=lambda key: (-counts[key], key))[:TOP_QUERIES]


def mine_patterns(
    log: EventLog, keys: Sequence[str], min_support: float, min_confidence: float
) -> dict[tuple[str, str], PatternWeight]:
    """Compute pattern weights of the pages of these queries."""
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
    actions = ",".join(map(str, pattern.pattern)) if pattern else ""
    score = pattern.normalized_weight if pattern else 0.0
    return (*pair, value, clicks.clicks, clicks.expected_views, clicks.clients, actions, score)


class ClickWeights:
    """The learned weights as a `BehaviorModel`."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self._version = ""
        self._page_weights: dict[int, float] = {}

    def __call__(self, query: str) -> Callable[[int], float]:
        self._refresh()
        query_weights = self._load_weights(build_query_key(query))
        page_weights = self._page_weights
        if not query_weights and not page_weights:
            return lambda _: 0.0
        return lambda page: (
            query_weights[page] if page in query_weights else ANY_QUERY_SHARE * page_weights.get(page, 0.0)
        )

    def _load_weights(self, key: str) -> dict[int, float]:
        rows = self.log.db.execute("SELECT url, weight FROM weights WHERE key = ?", (key,)).fetchall()
        return {compute_page_id(url): weight for url, weight in rows}

    def get_version(self) -> str:
        """Return when weights were learned; empty if never or erased."""
        row = self.log.db.execute(
            "SELECT value FROM meta WHERE name = 'learned_at' AND EXISTS (SELECT 1 FROM weights)"
        ).fetchone()
        return str(row[0]) if row else ""

    def _refresh(self) -> None:
        version = self.get_version()
        if version != self._version:
            self._page_weights = {page: weight for page, weight in self._load_weights(ANY_QUERY).items() if weight}
            self._version = version


def list_top_weights(log: EventLog, limit: int = 30) -> list[tuple[object, ...]]:
    """List the strongest learned weights: query, page, weight, clicks, views, clients, pattern weights."""
    sql = (
        "SELECT key, url, weight, clicks, examined, clients, pattern, apriori FROM weights"
        " WHERE weight <> 0 AND key <> '' ORDER BY abs(weight) DESC LIMIT ?"
    )
    return log.db.execute(sql, (limit,)).fetchall()


def load_page_weights(folder: Path) -> dict[str, float]:
    if not (folder / DATABASE).exists():
        return {}
    with closing(open_event_log(folder)) as log:
        rows = log.db.execute("SELECT url, weight FROM weights WHERE key = ? AND weight <> 0", (ANY_QUERY,))
        return dict(rows.fetchall())
