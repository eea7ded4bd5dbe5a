"""MIG Table 4.2: how much each criterion of a migrant matters."""

from experiments.frame import Row, Table, exact
from experiments.paper_methods import compute_column_sums, compute_row_averages, compute_thesis_ratio
from sanderling.workers.assignment.ahp import (
    compute_alonso_lamata_ratio,
    compute_eigenvector,
    compute_saaty_ratio,
    parse_matrix,
)
from sanderling.workers.assignment.criteria import DEFAULT_CRITERIA, DEFAULT_JUDGMENTS

TITLE = "MIG Table 4.2: weights of seven criteria, and whether the judgements agree"

PRINTED_MATRIX = parse_matrix("""
1   1/7 1/8 2 1/4 1   3
7   1   1/2 5 4   3   4
8   2   1   7 4   5   4
1/2 1/5 1/7 1 1   1   1
4   1/4 1/2 1 1   2   3
1   1/3 1/3 1 1/2 1   2
1/3 1/4 1/4 1 1/3 1/2 1
""")
WEIGHTS = (0.0735, 0.2730, 0.3732, 0.0555, 0.1164, 0.0616, 0.0468)
PRINTED_WEIGHTS = (0.074, 0.273, 0.373, 0.056, 0.116, 0.062, 0.047)
PRINTED_TOTALS = (21.833, 4.176, 2.851, 18.0, 10.583, 13.5, 18.0)
TOTALS = (21.333, 4.176, 2.468, 18.0, 11.083, 14.5, 18.0)


def table() -> Table:
    """Weigh the repaired matrix."""
    ours = compute_eigenvector(DEFAULT_JUDGMENTS)[0]
    names = [criterion.name for criterion in DEFAULT_CRITERIA]
    rows = [
        exact(f"weight of {name}", printed, right, value, 6e-5)
        for name, printed, right, value in zip(names, PRINTED_WEIGHTS, WEIGHTS, ours, strict=True)
    ]
    rows += [
        exact(f"column total of {name}", printed, right, value, 6e-4)
        for name, printed, right, value in zip(
            names, PRINTED_TOTALS, TOTALS, compute_column_sums(DEFAULT_JUDGMENTS), strict=True
        )
    ]
    return Table(TITLE, (*rows, *_agreement()), remark="The printed matrix breaks reciprocity in three cells (E2).")


def _agreement() -> tuple[Row, ...]:
    return (
        exact("consistency ratio, repaired (Saaty)", None, 0.0826, compute_saaty_ratio(DEFAULT_JUDGMENTS), 5e-5),
        exact(
            "consistency ratio, repaired (Alonso-Lamata)",
            None,
            0.0813,
            compute_alonso_lamata_ratio(DEFAULT_JUDGMENTS),
            5e-5,
        ),
        exact(
            "consistency ratio, as printed and by the described method",
            "consistent",
            0.124,
            compute_thesis_ratio(PRINTED_MATRIX, compute_row_averages(PRINTED_MATRIX)),
            5e-4,
        ),
    )
