"""Where a migrant is put on a cluster."""

from collections import Counter

from sanderling.workers.ray.driver import find_node

NODES = [
    {"NodeID": "a", "Alive": True, "Resources": {"CPU": 1, "near-eu": 1}},
    {"NodeID": "b", "Alive": True, "Resources": {"CPU": 1}},
    {"NodeID": "c", "Alive": True, "Resources": {"CPU": 1, "near-eu": 1}},
    {"NodeID": "d", "Alive": False, "Resources": {"CPU": 1, "near-eu": 1, "near-us": 1}},
]


def test_migrants_near_one_label_are_spread_over_the_nodes_that_have_it() -> None:
    housed = Counter[str]()
    for _ in range(6):
        housed[find_node(NODES, "near-eu", housed)] += 1
    assert housed == {"a": 3, "c": 3}


def test_a_node_that_died_houses_nobody() -> None:
    assert find_node(NODES, "near-us", Counter()) == ""
    assert find_node(NODES, "near-mars", Counter()) == ""
