"""The analytic hierarchy process: from judgements of pairs to weights, and whether the judgements agree.

The thesis (MIG 4.3) describes weights as averages of normalised rows, but every weight it prints is the principal
eigenvector. The eigenvector is therefore the default; `average` is kept as the described variant.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul

from sanderling.errors import UsageError

Vector = tuple[float, ...]
Matrix = tuple[Vector, ...]

RANDOM_INDEX = (0.0, 0.0, 0.0, 0.58, 0.90, 1.12, 1.24, 1.32, 1.41, 1.45, 1.49)  # Saaty, by order 0..10; MIG Table 4.10
MAX_CONSISTENCY_RATIO = 0.10  # a consistency ratio above this is refused
MAX_JUDGMENT = 9.0  # Saaty's scale ends at 9: extremely more important
MAX_ITERATIONS = 500
TOLERANCE = 1e-13
MEASURED_TOLERANCE = 1e-7  # for measured values, which are never as exact


def parse_matrix(text: str) -> Matrix:
    """Read a matrix written as lines of numbers and fractions, e.g. `1 1/7 3`."""
    try:
        return tuple(tuple(float(Fraction(cell)) for cell in row.split()) for row in text.strip().splitlines())
    except (ValueError, ZeroDivisionError) as wrong:
        raise UsageError(f"a judgement is a number or a fraction such as 3 or 1/3: {wrong}") from None


def compute_eigenvector(matrix: Matrix, tolerance: float = TOLERANCE) -> tuple[Vector, float]:
    """Find the weights (principal eigenvector, summing to 1) and the principal eigenvalue by power iteration."""
    weights: Vector = (1 / len(matrix),) * len(matrix)
    total = float(len(matrix))
    for _ in range(MAX_ITERATIONS):
        image = multiply_matrix(matrix, weights)
        total = sum(image)  # the weights sum to 1, so this tends to the eigenvalue
        moved = tuple(value / total for value in image)
        still = max(abs(new - old) for new, old in zip(moved, weights, strict=True)) < tolerance
        weights = moved
        if still:
            break
    return weights, total


def compute_row_averages(matrix: Matrix) -> Vector:
    """Weigh by the mean of the rows of the column-normalised matrix: the method the thesis describes."""
    totals = compute_column_sums(matrix)
    return tuple(sum(cell / total for cell, total in zip(row, totals, strict=True)) / len(matrix) for row in matrix)


def compute_column_sums(matrix: Matrix) -> Vector:
    """Add up each column."""
    return tuple(sum(column) for column in zip(*matrix, strict=True))


def multiply_matrix(matrix: Matrix, vector: Vector) -> Vector:
    """Multiply a matrix by a column."""
    return tuple(sum(map(mul, row, vector)) for row in matrix)


def compute_saaty_ratio(matrix: Matrix) -> float:
    """Give Saaty's consistency ratio; beyond order 10 his table ends and Alonso and Lamata's line goes on."""
    order = len(matrix)
    if order < 3:
        return 0.0
    if order >= len(RANDOM_INDEX):
        return compute_alonso_lamata_ratio(matrix)
    return (compute_eigenvector(matrix)[1] - order) / (order - 1) / RANDOM_INDEX[order]


def compute_alonso_lamata_ratio(matrix: Matrix) -> float:
    """Give the consistency ratio by Alonso and Lamata's line, which the printed ratios of MIG 4.4-4.9 follow."""
    order = len(matrix)
    return (compute_eigenvector(matrix)[1] - order) / (2.7699 * order - 4.3513 - order) if order > 2 else 0.0


def compute_thesis_ratio(matrix: Matrix, weights: Vector) -> float:
    """Give the ratio as the thesis works it by hand, from column sums: it overstates, and rejects valid matrices."""
    order = len(matrix)
    largest: float = sum(map(mul, compute_column_sums(matrix), weights))
    return (largest - order) / (order - 1) / RANDOM_INDEX[order]


def validate_matrix(matrix: Matrix, names: Sequence[str]) -> Matrix:
    """Return the matrix if it can be used; refuse it with the worst pair named if it cannot."""
    order = len(names)
    if order == 0 or len(matrix) != order or any(len(row) != order for row in matrix):
        raise UsageError(f"{order} criteria need a matrix of {order} rows and columns")
    if any(not 0 < cell < math.inf for row in matrix for cell in row):
        raise UsageError("a judgement must be greater than 0: write 1/3 for three times less important")
    _check_reciprocal(matrix, names)
    ratio = compute_saaty_ratio(matrix)
    if ratio > MAX_CONSISTENCY_RATIO:
        one, other = _find_worst_pair(matrix)
        raise UsageError(
            f"the judgements contradict each other (consistency ratio {ratio:.3f}, at most {MAX_CONSISTENCY_RATIO:.2f}): "
            f"look first at {names[one]} over {names[other]}, now {matrix[one][other]:g}; "
            f"the others suggest {_compute_implied_ratio(matrix, one, other):.2g}"
        )
    return matrix


def _check_reciprocal(matrix: Matrix, names: Sequence[str]) -> None:
    for one, row in enumerate(matrix):
        for other, cell in enumerate(row):
            if abs(cell * matrix[other][one] - 1) > 0.01:
                raise UsageError(
                    f"{names[one]} over {names[other]} is {cell:g}, but {names[other]} over {names[one]} is "
                    f"{matrix[other][one]:g}: one must be 1 divided by the other"
                )


def _find_worst_pair(matrix: Matrix) -> tuple[int, int]:
    pairs = ((one, other) for one in range(len(matrix)) for other in range(one))
    return max(pairs, key=lambda pair: abs(math.log(matrix[pair[0]][pair[1]] / _compute_implied_ratio(matrix, *pair))))


def _compute_implied_ratio(matrix: Matrix, one: int, other: int) -> float:
    weights, _ = compute_eigenvector(matrix)
    return weights[one] / weights[other]


def build_ratio_matrix(values: Sequence[float]) -> Matrix:
    """Judge positive measured values by their ratios, kept within Saaty's scale."""
    return tuple(tuple(min(MAX_JUDGMENT, max(1 / MAX_JUDGMENT, one / other)) for other in values) for one in values)


def compute_weights(values: Sequence[float]) -> Vector:
    """Weigh positive measured values: the eigenvector of `compare`, at once where no ratio leaves the scale."""
    if max(values) <= MAX_JUDGMENT * min(values):
        total = sum(values)
        return tuple(value / total for value in values)
    return compute_eigenvector(build_ratio_matrix(values), MEASURED_TOLERANCE)[0]


def compute_scores(criterion_weights: Vector, worker_weights: Sequence[Vector]) -> Vector:
    """Add up each migrant's weights (one column per criterion), each times the criterion's own weight."""
    return tuple(sum(map(mul, criterion_weights, row)) for row in zip(*worker_weights, strict=True))
