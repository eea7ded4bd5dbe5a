"""From settings to a way of choosing: which schedule, which criteria, which judgements."""

from collections.abc import Callable, Sequence

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
    """Make the way of choosing that was asked for."""
    return build_ahp_strategy(settings) if settings.schedule == "ahp" else build_named_strategy(settings.schedule)


def build_worker_assignment(
    settings: AssignmentSettings, can_engine_reach: Callable[[str, Host], bool] | None = None
) -> WorkerAssignment:
    """Make the roster of a crawl; `reaches` says which migrants may go to which host."""
    owned, weighs = settings.schedule in HOST_BOUND_STRATEGIES, settings.schedule in SPEED_LIMITED_STRATEGIES
    return WorkerAssignment(
        build_strategy(settings),
        is_host_bound=owned,
        is_speed_limited=weighs,
        can_engine_reach=can_engine_reach,
        change_rate_sets=ChangeRateSets(settings.sets),
    )


def build_ahp_strategy(settings: AssignmentSettings) -> AhpStrategy:
    """Make AHP with the criteria and judgements of the settings, or the thesis' own; refuse what contradicts itself."""
    criteria = find_criteria(settings.criteria) if settings.criteria else DEFAULT_CRITERIA
    return AhpStrategy(criteria, parse_judgments(criteria, settings.judgments))


def find_criteria(names: Sequence[str]) -> tuple[Criterion, ...]:
    """Find the criteria of these names."""
    for name in names:
        if name not in CRITERIA_BY_NAME:
            raise UsageError(f"no criterion is called {name!r}{suggest_or_list_names(name, list(CRITERIA_BY_NAME))}")
    if len(set(names)) < len(names):
        raise UsageError("a criterion is named twice")
    return tuple(CRITERIA_BY_NAME[name] for name in names)


def parse_judgments(criteria: Sequence[Criterion], rows: Sequence[str]) -> Matrix:
    """Read the matrix; without one, the thesis' judgements of these criteria among each other."""
    if rows:
        return parse_matrix("\n".join(rows))
    strangers = [criterion.name for criterion in criteria if criterion not in DEFAULT_CRITERIA]
    if strangers:
        raise UsageError(f"judgements are missing: {strangers[0]} must be compared with the other criteria")
    places = [DEFAULT_CRITERIA.index(criterion) for criterion in criteria]
    return tuple(tuple(DEFAULT_JUDGMENTS[one][other] for other in places) for one in places)
