from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.db.connection import Connection, connect, migrate
from sanderling.db.schema.frontier import MIGRATIONS
from sanderling.frontier.seen_filter import FIRST, Roll
from sanderling.frontier.url_cache import Occurrences
from sanderling.frontier.url_store import READ_ROWS, Book, Entry, Known
from sanderling.models import Candidate, Reason, State, Url


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Connection]:
    db = connect(tmp_path / "x.db")
    migrate(db, {"frontier": MIGRATIONS})
    yield db
    db.close()


def entry(url: str, depth: int = 1, reason: Reason = Reason.NONE) -> Entry:
    state = State.SKIPPED if reason else State.QUEUED
    return Entry(Candidate(Url(url), depth=depth, rank=float(depth)), state, reason)


def test_a_url_is_new_once(db: Connection) -> None:
    book = Book(db)
    assert book.find([Url("http://a/1")]) == {}
    ids = book.add([entry("http://a/1"), entry("http://b/1")], 0)
    assert {url: known.id for url, known in book.find(list(ids)).items()} == ids


def test_what_left_the_cache_is_found_on_disk(db: Connection) -> None:
    book = Book(db, Occurrences(6), Roll(FIRST, most_apart=0))
    urls = [Url(f"http://a/{n}") for n in range(4 * FIRST)]
    ids = book.add([entry(url) for url in urls], 0)
    assert {url: known.id for url, known in book.find(urls).items()} == ids
    assert len(book.cache.values) <= 6
    assert 0 < book.cache.hits < book.cache.asked == 4 * FIRST
    assert {url: known.id for url, known in Book(db).find(urls).items()} == ids


def test_what_earlier_runs_wrote_is_known_while_it_is_still_being_read(db: Connection) -> None:
    urls = [Url(f"http://a/{n}") for n in range(3 * READ_ROWS)]
    ids = Book(db).add([entry(url) for url in urls], 0)
    book = Book(db)
    assert book.find([urls[-1], Url("http://a/new")]) == {urls[-1]: Known(ids[urls[-1]], 1)}
    assert 0 < book.read_until < book.read_end
    for _ in range(3):
        book.find([Url("http://a/new")])
    assert book.read_until == book.read_end
    assert {url: known.id for url, known in book.find(urls).items()} == ids


def test_a_new_url_does_not_ask_the_disk(db: Connection) -> None:
    book = Book(db)
    book.add([entry(f"http://a/{n}") for n in range(100)], 0)
    asked: list[str] = []
    db.set_trace_callback(asked.append)  # type: ignore[attr-defined]
    strangers = [Url(f"http://a/new-{n}") for n in range(100)]
    assert book.find(strangers) == {}
    assert sum(statement.count("/new-") for statement in asked) < 20


def test_ids_go_on_after_a_restart(db: Connection) -> None:
    first = Book(db).add([entry("http://a/1")], 0)
    second = Book(db).add([entry("http://a/2")], 0)
    assert second[Url("http://a/2")] == first[Url("http://a/1")] + 1


def test_a_soft_reason_can_be_lifted_and_a_hard_one_not(db: Connection) -> None:
    book = Book(db)
    ids = book.add([entry("http://a/deep", 9, Reason.DEPTH), entry("http://a/far", 1, Reason.OUT_OF_SCOPE)], 0)
    known = book.find(list(ids))
    assert known[Url("http://a/deep")].soft
    assert not known[Url("http://a/far")].soft
    book.requeue(ids[Url("http://a/deep")], Candidate(Url("http://a/deep"), depth=2, rank=2.0))
    assert db.execute("SELECT waiting FROM hosts").fetchone() == (1,)
    assert not book.find([Url("http://a/deep")])[Url("http://a/deep")].soft


def test_the_shortest_depth_is_kept(db: Connection) -> None:
    book = Book(db)
    ids = book.add([entry("http://a/1", depth=5)], 0)
    id_ = ids[Url("http://a/1")]
    assert not book.shorten(id_, Candidate(Url("http://a/1"), depth=3))
    db.execute("UPDATE urls SET state = 'visited'")
    assert book.shorten(id_, Candidate(Url("http://a/1"), depth=2))
    assert not book.shorten(id_, Candidate(Url("http://a/1"), depth=4))
    assert db.execute("SELECT depth FROM urls").fetchone() == (2,)


def test_wide_pages_are_asked_for_as_memory_grows_and_seldom(db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    monkeypatch.setattr("sanderling.frontier.url_store.GROWN", 10)
    book = Book(db)
    monkeypatch.setattr("sanderling.frontier.url_store.use_wide_pages", lambda: sizes.append(book.roll.noted))
    for number in range(100):
        book.add([entry(f"http://a/{number}")], 0)
    assert sizes == [11, 23, 47, 95]
