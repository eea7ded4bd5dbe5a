from collections.abc import Iterator
from pathlib import Path

import pytest

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


def add(db: Connection, *urls: str, known: bool = True, address: str = "") -> None:
    """Queue URLs in this order; their hosts are resolved and have no robots rules."""
    UrlStore(db).insert_and_enqueue(
        [FrontierEntry(CandidateUrl(Url(url), rank=float(n)), UrlState.QUEUED) for n, url in enumerate(urls)], 0
    )
    for id_, name in db.execute("SELECT id, name FROM hosts").fetchall():
        HostStore(db).set_addresses(id_, [address or f"192.0.2.{id_}"], 1e9)
        if known:
            HostStore(db).store_robots(RobotsTxt(name, 404, b"", 0, 1e9), 1, 0)


def taken(queue: UrlQueue, migrant: str, now: float, room: int = 10) -> list[str]:
    return [stop.url for trip in queue.lease_urls(migrant, room, now) for stop in trip.tasks]


def leases_of(db: Connection) -> list[Lease]:
    return [Lease(*row) for row in db.execute("SELECT url, host, rank, token FROM leases ORDER BY url").fetchall()]


def test_the_best_rank_goes_first_and_room_is_kept(db: Connection) -> None:
    add(db, "http://a/1", "http://a/2", "http://a/3")
    assert taken(UrlQueue(db, FAST), "m", 0, room=2) == ["http://a/1", "http://a/2"]


def test_no_two_migrants_knock_at_a_host_that_wants_pauses(db: Connection) -> None:
    add(db, "http://a/1", "http://a/2", "http://b/1")
    queue = UrlQueue(db, Politeness(delay_seconds=5))
    assert taken(queue, "m1", 0) == ["http://a/1", "http://a/2", "http://b/1"]
    add(db, "http://a/3")
    assert taken(queue, "m2", 0) == []


def test_hosts_at_one_address_are_asked_as_one(db: Connection) -> None:
    add(db, "http://a/1", "http://b/1", address="192.0.2.1")
    queue = UrlQueue(db, Politeness(delay_seconds=5))
    assert taken(queue, "m1", 0) == ["http://a/1"]
    assert taken(queue, "m2", 0) == []


def test_several_migrants_share_a_host_of_our_own(db: Connection) -> None:
    add(db, "http://a/1", "http://a/2")
    queue = UrlQueue(db, FAST)
    assert taken(queue, "m1", 0, room=1) == ["http://a/1"]
    assert taken(queue, "m2", 0, room=1) == ["http://a/2"]


def test_a_host_is_held_by_one_until_its_robots_txt_is_known(db: Connection) -> None:
    add(db, *(f"http://a/{n}" for n in range(20)), known=False)
    queue = UrlQueue(db, FAST)
    first = queue.lease_urls("m1", 100, 0)
    assert first[0].robots is None
    assert len(first[0].tasks) == 8
    assert taken(queue, "m2", 0) == []


def test_a_lost_migrant_gives_its_urls_back(db: Connection) -> None:
    add(db, "http://a/1")
    queue = UrlQueue(db, FAST)
    assert taken(queue, "m1", 0) == ["http://a/1"]
    assert taken(queue, "m2", 1) == []
    assert queue.release_after_crash("m1") == (1, 0)
    assert taken(queue, "m2", 1) == ["http://a/1"]


def test_a_lease_lives_on_with_the_heartbeats_of_its_holder(db: Connection) -> None:
    add(db, "http://a/1")
    queue = UrlQueue(db, FAST)
    taken(queue, "m1", 0)
    (before,) = db.execute("SELECT until FROM leases").fetchone()
    queue.renew_leases("m2", LEASE_SECONDS)
    assert db.execute("SELECT until FROM leases").fetchone() == (before,)
    queue.renew_leases("m1", LEASE_SECONDS)
    assert db.execute("SELECT until FROM leases").fetchone() == (2 * LEASE_SECONDS,)


def test_a_late_result_is_fenced_off(db: Connection) -> None:
    add(db, "http://a/1")
    queue = UrlQueue(db, FAST)
    (slow,) = (stop for trip in queue.lease_urls("m1", 1, 0) for stop in trip.tasks)
    queue.release_leases("m1")
    (quick,) = (stop for trip in queue.lease_urls("m2", 1, 0) for stop in trip.tasks)
    assert quick.token > slow.token
    assert queue.find_held_leases([(slow.id, slow.token)]) == {}
    assert list(queue.find_held_leases([(quick.id, quick.token)])) == [quick.id]


def test_a_page_that_kills_migrants_is_given_up(db: Connection) -> None:
    add(db, "http://a/1")
    queue = UrlQueue(db, FAST)
    for _ in range(10):
        for trip in queue.lease_urls("m", 10, 0):
            queue.isolated_tokens["m"] = trip.tasks[0].token if trip.tasks[0].is_suspect else 0
        queue.release_after_crash("m")
    assert db.execute("SELECT state, reason FROM urls").fetchall() == [("failed", "migrant_lost")]
    assert queue.count_queued() == 0


def test_what_a_lost_migrant_had_not_begun_is_not_to_blame(db: Connection) -> None:
    add(db, *(f"http://{host}/{n}" for host in "ab" for n in range(9)))
    queue = UrlQueue(db, FAST)
    for _ in range(20):
        assert len(taken(queue, "m", 0, room=99)) == 18
        assert queue.release_after_crash("m") == (18, 0)
    rows = db.execute("SELECT losses, count(*) FROM urls GROUP BY losses ORDER BY losses").fetchall()
    assert rows == [(0, 10), (SUSPECT_LOSSES, 8)]  # of each host what four connections may have begun


def test_a_suspect_that_complains_gets_all_its_retries(db: Connection) -> None:
    add(db, "http://a/1")
    queue = UrlQueue(db, FAST)
    for _ in range(SUSPECT_LOSSES - 1):
        taken(queue, "m", 0)
        queue.release_after_crash("m")
    for attempts in range(2):
        (trip,) = queue.lease_urls("m", 1, 1000)
        assert trip.tasks[0].attempts == attempts
        (lease,) = leases_of(db)
        closing = decide_lease_outcome(visit(Outcome.RETRY, Reason.SERVER_ERROR, 503), lease, trip.tasks[0].attempts, 2)
        assert closing.state is UrlState.QUEUED
        queue.complete_leases([closing])
    (trip,) = queue.lease_urls("m", 1, 1000)
    assert not trip.tasks[0].is_suspect, "trouble with its server makes nobody more of a suspect"
    queue.release_after_crash("m")
    (trip,) = queue.lease_urls("m", 1, 1000)
    assert trip.tasks[0].is_suspect


def test_a_page_of_which_nobody_was_lost_is_no_suspect_however_often_it_failed(db: Connection) -> None:
    add(db, "http://a/1")
    queue = UrlQueue(db, FAST)
    for attempts in range(9):
        (trip,) = queue.lease_urls("m", 1, 1000)
        assert not trip.tasks[0].is_suspect
        queue.complete_leases(
            [LeaseOutcome(leases_of(db)[0], UrlState.QUEUED, Reason.SERVER_ERROR, attempts=attempts + 1)]
        )


def test_a_visit_in_another_session_begins_without_suspicion(db: Connection) -> None:
    add(db, "http://a/1")
    queue = UrlQueue(db, FAST)
    for _ in range(SUSPECT_LOSSES):
        taken(queue, "m", 0)
        queue.release_after_crash("m")
    taken(queue, "m", 0)
    queue.complete_leases([LeaseOutcome(leases_of(db)[0], UrlState.VISITED)])
    requeue_pages(db, [1])
    (trip,) = queue.lease_urls("m", 1, 0)
    assert not trip.tasks[0].is_suspect


def test_a_frontier_of_an_older_version_goes_on(tmp_path: Path) -> None:
    db = connect_sqlite(tmp_path / "old.db")
    apply_migrations(db, {"frontier": MIGRATIONS[:4]})
    add(db, "http://a/1", known=False)
    db.execute("UPDATE hosts SET robots_status = 200, robots_until = 1e9, pause = 2")
    db.execute("UPDATE urls SET attempts = 2")
    apply_migrations(db, {"frontier": MIGRATIONS})
    queue = UrlQueue(db, FAST)
    (trip,) = queue.lease_urls("m", 1, 1000)
    assert (trip.tasks[0].attempts, trip.tasks[0].losses) == (0, 0), "nobody knows what it was two of"
    queue.release_after_crash("m")
    (trip,) = queue.lease_urls("m", 1, 1000)
    assert (trip.tasks[0].attempts, trip.tasks[0].losses) == (0, 1)
    assert db.execute("SELECT pause, wish FROM hosts").fetchone() == (2, 2), "what its robots.txt asks for"
    db.close()


def test_a_retried_page_waits_without_holding_its_host(db: Connection) -> None:
    add(db, "http://a/1", "http://a/2")
    queue = UrlQueue(db, FAST)
    taken(queue, "m", 0, room=1)
    (lease,) = leases_of(db)
    queue.complete_leases([LeaseOutcome(lease, UrlState.QUEUED, Reason.SERVER_ERROR, attempts=1, ready_at=50)])
    assert taken(queue, "m", 1) == ["http://a/2"]
    assert taken(queue, "m", 2) == []
    assert taken(queue, "m", 51) == ["http://a/1"]


def test_a_held_host_is_left_alone_with_all_hosts_at_its_address(db: Connection) -> None:
    add(db, "http://a/1", "http://b/1", address="192.0.2.1")
    HostStore(db).delay_address(1, 100, Reason.RATE_LIMITED)
    queue = UrlQueue(db, FAST)
    assert taken(queue, "m", 99) == []
    assert len(taken(queue, "m", 101)) == 2


def test_what_a_host_asked_for_beats_doubling_and_a_day_is_the_cap() -> None:
    assert 60 <= compute_backoff(0, 60) <= 66
    assert 240 <= compute_backoff(2, 60) <= 264
    assert 7 <= compute_backoff(0, 60, retry_after=7) <= 7.7
    assert 60 <= compute_backoff(1, 60, retry_after=7) <= 66  # it complained again after the rest it asked for
    assert 999 <= compute_backoff(1, 60, retry_after=999) <= 1100
    assert compute_backoff(50, 60) <= 86_400 * 1.1


def test_a_host_that_complained_of_our_pace_is_asked_more_slowly_by_one_until_it_was_quiet_for_long(
    db: Connection,
) -> None:
    add(db, *(f"http://a/{n}" for n in range(9)))
    queue, hosts = UrlQueue(db, FAST), HostStore(db)
    (trip,) = queue.lease_urls("m1", 1, 0)
    assert trip.delay_seconds == 0
    assert [hosts.slow_down(1, urls, 0, 0) for urls in ({7}, {7}, {7, 8}, {8}, {7})] == [0, 0, 0.05, 0.1, 0.2]
    assert hosts.slow_down(1, {9}, 0, 20) == 0.4
    assert hosts.slow_down(1, {9}, 0, 20) == 0.4, "that page always says so"
    hosts.store_robots(RobotsTxt(Host("http://a"), 200, b"", 0, 1e9), 1, 0, crawl_delay=0.3)  # its own wish is less
    queue.release_leases("m1")
    (trip,) = queue.lease_urls("m1", 1, 30)
    assert trip.delay_seconds == 0.4
    assert taken(queue, "m2", 30) == []
    hosts.update_after_responses({1: 20 + DELAY_HALF_LIFE_SECONDS}, 0, ())
    queue.release_leases("m1")
    (trip,) = queue.lease_urls("m1", 1, 30 + DELAY_HALF_LIFE_SECONDS)
    assert trip.delay_seconds == 0.2
    assert db.execute("SELECT pause FROM hosts").fetchone() == (0.3,)


def visit(outcome: Outcome, reason: Reason = Reason.NONE, status: int = 200) -> Visit:
    return Visit(1, 1, Url("http://a/"), outcome, 100.0, reason, status=status)


def test_a_visit_ends_its_lease_or_is_tried_again() -> None:
    lease = Lease(1, 1, 0.0, 1)
    assert decide_lease_outcome(visit(Outcome.FETCHED), lease, 0, 2).state is UrlState.VISITED
    assert decide_lease_outcome(visit(Outcome.GONE, status=404), lease, 0, 2).state is UrlState.GONE
    again = decide_lease_outcome(visit(Outcome.RETRY, Reason.SERVER_ERROR, 500), lease, 1, 2)
    assert (again.state, again.attempts, again.ready_at) == (UrlState.QUEUED, 2, 110.0)
    assert decide_lease_outcome(visit(Outcome.RETRY, Reason.SERVER_ERROR, 500), lease, 2, 2).state is UrlState.FAILED
    assert decide_lease_outcome(visit(Outcome.RETURNED), lease, 1, 2).attempts == 1


def test_only_complaints_and_silence_count_against_a_host() -> None:
    assert classify_host_signal(visit(Outcome.RETRY, Reason.RATE_LIMITED, 429)).is_rate_limited
    assert classify_host_signal(visit(Outcome.RETRY, Reason.CONNECT, 0)).is_unreachable
    assert not classify_host_signal(visit(Outcome.GONE, status=404)).is_unreachable


def test_condemned_hosts_lose_their_queue_and_are_pardoned_later(db: Connection) -> None:
    add(db, "http://a/1", "http://a/2")
    hosts = HostStore(db)
    assert hosts.give_up(1, Reason.DNS, UrlState.FAILED) == 2
    assert hosts.find_failed_hosts([Host("http://a")]) == {"http://a": Reason.DNS}
    assert taken(UrlQueue(db, FAST), "m", 0) == []
    hosts.reset_failed_hosts()
    assert hosts.find_failed_hosts([Host("http://a")]) == {}


@pytest.mark.parametrize(
    ("reason", "state"), [(Reason.CONNECT, UrlState.FAILED), (Reason.ROBOTS_UNREACHABLE, UrlState.SKIPPED)]
)
def test_urls_returned_to_a_given_up_host_end_with_its_reason(db: Connection, reason: Reason, state: UrlState) -> None:
    add(db, "http://a/1", "http://a/2", "http://b/1")
    hosts, queue = HostStore(db), UrlQueue(db, FAST)
    queue.lease_urls("w", 1, 0)
    hosts.give_up(1, reason, state)
    queue.release_after_crash("w")
    assert hosts.drop_urls_of_failed_hosts() == {state: 1}
    assert queue.count_queued() == 1  # the URL of the other host
    assert db.execute("SELECT count(*) FROM urls WHERE host = 1 AND state = 'queued'").fetchone() == (0,)
    assert hosts.drop_urls_of_failed_hosts() == {}


def test_robots_out_of_reach_are_tried_three_times(db: Connection) -> None:
    add(db, "http://a/1", known=False)
    hosts = HostStore(db)
    silence = RobotsTxt(Host("http://a"), 0, b"", 0, 0)
    assert [hosts.store_robots(silence, 1, 0) for _ in range(3)] == [True, True, False]


def test_a_robots_txt_out_of_reach_keeps_us_from_no_other_host_at_its_address(db: Connection) -> None:
    add(db, "http://a/1", "https://a/1", address="192.0.2.1")
    HostStore(db).store_robots(RobotsTxt(Host("https://a"), 0, b"", 0, 0), 60, 0)  # its certificate, for one
    assert taken(UrlQueue(db, FAST), "m", 0) == ["http://a/1"]
    assert taken(UrlQueue(db, FAST), "m", 70) == ["https://a/1"]


def test_a_host_that_asked_for_rest_has_it_though_its_robots_txt_cannot_be_had(db: Connection) -> None:
    add(db, "http://a/1")
    hosts = HostStore(db)
    hosts.delay_address(1, 3600, Reason.RATE_LIMITED)
    while hosts.store_robots(RobotsTxt(Host("http://a"), 0, b"", 0, 0), 1, 0):  # asked for before the host complained
        pass
    hosts.give_up(1, Reason.ROBOTS_UNREACHABLE, UrlState.SKIPPED)
    hosts.reset_failed_hosts()
    assert db.execute("SELECT open_at FROM hosts").fetchone() == (3600,)


def queued(db: Connection, ranks: dict[str, float]) -> None:
    """Queue URLs with these ranks; their hosts are ready."""
    UrlStore(db).insert_and_enqueue(
        [FrontierEntry(CandidateUrl(Url(url), rank=rank), UrlState.QUEUED) for url, rank in ranks.items()], 0
    )
    for id_, name in db.execute("SELECT id, name FROM hosts").fetchall():
        HostStore(db).set_addresses(id_, [f"192.0.2.{id_}"], 1e9)
        HostStore(db).store_robots(RobotsTxt(name, 404, b"", 0, 1e9), 1, 0)


def test_without_pauses_the_best_urls_of_all_hosts_go_first(db: Connection) -> None:
    queued(db, {"http://a/1": 1, "http://a/2": 5, "http://b/1": 2, "http://b/2": 3, "http://c/1": 9})
    assert set(taken(UrlQueue(db, FAST), "m", 0, room=3)) == {"http://a/1", "http://b/1", "http://b/2"}


def test_of_many_hosts_that_want_pauses_the_one_with_the_best_url_goes_first(db: Connection) -> None:
    queued(db, {"http://a/1": 5, "http://b/1": 2})
    assert taken(UrlQueue(db, Politeness(delay_seconds=5)), "m", 0, room=1) == ["http://b/1"]


def test_of_many_hosts_that_want_pauses_each_gets_its_turn(db: Connection) -> None:
    queued(db, {f"http://{host}/{n}": n for host in "abc" for n in range(9)})
    found = taken(UrlQueue(db, Politeness(delay_seconds=1)), "m", 0, room=8)
    assert sorted(found) == [f"http://{host}/{n}" for host in "abc" for n in range(2)]


def test_a_host_whose_robots_txt_asks_for_pauses_has_them_whoever_comes_and_however_fast_we_are(
    db: Connection,
) -> None:
    add(db, *(f"http://a/{n}" for n in range(9)))
    HostStore(db).store_robots(RobotsTxt(Host("http://a"), 200, b"", 0, 1e9), 1, 0, crawl_delay=4.0)
    queue = UrlQueue(db, FAST)
    assert len(taken(queue, "m1", 0)) == 2, "what it answers in ten seconds"
    assert taken(queue, "m2", 0) == [], "one at a time"
    done = leases_of(db)
    queue.complete_leases([LeaseOutcome(lease, UrlState.VISITED) for lease in done])
    HostStore(db).update_after_responses({done[0].host_id: 10.0}, 0.0, ())
    assert taken(queue, "m2", 13.9) == []
    assert len(taken(queue, "m2", 14.0)) == 2


def test_a_slow_host_rests_longer_and_others_at_its_address_do_not(db: Connection) -> None:
    add(db, "http://a/1", "http://b/1", address="192.0.2.1")
    HostStore(db).update_after_responses({1: 10.0}, 1.0, (), {1: 25.0})
    queue = UrlQueue(db, Politeness(delay_seconds=1.0))
    assert taken(queue, "m", 10.9) == []
    assert taken(queue, "m", 11.0) == ["http://b/1"]
    queue.complete_leases([LeaseOutcome(lease, UrlState.VISITED) for lease in leases_of(db)])
    assert taken(queue, "m", 24.9) == []
    assert taken(queue, "m", 25.0) == ["http://a/1"]


def test_the_reason_of_a_long_wait_stays_when_a_short_one_is_asked_for(db: Connection) -> None:
    add(db, "http://a/1")
    HostStore(db).delay_address(1, 100, Reason.RATE_LIMITED)
    HostStore(db).update_after_responses({1: 10.0}, 1.0, (1,))
    assert db.execute("SELECT open_at, hold FROM hosts").fetchall() == [(100, "rate_limited")]


def test_a_clock_that_is_set_back_makes_nobody_wait_for_what_it_showed(db: Connection) -> None:
    add(db, "http://a/1", "http://b/1", "http://c/1", "http://d/1")
    hosts = HostStore(db)
    hosts.update_after_responses({1: 5000.0, 4: 1000.0}, 1.0, ())
    hosts.delay_address(2, 5060.0, Reason.RATE_LIMITED)
    hosts.delay_address(3, 1060.0, Reason.RATE_LIMITED)
    db.execute("UPDATE queue SET ready_at = 5010 WHERE url = 3")
    hosts.shift_clock(1000.0, 4000.0, max_delay=30.0)
    assert [at for (at,) in db.execute("SELECT open_at FROM hosts ORDER BY id")] == [1030.0, 1060.0, 1060.0, 1001.0]
    assert db.execute("SELECT max(ready_at) FROM queue").fetchone() == (1010.0,)


def test_robots_of_a_time_that_is_yet_to_come_are_read_again(db: Connection) -> None:
    add(db, "http://a/1", "http://b/1")
    hosts = HostStore(db)
    for is_running in (True, False):
        hosts.store_robots(RobotsTxt(Host("http://a"), 200, b"", 5000.0, 91_400.0), 1.0, 5000.0)
        hosts.store_robots(RobotsTxt(Host("http://b"), 200, b"", 900.0, 87_300.0), 1.0, 900.0)
        hosts.shift_clock(1000.0, 4000.0, max_delay=30.0) if is_running else hosts.repair_clock(1000.0)
        assert db.execute("SELECT robots_until FROM hosts ORDER BY id").fetchall() == [(0,), (87_300,)]


def test_a_long_delay_that_was_asked_for_outlasts_the_next_start(db: Connection) -> None:
    add(db, "http://a/1")
    hosts = HostStore(db)
    hosts.update_after_responses({1: 1000.0}, 7200.0, ())
    hosts.repair_clock(1001.0, 7200.0)
    assert hosts.get_next_ready_time() == 8200.0
    hosts.repair_clock(900.0, 7200.0)
    assert hosts.get_next_ready_time() == 0.0


def test_larger_sites_go_first_if_they_are_favoured(db: Connection) -> None:
    queued(db, {"http://a/1": 0, "http://b/1": 7, "http://b/2": 8})
    assert taken(UrlQueue(db, FAST, HostPreference.LARGEST), "m", 0, room=1) == ["http://b/1"]


def test_of_hosts_whose_urls_are_alike_the_one_with_most_waiting_goes_first(db: Connection) -> None:
    queued(db, {"http://a/1": 1.0, "http://b/1": 1.0, "http://b/2": 1.0, "http://c/1": 0.0})
    doors = UrlQueue(db, Politeness(delay_seconds=5)).find_ready_hosts(["m"], 0)
    assert [door.host for door in doors] == ["http://c", "http://b", "http://a"]


def test_what_is_unseen_of_a_host_counts_for_its_urls(db: Connection) -> None:
    queued(db, {f"http://large/{n}": 2.0 for n in range(50)} | {"http://small/1": 1.0})
    db.execute("UPDATE hosts SET visited = 10")
    assert taken(UrlQueue(db, FAST, HostPreference.BEST), "m", 0, room=1) == ["http://small/1"]
    assert taken(UrlQueue(db, FAST, HostPreference.UNSEEN), "n", 0, room=1) == ["http://large/0"]


def test_no_host_is_left_unseen_however_poor_its_urls(db: Connection) -> None:
    queued(db, {f"http://rich/{n}": -9.0 for n in range(50)} | {"http://poor/1": 99.0})
    assert "http://poor/1" in taken(UrlQueue(db, FAST, HostPreference.UNSEEN), "m", 0, room=8)


def test_visited_pages_are_counted_by_host(db: Connection) -> None:
    queued(db, {"http://a/1": 1, "http://a/2": 2})
    queue = UrlQueue(db, FAST)
    taken(queue, "m", 0)
    first, second = leases_of(db)
    queue.complete_leases([LeaseOutcome(first, UrlState.VISITED), LeaseOutcome(second, UrlState.GONE)])
    assert db.execute("SELECT visited, leased FROM hosts").fetchone() == (1, 0)
