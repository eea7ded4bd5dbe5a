"""Processes that are started ahead of the migrants that live in them."""

from sanderling.engines.processes import Processes, newborns
from sanderling.migrants.settings import FetchSettings


def test_a_process_that_waits_becomes_the_next_migrant() -> None:
    with newborns(1) as waiting:
        (newborn,) = waiting
        engine = Processes(FetchSettings(), waiting=waiting)
        assert engine.create() == newborn.name
        assert not waiting
        assert engine.create() != newborn.name
        engine.close()
    assert newborn.process.poll() == 0


def test_a_parked_migrant_wakes_up_under_its_old_name() -> None:
    with newborns(1) as waiting:
        engine = Processes(FetchSettings(), waiting=waiting)
        assert engine.create("old") == "old"
        assert len(waiting) == 1
        engine.close()


def test_who_is_left_over_ends() -> None:
    with newborns(2) as waiting:
        left = list(waiting)
    assert all(newborn.process.poll() is not None for newborn in left)
