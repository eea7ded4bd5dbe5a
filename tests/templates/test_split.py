"""Dividing a site by tokens that foretell structure."""

from sanderling.templates.page_sets import build_page_sets
from sanderling.templates.split import DecisionNode, divide
from sanderling.templates.template_views import PageView


def test_a_token_that_foretells_a_block_divides() -> None:
    looks = [
        PageView(n, f"http://h/{'a' if n < 40 else 'b'}/{n}", "", frozenset({1, 2 if n < 40 else 3})) for n in range(80)
    ]
    tree, parts = divide(build_page_sets(looks))
    assert isinstance(tree, DecisionNode)
    assert sorted(part.bit_count() for part in parts) == [40, 40]


def test_a_block_that_no_token_foretells_does_not_divide() -> None:
    looks = [PageView(n, f"http://h/x/{n}", "", frozenset({1, 2 if n % 3 else 3})) for n in range(80)]
    assert divide(build_page_sets(looks))[0] == 0
