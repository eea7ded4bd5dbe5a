"""Each part of the score is bounded and can be seen."""

from sanderling.search.ranking import Ranking, combine

YEAR = 365 * 86400.0


def test_without_signals_the_text_score_stands() -> None:
    parts = combine(2.0, 0.0, 100 * YEAR, 0.0, Ranking())
    assert round(parts.score, 6) == 2.0


def test_no_part_can_pass_its_bound() -> None:
    most = combine(1.0, 1e12, -5.0, 99.0, Ranking())
    assert (most.link, most.freshness, most.behaviour) == (1.25, 1.15, 2.0)
    assert combine(1.0, -1.0, 100 * YEAR, -99.0, Ranking()).behaviour == 0.5


def test_more_links_and_later_changes_rank_higher() -> None:
    assert combine(1, 5, YEAR, 0, Ranking()).score > combine(1, 1, YEAR, 0, Ranking()).score
    assert combine(1, 1, 86400, 0, Ranking()).score > combine(1, 1, YEAR, 0, Ranking()).score
