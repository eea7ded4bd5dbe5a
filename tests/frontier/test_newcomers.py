"""The first links of a new host are tried, the fewer the less such hosts had to say."""

import pytest

from sanderling.frontier.ordering import host_exploration
from sanderling.frontier.ordering.host_exploration import HOPED, TRIED, Newcomers
from sanderling.models import Url


def url(host: int, page: int = 0) -> Url:
    return Url(f"https://h{host}.test/{page}")


def test_a_few_links_of_a_new_host_are_worth_something_and_the_rest_is_not() -> None:
    new = Newcomers()
    worths = [new.worth(url(1, page)) for page in range(10)]
    assert worths == [HOPED] * TRIED + [0.0] * (10 - TRIED)


def test_hosts_with_nothing_to_say_make_the_next_ones_worth_less() -> None:
    new = Newcomers()
    before = new.worth(url(0))
    for host in range(50):
        new.worth(url(host))
        new.came_home(url(host), 0.0)
    assert 0 < new.worth(url(99)) < before / 10
    new.came_home(url(99), 1.0)
    new.came_home(url(99), 1.0)  # only its first page says what a newcomer is worth
    assert new.worth(url(100)) < 0.05


def test_the_memory_of_hosts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_exploration, "MOST_HOSTS", 5)
    new = Newcomers()
    assert [new.worth(url(host)) > 0 for host in range(7)] == [True] * 5 + [False] * 2
    assert len(new.tried) == 5
