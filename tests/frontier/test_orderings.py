"""What each ordering does with a little web."""

import pytest
from tests.frontier.ordering.test_pvalue import TABLE_1

from sanderling.errors import UsageError
from sanderling.frontier.ordering.access_logs import AccessCounts, RequestCounts
from sanderling.frontier.ordering.hits import HitsOrdering
from sanderling.frontier.ordering.opic import OpicOrdering
from sanderling.frontier.ordering.ordering_registry import ORDERINGS, OrderingInputs, parse_ordering
from sanderling.frontier.ordering.pagerank import ASSUMED_HIDDEN_LINKS, PageRankOrdering
from sanderling.frontier.ordering.protocol import INFINITE_RANK, CrawledPage, FoundUrl, HostPreference, Ordering
from sanderling.frontier.ordering.pvalue import PvalueOrdering, get_list_number
from sanderling.frontier.ordering.simple import BacklinkOrdering
from sanderling.frontier.ordering.topic import Topic
from sanderling.models import Url

GIVEN = OrderingInputs(Topic({"word": 1.0}), AccessCounts({"/3": RequestCounts(tec=1)}))


def url(number: int, host: str = "http://a") -> Url:
    return Url(f"{host}/{number}")


def found(number: int, page: int = 1, links: int = 1, **more: object) -> FoundUrl:
    return FoundUrl(url(number), 1, page, page, links, **more)  # type: ignore[arg-type]


def lesson(page: int, *targets: int, **more: object) -> CrawledPage:
    return CrawledPage(page, url(page), targets, **more)  # type: ignore[arg-type]


def moved(order: Ordering, urls: list[int], ranks: dict[int, float]) -> list[int]:
    """The urls in order, after what was learned is added to the ranks they had."""
    gains = order.pop_rank_gains()
    return sorted(urls, key=lambda n: (ranks[n] - gains.get(n, 0.0), n))


def test_breadth_goes_level_by_level() -> None:
    near, far = FoundUrl(url(1), 1), FoundUrl(url(2), 5)
    assert parse_ordering("breadth").rank([far, near]) == [5.0, 1.0]


def test_depth_follows_the_newest_page() -> None:
    old, new = parse_ordering("depth").rank([found(1, page=3), found(2, page=9)])
    assert new < old


def test_a_sitemap_priority_goes_first() -> None:
    high, plain = parse_ordering("sitemap").rank([found(1, priority=0.9), found(2)])
    assert high < plain


@pytest.mark.parametrize("make", [OpicOrdering, PageRankOrdering])
def test_a_page_with_few_links_gives_more_to_each(make: type[Ordering]) -> None:
    order = make()
    order.learn(lesson(1, 2, 3, is_seed=True))
    few, many = order.rank([found(4, page=2, links=2), found(5, page=3, links=50)])
    assert few < many


@pytest.mark.parametrize("make", [OpicOrdering, PageRankOrdering, HitsOrdering, BacklinkOrdering])
def test_what_many_pages_point_at_moves_forward(make: type[Ordering]) -> None:
    order = make()
    ranks = dict(
        zip((2, 3, 4, 9), order.rank([found(n, links=4, is_source_seed=True) for n in (2, 3, 4, 9)]), strict=True)
    )
    order.learn(lesson(1, 2, 3, 4, 9, is_seed=True))
    for page in (2, 3):
        order.learn(lesson(page, 9))
    assert moved(order, [4, 9], ranks)[0] == 9
    assert order.pop_rank_gains() == {}


@pytest.mark.parametrize("make", [OpicOrdering, PageRankOrdering])
def test_a_rank_given_at_discovery_agrees_with_what_is_remembered(make: type[Ordering]) -> None:
    order = make()
    (given,) = order.rank([found(2, links=2, is_source_seed=True)])
    order.learn(lesson(1, 2, 3, is_seed=True))
    assert order.rank_known(2, 1) == pytest.approx(given, rel=1e-5)


def test_pagerank_agrees_with_the_solved_equation() -> None:
    """Two pages that point at each other, and a third: residuals pushed on and on add up to PageRank."""
    order = PageRankOrdering()
    for _ in range(200):
        for page, targets in ((1, (2, 3)), (2, (1,)), (3, (1,))):
            order.learn(lesson(page, *targets))
    first = order.distributed[1] + order.residual[1]
    second = order.distributed[2] + order.residual[2]
    assert first == pytest.approx(0.15 + 0.85 * 2 * second / (1 + ASSUMED_HIDDEN_LINKS), rel=1e-2)
    assert second == pytest.approx(0.15 + 0.85 * first / (2 + ASSUMED_HIDDEN_LINKS), rel=1e-2)


def test_pagerank_forgets_links_but_not_ranks() -> None:
    order = PageRankOrdering(max_stored_links=10)
    for page in range(1, 50):
        order.learn(lesson(page, *range(page + 1, page + 5)))
    assert order.stored_links <= 10
    assert order.stored_links == sum(map(len, order.packed_links.values())) // 8
    assert set(order.packed_links) == {48, 49}, "those learned last stay"
    assert order.distributed[1] > 0


def test_the_allocator_keeps_4_2_1_in_every_full_round() -> None:
    ranks = PvalueOrdering().rank([found(n) for n in range(21)])
    lists = [get_list_number(rank) for rank in sorted(ranks)]
    assert lists[:7] == [1, 1, 1, 1, 2, 2, 3]
    assert sorted(lists) == [1] * 7 + [2] * 7 + [3] * 7


def test_new_hubs_go_to_the_first_list_and_well_linked_pages_to_the_last() -> None:
    order = PvalueOrdering()
    order.learn(CrawledPage(1, Url("http://hub/1"), range(100)))
    order.learn(CrawledPage(2, Url("http://leaf/1"), range(2)))
    findings = [
        FoundUrl(Url("http://leaf/2"), 1),
        FoundUrl(Url("http://hub/2"), 1, backlinks=9),
        FoundUrl(Url("http://hub/3"), 1),
    ]
    assert [get_list_number(rank) for rank in order.rank(findings)] == [3, 2, 1]


def test_no_list_starves_while_better_urls_keep_coming() -> None:
    order = PvalueOrdering()
    last = max(order.rank([found(n) for n in range(9)]))
    for turn in range(40):
        order.learn(lesson(turn + 100, rank=float(turn)))
        order.rank([found(n) for n in range(3)])
    assert last < max(order.rank([found(1)])) + 40
    assert min(order.rank([found(1), found(2), found(3)])) > last


def test_coverage_prefers_the_kind_of_page_that_had_new_links() -> None:
    order = parse_ordering("coverage")
    order.learn(CrawledPage(1, Url("http://a/lists/1"), range(10, 60)))
    order.learn(CrawledPage(2, Url("http://a/leaves/1"), range(10, 60)))
    lists, leaves = order.rank([FoundUrl(Url("http://a/lists/2"), 2), FoundUrl(Url("http://a/leaves/2"), 2)])
    assert lists < leaves


def test_a_mix_adds_up() -> None:
    order = parse_ordering("0.75*breadth+0.25*sitemap")
    finding = FoundUrl(url(1), 4, priority=1.0)
    (breadth,), (sitemap,) = parse_ordering("breadth").rank([finding]), parse_ordering("sitemap").rank([finding])
    assert order.rank([finding])[0] == pytest.approx(0.75 * breadth + 0.25 * sitemap)
    assert parse_ordering("larger-sites + opic").host_preference is HostPreference.LARGEST


def test_a_mix_learns_what_its_parts_learn() -> None:
    order, alone = parse_ordering("opic+breadth"), OpicOrdering()
    for ordering in (order, alone):
        ordering.learn(lesson(1, 2, 3, is_seed=True))
        ordering.learn(lesson(2, 3))
    assert order.pop_rank_gains() == {n: pytest.approx(gain / 2) for n, gain in alone.pop_rank_gains().items()}


@pytest.mark.parametrize(
    "text", ["", "galaxy", "opic+", "opic+galaxy", "-1*opic+breadth", "depth+opic", "0*opic+0*breadth"]
)
def test_what_is_no_ordering_gets_one_sentence_with_what_there_is(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_ordering(text)
    assert "opic" in str(error.value)
    assert "breadth" in str(error.value)


@pytest.mark.parametrize("name", sorted(ORDERINGS))
def test_every_ordering_takes_pages_without_links_and_ids_without_end(name: str) -> None:
    order = parse_ordering(name, GIVEN)
    order.learn(lesson(1, is_seed=True))
    order.learn(lesson(2, 3, 10**12, *range(4, 200)))
    assert len(order.rank([found(3), found(4, page=0), found(5, links=0)])) == 3
    order.pop_rank_gains()
    assert isinstance(order.rank_known(10**12, 3), float)


# With a topic


def seen(page: int, relevance: float, *targets: int, promises: tuple[float, ...] = ()) -> CrawledPage:
    return lesson(page, *targets, relevance=relevance, topic_scores=promises or (0.0,) * len(targets))


@pytest.mark.parametrize("name", ["fish", "shark", "similarity"])
def test_links_of_relevant_pages_and_links_that_say_so_go_first(name: str) -> None:
    order = parse_ordering(name, GIVEN)
    for page in (50, 51, 52):
        order.learn(seen(page, 0.1, 60))
    plain, of_relevant, named = order.rank(
        [
            found(1, page=7),
            found(2, page=8, source_relevance=0.9),
            found(3, page=8, source_relevance=0.9, topic_score=0.9),
        ]
    )
    assert named < of_relevant < plain


def test_fish_gives_up_after_some_levels_without_relevance_and_hopes_again_after_one() -> None:
    order = parse_ordering("fish", GIVEN)
    for page in range(1, 4):
        order.learn(seen(page, 0.0, page + 1))
    assert order.rank([found(9, page=3)]) == [INFINITE_RANK]
    assert order.rank([found(9, page=3, source_relevance=0.9)]) != [INFINITE_RANK]


def test_shark_lets_grandchildren_of_a_relevant_page_inherit() -> None:
    order = parse_ordering("shark", GIVEN)
    order.learn(seen(1, 0.9, 2))
    order.learn(seen(3, 0.0, 4))
    grandchild, other = order.rank([found(8, page=2), found(9, page=4)])
    assert grandchild < other


@pytest.mark.parametrize("name", ["fish", "shark", "similarity"])
def test_a_waiting_link_moves_when_a_relevant_page_points_at_it(name: str) -> None:
    order = parse_ordering(name, GIVEN)
    order.learn(seen(1, 0.0, 5, 6))
    order.pop_rank_gains()
    order.learn(seen(2, 0.9, 6))
    assert set(order.pop_rank_gains()) == {6}


def test_popularity_learns_whom_to_believe_while_it_crawls() -> None:
    counts = {f"/{n}": RequestCounts(tec=n, tic=200 - n) for n in range(1, 101)}
    order = parse_ordering("popularity-sac", OrderingInputs(access_counts=AccessCounts(counts)))
    ranks = order.rank([FoundUrl(url(5), 1), FoundUrl(url(95), 1)])
    assert ranks[0] == ranks[1]  # the sum is the same
    for page in range(2, 100, 2):
        order.learn(lesson(page, *range(max(1, page - 1), 101)))  # the higher the number, the more links
    order.pop_rank_gains()
    rare, asked = order.rank([FoundUrl(url(5), 1), FoundUrl(url(95), 1)])
    assert asked < rare


@pytest.mark.parametrize(
    ("name", "wants"), [("fish", "--query"), ("shark+opic", "--query"), ("popularity", "--access-log")]
)
def test_an_ordering_that_needs_something_says_what(name: str, wants: str) -> None:
    with pytest.raises(UsageError, match=wants):
        parse_ordering(name)


def test_coverage_visits_again_in_the_greedy_order_of_the_thesis() -> None:
    names = dict(zip("ABCDEF", range(1, 7), strict=True))
    held = {"A": "a1 a2 a3 a4", "B": "b1 b2 a1 b3", "C": "c1 c2 c3", "D": "d1 d2 d3 d4", "E": "e1 e2 b3 e3 b1",
            "F": "f1 f2 d1 e1"}  # fmt: skip
    ids = {link: n for n, link in enumerate(sorted({link for text in held.values() for link in text.split()}), 100)}
    links = {names[page]: [ids[link] for link in text.split()] for page, text in held.items()}
    places = parse_ordering("coverage").rank_all([(n, 1) for n in names.values()], links.__getitem__)
    assert "".join(sorted(names, key=lambda page: places[names[page] - 1])) == "EADCFB"


def test_pvalue_visits_again_by_the_links_that_were_counted() -> None:
    links = {n: range(1000, 1000 + forward) for n, (_, forward) in enumerate(TABLE_1)}
    places = PvalueOrdering().rank_all([(n, 1) for n in links], links.__getitem__)
    handed = [TABLE_1[n][1] for n in sorted(links, key=places.__getitem__)]
    assert handed == [155, 79, 65, 60, 52, 40, 15, 60, 53, 21, 20, 13, 18, 16, 11, 5, 4, 3]
    back = PvalueOrdering().rank_all([(1, 1), (2, 1), (3, 1)], {1: [2, 3], 2: [3], 3: [1]}.__getitem__)
    assert sorted((1, 2, 3), key=lambda n: back[n - 1]) == [1, 2, 3]


def test_every_ordering_places_what_is_visited_again() -> None:
    for name in ORDERINGS:
        assert len(parse_ordering(name, GIVEN).rank_all([(1, 0), (2, 1)], lambda _url: [2])) == 2
