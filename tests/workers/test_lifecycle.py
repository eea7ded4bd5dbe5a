"""Every legal move of a migrant, and none besides."""

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


@pytest.mark.parametrize(("life", "move"), list(product(LifecycleState, Transition)))
def test_only_the_moves_of_the_table_are_legal(life: LifecycleState, move: Transition) -> None:
    entry = WorkerRecord("m1", life, "https://there.example")
    if (life, move) in LEGAL_TRANSITIONS:
        assert get_next_state(entry, move) is LEGAL_TRANSITIONS[life, move]
    else:
        with pytest.raises(UsageError, match=f"cannot {move} m1: it is {life}"):
            get_next_state(entry, move)


def test_disposed_is_final() -> None:
    assert not [move for life, move in LEGAL_TRANSITIONS if life is LifecycleState.DISPOSED]


def test_who_is_at_home_cannot_be_called_home() -> None:
    with pytest.raises(UsageError, match="it is at home"):
        get_next_state(WorkerRecord("m1", LifecycleState.RUNNING), Transition.RETRACT)


def test_every_transition_is_a_line_in_the_log(tmp_path: Path) -> None:
    register = WorkerRegistry(tmp_path / "migrants.log", clock=lambda: 0.0)
    register.add("m1")
    register.apply_transition("m1", Transition.START)
    register.apply_transition("m1", Transition.DISPATCH)
    register.apply_transition("m1", Transition.ARRIVE, "https://there.example")
    assert (tmp_path / "migrants.log").read_text().splitlines() == [
        "1970-01-01T00:00:00Z m1 create - created home",
        "1970-01-01T00:00:00Z m1 start created running home",
        "1970-01-01T00:00:00Z m1 dispatch running dispatched home",
        "1970-01-01T00:00:00Z m1 arrive dispatched running https://there.example",
    ]


def test_an_id_belongs_to_one_migrant_for_ever(tmp_path: Path) -> None:
    register = WorkerRegistry(tmp_path / "migrants.log")
    register.add("m1")
    with pytest.raises(UsageError, match="already"):
        register.add("m1")
    with pytest.raises(UsageError, match="no migrant 'm2'"):
        register.apply_transition("m2", Transition.START)
