"""What users did becomes what the search knows."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.search.feedback.event_log import Log, open_log
from sanderling.search.feedback.events import Action, Event, Shown
from sanderling.search.feedback.learn import Taught, learn, satisfaction
from sanderling.search.feedback.unmet_queries import ANSWERED, answer, briefs, not_satisfied, take
from sanderling.search.fields import page_id

NOW = 1_700_000_000.0
PAGES = tuple(f"https://a.example/{i}" for i in range(6))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    made = open_log(tmp_path)
    yield made
    made.close()


def visit(log: Log, client: str, place: int, *actions: Action, query: str = "tide tables") -> None:
    """A client sees the ranking, opens one result and does things there."""
    log.show(Shown(f"{client}-{query}", client, query, NOW, PAGES))
    done = [
        Event(client, a, NOW, f"{client}-{query}", PAGES[place], position=place + 1) for a in (Action.CLICK, *actions)
    ]
    log.record(done)


def test_satisfaction_is_read_off_what_was_done() -> None:
    assert satisfaction({Action.SCROLL: 3}) == 0
    assert satisfaction({Action.CLICK: 1, Action.PRINT: 1}) == 1
    assert satisfaction({Action.CLICK: 1, Action.ACTIVE: 60, Action.DWELL: 90}) == 1
    assert satisfaction({Action.CLICK: 1, Action.DWELL: 2}) == 0.2
    assert satisfaction({Action.CLICK: 1}) == 0.6


def test_pages_users_work_with_gain_weight_and_a_pattern(log: Log) -> None:
    for number in range(15):
        visit(log, f"c{number}", 4, Action.BOOKMARK, Action.SCROLL)
    learned = learn(log, NOW)
    assert (learned.rankings, learned.patterns) == (15, 1)
    ((pattern, score),) = log.db.execute(
        "SELECT pattern, apriori FROM weights WHERE url = ? AND key <> ''", (PAGES[4],)
    )
    assert (pattern, score) == ("1,8", 1.0)
    weight = Taught(log)("Tables of tides")
    assert weight(page_id(PAGES[4])) > 0.5 > 0 > weight(page_id(PAGES[0]))


def test_an_unknown_question_backs_off_to_what_holds_for_any(log: Log) -> None:
    for number in range(20):
        visit(log, f"c{number}", 2, Action.PRINT, query=f"words {number % 4}")
    learn(log, NOW)
    known, unknown = Taught(log)("words 1"), Taught(log)("something else")
    assert known(page_id(PAGES[2])) > unknown(page_id(PAGES[2])) > 0
    assert unknown(page_id("https://never.seen/")) == 0


def test_weights_are_read_again_after_learning(log: Log) -> None:
    taught = Taught(log)
    assert taught("tide")(page_id(PAGES[1])) == 0
    for number in range(20):
        visit(log, f"c{number}", 1, Action.SAVE, query="tide")
    learn(log, NOW)
    assert taught("tide")(page_id(PAGES[1])) > 0


def test_mining_is_signalled(log: Log) -> None:
    learn(log, NOW)
    assert [raised.signal for raised in log.signals()] == ["Mining"]


def test_a_search_that_did_not_satisfy_becomes_one_brief(log: Log) -> None:
    first = not_satisfied(log, "tide tables", list(PAGES), 12, NOW)
    again = not_satisfied(log, "Tables of the tide", list(PAGES), 12, NOW)
    assert first.urls == PAGES[:5]
    assert [raised.signal for raised in reversed(log.signals())] == ["Low_Rating", "crawl_more", "Low_Rating"]
    assert again.id != first.id or len(briefs(log)) == 1


def test_briefs_are_handed_out_once_and_answered(log: Log) -> None:
    asked = not_satisfied(log, "tide", list(PAGES), 12, NOW)
    assert [brief.id for brief in take(log)] == [asked.id]
    assert take(log) == []
    answer(log, asked.id, 7, NOW + 60)
    (kept,) = briefs(log)
    assert (kept.state, kept.found, kept.answered_at) == (ANSWERED, 7, NOW + 60)
