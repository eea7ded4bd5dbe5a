"""Crawls of shard sets, with a process per shard and real servers."""

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.support.many_sites import ManySites

from sanderling.api.searching.collection_search import search_collection
from sanderling.config.settings import HttpSettings, LimitSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.request import CrawlRequest, CrawlSummary
from sanderling.crawl.sharding.shard_supervisor import ShardSupervisor, open_supervisor
from sanderling.errors import UsageError
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.link_graph import load_outgoing_links
from sanderling.storage.queries import find_url_id, load_pages, load_stored_record, load_urls, resolve_known_url
from sanderling.storage.shard_conversion import join_shards
from sanderling.storage.shard_set import create_shard_set, load_identity, open_control


def build_request(web: ManySites, *, shards: int = 3, limit: int = 0, delay: float = 0.0) -> CrawlRequest:
    return CrawlRequest(
        seeds=(web.get_root(0) + "/p0",),
        scope=ScopeSettings(scope="any", sitemaps=False),
        limits=LimitSettings(limit=limit),
        politeness=PolitenessSettings(delay=delay, backoff=0.2),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=1, shards=shards, lease=10.0),
    )


def run_sharded(folder: Path, request: CrawlRequest, disturb: Callable[[ShardSupervisor], None] | None = None,
                messages: list[str] | None = None) -> CrawlSummary:  # fmt: skip
    supervisor = open_supervisor(folder, request, (messages if messages is not None else []).append)
    thread = threading.Thread(target=disturb, args=(supervisor,), daemon=True) if disturb else None
    if thread:
        thread.start()
    return supervisor.run()


def load_stored(folder: Path) -> list[str]:
    with open_collection_read_only(folder) as collection:
        return sorted(page.url for page in load_pages(collection.db))


def count_bodies(folder: Path) -> int:
    """Count the stored versions of all pages."""
    total = 0
    for path in folder.glob("shard-*/sanderling.db"):
        with sqlite3.connect(path) as db:
            total += db.execute("SELECT count(*) FROM visits WHERE outcome = 'fetched'").fetchone()[0]
    return total


def test_every_page_of_all_sites_is_fetched_once(tmp_path: Path) -> None:
    with ManySites(8, 15) as web:
        summary = run_sharded(tmp_path, build_request(web))
        assert (summary.finish_reason, summary.pages, summary.failed) == ("done", 120, 0)
        assert {web.hits[url] for url in web.urls} == {1}
        assert load_stored(tmp_path) == sorted(web.urls)
        again = run_sharded(tmp_path, build_request(web))
        assert (again.fetched + again.not_modified, again.pages) == (120, 120)


def test_shards_are_searched_together_and_links_between_them_are_shown(tmp_path: Path) -> None:
    with ManySites(4, 3) as web:
        run_sharded(tmp_path, build_request(web, shards=2))
        found = search_collection(tmp_path, "text", limit=5, offset=3)
        assert (found.total, [hit.position for hit in found.hits]) == (12, [4, 5, 6, 7, 8])
        everything = search_collection(tmp_path, "text", limit=12)
        assert {hit.url for hit in everything.hits} == web.urls
        with open_collection_read_only(tmp_path) as collection:
            targets = load_outgoing_links(collection.db, find_url_id(collection.db, web.get_root(0) + "/p0")).target_ids
            assert web.get_root(1) + "/p0" in load_urls(collection.db, targets).values()


def test_page_limit_and_crawl_delay_hold_for_all_shards_together(tmp_path: Path) -> None:
    with ManySites(6, 10) as web:
        summary = run_sharded(tmp_path, build_request(web, limit=23, delay=0.05))
        assert (summary.finish_reason, summary.fetched) == ("limit", 23)
        assert web.most_open == 1  # all sites have one address
        rest = run_sharded(tmp_path, build_request(web))
        assert rest.pages == 60
        assert {web.hits[url] for url in web.urls} == {1}


class CopiedSites(ManySites):
    """Serves the same page 1 on every site."""

    def build_page(self, site: int, page: int) -> bytes:
        return super().build_page(site, page) if page != 1 else b"<html><title>copy</title>the same words"


def test_body_that_another_shard_has_is_not_stored_again(tmp_path: Path) -> None:
    with CopiedSites(4, 3, foreign_links=0) as web:
        request = replace(build_request(web, shards=2), scope=ScopeSettings(sitemaps=False))
        create_shard_set(tmp_path, 2)
        with closing(open_control(tmp_path)) as control:
            identity = load_identity(control, 0)
        owners = [identity.find_owner(web.get_root(site) + "/") for site in range(4)]
        other = next(site for site in range(4) if owners[site] != owners[0])
        copies = [f"{web.get_root(site)}/p1" for site in (0, other)]
        for site in (0, other):
            run_sharded(tmp_path, replace(request, seeds=(web.get_root(site) + "/p0",)))
        with open_collection_read_only(tmp_path) as collection:
            assert {p.url: p.duplicate_of for p in load_pages(collection.db) if p.url in copies} == {
                copies[0]: "",
                copies[1]: copies[0],
            }
            id_, key = resolve_known_url(collection, copies[1])
            record = load_stored_record(collection, id_, key)
            assert (record.record_type, b"the same words" in record.body) == ("revisit", True)
        assert [hit.url for hit in search_collection(tmp_path, "same words").hits] == copies[:1]
        join_shards(tmp_path, 2e9)
        with open_collection_read_only(tmp_path) as collection:
            id_, key = resolve_known_url(collection, copies[1])
            assert b"the same words" in load_stored_record(collection, id_, key).body


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_nothing_is_lost_or_stored_twice_when_owners_die_or_stall(tmp_path: Path, number: signal.Signals) -> None:
    def disturb(supervisor: ShardSupervisor) -> None:
        for turn in range(3):
            time.sleep(1.5)
            process = supervisor.processes.get(turn)
            if process is not None:
                os.kill(process.pid, number)

    with ManySites(8, 30) as web:
        messages: list[str] = []
        summary = run_sharded(tmp_path, build_request(web, delay=0.01), disturb, messages)
        assert summary.finish_reason == "done"
        assert load_stored(tmp_path) == sorted(web.urls)
        assert count_bodies(tmp_path) == len(web.urls)
        assert messages
        assert sum(web.hits[url] - 1 for url in web.urls) <= 3 * 64


def test_settings_that_shards_do_not_support_are_refused(tmp_path: Path) -> None:
    with ManySites(1, 1) as web:
        request = build_request(web)
        request = CrawlRequest(request.seeds, workers=WorkerSettings(shards=2, archive="file:///tmp/x"))
        with pytest.raises(UsageError, match="--archive"):
            open_supervisor(tmp_path, request, print)
