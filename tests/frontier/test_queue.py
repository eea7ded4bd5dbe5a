from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.frontier import lease_urls

from sanderling.db.connection import Connection, apply_migrations, connect_sqlite
from sanderling.db.schema.frontier import MIGRATIONS
from sanderling.frontier.hosts import HostStore, compute_backoff
from sanderling.frontier.lease_outcome import classify_host_signal, decide_lease_outcome
from sanderling.frontier.leases import Lease, LeaseOutcome
from sanderling.frontier.ordering.protocol import HostPreference
from sanderling.frontier.politeness import DELAY_HALF_LIFE_SECONDS, LEASE_SECONDS, Politeness
from sanderling.frontier.queue import UrlQueue
from sanderling.frontier.requeue import requeue_pages
from sanderling.frontier.url_store import FrontierEntry, UrlStore
from sanderling.models import SUSPECT_LOSSES, CandidateUrl, Host, Outcome, Reason, RobotsTxt, Url, UrlState, Visit

FAST = Politeness(delay_seconds=0, connections=4, allows_sharing=True)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Connection]:
    db = connect_sqlite(tmp_path / "x.db")
    apply_migrations(db, {"frontier": MIGRATIONS})
    yield db
    db.close()


def add(db: Connection, *urls: str, has_robots: bool = True, address: str = "") -> None:
    """Enqueue URLs in this order; their hosts are resolved and have no robots.txt rules."""
    UrlStore(db).insert_and_enqueue(
        [FrontierEntry(CandidateUrl(Url(url), rank=float(n)), UrlState.QUEUED) for n, url in enumerate(urls)], 0
    )
    for id_, name in db.execute("SELECT id, name FROM hosts").fetchall():
        HostStore(db).set_addresses(id_, [address or f"192.0.2.{id_}"], 1e9)
        if has_robots:
            HostStore(db).store_robots(RobotsTxt(name, 404, b"", 0, 1e9), 1, 0)


def lease_all(queue: UrlQueue, worker: str, now: float, limit: int = 10) -> list[str]:
    return [task.url for batch in lease_urls(queue, worker, limit, now) for task in batch.tasks]


def load_leases(db: Connection) -> list[Lease]:
    return [Lease(*row) for row in db.execute("SELECT url, host, rank, token FROM leases ORDER BY url").fetchall()]


def test_best_rank_is_leased_first_up_to_the_limit(db: Connection) -> None:
    add(db, "http://a/1", "http://a/2", "http://a/3")
    assert lease_all(UrlQueue(db, FAST), "m", 0, limit=2) == ["http://a/1", "http://a/2"]


def test_delayed_host_is_leased_to_a_single_worker(db: Connection) -> None:
    add(db, "http://a/1", "http://a/2", "http://b/1")
    queue = UrlQueue(db, Politeness(delay_seconds=5))
    assert lease_all(queue, "m1", 0) == ["http://a/1", "http://a/2", "http://b/1"]
    add(db, "http://a/3")
    assert lease_all(queue, "m2", 0) == []


def test_hosts_at_the_same_address_share_the_delay(db: Connection) -> None:
    add(db, "http://a/1", "http://b/1", address="192.0.2.1")
    queue = UrlQueue(db, Politeness(delay_seconds=5))
    assert lease_all(queue, "m1", 0) == ["http://a/1"]
    assert lease_all(queue, "m2", 0) == []


def test_shared_host_is_leased_to_several_workers(db: Connection) -> None:
    add(db, "http://a/1", "http://a/2")
    queue = UrlQueue(db, FAST)
    assert lease_all(queue, "m1", 0, limit=1) == ["http://a/1"]
    assert lease_all(queue, "m2", 0, limit=1) == ["http://a/2"]


def test_host_without_robots_txt_is_leased_to_a_single_worker(db: Connection) -> None:
    add(db, *(f"http://a/{n}" for n in range(20)), has_robots=False)
    queue = UrlQueue(db, FAST)
    first = lease_urls(queue, "m1", 100, 0)
    assert first[0].robots is None
    assert len(first[0].tasks) == 8
    assert lease_all(queue, "m2", 0) == []


def test_urls_of_a_crashed_worker_are_requeued(db: Connection) -> None:
    add(db, "http://a/1")
    queue = UrlQueue(db, FAST)
    assert lease_all(queue, "m1", 0) == ["http://a/1"]
    assert lease_all(queue, "m2", 1) == []
    assert queue.release_after_crash("m1") == (1, 0)
    assert lease_all(queue, "m2", 1) == ["http://a/1"]


def test_heartbeat_renews_leases_of_its_worker(db: Connection) -> None:
    add(db, "http://a/1")
    queue = UrlQueue(db, FAST)
    lease_all(queue, "m1", 0)
    (before,) = db.execute("SELECT until FROM leases").fetchone()
    queue.renew_leases("m2", LEASE_SECONDS)
    assert db.execute("SELECT until FROM leases").fetchone() == (before,)
    queue.renew_leases("m1", LEASE_SECONDS)
    assert db.execute("SELECT until FROM leases").fetchone() == (2 * LEASE_SECONDS,)


def test_late_result_is_fenced_off(db: Connection) -> None:
    add(db, "http://a/1")
    queue = UrlQueue(db, FAST)
    (late,) = (task for batch in lease_urls(queue, "m1", 1, 0) for task in batch.tasks)
    queue.release_leases("m1")
    (current,) = (task for batch in lease_urls(queue, "m2", 1, 0) for task in batch.tasks)
    assert current.token > late.token
    assert queue.find_held_leases([(late.id, late.token)]) == {}
    assert list(queue.find_held_leases([(current.id, current.token)])) == [current.id]


def test_page_that_crashes_workers_is_given_up(db: Connection) -> None:
    add(db, "http://a/1")
    queue = UrlQueue(db, FAST)
    for _ in range(10):
        for batch in lease_urls(queue, "m", 10, 0):
            queue.isolated_tokens["m"] = batch.tasks[0].token if batch.tasks[0].is_suspect else 0
        queue.release_after_crash("m")
    assert db.execute("SELECT state, reason FROM urls").fetchall() == [("failed", "worker_lost")]
    assert queue.count_queued() == 0


def test_unstarted_urls_of_a_crashed_worker_are_not_suspects(db: Connection) -> None:
    add(db, *(f"http://{host}/{n}" for host in "ab" for n in range(9)))
    queue = UrlQueue(db, FAST)
    for _ in range(20):
        assert len(lease_all(queue, "m", 0, limit=99)) == 18
        assert queue.release_after_crash("m") == (18, 0)
    rows = db.execute("SELECT losses, count(*) FROM urls GROUP BY losses ORDER BY losses").fetchall()
    assert rows == [(0, 10), (SUSPECT_LOSSES, 8)]  # per host: what four connections may have started


def test_server_errors_do_not_make_a_suspect(db: Connection) -> None:
    add(db, "http://a/1")
    queue = UrlQueue(db, FAST)
    for _ in range(SUSPECT_LOSSES - 1):
        lease_all(queue, "m", 0)
        queue.release_after_crash("m")
    for attempts in range(2):
        (batch,) = lease_urls(queue, "m", 1, 1000)
        assert batch.tasks[0].attempts == attempts
        (lease,) = load_leases(db)
        outcome = decide_lease_outcome(
            build_visit(Outcome.RETRY, Reason.SERVER_ERROR, 503), lease, batch.tasks[0].attempts, 2
        )
        assert outcome.state is UrlState.QUEUED
        queue.complete_leases([outcome])
    (batch,) = lease_urls(queue, "m", 1, 1000)
    assert not batch.tasks[0].is_suspect, "server errors do not count as crashes"
    queue.release_after_crash("m")
    (batch,) = lease_urls(queue, "m", 1, 1000)
    assert batch.tasks[0].is_suspect


def test_failures_without_crash_do_not_make_a_suspect(db: Connection) -> None:
    add(db, "http://a/1")
    queue = UrlQueue(db, FAST)
    for attempts in range(9):
        (batch,) = lease_urls(queue, "m", 1, 1000)
        assert not batch.tasks[0].is_suspect
        queue.complete_leases(
            [LeaseOutcome(load_leases(db)[0], UrlState.QUEUED, Reason.SERVER_ERROR, attempts=attempts + 1)]
        )


def test_revisit_resets_losses(db: Connection) -> None:
    add(db, "http://a/1")
    queue = UrlQueue(db, FAST)
    for _ in range(SUSPECT_LOSSES):
        lease_all(queue, "m", 0)
        queue.release_after_crash("m")
    lease_all(queue, "m", 0)
    queue.complete_leases([LeaseOutcome(load_leases(db)[0], UrlState.VISITED)])
    requeue_pages(db, [1])
    (batch,) = lease_urls(queue, "m", 1, 0)
    assert not batch.tasks[0].is_suspect


def test_older_frontier_is_migrated(tmp_path: Path) -> None:
    db = connect_sqlite(tmp_path / "old.db")
    apply_migrations(db, {"frontier": MIGRATIONS[:4]})
    db.execute(
        "INSERT INTO hosts (name, addresses, place, resolved_until, waiting, robots_status, robots_until, pause)"
        " VALUES ('http://a', '127.0.0.1', '127.0.0.1', 1e9, 1, 200, 1e9, 2)"
    )
    db.execute(
        "INSERT INTO urls (host, path, wire, state, reason, depth, source, via, hops, found_at, attempts)"
        " VALUES (1, '/1', '', 'queued', '', 0, 'seed', 0, 0, 0, 2)"
    )
    db.execute("INSERT INTO queue (url, host, rank) VALUES (1, 1, 0)")
    apply_migrations(db, {"frontier": MIGRATIONS})
    queue = UrlQueue(db, FAST)
    (batch,) = lease_urls(queue, "m", 1, 1000)
    assert (batch.tasks[0].attempts, batch.tasks[0].losses) == (0, 0), "the old counter mixed attempts and losses"
    queue.release_after_crash("m")
    (batch,) = lease_urls(queue, "m", 1, 1000)
    assert (batch.tasks[0].attempts, batch.tasks[0].losses) == (0, 1)
    assert db.execute("SELECT crawl_delay, robots_delay FROM hosts").fetchone() == (2, 2), (
        "the Crawl-delay of robots.txt"
    )
    db.close()


def test_retry_delay_does_not_block_the_host(db: Connection) -> None:
    add(db, "http://a/1", "http://a/2")
    queue = UrlQueue(db, FAST)
    lease_all(queue, "m", 0, limit=1)
    (lease,) = load_leases(db)
    queue.complete_leases([LeaseOutcome(lease, UrlState.QUEUED, Reason.SERVER_ERROR, attempts=1, ready_at=50)])
    assert lease_all(queue, "m", 1) == ["http://a/2"]
    assert lease_all(queue, "m", 2) == []
    assert lease_all(queue, "m", 51) == ["http://a/1"]


def test_backoff_applies_to_all_hosts_at_the_address(db: Connection) -> None:
    add(db, "http://a/1", "http://b/1", address="192.0.2.1")
    HostStore(db).delay_address(1, 100, Reason.RATE_LIMITED)
    queue = UrlQueue(db, FAST)
    assert lease_all(queue, "m", 99) == []
    assert len(lease_all(queue, "m", 101)) == 2


def test_backoff_grows_and_is_capped_at_a_day() -> None:
    assert 60 <= compute_backoff(0, 60) <= 66
    assert 240 <= compute_backoff(2, 60) <= 264
    assert 7 <= compute_backoff(0, 60, retry_after=7) <= 7.7
    assert 60 <= compute_backoff(1, 60, retry_after=7) <= 66  # rate limited again after its own Retry-After
    assert 999 <= compute_backoff(1, 60, retry_after=999) <= 1100
    assert compute_backoff(50, 60) <= 86_400 * 1.1


def test_learned_delay_grows_with_rate_limits_and_decays(
    db: Connection,
) -> None:
    add(db, *(f"http://a/{n}" for n in range(9)))
    queue, hosts = UrlQueue(db, FAST), HostStore(db)
    (batch,) = lease_urls(queue, "m1", 1, 0)
    assert batch.delay_seconds == 0
    assert [hosts.slow_down(1, urls, 0, 0) for urls in ({7}, {7}, {7, 8}, {8}, {7})] == [0, 0, 0.05, 0.1, 0.2]
    assert hosts.slow_down(1, {9}, 0, 20) == 0.4
    assert hosts.slow_down(1, {9}, 0, 20) == 0.4, "that page is always rate limited"
    hosts.store_robots(
        RobotsTxt(Host("http://a"), 200, b"", 0, 1e9), 1, 0, crawl_delay=0.3
    )  # its Crawl-delay is shorter
    queue.release_leases("m1")
    (batch,) = lease_urls(queue, "m1", 1, 30)
    assert batch.delay_seconds == 0.4
    assert lease_all(queue, "m2", 30) == []
    hosts.update_after_responses({1: 20 + DELAY_HALF_LIFE_SECONDS}, 0, ())
    queue.release_leases("m1")
    (batch,) = lease_urls(queue, "m1", 1, 30 + DELAY_HALF_LIFE_SECONDS)
    assert batch.delay_seconds == 0.2
    assert db.execute("SELECT crawl_delay FROM hosts").fetchone() == (0.3,)


def build_visit(outcome: Outcome, reason: Reason = Reason.NONE, status: int = 200) -> Visit:
    return Visit(1, 1, Url("http://a/"), outcome, 100.0, reason, status=status)


def test_outcome_of_a_visit() -> None:
    lease = Lease(1, 1, 0.0, 1)
    assert decide_lease_outcome(build_visit(Outcome.FETCHED), lease, 0, 2).state is UrlState.VISITED
    assert decide_lease_outcome(build_visit(Outcome.GONE, status=404), lease, 0, 2).state is UrlState.GONE
    retry = decide_lease_outcome(build_visit(Outcome.RETRY, Reason.SERVER_ERROR, 500), lease, 1, 2)
    assert (retry.state, retry.attempts, retry.ready_at) == (UrlState.QUEUED, 2, 110.0)
    assert (
        decide_lease_outcome(build_visit(Outcome.RETRY, Reason.SERVER_ERROR, 500), lease, 2, 2).state is UrlState.FAILED
    )
    assert decide_lease_outcome(build_visit(Outcome.RETURNED), lease, 1, 2).attempts == 1


def test_host_signal_of_a_visit() -> None:
    assert classify_host_signal(build_visit(Outcome.RETRY, Reason.RATE_LIMITED, 429)).is_rate_limited
    assert classify_host_signal(build_visit(Outcome.RETRY, Reason.CONNECT, 0)).is_unreachable
    assert not classify_host_signal(build_visit(Outcome.GONE, status=404)).is_unreachable


def test_given_up_host_loses_its_queue_until_reset(db: Connection) -> None:
    add(db, "http://a/1", "http://a/2")
    hosts = HostStore(db)
    assert hosts.give_up(1, Reason.DNS, UrlState.FAILED) == 2
    assert db.execute("SELECT failure_reason FROM hosts").fetchall() == [(Reason.DNS,)]
    assert lease_all(UrlQueue(db, FAST), "m", 0) == []
    hosts.reset_failed_hosts()
    assert db.execute("SELECT failure_reason FROM hosts").fetchall() == [("",)]


@pytest.mark.parametrize(
    ("reason", "state"), [(Reason.CONNECT, UrlState.FAILED), (Reason.ROBOTS_UNREACHABLE, UrlState.SKIPPED)]
)
def test_urls_returned_to_a_given_up_host_end_with_its_reason(db: Connection, reason: Reason, state: UrlState) -> None:
    add(db, "http://a/1", "http://a/2", "http://b/1")
    hosts, queue = HostStore(db), UrlQueue(db, FAST)
    lease_urls(queue, "w", 1, 0)
    hosts.give_up(1, reason, state)
    queue.release_after_crash("w")
    assert hosts.drop_urls_of_failed_hosts() == {state: 1}
    assert queue.count_queued() == 1  # the URL of the other host
    assert db.execute("SELECT count(*) FROM urls WHERE host = 1 AND state = 'queued'").fetchone() == (0,)
    assert hosts.drop_urls_of_failed_hosts() == {}


def test_unreachable_robots_txt_is_tried_three_times(db: Connection) -> None:
    add(db, "http://a/1", has_robots=False)
    hosts = HostStore(db)
    unreachable = RobotsTxt(Host("http://a"), 0, b"", 0, 0)
    assert [hosts.store_robots(unreachable, 1, 0) for _ in range(3)] == [True, True, False]


def test_unreachable_robots_txt_does_not_delay_other_hosts_at_the_address(db: Connection) -> None:
    add(db, "http://a/1", "https://a/1", address="192.0.2.1")
    HostStore(db).store_robots(RobotsTxt(Host("https://a"), 0, b"", 0, 0), 60, 0)  # for example a bad certificate
    assert lease_all(UrlQueue(db, FAST), "m", 0) == ["http://a/1"]
    assert lease_all(UrlQueue(db, FAST), "m", 70) == ["https://a/1"]


def test_retry_after_survives_reset_of_the_host(db: Connection) -> None:
    add(db, "http://a/1")
    hosts = HostStore(db)
    hosts.delay_address(1, 3600, Reason.RATE_LIMITED)
    while hosts.store_robots(RobotsTxt(Host("http://a"), 0, b"", 0, 0), 1, 0):  # requested before the rate limit
        pass
    hosts.give_up(1, Reason.ROBOTS_UNREACHABLE, UrlState.SKIPPED)
    hosts.reset_failed_hosts()
    assert db.execute("SELECT next_request_at FROM hosts").fetchone() == (3600,)


def enqueue(db: Connection, ranks: dict[str, float]) -> None:
    """Enqueue URLs with these ranks; their hosts are ready."""
    UrlStore(db).insert_and_enqueue(
        [FrontierEntry(CandidateUrl(Url(url), rank=rank), UrlState.QUEUED) for url, rank in ranks.items()], 0
    )
    for id_, name in db.execute("SELECT id, name FROM hosts").fetchall():
        HostStore(db).set_addresses(id_, [f"192.0.2.{id_}"], 1e9)
        HostStore(db).store_robots(RobotsTxt(name, 404, b"", 0, 1e9), 1, 0)


def test_best_urls_of_all_hosts_are_leased_without_delay(db: Connection) -> None:
    enqueue(db, {"http://a/1": 1, "http://a/2": 5, "http://b/1": 2, "http://b/2": 3, "http://c/1": 9})
    assert set(lease_all(UrlQueue(db, FAST), "m", 0, limit=3)) == {"http://a/1", "http://b/1", "http://b/2"}


def test_delayed_host_with_the_best_url_goes_first(db: Connection) -> None:
    enqueue(db, {"http://a/1": 5, "http://b/1": 2})
    assert lease_all(UrlQueue(db, Politeness(delay_seconds=5)), "m", 0, limit=1) == ["http://b/1"]


def test_delayed_hosts_get_equal_shares(db: Connection) -> None:
    enqueue(db, {f"http://{host}/{n}": n for host in "abc" for n in range(9)})
    found = lease_all(UrlQueue(db, Politeness(delay_seconds=1)), "m", 0, limit=8)
    assert sorted(found) == [f"http://{host}/{n}" for host in "abc" for n in range(2)]


def test_robots_crawl_delay_overrides_zero_delay(
    db: Connection,
) -> None:
    add(db, *(f"http://a/{n}" for n in range(9)))
    HostStore(db).store_robots(RobotsTxt(Host("http://a"), 200, b"", 0, 1e9), 1, 0, crawl_delay=4.0)
    queue = UrlQueue(db, FAST)
    assert len(lease_all(queue, "m1", 0)) == 2, "ten seconds of work"
    assert lease_all(queue, "m2", 0) == [], "a single worker at a time"
    done = load_leases(db)
    queue.complete_leases([LeaseOutcome(lease, UrlState.VISITED) for lease in done])
    HostStore(db).update_after_responses({done[0].host_id: 10.0}, 0.0, ())
    assert lease_all(queue, "m2", 13.9) == []
    assert len(lease_all(queue, "m2", 14.0)) == 2


def test_slow_host_does_not_delay_others_at_its_address(db: Connection) -> None:
    add(db, "http://a/1", "http://b/1", address="192.0.2.1")
    HostStore(db).update_after_responses({1: 10.0}, 1.0, (), {1: 25.0})
    queue = UrlQueue(db, Politeness(delay_seconds=1.0))
    assert lease_all(queue, "m", 10.9) == []
    assert lease_all(queue, "m", 11.0) == ["http://b/1"]
    queue.complete_leases([LeaseOutcome(lease, UrlState.VISITED) for lease in load_leases(db)])
    assert lease_all(queue, "m", 24.9) == []
    assert lease_all(queue, "m", 25.0) == ["http://a/1"]


def test_shorter_delay_keeps_the_reason_of_a_longer_delay(db: Connection) -> None:
    add(db, "http://a/1")
    HostStore(db).delay_address(1, 100, Reason.RATE_LIMITED)
    HostStore(db).update_after_responses({1: 10.0}, 1.0, (1,))
    assert db.execute("SELECT next_request_at, delay_reason FROM hosts").fetchall() == [(100, "rate_limited")]


def test_clock_set_back_shortens_delays(db: Connection) -> None:
    add(db, "http://a/1", "http://b/1", "http://c/1", "http://d/1")
    hosts = HostStore(db)
    hosts.update_after_responses({1: 5000.0, 4: 1000.0}, 1.0, ())
    hosts.delay_address(2, 5060.0, Reason.RATE_LIMITED)
    hosts.delay_address(3, 1060.0, Reason.RATE_LIMITED)
    db.execute("UPDATE queue SET ready_at = 5010 WHERE url = 3")
    hosts.shift_clock(1000.0, 4000.0, max_delay=30.0)
    assert [at for (at,) in db.execute("SELECT next_request_at FROM hosts ORDER BY id")] == [
        1030.0,
        1060.0,
        1060.0,
        1001.0,
    ]
    assert db.execute("SELECT max(ready_at) FROM queue").fetchone() == (1010.0,)


def test_robots_txt_from_the_future_is_fetched_again(db: Connection) -> None:
    add(db, "http://a/1", "http://b/1")
    hosts = HostStore(db)
    for is_running in (True, False):
        hosts.store_robots(RobotsTxt(Host("http://a"), 200, b"", 5000.0, 91_400.0), 1.0, 5000.0)
        hosts.store_robots(RobotsTxt(Host("http://b"), 200, b"", 900.0, 87_300.0), 1.0, 900.0)
        hosts.shift_clock(1000.0, 4000.0, max_delay=30.0) if is_running else hosts.repair_clock(1000.0)
        assert db.execute("SELECT robots_until FROM hosts ORDER BY id").fetchall() == [(0,), (87_300,)]


def test_long_configured_delay_survives_restart(db: Connection) -> None:
    add(db, "http://a/1")
    hosts = HostStore(db)
    hosts.update_after_responses({1: 1000.0}, 7200.0, ())
    hosts.repair_clock(1001.0, 7200.0)
    assert hosts.get_next_ready_time() == 8200.0
    hosts.repair_clock(900.0, 7200.0)
    assert hosts.get_next_ready_time() == 0.0


def test_largest_site_goes_first_if_preferred(db: Connection) -> None:
    enqueue(db, {"http://a/1": 0, "http://b/1": 7, "http://b/2": 8})
    assert lease_all(UrlQueue(db, FAST, HostPreference.LARGEST), "m", 0, limit=1) == ["http://b/1"]


def test_ties_prefer_the_longest_queue(db: Connection) -> None:
    enqueue(db, {"http://a/1": 1.0, "http://b/1": 1.0, "http://b/2": 1.0, "http://c/1": 0.0})
    hosts = UrlQueue(db, Politeness(delay_seconds=5)).find_ready_hosts(["m"], 0)
    assert [host.host for host in hosts] == ["http://c", "http://b", "http://a"]


def test_unseen_share_of_a_host_raises_its_urls(db: Connection) -> None:
    enqueue(db, {f"http://large/{n}": 2.0 for n in range(50)} | {"http://small/1": 1.0})
    db.execute("UPDATE hosts SET visited = 10")
    assert lease_all(UrlQueue(db, FAST, HostPreference.BEST), "m", 0, limit=1) == ["http://small/1"]
    assert lease_all(UrlQueue(db, FAST, HostPreference.UNSEEN), "n", 0, limit=1) == ["http://large/0"]


def test_every_host_gets_an_equal_minimum_share(db: Connection) -> None:
    enqueue(db, {f"http://rich/{n}": -9.0 for n in range(50)} | {"http://poor/1": 99.0})
    assert "http://poor/1" in lease_all(UrlQueue(db, FAST, HostPreference.UNSEEN), "m", 0, limit=8)


def test_visited_pages_are_counted_per_host(db: Connection) -> None:
    enqueue(db, {"http://a/1": 1, "http://a/2": 2})
    queue = UrlQueue(db, FAST)
    lease_all(queue, "m", 0)
    first, second = load_leases(db)
    queue.complete_leases([LeaseOutcome(first, UrlState.VISITED), LeaseOutcome(second, UrlState.GONE)])
    assert db.execute("SELECT visited, leased FROM hosts").fetchone() == (1, 0)
