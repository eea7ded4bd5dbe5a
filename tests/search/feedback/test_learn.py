"""Learning of weights, and unmet queries."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.search.feedback.event_log import EventLog, open_event_log
from sanderling.search.feedback.events import ShownRanking, UserAction, UserEvent
from sanderling.search.feedback.learn import ClickWeights, compute_satisfaction, learn_weights
from sanderling.search.feedback.unmet_queries import (
    ANSWERED,
    add_unmet_query,
    claim_unmet_queries,
    complete_unmet_query,
    list_unmet_queries,
)
from sanderling.search.fields import compute_page_id

NOW = 1_700_000_000.0
PAGES = tuple(f"https://a.example/{i}" for i in range(6))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    event_log = open_event_log(tmp_path)
    yield event_log
    event_log.close()


def add_visit(log: EventLog, client: str, index: int, *actions: UserAction, query: str = "tide tables") -> None:
    """Record a ranking, a click and actions."""
    log.record_ranking(ShownRanking(f"{client}-{query}", client, query, NOW, PAGES))
    events = [
        UserEvent(client, a, NOW, f"{client}-{query}", PAGES[index], position=index + 1)
        for a in (UserAction.CLICK, *actions)
    ]
    log.record_events(events)


def test_satisfaction_by_actions() -> None:
    assert compute_satisfaction({UserAction.SCROLL: 3}) == 0
    assert compute_satisfaction({UserAction.CLICK: 1, UserAction.PRINT: 1}) == 1
    assert compute_satisfaction({UserAction.CLICK: 1, UserAction.ACTIVE: 60, UserAction.DWELL: 90}) == 1
    assert compute_satisfaction({UserAction.CLICK: 1, UserAction.DWELL: 2}) == 0.2
    assert compute_satisfaction({UserAction.CLICK: 1}) == 0.6


def test_used_page_gets_weight_and_pattern(log: EventLog) -> None:
    for number in range(15):
        add_visit(log, f"c{number}", 4, UserAction.BOOKMARK, UserAction.SCROLL)
    learned = learn_weights(log, NOW)
    assert (learned.rankings, learned.patterns) == (15, 1)
    ((pattern, score),) = log.db.execute(
        "SELECT pattern, apriori FROM weights WHERE url = ? AND key <> ''", (PAGES[4],)
    )
    assert (pattern, score) == ("1,8", 1.0)
    weight = ClickWeights(log)("Tables of tides")
    assert weight(compute_page_id(PAGES[4])) > 0.5
    assert weight(compute_page_id(PAGES[0])) < 0


def test_unknown_query_backs_off_to_the_page_weight(log: EventLog) -> None:
    for number in range(20):
        add_visit(log, f"c{number}", 2, UserAction.PRINT, query=f"words {number % 4}")
    learn_weights(log, NOW)
    known, unknown = ClickWeights(log)("words 1"), ClickWeights(log)("something else")
    assert known(compute_page_id(PAGES[2])) > unknown(compute_page_id(PAGES[2])) > 0
    assert unknown(compute_page_id("https://never.seen/")) == 0


def test_weights_are_read_again_after_learning(log: EventLog) -> None:
    weights = ClickWeights(log)
    assert weights("tide")(compute_page_id(PAGES[1])) == 0
    for number in range(20):
        add_visit(log, f"c{number}", 1, UserAction.SAVE, query="tide")
    learn_weights(log, NOW)
    assert weights("tide")(compute_page_id(PAGES[1])) > 0


def test_learning_raises_mining_signal(log: EventLog) -> None:
    learn_weights(log, NOW)
    assert [raised.signal for raised in log.list_signals()] == ["Mining"]


def test_equivalent_unmet_queries_are_merged(log: EventLog) -> None:
    first = add_unmet_query(log, "tide tables", list(PAGES), 12, NOW)
    again = add_unmet_query(log, "Tables of the tide", list(PAGES), 12, NOW)
    assert first.urls == PAGES[:5]
    assert [raised.signal for raised in reversed(log.list_signals())] == ["Low_Rating", "crawl_more", "Low_Rating"]
    assert again.id != first.id or len(list_unmet_queries(log)) == 1


def test_unmet_query_is_claimed_once_and_completed(log: EventLog) -> None:
    added = add_unmet_query(log, "tide", list(PAGES), 12, NOW)
    assert [unmet.id for unmet in claim_unmet_queries(log)] == [added.id]
    assert claim_unmet_queries(log) == []
    complete_unmet_query(log, added.id, 7, NOW + 60)
    (stored,) = list_unmet_queries(log)
    assert (stored.state, stored.new_page_count, stored.answered_at) == (ANSWERED, 7, NOW + 60)
