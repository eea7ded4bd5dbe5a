"""Chooses workers by AHP, and records the scores behind the choice."""

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

MAX_CANDIDATES = 16  # the least loaded: matrices grow with the square


@dataclass(frozen=True, slots=True)
class WorkerChoice:
    winner: str
    workers: tuple[str, ...]
    scores: Vector
    criterion_weights: tuple[Vector, ...]  # weights of the workers, per criterion
    host: Host


class AhpStrategy:
    """AHP with a matrix of judgments that is validated once."""

    def __init__(self, criteria: Sequence[Criterion] = DEFAULT_CRITERIA, judgments: Matrix = DEFAULT_JUDGMENTS) -> None:
        self.criteria = tuple(criteria)
        self.judgments = validate_matrix(judgments, [criterion.name for criterion in criteria])
        self.weights = compute_eigenvector(judgments)[0]
        self.last_choice: WorkerChoice | None = None

    def __call__(self, states: Sequence[WorkerState], host: Host) -> str:
        """Return the id of the worker with the highest score."""
        self.last_choice = self.score_workers(states, host)
        return self.last_choice.winner

    def score_workers(self, states: Sequence[WorkerState], host: Host) -> WorkerChoice:
        """Score the candidates. Ties: the lowest load, then the smallest id."""
        candidates = sorted(states, key=lambda state: (state.heartbeat.pending_tasks, state.id))[:MAX_CANDIDATES]
        weights = tuple(
            _compute_cached_weights(tuple(map(criterion.compute_merit, candidates))) for criterion in self.criteria
        )
        scores = compute_scores(self.weights, weights)
        best = max(range(len(candidates)), key=lambda index: (round(scores[index], 12), -index))
        return WorkerChoice(candidates[best].id, tuple(state.id for state in candidates), scores, weights, host)


# Most values stay the same from one batch to the next; only the load of the winner changes.
_compute_cached_weights = lru_cache(maxsize=256)(compute_weights)
