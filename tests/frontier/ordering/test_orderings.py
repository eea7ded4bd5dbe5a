"""Behavior of each ordering on a small graph."""

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

INPUTS = OrderingInputs(Topic({"word": 1.0}), AccessCounts({"/3": RequestCounts(tec=1)}))


def url(number: int, host: str = "http://a") -> Url:
    return Url(f"{host}/{number}")


def build_found(number: int, page: int = 1, links: int = 1, **more: object) -> FoundUrl:
    return FoundUrl(url(number), 1, page, page, links, **more)  # type: ignore[arg-type]


def build_page(page: int, *targets: int, **more: object) -> CrawledPage:
    return CrawledPage(page, url(page), targets, **more)  # type: ignore[arg-type]


def sort_with_gains(order: Ordering, urls: list[int], ranks: dict[int, float]) -> list[int]:
    """Return the URLs in order after adding the rank gains."""
    gains = order.pop_rank_gains()
    return sorted(urls, key=lambda n: (ranks[n] - gains.get(n, 0.0), n))


def test_breadth_first_ranks_by_depth() -> None:
    near, far = FoundUrl(url(1), 1), FoundUrl(url(2), 5)
    assert parse_ordering("breadth").rank([far, near]) == [5.0, 1.0]


def test_depth_first_follows_the_newest_page() -> None:
    old, new = parse_ordering("depth").rank([build_found(1, page=3), build_found(2, page=9)])
    assert new < old


def test_higher_sitemap_priority_goes_first() -> None:
    high, plain = parse_ordering("sitemap").rank([build_found(1, priority=0.9), build_found(2)])
    assert high < plain


@pytest.mark.parametrize("make", [OpicOrdering, PageRankOrdering])
def test_page_with_few_links_gives_more_rank_to_each(make: type[Ordering]) -> None:
    order = make()
    order.learn(build_page(1, 2, 3, is_seed=True))
    few, many = order.rank([build_found(4, page=2, links=2), build_found(5, page=3, links=50)])
    assert few < many


@pytest.mark.parametrize("make", [OpicOrdering, PageRankOrdering, HitsOrdering, BacklinkOrdering])
def test_url_with_many_backlinks_gains_rank(make: type[Ordering]) -> None:
    order = make()
    ranks = dict(
        zip((2, 3, 4, 9), order.rank([build_found(n, links=4, is_source_seed=True) for n in (2, 3, 4, 9)]), strict=True)
    )
    order.learn(build_page(1, 2, 3, 4, 9, is_seed=True))
    for page in (2, 3):
        order.learn(build_page(page, 9))
    assert sort_with_gains(order, [4, 9], ranks)[0] == 9
    assert order.pop_rank_gains() == {}


@pytest.mark.parametrize("make", [OpicOrdering, PageRankOrdering])
def test_initial_rank_agrees_with_known_rank(make: type[Ordering]) -> None:
    order = make()
    (initial,) = order.rank([build_found(2, links=2, is_source_seed=True)])
    order.learn(build_page(1, 2, 3, is_seed=True))
    assert order.rank_known(2, 1) == pytest.approx(initial, rel=1e-5)


def test_pagerank_converges() -> None:
    """Repeated pushes converge to the PageRank equation on a graph of three pages."""
    order = PageRankOrdering()
    for _ in range(200):
        for page, targets in ((1, (2, 3)), (2, (1,)), (3, (1,))):
            order.learn(build_page(page, *targets))
    first = order.distributed[1] + order.residual[1]
    second = order.distributed[2] + order.residual[2]
    assert first == pytest.approx(0.15 + 0.85 * 2 * second / (1 + ASSUMED_HIDDEN_LINKS), rel=1e-2)
    assert second == pytest.approx(0.15 + 0.85 * first / (2 + ASSUMED_HIDDEN_LINKS), rel=1e-2)


def test_pagerank_evicts_links_but_not_ranks() -> None:
    order = PageRankOrdering(max_stored_links=10)
    for page in range(1, 50):
        order.learn(build_page(page, *range(page + 1, page + 5)))
    assert order.stored_links <= 10
    assert order.stored_links == sum(map(len, order.packed_links.values())) // 8
    assert set(order.packed_links) == {48, 49}, "the most recent stay"
    assert order.distributed[1] > 0


def test_pvalue_ranks_follow_4_2_1() -> None:
    ranks = PvalueOrdering().rank([build_found(n) for n in range(21)])
    lists = [get_list_number(rank) for rank in sorted(ranks)]
    assert lists[:7] == [1, 1, 1, 1, 2, 2, 3]
    assert sorted(lists) == [1] * 7 + [2] * 7 + [3] * 7


def test_pvalue_puts_new_hubs_first() -> None:
    order = PvalueOrdering()
    order.learn(CrawledPage(1, Url("http://hub/1"), range(100)))
    order.learn(CrawledPage(2, Url("http://leaf/1"), range(2)))
    found_urls = [
        FoundUrl(Url("http://leaf/2"), 1),
        FoundUrl(Url("http://hub/2"), 1, backlinks=9),
        FoundUrl(Url("http://hub/3"), 1),
    ]
    assert [get_list_number(rank) for rank in order.rank(found_urls)] == [3, 2, 1]


def test_pvalue_starves_no_list() -> None:
    order = PvalueOrdering()
    last = max(order.rank([build_found(n) for n in range(9)]))
    for turn in range(40):
        order.learn(build_page(turn + 100, rank=float(turn)))
        order.rank([build_found(n) for n in range(3)])
    assert last < max(order.rank([build_found(1)])) + 40
    assert min(order.rank([build_found(1), build_found(2), build_found(3)])) > last


def test_coverage_prefers_folders_with_new_links() -> None:
    order = parse_ordering("coverage")
    order.learn(CrawledPage(1, Url("http://a/lists/1"), range(10, 60)))
    order.learn(CrawledPage(2, Url("http://a/leaves/1"), range(10, 60)))
    lists, leaves = order.rank([FoundUrl(Url("http://a/lists/2"), 2), FoundUrl(Url("http://a/leaves/2"), 2)])
    assert lists < leaves


def test_weighted_ordering_sums_ranks() -> None:
    order = parse_ordering("0.75*breadth+0.25*sitemap")
    found_url = FoundUrl(url(1), 4, priority=1.0)
    (breadth,), (sitemap,) = parse_ordering("breadth").rank([found_url]), parse_ordering("sitemap").rank([found_url])
    assert order.rank([found_url])[0] == pytest.approx(0.75 * breadth + 0.25 * sitemap)
    assert parse_ordering("larger-sites + opic").host_preference is HostPreference.LARGEST


def test_weighted_ordering_sums_gains() -> None:
    order, alone = parse_ordering("opic+breadth"), OpicOrdering()
    for ordering in (order, alone):
        ordering.learn(build_page(1, 2, 3, is_seed=True))
        ordering.learn(build_page(2, 3))
    assert order.pop_rank_gains() == {n: pytest.approx(gain / 2) for n, gain in alone.pop_rank_gains().items()}


@pytest.mark.parametrize(
    "text", ["", "galaxy", "opic+", "opic+galaxy", "-1*opic+breadth", "depth+opic", "0*opic+0*breadth"]
)
def test_invalid_ordering_is_a_usage_error_with_valid_names(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_ordering(text)
    assert "opic" in str(error.value)
    assert "breadth" in str(error.value)


@pytest.mark.parametrize("name", sorted(ORDERINGS))
def test_every_ordering_accepts_empty_pages_and_large_ids(name: str) -> None:
    order = parse_ordering(name, INPUTS)
    order.learn(build_page(1, is_seed=True))
    order.learn(build_page(2, 3, 10**12, *range(4, 200)))
    assert len(order.rank([build_found(3), build_found(4, page=0), build_found(5, links=0)])) == 3
    order.pop_rank_gains()
    assert isinstance(order.rank_known(10**12, 3), float)


# With a topic


def build_scored_page(page: int, relevance: float, *targets: int, topic_scores: tuple[float, ...] = ()) -> CrawledPage:
    return build_page(page, *targets, relevance=relevance, topic_scores=topic_scores or (0.0,) * len(targets))


@pytest.mark.parametrize("name", ["fish", "shark", "similarity"])
def test_focused_orderings_prefer_relevant_pages_and_link_texts(name: str) -> None:
    order = parse_ordering(name, INPUTS)
    for page in (50, 51, 52):
        order.learn(build_scored_page(page, 0.1, 60))
    plain, of_relevant, with_topic = order.rank(
        [
            build_found(1, page=7),
            build_found(2, page=8, source_relevance=0.9),
            build_found(3, page=8, source_relevance=0.9, topic_score=0.9),
        ]
    )
    assert with_topic < of_relevant < plain


def test_fish_search_stops_after_irrelevant_levels() -> None:
    order = parse_ordering("fish", INPUTS)
    for page in range(1, 4):
        order.learn(build_scored_page(page, 0.0, page + 1))
    assert order.rank([build_found(9, page=3)]) == [INFINITE_RANK]
    assert order.rank([build_found(9, page=3, source_relevance=0.9)]) != [INFINITE_RANK]


def test_shark_search_inherits_relevance_to_grandchildren() -> None:
    order = parse_ordering("shark", INPUTS)
    order.learn(build_scored_page(1, 0.9, 2))
    order.learn(build_scored_page(3, 0.0, 4))
    grandchild, other = order.rank([build_found(8, page=2), build_found(9, page=4)])
    assert grandchild < other


@pytest.mark.parametrize("name", ["fish", "shark", "similarity"])
def test_queued_link_gains_rank_from_a_relevant_page(name: str) -> None:
    order = parse_ordering(name, INPUTS)
    order.learn(build_scored_page(1, 0.0, 5, 6))
    order.pop_rank_gains()
    order.learn(build_scored_page(2, 0.9, 6))
    assert set(order.pop_rank_gains()) == {6}


def test_popularity_learns_from_pageranks_of_the_crawl() -> None:
    counts = {f"/{n}": RequestCounts(tec=n, tic=200 - n) for n in range(1, 101)}
    order = parse_ordering("popularity-sac", OrderingInputs(access_counts=AccessCounts(counts)))
    ranks = order.rank([FoundUrl(url(5), 1), FoundUrl(url(95), 1)])
    assert ranks[0] == ranks[1]  # the sum is the same
    for page in range(2, 100, 2):
        order.learn(build_page(page, *range(max(1, page - 1), 101)))  # the higher the number, the more links
    order.pop_rank_gains()
    rare, requested = order.rank([FoundUrl(url(5), 1), FoundUrl(url(95), 1)])
    assert requested < rare


@pytest.mark.parametrize(
    ("name", "option"), [("fish", "--query"), ("shark+opic", "--query"), ("popularity", "--access-log")]
)
def test_missing_requirement_is_named(name: str, option: str) -> None:
    with pytest.raises(UsageError, match=option):
        parse_ordering(name)


def test_coverage_revisits_in_greedy_order() -> None:
    names = dict(zip("ABCDEF", range(1, 7), strict=True))
    example = {"A": "a1 a2 a3 a4", "B": "b1 b2 a1 b3", "C": "c1 c2 c3", "D": "d1 d2 d3 d4", "E": "e1 e2 b3 e3 b1",
            "F": "f1 f2 d1 e1"}  # fmt: skip
    ids = {link: n for n, link in enumerate(sorted({link for text in example.values() for link in text.split()}), 100)}
    links = {names[page]: [ids[link] for link in text.split()] for page, text in example.items()}
    ranks = parse_ordering("coverage").rank_all([(n, 1) for n in names.values()], links.__getitem__)
    assert "".join(sorted(names, key=lambda page: ranks[names[page] - 1])) == "EADCFB"


def test_pvalue_revisits_by_stored_links() -> None:
    links = {n: range(1000, 1000 + forward) for n, (_, forward) in enumerate(TABLE_1)}
    ranks = PvalueOrdering().rank_all([(n, 1) for n in links], links.__getitem__)
    allocated = [TABLE_1[n][1] for n in sorted(links, key=ranks.__getitem__)]
    assert allocated == [155, 79, 65, 60, 52, 40, 15, 60, 53, 21, 20, 13, 18, 16, 11, 5, 4, 3]
    back = PvalueOrdering().rank_all([(1, 1), (2, 1), (3, 1)], {1: [2, 3], 2: [3], 3: [1]}.__getitem__)
    assert sorted((1, 2, 3), key=lambda n: back[n - 1]) == [1, 2, 3]


def test_every_ordering_ranks_revisits() -> None:
    for name in ORDERINGS:
        assert len(parse_ordering(name, INPUTS).rank_all([(1, 0), (2, 1)], lambda _url: [2])) == 2
