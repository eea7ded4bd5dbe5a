"""From settings to a way of choosing: which schedule, which criteria, which judgements."""

from collections.abc import Callable, Sequence

from sanderling.config.loader import nearest
from sanderling.config.settings import Scheduling
from sanderling.errors import UsageError
from sanderling.models import Host
from sanderling.workers.assignment.ahp import Matrix, read
from sanderling.workers.assignment.ahp_strategy import Ahp
from sanderling.workers.assignment.change_rate_sets import Sets
from sanderling.workers.assignment.criteria import CRITERIA, JUDGEMENTS, KNOWN, Criterion
from sanderling.workers.assignment.roster import Roster
from sanderling.workers.assignment.strategies import OWNING, WEIGHING, Choose, chooser


def plan(settings: Scheduling) -> Choose:
    """Make the way of choosing that was asked for."""
    return ahp(settings) if settings.schedule == "ahp" else chooser(settings.schedule)


def roster(settings: Scheduling, reaches: Callable[[str, Host], bool] | None = None) -> Roster:
    """Make the roster of a crawl; `reaches` says which migrants may go to which host."""
    owned, weighs = settings.schedule in OWNING, settings.schedule in WEIGHING
    return Roster(plan(settings), owned=owned, weighs=weighs, reaches=reaches, sets=Sets(settings.sets))


def ahp(settings: Scheduling) -> Ahp:
    """Make AHP with the criteria and judgements of the settings, or the thesis' own; refuse what contradicts itself."""
    criteria = read_criteria(settings.criteria) if settings.criteria else CRITERIA
    return Ahp(criteria, read_judgements(criteria, settings.judgements))


def read_criteria(names: Sequence[str]) -> tuple[Criterion, ...]:
    """Find the criteria of these names."""
    for name in names:
        if name not in KNOWN:
            raise UsageError(f"no criterion is called {name!r}{nearest(name, list(KNOWN))}")
    if len(set(names)) < len(names):
        raise UsageError("a criterion is named twice")
    return tuple(KNOWN[name] for name in names)


def read_judgements(criteria: Sequence[Criterion], rows: Sequence[str]) -> Matrix:
    """Read the matrix; without one, the thesis' judgements of these criteria among each other."""
    if rows:
        return read("\n".join(rows))
    strangers = [criterion.name for criterion in criteria if criterion not in CRITERIA]
    if strangers:
        raise UsageError(f"judgements are missing: {strangers[0]} must be compared with the other criteria")
    places = [CRITERIA.index(criterion) for criterion in criteria]
    return tuple(tuple(JUDGEMENTS[one][other] for other in places) for one in places)
