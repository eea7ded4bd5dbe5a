"""Legal and illegal transitions of workers."""

from itertools import product
from pathlib import Path

import pytest

from sanderling.errors import UsageError
from sanderling.workers.lifecycle import (
    LEGAL_TRANSITIONS,
    LifecycleState,
    Transition,
    WorkerRecord,
    WorkerRegistry,
    get_next_state,
)


@pytest.mark.parametrize(("state", "transition"), list(product(LifecycleState, Transition)))
def test_only_transitions_of_the_table_are_legal(state: LifecycleState, transition: Transition) -> None:
    record = WorkerRecord("m1", state, "https://there.example")
    if (state, transition) in LEGAL_TRANSITIONS:
        assert get_next_state(record, transition) is LEGAL_TRANSITIONS[state, transition]
    else:
        with pytest.raises(UsageError, match=f"cannot {transition} m1: it is {state}"):
            get_next_state(record, transition)


def test_disposed_is_final() -> None:
    assert not [transition for state, transition in LEGAL_TRANSITIONS if state is LifecycleState.DISPOSED]


def test_local_worker_cannot_be_retracted() -> None:
    with pytest.raises(UsageError, match="it is at home"):
        get_next_state(WorkerRecord("m1", LifecycleState.RUNNING), Transition.RETRACT)


def test_transitions_are_logged(tmp_path: Path) -> None:
    registry = WorkerRegistry(tmp_path / "workers.log", clock=lambda: 0.0)
    registry.add("m1")
    registry.apply_transition("m1", Transition.START)
    registry.apply_transition("m1", Transition.DISPATCH)
    registry.apply_transition("m1", Transition.ARRIVE, "https://there.example")
    assert (tmp_path / "workers.log").read_text().splitlines() == [
        "1970-01-01T00:00:00Z m1 create - created home",
        "1970-01-01T00:00:00Z m1 start created running home",
        "1970-01-01T00:00:00Z m1 dispatch running dispatched home",
        "1970-01-01T00:00:00Z m1 arrive dispatched running https://there.example",
    ]


def test_worker_id_is_unique(tmp_path: Path) -> None:
    registry = WorkerRegistry(tmp_path / "workers.log")
    registry.add("m1")
    with pytest.raises(UsageError, match="already"):
        registry.add("m1")
    with pytest.raises(UsageError, match="no worker 'm2'"):
        registry.apply_transition("m2", Transition.START)
