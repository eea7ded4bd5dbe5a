"""The worked example of the thesis, and the naive method as reference."""

from hypothesis import given
from hypothesis import strategies as st

from sanderling.frontier.ordering.coverage import order_by_coverage

EXAMPLE = {
    "A": "a1 a2 a3 a4",
    "B": "b1 b2 a1 b3",
    "C": "c1 c2 c3",
    "D": "d1 d2 d3 d4",
    "E": "e1 e2 b3 e3 b1",
    "F": "f1 f2 d1 e1",
}


def order_naively(links: dict[str, list[str]]) -> list[tuple[str, list[str]]]:
    """Sort the whole queue again after every step, as in the thesis."""
    sets = {page: list(dict.fromkeys(targets)) for page, targets in links.items()}
    queue, taken = list(sets), []
    while queue:
        queue.sort(key=lambda page: -len(sets[page]))
        page = queue.pop(0)
        taken.append((page, sets[page]))
        covered = set(sets[page])
        for other in queue:
            sets[other] = [link for link in sets[other] if link not in covered]
    return taken


def test_worked_example_gives_the_corrected_order() -> None:
    taken = list(order_by_coverage({page: text.split() for page, text in EXAMPLE.items()}))
    assert "".join(page for page, _ in taken) == "EADCFB"
    assert dict(taken)["F"] == ["f1", "f2"]
    assert sum(len(links) for _, links in taken) == 19


def test_second_step_gives_the_printed_order() -> None:
    printed = {"A": "a1 a2 a3 a4", "B": "b2 a1", "D": "d1 c1 d2 d3", "F": "f1 f2 f3 a1", "C": "c1 c2 c3"}
    assert (
        "".join(page for page, _ in order_by_coverage({page: text.split() for page, text in printed.items()}))
        == "ADFCB"
    )


def test_empty_input_and_pages_without_links() -> None:
    assert list(order_by_coverage({})) == []
    assert [page for page, _ in order_by_coverage({"a": [], "b": ["x"], "c": []})] == ["b", "a", "c"]


@given(st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=8), max_size=12))
def test_heap_order_equals_naive_order(pages: list[list[str]]) -> None:
    links = {str(number): targets for number, targets in enumerate(pages)}
    assert list(order_by_coverage(links)) == order_naively(links)
