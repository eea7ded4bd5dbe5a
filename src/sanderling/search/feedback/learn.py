"""From the log to weights, and from weights to the search: what users did yesterday orders today's results."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from sanderling.search.feedback.apriori import MIN_CONFIDENCE, MIN_SUPPORT, PageWeight, weigh_page
from sanderling.search.feedback.click_model import ANY_QUESTION, MIN_CLIENTS, Look, Weight, weigh
from sanderling.search.feedback.event_log import DATABASE, Log, open_log, query_key
from sanderling.search.feedback.events import PIDS, STRONG, Action
from sanderling.search.fields import page_id
from sanderling.storage.signal_log import Signal

TOP_QUERIES = 20  # mined for patterns of actions, MIG-14
MOST_RANKINGS = 100_000  # the newest are learned from
READ_SECONDS = 20.0  # active for so long, a reader was satisfied
LEFT_SECONDS = 5.0  # gone after so long, it was not
UNKNOWN = 0.6  # satisfaction of a click nothing more is known of
BACK_OFF = 0.4  # how much of a page's own weight counts for a question nobody asked before
PATTERN_SHARE = 0.25  # how much a pattern of actions may add to what clicks say


class Learning(Struct, frozen=True):
    """How much was learned."""

    rankings: int
    pairs: int
    patterns: int


def learn(log: Log, now: float, min_support: float = MIN_SUPPORT, min_confidence: float = MIN_CONFIDENCE) -> Learning:
    """Read the log, weigh clicks and patterns of actions, and put the result in the place of the last one."""
    log.signal(Signal.MINING, "weights are learned", now)
    looks = looks_of(log)
    weights = weigh(looks)
    patterns = mine(log, _busiest(looks), min_support, min_confidence)
    rows = [_row(pair, weights.get(pair), patterns.get(pair)) for pair in weights.keys() | patterns.keys()]
    with log.lock:
        log.db.execute("BEGIN IMMEDIATE")
        log.db.execute("DELETE FROM weights")
        log.db.executemany("INSERT INTO weights VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        log.db.execute("INSERT OR REPLACE INTO meta VALUES ('learned_at', ?)", (str(now),))
        log.db.execute("COMMIT")
    return Learning(len(looks), len(rows), len(patterns))


def looks_of(log: Log) -> list[Look]:
    """Join rankings with what was chosen from them, and how that went."""
    rows = log.db.execute(
        "SELECT query_id, client_id, key, urls, first_position FROM rankings ORDER BY at DESC LIMIT ?", (MOST_RANKINGS,)
    ).fetchall()
    done = _done(log)
    looks = []
    for query_id, client, key, packed, first in reversed(rows):
        urls = tuple(json.loads(packed))
        place = {url: i for i, url in enumerate(urls)}
        chosen = {place[u]: satisfaction(acts) for u, acts in done.get(query_id, {}).items() if u in place}
        looks.append(Look(client, key, urls, {i: s for i, s in chosen.items() if s > 0}, first))
    return looks


def _done(log: Log) -> dict[str, dict[str, dict[str, float]]]:
    """Per ranking and page, each action with its value (seconds) or count."""
    done: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for query_id, url, action, value, count in log.db.execute(
        "SELECT query_id, object_id, action_name, max(value), sum(count) FROM events"
        " WHERE query_id <> '' AND object_id <> '' GROUP BY 1, 2, 3"
    ):
        done[query_id][url][action] = value if action in (Action.DWELL, Action.ACTIVE) else count
    return done


def satisfaction(actions: Mapping[str, float]) -> float:
    """How a visit from a result went, 0 to 1; 0 if the result was not chosen at all."""
    if Action.CLICK not in actions:
        return 0.0
    if STRONG & actions.keys() or actions.get(Action.ACTIVE, 0.0) >= READ_SECONDS:
        return 1.0
    if 0 < actions.get(Action.DWELL, LEFT_SECONDS) < LEFT_SECONDS:
        return 0.2
    return UNKNOWN


def _busiest(looks: Sequence[Look]) -> list[str]:
    counts: dict[str, int] = defaultdict(int)
    for look in looks:
        counts[look.key] += bool(look.key)
    return sorted(counts, key=lambda key: (-counts[key], key))[:TOP_QUERIES]


def mine(log: Log, keys: Sequence[str], min_support: float, min_confidence: float) -> dict[tuple[str, str], PageWeight]:
    """For each of the questions, weigh its pages by what users did on them: one transaction per user."""
    found = {}
    for key in keys:
        transactions: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        for url, client, action in log.db.execute(
            "SELECT e.object_id, e.client_id, e.action_name FROM events AS e JOIN rankings AS r USING (query_id)"
            " WHERE r.key = ? AND e.object_id <> '' GROUP BY 1, 2, 3",
            (key,),
        ):
            if action in PIDS:
                transactions[url][client].add(PIDS[Action(action)])
        for url, users in transactions.items():
            weight = weigh_page(list(users.values()), min_support, min_confidence)
            if weight.pattern and len(users) >= MIN_CLIENTS:
                found[key, url] = weight
    return found


def _row(pair: tuple[str, str], weight: Weight | None, pattern: PageWeight | None) -> tuple[object, ...]:
    clicks = weight or Weight(0.0, 0.0, 0.0, 0)
    value = clicks.value
    if pattern and value >= 0:
        value = min(1.0, value + PATTERN_SHARE * pattern.normalised)
    names = ",".join(map(str, pattern.pattern)) if pattern else ""
    score = pattern.normalised if pattern else 0.0
    return (*pair, value, clicks.clicks, clicks.examined, clicks.clients, names, score)


class Taught:
    """The weights as the search asks for them; read again when something new was learned."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self._read_at = ""
        self._pages: dict[int, float] = {}

    def __call__(self, question: str) -> Callable[[int], float]:
        """Give the weight function of one question, backing off to what holds for any question."""
        self._refresh()
        mine = self._weights(query_key(question))
        pages = self._pages
        if not mine and not pages:
            return lambda _: 0.0
        return lambda page: mine[page] if page in mine else BACK_OFF * pages.get(page, 0.0)

    def _weights(self, key: str) -> dict[int, float]:
        rows = self.log.db.execute("SELECT url, weight FROM weights WHERE key = ?", (key,)).fetchall()
        return {page_id(url): weight for url, weight in rows}

    def state(self) -> str:
        """When something was last learned; empty if it never was, or was erased since."""
        row = self.log.db.execute(
            "SELECT value FROM meta WHERE name = 'learned_at' AND EXISTS (SELECT 1 FROM weights)"
        ).fetchone()
        return str(row[0]) if row else ""

    def _refresh(self) -> None:
        read_at = self.state()
        if read_at != self._read_at:
            self._pages = {page: weight for page, weight in self._weights(ANY_QUESTION).items() if weight}
            self._read_at = read_at


def liked(folder: Path) -> dict[str, float]:
    """What users think of pages whatever they asked, from -1 to 1; nothing where nobody was listened to."""
    if not (folder / DATABASE).exists():
        return {}
    with closing(open_log(folder)) as log:
        rows = log.db.execute("SELECT url, weight FROM weights WHERE key = ? AND weight <> 0", (ANY_QUESTION,))
        return dict(rows.fetchall())
