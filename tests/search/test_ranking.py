"""Bounds and order of the score parts."""

from sanderling.search.ranking import RankingWeights, combine_scores

YEAR = 365 * 86400.0


def test_text_score_is_unchanged_without_other_signals() -> None:
    parts = combine_scores(2.0, 0.0, 100 * YEAR, 0.0, RankingWeights())
    assert round(parts.score, 6) == 2.0


def test_parts_are_bounded() -> None:
    most = combine_scores(1.0, 1e12, -5.0, 99.0, RankingWeights())
    assert (most.link, most.freshness, most.behavior) == (1.25, 1.15, 2.0)
    assert combine_scores(1.0, -1.0, 100 * YEAR, -99.0, RankingWeights()).behavior == 0.5


def test_more_links_and_later_changes_rank_higher() -> None:
    assert combine_scores(1, 5, YEAR, 0, RankingWeights()).score > combine_scores(1, 1, YEAR, 0, RankingWeights()).score
    assert (
        combine_scores(1, 1, 86400, 0, RankingWeights()).score > combine_scores(1, 1, YEAR, 0, RankingWeights()).score
    )
