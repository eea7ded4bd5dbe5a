"""Who is connected to a host, and who makes room for others."""

import socket
from collections.abc import Iterator

import pytest

from sanderling.workers.migrant.rate_limit import ConnectionLimit

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pairs() -> Iterator[list[Pair]]:
    made = [socket.socketpair() for _ in range(6)]
    yield made
    for pair in made:
        for end in pair:
            end.close()


def is_out(pair: Pair) -> bool:
    pair[1].setblocking(False)
    try:
        return pair[1].recv(1) == b""
    except BlockingIOError:
        return False


def test_a_crowd_from_one_address_crowds_out_its_own(pairs: list[Pair]) -> None:
    door = ConnectionLimit(3)
    assert door.add(pairs[0][0], "anna")
    for pair in pairs[1:5]:
        assert door.add(pair[0], "crowd")
    assert [is_out(pair) for pair in pairs] == [False, True, True, False, False, False]


def test_one_who_sent_a_good_letter_is_not_sent_away(pairs: list[Pair]) -> None:
    door = ConnectionLimit(2)
    for pair in pairs[:2]:
        assert door.add(pair[0], "anna")
        door.mark_authenticated(pair[0])
    assert not door.add(pairs[2][0], "late")
    assert not any(map(is_out, pairs))
    door.remove(pairs[0][0])
    assert door.add(pairs[3][0], "later")


def test_one_who_was_sent_away_is_no_guest(pairs: list[Pair]) -> None:
    door = ConnectionLimit(1)
    assert door.add(pairs[0][0], "a")
    assert door.add(pairs[1][0], "a")
    door.mark_authenticated(pairs[0][0])
    door.remove(pairs[0][0])
    assert door.add(pairs[2][0], "a")
    assert [is_out(pair) for pair in pairs[:3]] == [True, True, False]
