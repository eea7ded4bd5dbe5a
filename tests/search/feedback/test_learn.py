"""What users did becomes what the search knows."""

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
    made = open_event_log(tmp_path)
    yield made
    made.close()


def visit(log: EventLog, client: str, place: int, *actions: UserAction, query: str = "tide tables") -> None:
    """A client sees the ranking, opens one result and does things there."""
    log.record_ranking(ShownRanking(f"{client}-{query}", client, query, NOW, PAGES))
    done = [
        UserEvent(client, a, NOW, f"{client}-{query}", PAGES[place], position=place + 1)
        for a in (UserAction.CLICK, *actions)
    ]
    log.record_events(done)


def test_satisfaction_is_read_off_what_was_done() -> None:
    assert compute_satisfaction({UserAction.SCROLL: 3}) == 0
    assert compute_satisfaction({UserAction.CLICK: 1, UserAction.PRINT: 1}) == 1
    assert compute_satisfaction({UserAction.CLICK: 1, UserAction.ACTIVE: 60, UserAction.DWELL: 90}) == 1
    assert compute_satisfaction({UserAction.CLICK: 1, UserAction.DWELL: 2}) == 0.2
    assert compute_satisfaction({UserAction.CLICK: 1}) == 0.6


def test_pages_users_work_with_gain_weight_and_a_pattern(log: EventLog) -> None:
    for number in range(15):
        visit(log, f"c{number}", 4, UserAction.BOOKMARK, UserAction.SCROLL)
    learned = learn_weights(log, NOW)
    assert (learned.rankings, learned.patterns) == (15, 1)
    ((pattern, score),) = log.db.execute(
        "SELECT pattern, apriori FROM weights WHERE url = ? AND key <> ''", (PAGES[4],)
    )
    assert (pattern, score) == ("1,8", 1.0)
    weight = ClickWeights(log)("Tables of tides")
    assert weight(compute_page_id(PAGES[4])) > 0.5 > 0 > weight(compute_page_id(PAGES[0]))


def test_an_unknown_question_backs_off_to_what_holds_for_any(log: EventLog) -> None:
    for number in range(20):
        visit(log, f"c{number}", 2, UserAction.PRINT, query=f"words {number % 4}")
    learn_weights(log, NOW)
    known, unknown = ClickWeights(log)("words 1"), ClickWeights(log)("something else")
    assert known(compute_page_id(PAGES[2])) > unknown(compute_page_id(PAGES[2])) > 0
    assert unknown(compute_page_id("https://never.seen/")) == 0


def test_weights_are_read_again_after_learning(log: EventLog) -> None:
    taught = ClickWeights(log)
    assert taught("tide")(compute_page_id(PAGES[1])) == 0
    for number in range(20):
        visit(log, f"c{number}", 1, UserAction.SAVE, query="tide")
    learn_weights(log, NOW)
    assert taught("tide")(compute_page_id(PAGES[1])) > 0


def test_mining_is_signalled(log: EventLog) -> None:
    learn_weights(log, NOW)
    assert [raised.signal for raised in log.list_signals()] == ["Mining"]


def test_a_search_that_did_not_satisfy_becomes_one_brief(log: EventLog) -> None:
    first = add_unmet_query(log, "tide tables", list(PAGES), 12, NOW)
    again = add_unmet_query(log, "Tables of the tide", list(PAGES), 12, NOW)
    assert first.urls == PAGES[:5]
    assert [raised.signal for raised in reversed(log.list_signals())] == ["Low_Rating", "crawl_more", "Low_Rating"]
    assert again.id != first.id or len(list_unmet_queries(log)) == 1


def test_briefs_are_handed_out_once_and_answered(log: EventLog) -> None:
    asked = add_unmet_query(log, "tide", list(PAGES), 12, NOW)
    assert [brief.id for brief in claim_unmet_queries(log)] == [asked.id]
    assert claim_unmet_queries(log) == []
    complete_unmet_query(log, asked.id, 7, NOW + 60)
    (kept,) = list_unmet_queries(log)
    assert (kept.state, kept.new_page_count, kept.answered_at) == (ANSWERED, 7, NOW + 60)
