"""Bulk requeue and dequeue of known URLs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.db.connection import Connection, apply_migrations, connect_sqlite
from sanderling.db.schema.frontier import MIGRATIONS
from sanderling.frontier.hosts import HostStore
from sanderling.frontier.politeness import Politeness
from sanderling.frontier.queue import UrlQueue
from sanderling.frontier.requeue import dequeue_urls, requeue_pages, requeue_urls
from sanderling.frontier.url_store import FrontierEntry, UrlStore
from sanderling.models import CandidateUrl, Reason, Url, UrlState


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Connection]:
    """Open a database with four URLs of a host: visited, gone, failed and queued."""
    db = connect_sqlite(tmp_path / "x.db")
    apply_migrations(db, {"frontier": MIGRATIONS})
    states = (UrlState.VISITED, UrlState.GONE, UrlState.FAILED, UrlState.QUEUED)
    UrlStore(db).insert_and_enqueue(
        [FrontierEntry(CandidateUrl(Url(f"http://a/{state}"), rank=9.0), state) for state in states], 0
    )
    yield db
    db.close()


def load_queue(db: Connection) -> tuple[list[int], int]:
    """Return the queued URL ids in order, and the queue size by host counters."""
    rows = db.execute("SELECT q.url FROM queue AS q JOIN urls AS u ON u.id = q.url WHERE u.state = 'queued'"
                      " ORDER BY q.rank").fetchall()  # fmt: skip
    return [url for (url,) in rows], UrlQueue(db, Politeness()).count_queued()


def test_duplicate_page_is_queued_once(db: Connection) -> None:
    requeue_pages(db, [2, 1, 2, 3, 4, 1])
    assert load_queue(db) == ([2, 1, 4], 3)


def test_urls_are_requeued_in_any_state(db: Connection) -> None:
    requeue_urls(db, [(3, 1, 2.0), (1, 1, 1.0)])
    assert load_queue(db) == ([1, 3, 4], 3)


def test_dequeued_url_gets_state_and_reason(db: Connection) -> None:
    dequeue_urls(db, [(4, UrlState.SKIPPED, Reason.EXCLUDED)])
    assert load_queue(db) == ([], 0)
    assert HostStore(db).get_next_ready_time() is None
    assert db.execute("SELECT state, reason FROM urls WHERE id = 4").fetchone() == ("skipped", "excluded")
