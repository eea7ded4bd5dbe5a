"""Position bias, trust and smoothing of click weights."""

from pathlib import Path

import pytest
from benchmarks.search.click_feedback import posed, simulate

from sanderling.search.feedback.click_model import (
    ANY_QUERY,
    RankingImpression,
    compute_damped_weight,
    compute_examination,
    compute_trust,
    compute_weights,
    limit_impressions,
)

PAGES = tuple(f"https://a.example/{i}" for i in range(10))


def make_impressions(index: int, clients: int = 40, satisfaction: float = 1.0) -> list[RankingImpression]:
    """Return impressions that all click the same position."""
    return [RankingImpression(f"c{i}", "tide", PAGES, {index: satisfaction}) for i in range(clients)]


def test_examination_falls_with_the_position() -> None:
    chances = [compute_examination(p) for p in range(1, 11)]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] == 1


def test_clicked_page_gains_and_skipped_page_loses() -> None:
    weights = compute_weights(make_impressions(4))
    assert weights["tide", PAGES[4]].value > 0.5
    assert weights["tide", PAGES[0]].value < 0


def test_click_counts_more_at_a_lower_position() -> None:
    impressions = [
        impression
        for i in range(30)
        for impression in (
            RankingImpression(f"a{i}", "q", PAGES, {0: 1.0}),
            RankingImpression(f"b{i}", "q", PAGES, {7: 1.0}),
        )
    ]
    weights = compute_weights(impressions)
    assert weights["q", PAGES[7]].value > weights["q", PAGES[0]].value


def test_single_client_cannot_change_the_ranking() -> None:
    quiet = compute_weights(make_impressions(0))
    busy = compute_weights(
        [*make_impressions(0), *(RankingImpression("one", "tide", PAGES, {9: 1.0}) for _ in range(10_000))]
    )
    assert busy["tide", PAGES[9]].value <= 0
    assert busy["tide", PAGES[0]].value == pytest.approx(quiet["tide", PAGES[0]].value, abs=0.05)
    alone = compute_weights([RankingImpression("one", "tide", PAGES, {9: 1.0})] * 500)
    assert all(weight.value == 0 for weight in alone.values())


def test_impressions_per_client_are_limited() -> None:
    same = [RankingImpression("one", "tide", PAGES, {})] * 5
    many = [RankingImpression("one", f"q{i}", PAGES, {}) for i in range(100)]
    assert (len(limit_impressions(same)), len(limit_impressions(many))) == (1, 30)


def test_client_without_agreement_loses_trust() -> None:
    trust = compute_trust([*make_impressions(0), RankingImpression("odd", "tide", PAGES, {9: 1.0})])
    assert trust["odd"] < 0.2 < trust["c0"]


def test_weight_for_any_query_is_learned() -> None:
    impressions = [RankingImpression(f"c{i}", f"q{i % 5}", PAGES, {3: 1.0}) for i in range(40)]
    assert compute_weights(impressions)[ANY_QUERY, PAGES[3]].value > 0


def test_weights_are_damped_and_capped() -> None:
    assert compute_damped_weight(1e9, 1.0, 1.0, 2.0, 0.1) == 1.0
    assert compute_damped_weight(0.0, 1e9, 0.1, 2.0, 0.1) == -1.0
    assert compute_damped_weight(5.0, 10.0, 0.1, 2.0, 0.0) == 0.0
    assert compute_damped_weight(1.0, 1.0, 0.1, 2.0, 0.1) < compute_damped_weight(20.0, 20.0, 0.1, 2.0, 0.1)


def test_simulated_feedback_improves_ranking_despite_spam(suites: Path, tmp_path: Path) -> None:
    index, queries = posed(suites / "ir-collections" / "cran" / "norm", tmp_path)
    runs = [simulate(index, queries, seed, 1000, 0.1) for seed in range(4)]
    index.close()
    before, after, without = (sum(getattr(run, name) for run in runs) for name in ("before", "after", "without"))
    assert after / before > 1.15
    assert abs(after / without - 1) < 0.02
