"""Which shard owns a URL; outbox and inbox."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.db.connection import Connection, apply_migrations, connect_sqlite
from sanderling.db.id_range import build_id_range
from sanderling.db.schema.frontier import MIGRATIONS
from sanderling.frontier.frontier import Frontier
from sanderling.frontier.politeness import Politeness
from sanderling.frontier.shard_links import (
    RETENTION_SECONDS,
    VIRTUAL_SHARDS,
    ForeignLink,
    ShardIdentity,
    ShardLinks,
    compute_virtual_shard,
)
from sanderling.frontier.url_filter import UrlFilter
from sanderling.models import Url
from sanderling.urls.scope import Scope, build_scope_rule

OWNERS = tuple(number % 3 for number in range(VIRTUAL_SHARDS))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Connection]:
    db = connect_sqlite(tmp_path / "x.db")
    apply_migrations(db, {"frontier": MIGRATIONS})
    yield db
    db.close()


def find_url(shard: int, number: int = 0) -> Url:
    """Return a URL that a shard owns."""
    identity = ShardIdentity(shard, build_id_range(1), OWNERS)
    urls = [Url(f"http://site{n}.test/p") for n in range(200)]
    return [url for url in urls if identity.owns(url)][number]


def open_frontier(db: Connection, shard: int = 0) -> Frontier:
    rule = build_scope_rule([Url("http://site.test/")], Scope.ANY, (), ())
    identity = ShardIdentity(shard, build_id_range(shard + 1), OWNERS)
    return Frontier(db, UrlFilter(rule), Politeness(0.0), shard=identity)


def test_hosts_of_a_domain_have_the_same_owner() -> None:
    hosts = ["http://a.example.org", "https://b.example.org:8443", "http://example.org"]
    assert len({compute_virtual_shard(host) for host in hosts}) == 1
    assert len({compute_virtual_shard(f"http://site{n}.test") for n in range(2000)}) == VIRTUAL_SHARDS


def test_sent_url_is_known_in_this_run_and_the_next(db: Connection) -> None:
    frontier, url = open_frontier(db), find_url(1)
    assert frontier.is_foreign(url)
    assert not frontier.is_foreign(find_url(0))
    ids = frontier.send_foreign([ForeignLink(url, depth=3)], {}, 0.0)
    assert ids[url] == build_id_range(1).first
    assert frontier.url_store.get([url])[url].depth == 3
    assert open_frontier(db).url_store.get([url])[url].id == ids[url]
    assert open_frontier(db).url_store.next_id == ids[url] + 1


def test_links_of_a_batch_travel_together_to_each_receiver(db: Connection) -> None:
    shard_links = ShardLinks(db, ShardIdentity(0, build_id_range(1), OWNERS))
    shard_links.send([ForeignLink(find_url(1, n)) for n in range(5)] + [ForeignLink(find_url(2))], 0.0)
    shard_links.send([ForeignLink(find_url(1, 6))], 0.0)
    assert shard_links.load_last_sequences() == {1: 2, 2: 1}
    ((sequence, payload),) = shard_links.load_batches(1, 0, 1)
    assert (sequence, len(shard_links.decode_batch(payload))) == (1, 5)


def test_link_that_widens_the_scope_goes_to_all_other_shards(db: Connection) -> None:
    shard_links = ShardLinks(db, ShardIdentity(0, build_id_range(1), OWNERS))
    shard_links.send([ForeignLink(find_url(0), widens_scope=True)], 0.0)
    assert shard_links.load_last_sequences() == {1: 1, 2: 1}


def test_old_applied_batches_are_deleted_but_the_last_keeps_the_number(db: Connection) -> None:
    shard_links = ShardLinks(db, ShardIdentity(0, build_id_range(1), OWNERS))
    for now in (0.0, 1.0, 2.0):
        shard_links.send([ForeignLink(find_url(1))], now)
    shard_links.prune_outbox({1: 3}, 2.0)
    assert len(shard_links.load_batches(1, 0, 10)) == 3
    shard_links.prune_outbox({1: 3}, 2.0 + RETENTION_SECONDS + 1)
    assert [sequence for sequence, _ in shard_links.load_batches(1, 0, 10)] == [3]


def test_nofollow_link_is_sent_again_without_nofollow() -> None:
    assert ForeignLink(Url("http://a/"), depth=2).known_depth == 2
    assert ForeignLink(Url("http://a/"), depth=2, nofollow=True).known_depth > 2


def test_inbox_keeps_the_last_batch_of_each_sender(db: Connection) -> None:
    shard_links = ShardLinks(db, ShardIdentity(0, build_id_range(1), OWNERS))
    shard_links.record_applied(1, 4)
    shard_links.record_applied(1, 5)
    shard_links.record_applied(2, 1)
    assert shard_links.load_applied() == {1: 5, 2: 1}


def test_mass_is_sent_for_urls_of_other_shards_only(db: Connection) -> None:
    shard_links = ShardLinks(db, ShardIdentity(0, build_id_range(1), OWNERS))
    shard_links.record_sent([ForeignLink(find_url(1))], {find_url(1): 7})
    shard_links.send_mass({7: 0.5, 8: 0.25}, 0.0)
    ((_, payload),) = shard_links.load_batches(1, 0, 9)
    assert [(link.url, link.mass, link.is_known) for link in shard_links.decode_batch(payload)] == [
        (find_url(1), 0.5, True)
    ]
