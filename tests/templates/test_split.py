"""Dividing a site by tokens that foretell structure."""

from sanderling.templates.page_sets import gather
from sanderling.templates.split import Fork, divide
from sanderling.templates.template_views import Look


def test_a_token_that_foretells_a_block_divides() -> None:
    looks = [
        Look(n, f"http://h/{'a' if n < 40 else 'b'}/{n}", "", frozenset({1, 2 if n < 40 else 3})) for n in range(80)
    ]
    tree, parts = divide(gather(looks))
    assert isinstance(tree, Fork)
    assert sorted(part.bit_count() for part in parts) == [40, 40]


def test_a_block_that_no_token_foretells_does_not_divide() -> None:
    looks = [Look(n, f"http://h/x/{n}", "", frozenset({1, 2 if n % 3 else 3})) for n in range(80)]
    assert divide(gather(looks))[0] == 0
