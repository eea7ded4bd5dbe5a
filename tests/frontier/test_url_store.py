"""URL store: lookups, inserts, depths and soft skips."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.db.connection import Connection, apply_migrations, connect_sqlite
from sanderling.db.schema.frontier import MIGRATIONS
from sanderling.frontier.known_url import KnownUrl
from sanderling.frontier.seen_filter import INITIAL_ROWS, SeenFilter
from sanderling.frontier.url_cache import UrlCache
from sanderling.frontier.url_store import LOAD_ROWS, FrontierEntry, UrlStore
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


def test_inserted_url_is_known(db: Connection) -> None:
    store = UrlStore(db)
    assert store.get([Url("http://a/1")]) == {}
    ids = store.insert_and_enqueue([entry("http://a/1"), entry("http://b/1")], 0)
    assert {url: known.id for url, known in store.get(list(ids)).items()} == ids


def test_evicted_url_is_found_in_the_database(db: Connection) -> None:
    store = UrlStore(db, UrlCache(6), SeenFilter(INITIAL_ROWS, max_overflow=0))
    urls = [Url(f"http://a/{n}") for n in range(4 * INITIAL_ROWS)]
    ids = store.insert_and_enqueue([entry(url) for url in urls], 0)
    assert {url: known.id for url, known in store.get(urls).items()} == ids
    assert len(store.url_cache.values) <= 6
    assert 0 < store.url_cache.hits < store.url_cache.lookups == 4 * INITIAL_ROWS
    assert {url: known.id for url, known in UrlStore(db).get(urls).items()} == ids


def test_urls_of_earlier_runs_are_known_while_loading(db: Connection) -> None:
    urls = [Url(f"http://a/{n}") for n in range(3 * LOAD_ROWS)]
    ids = UrlStore(db).insert_and_enqueue([entry(url) for url in urls], 0)
    store = UrlStore(db)
    assert store.get([urls[-1], Url("http://a/new")]) == {urls[-1]: KnownUrl(ids[urls[-1]], 1)}
    assert 0 < store.loaded_until < store.load_end
    for _ in range(3):
        store.get([Url("http://a/new")])
    assert store.loaded_until == store.load_end
    assert {url: known.id for url, known in store.get(urls).items()} == ids


def test_new_url_needs_no_database_lookup(db: Connection) -> None:
    store = UrlStore(db)
    store.insert_and_enqueue([entry(f"http://a/{n}") for n in range(100)], 0)
    statements: list[str] = []
    db.set_trace_callback(statements.append)  # type: ignore[attr-defined]
    new_urls = [Url(f"http://a/new-{n}") for n in range(100)]
    assert store.get(new_urls) == {}
    assert sum(statement.count("/new-") for statement in statements) < 20


def test_ids_continue_after_restart(db: Connection) -> None:
    first = UrlStore(db).insert_and_enqueue([entry("http://a/1")], 0)
    second = UrlStore(db).insert_and_enqueue([entry("http://a/2")], 0)
    assert second[Url("http://a/2")] == first[Url("http://a/1")] + 1


def test_soft_skip_can_be_lifted(db: Connection) -> None:
    store = UrlStore(db)
    ids = store.insert_and_enqueue(
        [entry("http://a/deep", 9, Reason.DEPTH), entry("http://a/far", 1, Reason.OUT_OF_SCOPE)], 0
    )
    known = store.get(list(ids))
    assert known[Url("http://a/deep")].is_soft_skip
    assert not known[Url("http://a/far")].is_soft_skip
    store.requeue_skipped(ids[Url("http://a/deep")], CandidateUrl(Url("http://a/deep"), depth=2, rank=2.0))
    assert db.execute("SELECT waiting FROM hosts").fetchone() == (1,)
    assert not store.get([Url("http://a/deep")])[Url("http://a/deep")].is_soft_skip


def test_smallest_depth_is_stored(db: Connection) -> None:
    store = UrlStore(db)
    ids = store.insert_and_enqueue([entry("http://a/1", depth=5)], 0)
    id_ = ids[Url("http://a/1")]
    assert not store.lower_depth(id_, CandidateUrl(Url("http://a/1"), depth=3))
    db.execute("UPDATE urls SET state = 'visited'")
    assert store.lower_depth(id_, CandidateUrl(Url("http://a/1"), depth=2))
    assert not store.lower_depth(id_, CandidateUrl(Url("http://a/1"), depth=4))
    assert db.execute("SELECT depth FROM urls").fetchone() == (2,)


def test_huge_pages_are_requested_at_each_doubling(db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    monkeypatch.setattr("sanderling.frontier.url_store.GROWTH_THRESHOLD", 10)
    store = UrlStore(db)
    monkeypatch.setattr(
        "sanderling.frontier.url_store.use_huge_pages", lambda: sizes.append(store.seen_filter.put_count)
    )
    for number in range(100):
        store.insert_and_enqueue([entry(f"http://a/{number}")], 0)
    assert sizes == [11, 23, 47, 95]
