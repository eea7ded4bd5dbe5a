"""Analytic hierarchy process: weights and consistency of pairwise comparison matrices.

The thesis (MIG 4.3) describes weights as averages of normalized rows, but prints principal eigenvectors, which are
used.
"""

import math
from collections.abc import Sequence
from operator import mul

from sanderling.errors import UsageError

Vector = tuple[float, ...]
Matrix = tuple[Vector, ...]

RANDOM_INDEX = (0.0, 0.0, 0.0, 0.58, 0.90, 1.12, 1.24, 1.32, 1.41, 1.45, 1.49)  # Saaty, orders 0 to 10; MIG Table 4.10
MAX_CONSISTENCY_RATIO = 0.10  # Saaty
MAX_JUDGMENT = 9.0  # end of Saaty's scale: extremely more important
MAX_ITERATIONS = 500
TOLERANCE = 1e-13
MEASURED_TOLERANCE = 1e-7  # measured values are less exact


def parse_matrix(text: str) -> Matrix:
    """Parse lines of numbers and fractions such as `1 1/7 3`. Raises UsageError."""
    try:
        return tuple(tuple(_parse_judgment(cell) for cell in row.split()) for row in text.strip().splitlines())
    except (ValueError, ZeroDivisionError) as error:
        raise UsageError(f"a judgement is a number or a fraction such as 3 or 1/3: {error}") from None


def _parse_judgment(text: str) -> float:
    whole, _, part = text.partition("/")
    if whole.isdecimal() and part.isdecimal():
        return int(whole) / int(part)
    from fractions import Fraction  # slow import, not needed for the judgments of the thesis

    return float(Fraction(text))


def compute_eigenvector(matrix: Matrix, tolerance: float = TOLERANCE) -> tuple[Vector, float]:
    """Compute the principal eigenvector (sum 1) and eigenvalue by power iteration."""
    weights: Vector = (1 / len(matrix),) * len(matrix)
    total = float(len(matrix))
    for _ in range(MAX_ITERATIONS):
        image = multiply_matrix(matrix, weights)
        total = sum(image)  # the weights sum to 1, so this tends to the eigenvalue
        new_weights = tuple(value / total for value in image)
        is_stable = max(abs(new - old) for new, old in zip(new_weights, weights, strict=True)) < tolerance
        weights = new_weights
        if is_stable:
            break
    return weights, total


def multiply_matrix(matrix: Matrix, vector: Vector) -> Vector:
    return tuple(sum(map(mul, row, vector)) for row in matrix)


def compute_saaty_ratio(matrix: Matrix) -> float:
    """Compute Saaty's consistency ratio; beyond order 10 that of Alonso and Lamata."""
    order = len(matrix)
    if order < 3:
        return 0.0
    if order >= len(RANDOM_INDEX):
        return compute_alonso_lamata_ratio(matrix)
    return (compute_eigenvector(matrix)[1] - order) / (order - 1) / RANDOM_INDEX[order]


def compute_alonso_lamata_ratio(matrix: Matrix) -> float:
    """Compute the consistency ratio of Alonso and Lamata, which MIG 4.4-4.9 prints."""
    order = len(matrix)
    return (compute_eigenvector(matrix)[1] - order) / (2.7699 * order - 4.3513 - order) if order > 2 else 0.0


def validate_matrix(matrix: Matrix, names: Sequence[str]) -> Matrix:
    """Return a valid matrix. Raises UsageError."""
    order = len(names)
    if order == 0 or len(matrix) != order or any(len(row) != order for row in matrix):
        raise UsageError(f"{order} criteria need a matrix of {order} rows and columns")
    if any(not 0 < cell < math.inf for row in matrix for cell in row):
        raise UsageError("a judgement must be greater than 0: write 1/3 for three times less important")
    _check_reciprocal(matrix, names)
    ratio = compute_saaty_ratio(matrix)
    if ratio > MAX_CONSISTENCY_RATIO:
        row, column = _find_worst_pair(matrix)
        raise UsageError(
            "the judgements contradict each other "
            f"(consistency ratio {ratio:.3f}, at most {MAX_CONSISTENCY_RATIO:.2f}): "
            f"look first at {names[row]} over {names[column]}, now {matrix[row][column]:g}; "
            f"the others suggest {_compute_implied_ratio(matrix, row, column):.2g}"
        )
    return matrix


def _check_reciprocal(matrix: Matrix, names: Sequence[str]) -> None:
    for first, row in enumerate(matrix):
        for second, cell in enumerate(row):
            if abs(cell * matrix[second][first] - 1) > 0.01:
                raise UsageError(
                    f"{names[first]} over {names[second]} is {cell:g}, but {names[second]} over {names[first]} is "
                    f"{matrix[second][first]:g}: one must be 1 divided by the other"
                )


def _find_worst_pair(matrix: Matrix) -> tuple[int, int]:
    pairs = ((row, column) for row in range(len(matrix)) for column in range(row))
    return max(pairs, key=lambda pair: abs(math.log(matrix[pair[0]][pair[1]] / _compute_implied_ratio(matrix, *pair))))


def _compute_implied_ratio(matrix: Matrix, row: int, column: int) -> float:
    weights, _ = compute_eigenvector(matrix)
    return weights[row] / weights[column]


def build_ratio_matrix(values: Sequence[float]) -> Matrix:
    """Build the matrix of the ratios of positive values, limited to Saaty's scale."""
    return tuple(tuple(min(MAX_JUDGMENT, max(1 / MAX_JUDGMENT, value / other)) for other in values) for value in values)


def compute_weights(values: Sequence[float]) -> Vector:
    """Compute the eigenvector of `build_ratio_matrix`, directly if all ratios are within the scale."""
    if max(values) <= MAX_JUDGMENT * min(values):
        total = sum(values)
        return tuple(value / total for value in values)
    return compute_eigenvector(build_ratio_matrix(values), MEASURED_TOLERANCE)[0]


def compute_scores(criterion_weights: Vector, worker_weights: Sequence[Vector]) -> Vector:
    return tuple(sum(map(mul, criterion_weights, row)) for row in zip(*worker_weights, strict=True))
