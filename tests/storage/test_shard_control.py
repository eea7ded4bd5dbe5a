"""Leases, mail, quotas, and addresses in the control database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.errors import ShardLeaseLost
from sanderling.storage.shard_control import ADDRESS_GRACE_SECONDS, ShardControl, ShardOrders, ShardReport
from sanderling.storage.shard_set import create_shard_set, open_control

LEASE = 10.0


@pytest.fixture
def control(tmp_path: Path) -> Iterator[ShardControl]:
    create_shard_set(tmp_path / "set", 2)
    control = open_control(tmp_path / "set")
    control.begin_run(0)
    yield control
    control.close()


class Member:
    """A shard with a lease."""

    def __init__(self, control: ShardControl, shard: int, now: float = 0.0) -> None:
        self.control, self.shard = control, shard
        self.token = control.acquire_shard(shard, "me", now, LEASE)

    def exchange(self, now: float = 1.0, *, visited: int = 0, finish: str = "", **fields: object) -> ShardOrders:
        report = ShardReport(visited, 0, 0, 0 if finish == "done" else 1000, finish, b"")
        for name, value in fields.items():
            report = type(report)(**{n: getattr(report, n) for n in report.__struct_fields__} | {name: value})
        return self.control.exchange(self.shard, self.token, report, now, LEASE)


def test_shard_has_one_owner_until_its_lease_ends(control: ShardControl) -> None:
    first = Member(control, 0)
    assert first.token
    assert not Member(control, 0, LEASE - 1).token
    first.exchange(5.0)
    assert not Member(control, 0, LEASE + 1).token
    second = Member(control, 0, 5.0 + LEASE)
    assert second.token > first.token
    with pytest.raises(ShardLeaseLost):
        first.exchange(6.0)
    second.exchange(6.0)


def test_mail_is_delivered_until_it_is_applied(control: ShardControl) -> None:
    sender, receiver = Member(control, 0), Member(control, 1)
    for _ in range(2):  # a repeated batch is one batch
        sender.exchange(outgoing={1: [(1, b"one"), (2, b"two")]})
    assert receiver.exchange().incoming == [(0, 1, b"one"), (0, 2, b"two")]
    assert receiver.exchange(applied={0: 1}).incoming == [(0, 2, b"two")]
    assert sender.exchange().applied_by == {1: 1}


def test_crawl_ends_when_all_wait_and_no_mail_is_left(control: ShardControl) -> None:
    first, second = Member(control, 0), Member(control, 1)
    assert first.exchange(finish="done").finish_reason == ""
    second.exchange(outgoing={0: [(1, b"x")]})
    assert second.exchange(finish="done").finish_reason == ""
    assert first.exchange().incoming
    assert first.exchange(applied={1: 1}).finish_reason == ""
    assert first.exchange(finish="done").finish_reason == "done"
    assert second.exchange(finish="done").finish_reason == "done"


def test_page_limit_is_shared_and_never_exceeded(control: ShardControl) -> None:
    control.begin_run(100)
    first, second = Member(control, 0), Member(control, 1)
    assert first.exchange().granted == 0  # the pages of the other are not known yet
    second.exchange(visited=10)
    visited = [0, 10]
    for _ in range(40):
        for number, member in enumerate((first, second)):
            granted = member.exchange(visited=visited[number]).granted
            assert granted + visited[1 - number] <= 100
            visited[number] = granted if number == 0 else min(granted, 30)
    assert visited[1] == 30
    second.exchange(visited=30, finish="done")  # returns what it does not use
    for _ in range(20):
        visited[0] = first.exchange(visited=visited[0]).granted
    assert visited == [70, 30]
    assert first.exchange(visited=70, finish="limit").finish_reason == "limit"


def test_address_has_one_holder_and_is_handed_over_with_its_delay(control: ShardControl) -> None:
    first, second = Member(control, 0), Member(control, 1)
    assert first.exchange(new_addresses=["192.0.2.1"]).held_addresses == {"192.0.2.1": 0.0}
    assert second.exchange(new_addresses=["192.0.2.1"]).held_addresses == {}
    assert first.exchange().recalled_addresses == ["192.0.2.1"]
    first.exchange(released_addresses={"192.0.2.1": 7.5})
    assert second.exchange(wanted_addresses=["192.0.2.1"]).held_addresses == {"192.0.2.1": 7.5}
    assert second.exchange().recalled_addresses == []
    assert first.exchange(wanted_addresses=["192.0.2.1"]).held_addresses == {}


def test_address_of_a_dead_owner_is_taken_over_after_its_workers_ended(control: ShardControl) -> None:
    first, second = Member(control, 0), Member(control, 1)
    first.exchange(0.0, new_addresses=["192.0.2.1"])
    assert second.exchange(LEASE + 1, new_addresses=["192.0.2.1"]).held_addresses == {}
    late = LEASE + ADDRESS_GRACE_SECONDS + 1
    assert second.exchange(late, wanted_addresses=["192.0.2.1"]).held_addresses == {"192.0.2.1": late}


def test_stop_reaches_every_shard(control: ShardControl) -> None:
    first = Member(control, 0)
    control.stop("interrupted")
    assert first.exchange().stop_reason == "interrupted"
