"""Every legal move of a migrant, and none besides."""

from itertools import product
from pathlib import Path

import pytest

from sanderling.errors import UsageError
from sanderling.workers.lifecycle import LEGAL, Entry, Life, Move, Register, after


@pytest.mark.parametrize(("life", "move"), list(product(Life, Move)))
def test_only_the_moves_of_the_table_are_legal(life: Life, move: Move) -> None:
    entry = Entry("m1", life, "https://there.example")
    if (life, move) in LEGAL:
        assert after(entry, move) is LEGAL[life, move]
    else:
        with pytest.raises(UsageError, match=f"cannot {move} m1: it is {life}"):
            after(entry, move)


def test_disposed_is_final() -> None:
    assert not [move for life, move in LEGAL if life is Life.DISPOSED]


def test_who_is_at_home_cannot_be_called_home() -> None:
    with pytest.raises(UsageError, match="it is at home"):
        after(Entry("m1", Life.RUNNING), Move.RETRACT)


def test_every_transition_is_a_line_in_the_log(tmp_path: Path) -> None:
    register = Register(tmp_path / "migrants.log", clock=lambda: 0.0)
    register.create("m1")
    register.move("m1", Move.START)
    register.move("m1", Move.DISPATCH)
    register.move("m1", Move.ARRIVE, "https://there.example")
    assert (tmp_path / "migrants.log").read_text().splitlines() == [
        "1970-01-01T00:00:00Z m1 create - created home",
        "1970-01-01T00:00:00Z m1 start created running home",
        "1970-01-01T00:00:00Z m1 dispatch running dispatched home",
        "1970-01-01T00:00:00Z m1 arrive dispatched running https://there.example",
    ]


def test_an_id_belongs_to_one_migrant_for_ever(tmp_path: Path) -> None:
    register = Register(tmp_path / "migrants.log")
    register.create("m1")
    with pytest.raises(UsageError, match="already"):
        register.create("m1")
    with pytest.raises(UsageError, match="no migrant 'm2'"):
        register.move("m2", Move.START)
