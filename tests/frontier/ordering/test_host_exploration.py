"""Rank bonus for the first links of new hosts."""

import pytest

from sanderling.frontier.ordering import host_exploration
from sanderling.frontier.ordering.host_exploration import EXPECTED_RELEVANCE, LINKS_PER_NEW_HOST, NewHostBonus
from sanderling.models import Url


def url(host: int, page: int = 0) -> Url:
    return Url(f"https://h{host}.test/{page}")


def test_first_links_of_a_new_host_get_a_bonus() -> None:
    bonus = NewHostBonus()
    values = [bonus.compute_bonus(url(1, page)) for page in range(10)]
    assert values == [EXPECTED_RELEVANCE] * LINKS_PER_NEW_HOST + [0.0] * (10 - LINKS_PER_NEW_HOST)


def test_irrelevant_hosts_lower_the_bonus() -> None:
    bonus = NewHostBonus()
    before = bonus.compute_bonus(url(0))
    for host in range(50):
        bonus.compute_bonus(url(host))
        bonus.record_page(url(host), 0.0)
    assert 0 < bonus.compute_bonus(url(99)) < before / 10
    bonus.record_page(url(99), 1.0)
    bonus.record_page(url(99), 1.0)  # only the first page of a host counts
    assert bonus.compute_bonus(url(100)) < 0.05


def test_number_of_hosts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_exploration, "MAX_HOSTS", 5)
    bonus = NewHostBonus()
    assert [bonus.compute_bonus(url(host)) > 0 for host in range(7)] == [True] * 5 + [False] * 2
    assert len(bonus.link_counts) == 5
