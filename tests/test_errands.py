"""What may be handed out before the last batch is stored."""

from types import SimpleNamespace
from typing import cast

import pytest

from sanderling.clock import real
from sanderling.errands import Errands
from sanderling.home.house import House
from sanderling.records import Host, Outcome, Parcel, Reason, Robots, Url, Visit
from sanderling.schedule.roster import Roster
from sanderling.schedule.verdict import Ahp


class Nobody:
    """Posts nothing."""

    def send(self, migrant: str, itinerary: object) -> None:
        raise AssertionError(f"{migrant} got {itinerary}")


def errands(*, delay: float = 0.0, quota: object = None, focused: bool = False, eager: bool = False) -> Errands:
    queue = SimpleNamespace(pace=SimpleNamespace(delay_seconds=delay), quota=quota)
    house = SimpleNamespace(queue=queue, order=SimpleNamespace(is_eager=eager, is_focused=focused))
    return Errands(cast(House, house), Nobody(), Roster(Ahp()), lambda: 1, lambda: 0, real)


def brought(outcome: Outcome, reason: Reason = Reason.NONE) -> Parcel:
    return Parcel("m1", (Visit(1, 1, Url("http://a/"), outcome, 0.0, reason),))


FINE = brought(Outcome.FETCHED)


def test_who_brings_pages_may_have_more_at_once() -> None:
    assert errands().may_go_ahead([FINE, brought(Outcome.GONE)])


@pytest.mark.parametrize("trouble", [brought(Outcome.RETRY, Reason.RATE_LIMITED), brought(Outcome.RETURNED)])
def test_trouble_is_stored_before_its_host_is_asked_again(trouble: Parcel) -> None:
    assert not errands().may_go_ahead([FINE, trouble])


def test_rules_of_a_site_are_learned_first() -> None:
    assert not errands().may_go_ahead([Parcel("m1", (), (Robots(Host("http://a"), 200, b"", 0.0, 1e9),))])


def test_pauses_limits_and_topics_need_the_last_word() -> None:
    assert not errands(delay=1.0).may_go_ahead([FINE])
    assert not errands(quota=object()).may_go_ahead([FINE])
    assert not errands(focused=True).may_go_ahead([FINE])
    assert not errands(eager=True).may_go_ahead([FINE])
