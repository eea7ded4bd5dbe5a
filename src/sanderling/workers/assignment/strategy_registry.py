"""Builds the assignment strategy from the settings: schedule, criteria, and judgments."""

from collections.abc import Callable, Sequence

from sanderling.clock import Clock, system_clock
from sanderling.config.loader import suggest_or_list_names
from sanderling.config.settings import AssignmentSettings
from sanderling.errors import UsageError
from sanderling.models import Host
from sanderling.workers.assignment.ahp import Matrix, parse_matrix
from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.change_rate_sets import ChangeRateSets
from sanderling.workers.assignment.criteria import CRITERIA_BY_NAME, DEFAULT_CRITERIA, DEFAULT_JUDGMENTS, Criterion
from sanderling.workers.assignment.strategies import (
    HOST_BOUND_STRATEGIES,
    SPEED_LIMITED_STRATEGIES,
    AssignmentStrategy,
    build_named_strategy,
)
from sanderling.workers.assignment.worker_assignment import WorkerAssignment


def build_strategy(settings: AssignmentSettings) -> AssignmentStrategy:
    """Build the configured strategy. Raises UsageError for invalid settings."""
    return build_ahp_strategy(settings) if settings.schedule == "ahp" else build_named_strategy(settings.schedule)


def build_worker_assignment(
    settings: AssignmentSettings,
    can_engine_reach: Callable[[str, Host], bool] | None = None,
    clock: Clock = system_clock,
) -> WorkerAssignment:
    return WorkerAssignment(
        build_strategy(settings),
        is_host_bound=settings.schedule in HOST_BOUND_STRATEGIES,
        is_speed_limited=settings.schedule in SPEED_LIMITED_STRATEGIES,
        clock=clock,
        can_engine_reach=can_engine_reach,
        change_rate_sets=ChangeRateSets(settings.sets),
    )


def build_ahp_strategy(settings: AssignmentSettings) -> AhpStrategy:
    criteria = find_criteria(settings.criteria) if settings.criteria else DEFAULT_CRITERIA
    return AhpStrategy(criteria, parse_judgments(criteria, settings.judgments))


def find_criteria(names: Sequence[str]) -> tuple[Criterion, ...]:
    """Return criteria by name. Raises UsageError for unknown or repeated names."""
    for name in names:
        if name not in CRITERIA_BY_NAME:
            raise UsageError(f"unknown criterion {name!r}{suggest_or_list_names(name, list(CRITERIA_BY_NAME))}")
    if len(set(names)) < len(names):
        raise UsageError("a criterion is listed twice")
    return tuple(CRITERIA_BY_NAME[name] for name in names)


def parse_judgments(criteria: Sequence[Criterion], rows: Sequence[str]) -> Matrix:
    """Parse the matrix of judgments (default: those of the thesis for these criteria)."""
    if rows:
        return parse_matrix("\n".join(rows))
    unjudged = [criterion.name for criterion in criteria if criterion not in DEFAULT_CRITERIA]
    if unjudged:
        raise UsageError(f"judgements are missing: {unjudged[0]} must be compared with the other criteria")
    indices = [DEFAULT_CRITERIA.index(criterion) for criterion in criteria]
    return tuple(tuple(DEFAULT_JUDGMENTS[row][column] for column in indices) for row in indices)
