"""The seeded simulation of benchmarks/crawl/worker_assignment.py, small.

Who ends a crawl on unequal migrants soonest.
"""

import pytest
from benchmarks.crawl.worker_assignment import KINDS, Simulation, abilities


def run(schedule: str, bounded: bool) -> Simulation:
    simulation = Simulation(schedule, pages=6000, seed=1, bounded=bounded)
    simulation.run()
    assert sum(simulation.done.values()) >= 5900
    return simulation


@pytest.mark.parametrize("bounded", [False, True])
def test_ahp_ends_sooner_than_its_rivals_and_loads_migrants_as_they_are_able(bounded: bool) -> None:
    ahp = run("ahp", bounded)
    for rival in ("round-robin", "hash", "wrr"):
        assert ahp.clock.now < run(rival, bounded).clock.now, rival
    done = sum(ahp.done.values())
    for kind, able in zip(KINDS, abilities(), strict=True):
        share = ahp.done[kind.name] / done
        assert abs(share - able) < 0.10
        assert not bounded or abs(share / able - 1) < 0.10, kind.name
