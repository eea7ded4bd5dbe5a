"""MIG Tables 4.11 and 4.12: which migrant gets the URL."""

from experiments.ahp_migrants import TABLES
from experiments.frame import Figure, Row, Series, Table, exact
from sanderling.workers.assignment.ahp import compute_eigenvector, compute_scores
from sanderling.workers.assignment.criteria import DEFAULT_JUDGMENTS

TITLE = "MIG Tables 4.11-4.12: scores and ranks of four migrants"

SCORES = (0.164, 0.350, 0.315, 0.171)
RANKS = (4, 1, 2, 3)
WITH_SLIP_RANKS = (4, 2, 1, 3)  # had Table 4.4 really meant .500


def table() -> Table:
    """Score the migrants by all criteria."""
    criteria = compute_eigenvector(DEFAULT_JUDGMENTS)[0]
    ours = compute_scores(criteria, [compute_eigenvector(matrix)[0] for matrix, *_ in TABLES.values()])
    rows = [exact(f"score of MC{n + 1}", SCORES[n], SCORES[n], value, 5e-4) for n, value in enumerate(ours)]
    rows += [exact(f"rank of MC{n + 1}", RANKS[n], RANKS[n], rank) for n, rank in enumerate(ranks(ours))]
    rows.append(_with_slip(criteria))
    figure = Figure(
        "Scores of the migrants", ("MC1", "MC2", "MC3", "MC4"), (Series("printed", SCORES), Series("ours", ours))
    )
    return Table(TITLE, tuple(rows), "With the printed .500 of Table 4.4, MC3 would have won (E8).", figure)


def ranks(scores: tuple[float, ...]) -> list[int]:
    """Number scores from the highest down."""
    return [1 + sum(other > value for other in scores) for value in scores]


def _with_slip(criteria: tuple[float, ...]) -> Row:
    printed = [weights for _, weights, *_ in TABLES.values()]
    winner = ranks(compute_scores(criteria, printed)).index(1) + 1
    return exact("winner if Table 4.4 is taken as printed", "MC2", "MC3", f"MC{winner}")
