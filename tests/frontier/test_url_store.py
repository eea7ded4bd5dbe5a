from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.db.connection import Connection, apply_migrations, connect_sqlite
from sanderling.db.schema.frontier import MIGRATIONS
from sanderling.frontier.seen_filter import INITIAL_ROWS, SeenFilter
from sanderling.frontier.url_cache import UrlCache
from sanderling.frontier.url_store import LOAD_ROWS, FrontierEntry, KnownUrl, UrlStore
from sanderling.models import CandidateUrl, Reason, Url, UrlState


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Connection]:
    db = connect_sqlite(tmp_path / "x.db")
    apply_migrations(db, {"frontier": MIGRATIONS})
    yield db
    db.close()


def entry(url: str, depth: int = 1, reason: Reason = Reason.NONE) -> FrontierEntry:
    state = UrlState.SKIPPED if reason else UrlState.QUEUED
    return FrontierEntry(CandidateUrl(Url(url), depth=depth, rank=float(depth)), state, reason)


def test_a_url_is_new_once(db: Connection) -> None:
    book = UrlStore(db)
    assert book.get([Url("http://a/1")]) == {}
    ids = book.insert_and_enqueue([entry("http://a/1"), entry("http://b/1")], 0)
    assert {url: known.id for url, known in book.get(list(ids)).items()} == ids


def test_what_left_the_cache_is_found_on_disk(db: Connection) -> None:
    book = UrlStore(db, UrlCache(6), SeenFilter(INITIAL_ROWS, max_overflow=0))
    urls = [Url(f"http://a/{n}") for n in range(4 * INITIAL_ROWS)]
    ids = book.insert_and_enqueue([entry(url) for url in urls], 0)
    assert {url: known.id for url, known in book.get(urls).items()} == ids
    assert len(book.url_cache.values) <= 6
    assert 0 < book.url_cache.hits < book.url_cache.lookups == 4 * INITIAL_ROWS
    assert {url: known.id for url, known in UrlStore(db).get(urls).items()} == ids


def test_what_earlier_runs_wrote_is_known_while_it_is_still_being_read(db: Connection) -> None:
    urls = [Url(f"http://a/{n}") for n in range(3 * LOAD_ROWS)]
    ids = UrlStore(db).insert_and_enqueue([entry(url) for url in urls], 0)
    book = UrlStore(db)
    assert book.get([urls[-1], Url("http://a/new")]) == {urls[-1]: KnownUrl(ids[urls[-1]], 1)}
    assert 0 < book.loaded_until < book.load_end
    for _ in range(3):
        book.get([Url("http://a/new")])
    assert book.loaded_until == book.load_end
    assert {url: known.id for url, known in book.get(urls).items()} == ids


def test_a_new_url_does_not_ask_the_disk(db: Connection) -> None:
    book = UrlStore(db)
    book.insert_and_enqueue([entry(f"http://a/{n}") for n in range(100)], 0)
    asked: list[str] = []
    db.set_trace_callback(asked.append)  # type: ignore[attr-defined]
    strangers = [Url(f"http://a/new-{n}") for n in range(100)]
    assert book.get(strangers) == {}
    assert sum(statement.count("/new-") for statement in asked) < 20


def test_ids_go_on_after_a_restart(db: Connection) -> None:
    first = UrlStore(db).insert_and_enqueue([entry("http://a/1")], 0)
    second = UrlStore(db).insert_and_enqueue([entry("http://a/2")], 0)
    assert second[Url("http://a/2")] == first[Url("http://a/1")] + 1


def test_a_soft_reason_can_be_lifted_and_a_hard_one_not(db: Connection) -> None:
    book = UrlStore(db)
    ids = book.insert_and_enqueue(
        [entry("http://a/deep", 9, Reason.DEPTH), entry("http://a/far", 1, Reason.OUT_OF_SCOPE)], 0
    )
    known = book.get(list(ids))
    assert known[Url("http://a/deep")].is_soft_skip
    assert not known[Url("http://a/far")].is_soft_skip
    book.requeue_skipped(ids[Url("http://a/deep")], CandidateUrl(Url("http://a/deep"), depth=2, rank=2.0))
    assert db.execute("SELECT waiting FROM hosts").fetchone() == (1,)
    assert not book.get([Url("http://a/deep")])[Url("http://a/deep")].is_soft_skip


def test_the_shortest_depth_is_kept(db: Connection) -> None:
    book = UrlStore(db)
    ids = book.insert_and_enqueue([entry("http://a/1", depth=5)], 0)
    id_ = ids[Url("http://a/1")]
    assert not book.lower_depth(id_, CandidateUrl(Url("http://a/1"), depth=3))
    db.execute("UPDATE urls SET state = 'visited'")
    assert book.lower_depth(id_, CandidateUrl(Url("http://a/1"), depth=2))
    assert not book.lower_depth(id_, CandidateUrl(Url("http://a/1"), depth=4))
    assert db.execute("SELECT depth FROM urls").fetchone() == (2,)


def test_wide_pages_are_asked_for_as_memory_grows_and_seldom(db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    monkeypatch.setattr("sanderling.frontier.url_store.GROWTH_THRESHOLD", 10)
    book = UrlStore(db)
    monkeypatch.setattr(
        "sanderling.frontier.url_store.use_huge_pages", lambda: sizes.append(book.seen_filter.put_count)
    )
    for number in range(100):
        book.insert_and_enqueue([entry(f"http://a/{number}")], 0)
    assert sizes == [11, 23, 47, 95]
