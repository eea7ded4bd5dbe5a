"""Whether two parts of a site are one template."""

from sanderling.templates.merge import CompanionMatch, PartPair, akin, compute_merge_score, score_described_parts

EVEN = dict.fromkeys(range(1, 11), 1.0)


def test_parts_that_hold_most_of_each_other_are_one_template_unless_a_feature_tells_them_apart() -> None:
    plain = {1: 1.0, 2: 1.0, 3: 1.0, 4: 0.9}
    richer = {1: 1.0, 2: 1.0, 3: 1.0, 5: 0.9, 6: 0.9}
    assert 0.4 < compute_merge_score(PartPair(plain, richer, EVEN)) < 0.55
    assert compute_merge_score(PartPair(plain, richer | {6: 1.0}, EVEN)) == 0.0
    assert compute_merge_score(PartPair(plain, {1: 1.0, 5: 0.9, 6: 0.9, 7: 0.9}, EVEN)) == 0.0


def test_kinds_without_a_word_in_common_are_one_only_if_they_share_most() -> None:
    large, small = {1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0, 5: 1.0}, {1: 1.0, 2: 1.0}
    assert akin(PartPair(small, large, EVEN), word=False) == 0
    assert akin(PartPair({**large, 5: 0.8}, large, EVEN), word=False) > 0


def test_kinds_with_a_word_in_common_and_the_same_kind_of_page_beside_them_are_one() -> None:
    large, small = {1: 1.0, 2: 0.9, 3: 0.9, 4: 0.9}, {1: 1.0, 2: 0.2, 5: 0.8}
    assert akin(PartPair(small, large, EVEN, CompanionMatch.SAME), word=True) > 0
    assert akin(PartPair(small, large, EVEN, CompanionMatch.NONE), word=True) == 0


def test_kinds_with_different_company_are_two_however_much_they_share() -> None:
    small, large = {1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}, {1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0, 5: 0.5}
    assert akin(PartPair(small, large, EVEN, CompanionMatch.NONE), word=True) > 0
    assert akin(PartPair(small, large, EVEN, CompanionMatch.OTHER), word=True) == 0


def test_kinds_with_a_word_in_common_that_hardly_anything_tells_apart_are_one() -> None:
    small, large = {1: 1.0, 2: 0.5, 3: 0.5}, {1: 1.0, 4: 0.5, 5: 0.5}
    assert akin(PartPair(small, large, EVEN | {1: 1.2}), word=True) > 0
    assert akin(PartPair(small, large | {4: 0.7}, EVEN | {1: 1.2}), word=True) == 0


def test_kinds_with_a_word_in_common_that_share_nearly_half_are_one_unless_a_feature_tells_them_apart() -> None:
    small, large = {1: 1.0, 2: 1.0, 3: 0.9}, {1: 1.0, 2: 1.0, 4: 0.9, 5: 0.6}
    assert 0.4 < akin(PartPair(small, large, EVEN), word=True) < 0.55
    assert akin(PartPair(small, {**large, 4: 1.0}, EVEN), word=True) == 0
    assert akin(PartPair(small, large, EVEN), word=False) == 0


def test_parts_that_one_kind_of_page_tells_of_are_one_if_half_of_one_is_in_the_other() -> None:
    small, large = {1: 1.0, 2: 1.0}, {1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0, 5: 1.0, 6: 1.0}
    assert score_described_parts(PartPair(small, large, EVEN)) > 0
    assert compute_merge_score(PartPair(small, large, EVEN)) == 0
    assert score_described_parts(PartPair({7: 1.0, 8: 1.0}, large, EVEN)) == 0
