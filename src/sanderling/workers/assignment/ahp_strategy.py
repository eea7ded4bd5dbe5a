"""The choice by AHP, and why the winner won."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sanderling.models import Host
from sanderling.workers.assignment.ahp import (
    Matrix,
    Vector,
    compute_eigenvector,
    compute_scores,
    compute_weights,
    validate_matrix,
)
from sanderling.workers.assignment.criteria import DEFAULT_CRITERIA, DEFAULT_JUDGMENTS, Criterion, WorkerState

MAX_CANDIDATES = 16  # a matrix per criterion grows with the square: beyond this many, the least loaded compete


@dataclass(frozen=True, slots=True)
class WorkerChoice:
    """Who goes, and the figures behind it, in the order of `migrants`."""

    winner: str
    workers: tuple[str, ...]
    scores: Vector
    criterion_weights: tuple[Vector, ...]  # per criterion, the weight of each migrant
    host: Host


class AhpStrategy:
    """Chooses migrants by AHP with one matrix of judgements, checked once."""

    def __init__(self, criteria: Sequence[Criterion] = DEFAULT_CRITERIA, judgments: Matrix = DEFAULT_JUDGMENTS) -> None:
        self.criteria = tuple(criteria)
        self.judgments = validate_matrix(judgments, [criterion.name for criterion in criteria])
        self.weights = compute_eigenvector(judgments)[0]
        self.last_choice: WorkerChoice | None = None

    def __call__(self, states: Sequence[WorkerState], host: Host) -> str:
        """Give the id of the migrant that should go to this host."""
        self.last_choice = self.score_workers(states, host)
        return self.last_choice.winner

    def score_workers(self, states: Sequence[WorkerState], host: Host) -> WorkerChoice:
        """Score the migrants: highest wins, ties go to the lowest load, then to the smallest id."""
        rivals = sorted(states, key=lambda standing: (standing.heartbeat.pending_tasks, standing.id))[:MAX_CANDIDATES]
        parts = tuple(
            _compute_cached_weights(tuple(map(criterion.compute_merit, rivals))) for criterion in self.criteria
        )
        scores = compute_scores(self.weights, parts)
        best = max(range(len(rivals)), key=lambda place: (round(scores[place], 12), -place))
        return WorkerChoice(rivals[best].id, tuple(standing.id for standing in rivals), scores, parts, host)


# Most measures stay the same from one itinerary to the next; only the winner's load moves.
_compute_cached_weights = lru_cache(maxsize=256)(compute_weights)
