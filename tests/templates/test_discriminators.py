"""How well structure agrees with a token."""

from sanderling.templates.discriminators import Markers

PAGES = (1 << 40) - 1
HALF = (1 << 20) - 1


def test_the_feature_that_tells_most_of_a_token_is_its_marker() -> None:
    split = Markers({HALF: [1], 0b1111: [2]}, PAGES).foretold("top:a", HALF, chance=5.0)
    assert split is not None
    assert split.agreement == split.block_agreement == 1.0
    assert split.bits == 40.0


def test_a_token_that_is_foretold_no_better_than_by_chance_divides_nothing() -> None:
    every_second = sum(1 << n for n in range(0, 40, 2))
    assert Markers({every_second: [1]}, PAGES).foretold("top:a", HALF, chance=5.0) is None
    assert Markers({HALF: [1]}, PAGES).foretold("top:a", HALF, chance=41.0) is None


def test_two_features_tell_together_what_neither_tells_alone() -> None:
    first, second = (1 << 12) - 1, HALF & ~((1 << 12) - 1)
    split = Markers({first: [1], second: [2]}, PAGES).foretold("top:a", HALF, chance=5.0)
    assert split is not None
    assert split.bits < 40.0
    assert split.agreement > 0.99
