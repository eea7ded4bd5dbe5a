"""The seeded simulation of benchmarks/crawl/worker_assignment.py, small.

Compares strategies on workers of different speed.
"""

import pytest
from benchmarks.crawl.worker_assignment import KINDS, Simulation, abilities


def run(schedule: str, bounded: bool) -> Simulation:
    simulation = Simulation(schedule, pages=6000, seed=1, bounded=bounded)
    simulation.run()
    assert sum(simulation.done.values()) >= 5900
    return simulation


@pytest.mark.parametrize("bounded", [False, True])
def test_ahp_is_fastest_and_loads_workers_by_ability(bounded: bool) -> None:
    ahp = run("ahp", bounded)
    for name in ("round-robin", "hash", "wrr"):
        assert ahp.clock.now < run(name, bounded).clock.now, name
    done = sum(ahp.done.values())
    for kind, able in zip(KINDS, abilities(), strict=True):
        share = ahp.done[kind.name] / done
        assert abs(share - able) < 0.10
        assert not bounded or abs(share / able - 1) < 0.10, kind.name
