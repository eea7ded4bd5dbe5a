"""Operations of the frontier that keep its tables and the URL filter consistent."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.db.connection import apply_migrations, connect_sqlite
from sanderling.db.schema.frontier import MIGRATIONS
from sanderling.db.schema.storage import MIGRATIONS as STORAGE_MIGRATIONS
from sanderling.frontier.frontier import Frontier
from sanderling.frontier.leases import LeaseOutcome
from sanderling.frontier.politeness import Politeness
from sanderling.frontier.url_filter import UrlFilter
from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import CandidateUrl, FetchBatch, Host, Reason, Url, UrlSource, UrlState
from sanderling.urls.scope import Scope, build_scope_rule

HOST = Host("http://a.org")
URLS = [Url(f"{HOST}/{number}") for number in range(3)]


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[Frontier]:
    """Open a frontier with three queued URLs of a resolved host."""
    db = connect_sqlite(tmp_path / "x.db")
    apply_migrations(db, {"frontier": MIGRATIONS, "storage": STORAGE_MIGRATIONS})
    frontier = Frontier(db, build_filter(), Politeness(delay_seconds=0), max_pages_per_host=2)
    frontier.enqueue([FrontierEntry(CandidateUrl(url, rank=n), UrlState.QUEUED) for n, url in enumerate(URLS)], 0.0)
    frontier.hosts.set_addresses(1, ["192.0.2.1"], 1e12)
    yield frontier
    db.close()


def build_filter() -> UrlFilter:
    return UrlFilter(build_scope_rule([Url("http://a.org/")], Scope.HOST))


def lease(frontier: Frontier, limit: int = 9) -> FetchBatch:
    (ready_host,) = frontier.find_ready_hosts(["w"], 1.0)
    batch = frontier.lease(ready_host, "w", limit, 1.0)
    assert batch is not None
    return batch


def load_states(frontier: Frontier) -> list[tuple[str, str]]:
    return frontier.db.execute("SELECT state, reason FROM urls ORDER BY id").fetchall()


def test_given_up_host_loses_queued_urls_and_rejects_new_ones(frontier: Frontier) -> None:
    assert frontier.give_up_host(1, HOST, Reason.CONNECT) == (UrlState.FAILED, 3)
    assert load_states(frontier) == [("failed", "connect")] * 3
    assert frontier.url_filter.find_rejection(Url(f"{HOST}/new"), 0, UrlSource.LINK, False, 0.0) == (Reason.CONNECT, "")


@pytest.mark.parametrize("reason", [Reason.ROBOTS_UNREACHABLE, Reason.PRIVATE_ADDRESS])
def test_urls_of_host_that_may_not_be_requested_are_skipped(frontier: Frontier, reason: Reason) -> None:
    assert frontier.give_up_host(1, HOST, reason) == (UrlState.SKIPPED, 3)


def test_reset_host_accepts_urls_again(frontier: Frontier) -> None:
    frontier.give_up_host(1, HOST, Reason.CONNECT)
    frontier.reset_hosts()
    assert frontier.url_filter.failed_hosts == {}
    assert frontier.db.execute("SELECT failure_reason FROM hosts").fetchall() == [("",)]


def test_completed_lease_is_not_held_any_more(frontier: Frontier) -> None:
    batch = lease(frontier, 1)
    tokens = [(task.id, task.token) for task in batch.tasks]
    frontier.complete([LeaseOutcome(held, UrlState.VISITED) for held in frontier.find_held_leases(tokens).values()])
    assert frontier.find_held_leases(tokens) == {}
    assert [state for state, _ in load_states(frontier)] == ["visited", "queued", "queued"]


def test_run_begins_with_leases_of_an_earlier_run_in_the_queue(frontier: Frontier) -> None:
    lease(frontier)
    frontier.begin_run(2.0)
    assert (frontier.db.execute("SELECT url FROM leases").fetchall(), frontier.queue.count_queued()) == ([], 3)


def test_delay_of_address_applies_to_every_host_there(frontier: Frontier) -> None:
    frontier.enqueue([FrontierEntry(CandidateUrl(Url("http://b.org/")), UrlState.QUEUED)], 0.0)
    frontier.hosts.set_addresses(2, ["192.0.2.1"], 1e12)
    frontier.delay_host(1, 50.0, Reason.NONE)
    assert [host.id for host in frontier.find_ready_hosts(["w"], 1.0)] == [2]
    frontier.delay_host(1, 60.0, Reason.NONE, with_address=True)
    assert frontier.find_ready_hosts(["w"], 1.0) == []


def test_last_page_of_a_host_drops_its_queued_urls(frontier: Frontier) -> None:
    assert frontier.count_page(1, HOST) == 0
    assert frontier.count_page(1, HOST) == 3
    assert load_states(frontier) == [("skipped", "host_limit")] * 3
    assert HOST in frontier.url_filter.full_hosts


def test_reranked_page_is_leased_first(frontier: Frontier) -> None:
    frontier.rerank(lambda url_id, _depth: -url_id)
    assert [task.id for task in lease(frontier, 1).tasks] == [3]


def test_requeued_page_waits_for_another_visit(frontier: Frontier) -> None:
    (task,) = lease(frontier, 1).tasks
    (held,) = frontier.find_held_leases([(task.id, task.token)]).values()
    frontier.complete([LeaseOutcome(held, UrlState.VISITED)])
    frontier.requeue([task.id, task.id])
    assert frontier.queue.count_queued() == 3


def test_host_resolved_later_waits_for_the_delay_of_its_address(frontier: Frontier) -> None:
    frontier.enqueue([FrontierEntry(CandidateUrl(Url("http://b.org/")), UrlState.QUEUED)], 0.0)
    frontier.delay_host(1, 50.0, Reason.NONE)
    frontier.hosts.set_addresses(2, ["192.0.2.1"], 1e12, 40.0)
    assert frontier.find_ready_hosts(["w"], 49.0) == []
    assert len(frontier.find_ready_hosts(["w"], 51.0)) == 1


def test_back_off_of_another_host_does_not_delay_a_host_resolved_later(frontier: Frontier) -> None:
    frontier.enqueue([FrontierEntry(CandidateUrl(Url("http://b.org/")), UrlState.QUEUED)], 0.0)
    frontier.delay_host(1, 50.0, Reason.RATE_LIMITED)
    frontier.hosts.set_addresses(2, ["192.0.2.1"], 1e12, 40.0)
    assert [host.id for host in frontier.find_ready_hosts(["w"], 41.0)] == [2]


def test_hosts_of_a_lost_worker_wait_for_their_crawl_delay(frontier: Frontier) -> None:
    lease(frontier, 1)
    frontier.db.execute("UPDATE hosts SET crawl_delay = 5")
    frontier.delay_leased_hosts(10.0, "another")
    frontier.delay_leased_hosts(10.0, "w")
    assert frontier.db.execute("SELECT next_request_at FROM hosts").fetchall() == [(15.0,)]
