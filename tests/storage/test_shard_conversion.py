"""Collections divided into shards, crawled on, and joined."""

import time
from pathlib import Path

import pytest
from tests.support.many_sites import ManySites

from sanderling.config.settings import HttpSettings, LimitSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.session import crawl
from sanderling.crawl.sharding.shard_supervisor import open_supervisor
from sanderling.db.connection import apply_migrations, connect_sqlite
from sanderling.db.schema.revisit import MIGRATIONS as REVISIT
from sanderling.errors import CollectionError, UsageError
from sanderling.storage import shard_conversion as rules
from sanderling.storage.collection import SCHEMA_MIGRATIONS, open_collection_read_only
from sanderling.storage.queries import find_url_id, load_pages, load_stored_record
from sanderling.storage.shard_conversion import join_shards, split_collection
from sanderling.storage.shard_set import create_shard_set, is_shard_set, list_tables, open_control


def build_request(web: ManySites, shards: int, limit: int = 0) -> CrawlRequest:
    return CrawlRequest(
        (web.get_root(0) + "/p0",),
        scope=ScopeSettings(scope="any", sitemaps=False),
        limits=LimitSettings(limit=limit),
        politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=1, shards=shards),
    )


def load_readable_pages(folder: Path) -> set[str]:
    """Return the stored pages; each must have its body in a WARC file."""
    with open_collection_read_only(folder) as collection:
        urls = {page.url for page in load_pages(collection.db)}
        assert all(load_stored_record(collection, find_url_id(collection.db, url), url).body for url in urls)
        return urls


def test_collection_is_divided_crawled_and_joined_without_a_second_fetch(tmp_path: Path) -> None:
    with ManySites(4, 12) as web:
        crawl(tmp_path, build_request(web, 0, limit=20))
        before = load_readable_pages(tmp_path)
        split_collection(tmp_path, 2, time.time())
        assert is_shard_set(tmp_path)
        assert load_readable_pages(tmp_path) == before
        open_supervisor(tmp_path, build_request(web, 2, limit=35), print).run()
        assert len(load_readable_pages(tmp_path)) == 35
        join_shards(tmp_path, time.time())
        assert not is_shard_set(tmp_path)
        assert len(load_readable_pages(tmp_path)) == 35
        assert crawl(tmp_path, build_request(web, 0)).pages == 48
        assert load_readable_pages(tmp_path) == web.urls
        assert {web.hits[url] for url in web.urls} == {1}


def test_every_table_has_a_rule(tmp_path: Path) -> None:
    db = connect_sqlite(tmp_path / "x.db")
    apply_migrations(db, {**SCHEMA_MIGRATIONS, "revisit": REVISIT})
    known = {
        *rules.BY_HOST,
        *rules.BY_PAGE,
        *rules.BY_VISIT,
        *rules.BY_SITE,
    }
    known |= rules.BY_COLLECTION | rules.REBUILT | rules.NOT_CONVERTED
    assert set(list_tables(db, "main")) == known
    db.close()


def test_shards_in_use_and_bad_numbers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="2 to 10"):
        split_collection(tmp_path, 1, 0.0)
    with pytest.raises(CollectionError, match="no collection"):
        split_collection(tmp_path, 2, 0.0)
    create_shard_set(tmp_path, 2)
    control = open_control(tmp_path)
    control.acquire_shard(1, "crawl", time.time(), 60.0)
    control.close()
    with pytest.raises(CollectionError, match="in use"):
        join_shards(tmp_path, time.time())
    assert is_shard_set(tmp_path)
