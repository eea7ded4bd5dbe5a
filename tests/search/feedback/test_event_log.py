"""The event log: retention, export, erasure, rate limit."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.search.feedback.event_log import MAX_EVENTS_PER_MINUTE, EventLog, build_query_key, open_event_log
from sanderling.search.feedback.events import ACTION_NUMBERS, ACTIONS_BY_NUMBER, ShownRanking, UserAction, UserEvent

NOW = 1_700_000_000.0


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    event_log = open_event_log(tmp_path)
    event_log.record_ranking(ShownRanking("q1", "alice", "tide tables", NOW, ("https://a/", "https://b/")))
    event_log.record_events([UserEvent("alice", UserAction.CLICK, NOW, "q1", "https://a/", position=1)])
    event_log.record_events([UserEvent("bob", UserAction.SCROLL, NOW, "", "https://b/", count=124)])
    event_log.record_events([UserEvent("bob", UserAction.DWELL, NOW, "", "https://b/", value=31.5)])
    yield event_log
    event_log.close()


def test_action_numbers_of_the_thirteen_indicators() -> None:
    assert [
        ACTION_NUMBERS[a] for a in (UserAction.SCROLL, UserAction.BOOKMARK, UserAction.SAVE, UserAction.MOUSE_CLICK)
    ] == [1, 8, 10, 13]
    assert ACTIONS_BY_NUMBER[5] == "open_url"
    assert len(ACTION_NUMBERS) == 13


def test_export_uses_ubi_names(log: EventLog) -> None:
    query, *events = log.export()
    assert query["query_response_hit_ids"] == ["https://a/", "https://b/"]
    names = {"type", "client_id", "query_id", "object_id", "object_id_field", "action_name", "position", "timestamp",
             "count", "value", "attributes"}  # fmt: skip
    assert {frozenset(event) for event in events} == {frozenset(names)}
    assert [e["client_id"] for e in log.export("alice")] == ["alice", "alice"]


def test_erase_one_client_or_all(log: EventLog) -> None:
    assert log.erase("alice") == 2
    assert {e["client_id"] for e in log.export()} == {"bob"}
    log.erase()
    assert list(log.export()) == []


def test_expired_rows_are_deleted(log: EventLog) -> None:
    assert log.delete_expired(NOW + 89 * 86400) == 0
    assert log.delete_expired(NOW + 91 * 86400) == 4
    assert list(log.export()) == []


def test_events_per_client_are_rate_limited(log: EventLog) -> None:
    flood = [UserEvent("mallory", UserAction.KEY, NOW, object_id="https://a/")] * (MAX_EVENTS_PER_MINUTE + 50)
    assert log.record_events(flood) == MAX_EVENTS_PER_MINUTE
    assert log.record_events(flood) == 0
    assert log.record_events([UserEvent("alice", UserAction.KEY, NOW)]) == 1


def test_totals_are_counted_by_action_page_query_and_day(log: EventLog) -> None:
    assert {(t.name, t.count) for t in log.count_events("action")} == {("click", 1), ("scroll", 124), ("dwell", 1)}
    assert {(t.name, t.seconds) for t in log.count_events("page")} == {("https://a/", 0.0), ("https://b/", 31.5)}
    assert [(t.name, t.clients) for t in log.count_events("query")] == [("tide tables", 1)]
    assert [t.name for t in log.count_events("day")] == ["2023-11-14"]


def test_equivalent_queries_share_a_key() -> None:
    assert build_query_key("tide Tables site:x.org") == build_query_key("tables, TIDES") == "tabl tide"
    assert build_query_key("") == ""


def test_no_column_stores_network_addresses(log: EventLog) -> None:
    tables = [row[0] for row in log.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = {row[1] for table in tables for row in log.db.execute(f"PRAGMA table_info({table})")}
    assert not columns & {"ip", "address", "remote", "host"}


def test_database_is_readable_by_its_owner_only(log: EventLog, tmp_path: Path) -> None:
    assert {file.stat().st_mode & 0o077 for file in tmp_path.glob("feedback.db*")} == {0}
