"""GPC Table 3, and values of --depth."""

from random import Random

import pytest

from sanderling.errors import UsageError
from sanderling.urls.depth_policy import (
    compute_poisson_depth,
    compute_poisson_probability,
    draw_poisson_depth,
    parse_depth,
)


def test_poisson_cut_offs_match_table_3() -> None:
    # The text of the paper wrongly has 24 for 15.
    assert [compute_poisson_depth(mean) for mean in (10, 15, 20)] == [19, 25, 32]
    assert [compute_poisson_depth(mean) for mean in (0, 1, 5, 23, 24, 35)] == [1, 5, 12, 35, 35, 35]


def test_rounded_probabilities_match_the_paper() -> None:
    assert [round(compute_poisson_probability(10, x), 2) for x in (0, 3, 4, 5, 6, 18, 19)] == [
        0,
        0.01,
        0.02,
        0.04,
        0.06,
        0.01,
        0,
    ]
    assert [round(compute_poisson_probability(15, x), 2) for x in (6, 7, 24, 25)] == [0, 0.01, 0.01, 0]
    assert [round(compute_poisson_probability(20, x), 2) for x in (9, 10, 12, 13, 30, 31, 32)] == [
        0,
        0.01,
        0.02,
        0.03,
        0.01,
        0.01,
        0,
    ]


def test_sampled_depths_have_the_mean_and_stay_under_the_cap() -> None:
    rng = Random(7)
    depths = [draw_poisson_depth(10, rng) for _ in range(4000)]
    assert sum(depths) / len(depths) == pytest.approx(10, abs=0.2)
    assert len(set(depths)) > 10
    assert max(draw_poisson_depth(35, rng) for _ in range(500)) == 35


def test_all_forms_of_depth_are_parsed() -> None:
    rng = Random(1)
    assert parse_depth("3", rng) == 3
    assert parse_depth("none", rng) is None
    assert parse_depth("-1", rng) is None
    assert parse_depth("poisson:15", rng) == 25
    assert 0 <= (parse_depth("sample:10", rng) or 0) <= 35


@pytest.mark.parametrize("text", ["", "-2", "deep", "poisson:", "poisson:many", "fish:3", "1.5", "²", "poisson:nan"])
def test_invalid_depth_is_rejected_with_the_valid_forms(text: str) -> None:
    with pytest.raises(UsageError, match=r"poisson:10|between 0 and 35"):
        parse_depth(text, Random(1))


def test_mean_out_of_range_is_rejected() -> None:
    with pytest.raises(UsageError, match="between 0 and 35, not 99"):
        parse_depth("poisson:99", Random(1))
