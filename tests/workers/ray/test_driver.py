"""Placement of workers on the nodes of a cluster."""

from collections import Counter

from sanderling.workers.ray.driver import find_node

NODES = [
    {"NodeID": "a", "Alive": True, "Resources": {"CPU": 1, "near-eu": 1}},
    {"NodeID": "b", "Alive": True, "Resources": {"CPU": 1}},
    {"NodeID": "c", "Alive": True, "Resources": {"CPU": 1, "near-eu": 1}},
    {"NodeID": "d", "Alive": False, "Resources": {"CPU": 1, "near-eu": 1, "near-us": 1}},
]


def test_workers_with_a_label_are_spread_over_its_nodes() -> None:
    counts = Counter[str]()
    for _ in range(6):
        counts[find_node(NODES, "near-eu", counts)] += 1
    assert counts == {"a": 3, "c": 3}


def test_dead_node_is_not_chosen() -> None:
    assert find_node(NODES, "near-us", Counter()) == ""
    assert find_node(NODES, "near-mars", Counter()) == ""
