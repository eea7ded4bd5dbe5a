"""MIG Table 4.2: how much each criterion of a migrant matters."""

from experiments.frame import Row, Table, exact
from sanderling.workers.assignment.ahp import (
    alonso_lamata_ratio,
    average,
    column_sums,
    described_ratio,
    eigenvector,
    read,
    saaty_ratio,
)
from sanderling.workers.assignment.criteria import CRITERIA, JUDGEMENTS

TITLE = "MIG Table 4.2: weights of seven criteria, and whether the judgements agree"

PRINTED_MATRIX = read("""
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
    ours = eigenvector(JUDGEMENTS)[0]
    names = [criterion.name for criterion in CRITERIA]
    rows = [
        exact(f"weight of {name}", printed, right, value, 6e-5)
        for name, printed, right, value in zip(names, PRINTED_WEIGHTS, WEIGHTS, ours, strict=True)
    ]
    rows += [
        exact(f"column total of {name}", printed, right, value, 6e-4)
        for name, printed, right, value in zip(names, PRINTED_TOTALS, TOTALS, column_sums(JUDGEMENTS), strict=True)
    ]
    return Table(TITLE, (*rows, *_agreement()), remark="The printed matrix breaks reciprocity in three cells (E2).")


def _agreement() -> tuple[Row, ...]:
    return (
        exact("consistency ratio, repaired (Saaty)", None, 0.0826, saaty_ratio(JUDGEMENTS), 5e-5),
        exact("consistency ratio, repaired (Alonso-Lamata)", None, 0.0813, alonso_lamata_ratio(JUDGEMENTS), 5e-5),
        exact(
            "consistency ratio, as printed and by the described method",
            "consistent",
            0.124,
            described_ratio(PRINTED_MATRIX, average(PRINTED_MATRIX)),
            5e-4,
        ),
    )
