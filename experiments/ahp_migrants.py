"""MIG Tables 4.3 to 4.9: four migrants judged by each criterion."""

from collections.abc import Iterator

from experiments.frame import Row, Table, exact
from experiments.paper_methods import compute_row_averages
from sanderling.workers.assignment.ahp import (
    Matrix,
    compute_alonso_lamata_ratio,
    compute_eigenvector,
    compute_saaty_ratio,
    parse_matrix,
)

TITLE = "MIG Tables 4.3-4.9: weights of four migrants per criterion"

# per table: judgements, weights as printed, weights as they should be, consistency ratio as printed and as it should be
TABLES: dict[str, tuple[Matrix, tuple[float, ...], tuple[float, ...], float, float]] = {
    "4.3 load": (
        parse_matrix("1 4 5 6\n1/4 1 3 3\n1/5 1/3 1 2\n1/6 1/3 1/2 1"),
        *((0.597, 0.222, 0.108, 0.073), (0.597, 0.222, 0.108, 0.073), 0.047, 0.0466),  # by hand, Saaty's index
    ),
    "4.4 url capacity": (
        parse_matrix("1 1/6 3 1/2\n6 1 7 3\n1/3 1/7 1 1/7\n2 1/3 7 1"),
        *((0.119, 0.580, 0.500, 0.250), (0.119, 0.580, 0.050, 0.250), 0.005, 0.050),  # lost zeros: E5, E7
    ),
    "4.5 parent rank": (
        parse_matrix("1 1/3 1/7 1/2\n3 1 1/3 1\n7 3 1 4\n2 1 1/4 1"),
        *((0.075, 0.191, 0.575, 0.160), (0.075, 0.191, 0.575, 0.160), 0.008, 0.008),
    ),
    "4.6 bandwidth": (
        parse_matrix("1 3 4 6\n1/3 1 2 3\n1/4 1/2 1 4\n1/6 1/3 1/4 1"),
        *((0.547, 0.224, 0.163, 0.066), (0.547, 0.224, 0.163, 0.066), 0.052, 0.052),
    ),
    "4.7 loading rate": (
        parse_matrix("1 1/7 1/4 1/3\n7 1 3 4\n4 1/3 1 3\n3 1/4 1/3 1"),
        *((0.060, 0.551, 0.260, 0.129), (0.060, 0.551, 0.260, 0.129), 0.044, 0.044),
    ),
    "4.8 capacity": (
        parse_matrix("1 1/4 1/4 1\n4 1 1/4 3\n4 4 1 4\n1 1/3 1/4 1"),
        *((0.094, 0.253, 0.555, 0.099), (0.094, 0.253, 0.555, 0.099), 0.076, 0.076),
    ),
    "4.9 latency": (
        parse_matrix("1 2 3 1\n1/2 1 3 1\n1/3 1/3 1 1/2\n1 1 2 1"),
        *((0.362, 0.255, 0.111, 0.272), (0.362, 0.255, 0.111, 0.272), 0.003, 0.030),
    ),
}


def table() -> Table:
    """Weigh every matrix."""
    by_text = exact(
        "4.3 MC1 by the described averaging", 0.597, 0.588, compute_row_averages(TABLES["4.3 load"][0])[0], 5e-4
    )
    return Table(TITLE, (*_rows(), by_text), remark="Every printed weight is an eigenvector, none an average (E1).")


def _rows() -> Iterator[Row]:
    for name, (matrix, printed, corrected, printed_ratio, ratio) in TABLES.items():
        for number, ours in enumerate(compute_eigenvector(matrix)[0]):
            yield exact(f"{name} MC{number + 1}", printed[number], corrected[number], ours, 6e-4)
        ours_ratio = compute_saaty_ratio(matrix) if name == "4.3 load" else compute_alonso_lamata_ratio(matrix)
        yield exact(f"{name} consistency ratio", printed_ratio, ratio, ours_ratio, 6e-4)
