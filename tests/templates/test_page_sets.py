"""The pages of a site as sets."""

from sanderling.templates.page_sets import (
    build_page_sets,
    compute_distinctness,
    containment,
    has_own_block,
    overlap,
    profile,
)
from sanderling.templates.template_views import PageView

LOOKS = [PageView(n, f"http://h/a/{n}.html", "", frozenset({1, 2 if n < 6 else 3})) for n in range(10)]


def test_pages_are_counted_by_what_they_say_and_have() -> None:
    sets = build_page_sets([*LOOKS, PageView(10, "http://h/a/b/x.html", "", frozenset({1, 99}))])
    assert sets.size == 11
    assert sets.features[2] == 0b111111
    assert 99 not in sets.features  # what is on one page only says nothing
    assert sets.weight[1] == 0.0
    assert profile(sets, 0b11_1111_0000) == {1: 1.0, 2: 2 / 6, 3: 4 / 6}


def test_a_part_with_less_on_it_is_contained_in_the_other_and_not_the_reverse() -> None:
    much, less, weight = {1: 1.0, 2: 1.0, 3: 1.0}, {1: 1.0}, dict.fromkeys((1, 2, 3), 1.0)
    assert containment(less, much, weight) == 1.0
    assert containment(much, less, weight) == overlap(much, less, weight) == 1 / 3
    assert compute_distinctness(much, less) == 1.0
    assert has_own_block(much, less)
    assert not has_own_block(less, much)
