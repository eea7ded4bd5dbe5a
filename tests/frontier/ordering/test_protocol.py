"""Rank mass that leaves a shard with links arrives in another one, so that pages rank as without shards."""

import pytest

from sanderling.frontier.ordering.opic import OpicOrdering
from sanderling.frontier.ordering.pagerank import PageRankOrdering
from sanderling.frontier.ordering.protocol import CrawledPage, FoundUrl, Ordering
from sanderling.models import Url

PAGE, TARGET, OTHER_ID = 1, 2, 9
ORDERINGS = [OpicOrdering, PageRankOrdering]


def learn(ordering: Ordering, page: int, targets: list[int]) -> None:
    ordering.learn(CrawledPage(page, Url(f"http://a/{page}"), targets, is_seed=True))


def find(mass: float = 0.0) -> FoundUrl:
    source = 0 if mass else PAGE
    return FoundUrl(Url("http://b/"), 1, source, source_links=4, is_source_seed=not mass, mass=mass)


@pytest.mark.parametrize("build", ORDERINGS)
def test_link_from_another_shard_ranks_as_at_its_source(build: type[Ordering]) -> None:
    source, owner = build(), build()
    (rank,) = source.rank([find()])
    assert owner.rank([find(source.get_link_mass(rank, 1))]) == pytest.approx([rank])


@pytest.mark.parametrize("build", ORDERINGS)
def test_gained_mass_raises_the_rank_as_at_its_source(build: type[Ordering]) -> None:
    source, owner = build(), build()
    learn(source, PAGE, [TARGET])
    first = source.get_gained_mass(TARGET, 1e9)  # all of it
    owner.add_mass({OTHER_ID: first})
    assert owner.pop_rank_gains() == {}  # the first mass is in its rank
    for page in (3, 4, 5):
        learn(source, page, [TARGET])
    ((target, gain),) = source.pop_rank_gains().items()
    owner.add_mass({OTHER_ID: source.get_gained_mass(target, gain)})
    assert owner.pop_rank_gains() == pytest.approx({OTHER_ID: gain}, rel=1e-3)
    assert owner.rank_known(OTHER_ID, 1) == pytest.approx(source.rank_known(TARGET, 1), rel=1e-3)
