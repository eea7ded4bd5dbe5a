"""The first links of a new host are tried, the fewer the less such hosts had to say."""

import pytest

from sanderling.frontier.ordering import host_exploration
from sanderling.frontier.ordering.host_exploration import EXPECTED_RELEVANCE, LINKS_PER_NEW_HOST, NewHostBonus
from sanderling.models import Url


def url(host: int, page: int = 0) -> Url:
    return Url(f"https://h{host}.test/{page}")


def test_a_few_links_of_a_new_host_are_worth_something_and_the_rest_is_not() -> None:
    new = NewHostBonus()
    worths = [new.compute_bonus(url(1, page)) for page in range(10)]
    assert worths == [EXPECTED_RELEVANCE] * LINKS_PER_NEW_HOST + [0.0] * (10 - LINKS_PER_NEW_HOST)


def test_hosts_with_nothing_to_say_make_the_next_ones_worth_less() -> None:
    new = NewHostBonus()
    before = new.compute_bonus(url(0))
    for host in range(50):
        new.compute_bonus(url(host))
        new.record_page(url(host), 0.0)
    assert 0 < new.compute_bonus(url(99)) < before / 10
    new.record_page(url(99), 1.0)
    new.record_page(url(99), 1.0)  # only its first page says what a newcomer is worth
    assert new.compute_bonus(url(100)) < 0.05


def test_the_memory_of_hosts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_exploration, "MAX_HOSTS", 5)
    new = NewHostBonus()
    assert [new.compute_bonus(url(host)) > 0 for host in range(7)] == [True] * 5 + [False] * 2
    assert len(new.link_counts) == 5
