"""Processes that are started ahead of the migrants that live in them."""

from pathlib import Path

import pytest

from sanderling.engines.processes import KEEP_FREED, Processes, newborns
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


def test_a_migrant_keeps_freed_memory_unless_its_user_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_TOP_PAD_", "4096")
    with newborns(1) as waiting:
        told = Path(f"/proc/{waiting[0].process.pid}/environ").read_bytes().split(b"\0")
    assert b"MALLOC_TOP_PAD_=4096" in told
    assert f"MALLOC_TRIM_THRESHOLD_={KEEP_FREED['MALLOC_TRIM_THRESHOLD_']}".encode() in told
