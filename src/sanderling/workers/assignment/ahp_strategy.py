"""The choice by AHP, and why the winner won."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sanderling.models import Host
from sanderling.workers.assignment.ahp import Matrix, Vector, check, eigenvector, score, weigh
from sanderling.workers.assignment.criteria import CRITERIA, JUDGEMENTS, Criterion, Standing

SHORTLIST = 16  # a matrix per criterion grows with the square: beyond this many, the least loaded compete


@dataclass(frozen=True, slots=True)
class Verdict:
    """Who goes, and the figures behind it, in the order of `migrants`."""

    winner: str
    migrants: tuple[str, ...]
    scores: Vector
    parts: tuple[Vector, ...]  # per criterion, the weight of each migrant
    host: Host


class Ahp:
    """Chooses migrants by AHP with one matrix of judgements, checked once."""

    def __init__(self, criteria: Sequence[Criterion] = CRITERIA, judgements: Matrix = JUDGEMENTS) -> None:
        self.criteria = tuple(criteria)
        self.judgements = check(judgements, [criterion.name for criterion in criteria])
        self.weights = eigenvector(judgements)[0]
        self.last: Verdict | None = None

    def __call__(self, standings: Sequence[Standing], host: Host) -> str:
        """Give the id of the migrant that should go to this host."""
        self.last = self.judge(standings, host)
        return self.last.winner

    def judge(self, standings: Sequence[Standing], host: Host) -> Verdict:
        """Score the migrants: highest wins, ties go to the lowest load, then to the smallest id."""
        rivals = sorted(standings, key=lambda standing: (standing.vitals.load, standing.id))[:SHORTLIST]
        parts = tuple(_weigh(tuple(map(criterion.value, rivals))) for criterion in self.criteria)
        scores = score(self.weights, parts)
        best = max(range(len(rivals)), key=lambda place: (round(scores[place], 12), -place))
        return Verdict(rivals[best].id, tuple(standing.id for standing in rivals), scores, parts, host)


# Most measures stay the same from one itinerary to the next; only the winner's load moves.
_weigh = lru_cache(maxsize=256)(weigh)
