"""AHP on the tables 4.2 to 4.12 of the thesis, with misprints corrected."""

import pytest
from experiments.paper_methods import compute_row_averages, compute_thesis_ratio
from hypothesis import given
from hypothesis import strategies as st

from sanderling.errors import UsageError
from sanderling.workers.assignment import ahp
from sanderling.workers.assignment.criteria import DEFAULT_JUDGMENTS

NAMES = ("load", "urlcap", "prank", "bw", "lrate", "agcap", "lat")
WORKER_MATRICES = {
    "load": "1 4 5 6\n1/4 1 3 3\n1/5 1/3 1 2\n1/6 1/3 1/2 1",
    "urlcap": "1 1/6 3 1/2\n6 1 7 3\n1/3 1/7 1 1/7\n2 1/3 7 1",
    "prank": "1 1/3 1/7 1/2\n3 1 1/3 1\n7 3 1 4\n2 1 1/4 1",
    "bw": "1 3 4 6\n1/3 1 2 3\n1/4 1/2 1 4\n1/6 1/3 1/4 1",
    "lrate": "1 1/7 1/4 1/3\n7 1 3 4\n4 1/3 1 3\n3 1/4 1/3 1",
    "agcap": "1 1/4 1/4 1\n4 1 1/4 3\n4 4 1 4\n1 1/3 1/4 1",
    "lat": "1 2 3 1\n1/2 1 3 1\n1/3 1/3 1 1/2\n1 1 2 1",
}
PRINTED = {
    "load": (0.597, 0.222, 0.108, 0.073),
    "urlcap": (0.119, 0.580, 0.050, 0.250),  # misprinted as .500
    "prank": (0.075, 0.191, 0.575, 0.160),
    "bw": (0.547, 0.224, 0.163, 0.066),
    "lrate": (0.060, 0.551, 0.260, 0.129),
    "agcap": (0.094, 0.253, 0.555, 0.099),
    "lat": (0.362, 0.255, 0.111, 0.272),
}
TABLES = {name: ahp.parse_matrix(text) for name, text in WORKER_MATRICES.items()}
PRINTED_CRITERIA = ahp.parse_matrix(
    "1 1/7 1/8 2 1/4 1 3\n7 1 1/2 5 4 3 4\n8 2 1 7 4 5 4\n1/2 1/5 1/7 1 1 1 1\n"
    "4 1/4 1/2 1 1 2 3\n1 1/3 1/3 1 1/2 1 2\n1/3 1/4 1/4 1 1/3 1/2 1"
)


@pytest.mark.parametrize("name", NAMES)
def test_printed_weights_are_the_eigenvector(name: str) -> None:
    assert ahp.compute_eigenvector(TABLES[name])[0] == pytest.approx(PRINTED[name], abs=6e-4)


def test_corrected_criteria_have_the_printed_weights() -> None:
    expected = (0.0735, 0.2730, 0.3732, 0.0555, 0.1164, 0.0616, 0.0468)
    assert ahp.compute_eigenvector(DEFAULT_JUDGMENTS)[0] == pytest.approx(expected, abs=6e-5)


def test_final_scores_are_those_of_table_4_11() -> None:
    criteria = ahp.compute_eigenvector(DEFAULT_JUDGMENTS)[0]
    scores = ahp.compute_scores(criteria, [ahp.compute_eigenvector(TABLES[name])[0] for name in NAMES])
    assert [round(value, 3) for value in scores] == [0.164, 0.350, 0.315, 0.171]
    assert sum(scores) == pytest.approx(1)


def test_row_averages_give_other_weights_but_the_same_ranks() -> None:
    assert round(compute_row_averages(TABLES["load"])[0], 3) == 0.588
    scores = ahp.compute_scores(
        compute_row_averages(DEFAULT_JUDGMENTS), [compute_row_averages(TABLES[name]) for name in NAMES]
    )
    assert scores == pytest.approx((0.1697, 0.3441, 0.3144, 0.1718), abs=1e-4)


def test_consistency_ratios_by_saaty_and_by_alonso_and_lamata() -> None:
    saaty = [round(ahp.compute_saaty_ratio(TABLES[name]), 3) for name in NAMES]
    assert saaty == [0.047, 0.050, 0.008, 0.053, 0.044, 0.077, 0.030]
    alonso_lamata = [round(ahp.compute_alonso_lamata_ratio(TABLES[name]), 3) for name in NAMES[1:]]
    assert alonso_lamata == [0.050, 0.008, 0.052, 0.044, 0.076, 0.030]
    assert round(ahp.compute_saaty_ratio(DEFAULT_JUDGMENTS), 3) == 0.083


def test_ratio_of_the_thesis_rejects_a_valid_matrix() -> None:
    assert compute_thesis_ratio(TABLES["agcap"], compute_row_averages(TABLES["agcap"])) > ahp.MAX_CONSISTENCY_RATIO
    assert ahp.compute_saaty_ratio(TABLES["agcap"]) < ahp.MAX_CONSISTENCY_RATIO


def test_printed_matrix_is_refused_and_the_pair_is_named() -> None:
    with pytest.raises(UsageError, match=r"prank over lrate is 4, but lrate over prank is 0\.5"):
        ahp.validate_matrix(PRINTED_CRITERIA, NAMES)
    assert ahp.validate_matrix(DEFAULT_JUDGMENTS, NAMES) is DEFAULT_JUDGMENTS


def test_inconsistent_matrix_is_refused_and_the_worst_pair_is_named() -> None:
    cycle = ahp.parse_matrix("1 5 1/5\n1/5 1 5\n5 1/5 1")
    with pytest.raises(UsageError, match="contradict each other"):
        ahp.validate_matrix(cycle, "abc")
    outlier = ahp.parse_matrix("1 2 4 8\n1/2 1 2 1/9\n1/4 1/2 1 2\n1/8 9 1/2 1")
    with pytest.raises(UsageError, match="look first at d over b, now 9"):
        ahp.validate_matrix(outlier, "abcd")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n1/2 1", "3 criteria need a matrix"),
        ("1 0 1\n1 1 1\n1 1 1", "greater than 0"),
        ("1 2 3\n1/2 1\n1/3 1 1", "3 rows and columns"),
    ],
)
def test_invalid_matrix_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ahp.validate_matrix(ahp.parse_matrix(text), "abc")


@pytest.mark.parametrize("text", ["1 x", "1 1/0"])
def test_judgment_must_be_a_number(text: str) -> None:
    with pytest.raises(UsageError, match="number or a fraction"):
        ahp.parse_matrix(text)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=9))
def test_weights_of_measured_values_sum_to_one_and_keep_their_order(values: list[float]) -> None:
    weights = ahp.compute_weights(values)
    assert sum(weights) == pytest.approx(1)
    best = max(range(len(values)), key=values.__getitem__)
    assert weights[best] >= max(weights) - 1e-9


@given(st.lists(st.floats(1.0, 9.0), min_size=2, max_size=9))
def test_ratios_within_the_scale_are_perfectly_consistent(values: list[float]) -> None:
    assert ahp.compute_weights(values) == pytest.approx(
        ahp.compute_eigenvector(ahp.build_ratio_matrix(values))[0], abs=1e-9
    )
    assert abs(ahp.compute_saaty_ratio(ahp.build_ratio_matrix(values))) < 1e-9
