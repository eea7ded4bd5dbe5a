"""MIG 7.2: Simple Tree Matching, as printed and as it must be."""

from experiments.frame import Table, exact
from experiments.tree_measures import classify_similarity, count_matching_nodes_as_printed
from sanderling.html.tag_tree import TagNode
from sanderling.html.tree_match import compute_similarity, count_matching_nodes

TITLE = "MIG 7.2: Simple Tree Matching, the worked example"


def node(tag: str, *children: TagNode) -> TagNode:
    """Write a tree down."""
    return TagNode(tag, children)


# 9 and 7 nodes that match level by level in 1 + 2 + 3 + 0: they stand for the trees of the lost figure 7.6
NINE = node("R", node("b", node("d", node("h")), node("e", node("i"))), node("c", node("f"), node("g")))
SEVEN = node("R", node("b", node("d"), node("e")), node("c", node("f", node("x"))))
LIST = node("ul", *(node("li") for _ in range(4)))


def table() -> Table:
    """Match the trees both ways."""
    rows = (
        exact("nodes of the two trees", "9, 7", "9, 7", f"{NINE.size}, {SEVEN.size}"),
        exact("matched nodes", 6, 6, count_matching_nodes(NINE, SEVEN)),
        exact("similarity", 0.75, 0.75, compute_similarity(NINE, SEVEN), 1e-9),
        exact(
            "verdict between .4 and .9", "similar", "similar", str(classify_similarity(compute_similarity(NINE, SEVEN)))
        ),
        exact(
            "a list of four items with itself, recurrence as printed", 8, 8, count_matching_nodes_as_printed(LIST, LIST)
        ),
        exact("a list of four items with itself", 8, 5, count_matching_nodes(LIST, LIST)),
        exact("its similarity with itself", 1.6, 1.0, compute_similarity(LIST, LIST), 1e-9),
    )
    return Table(TITLE, rows, "The weight belongs inside the maximum (E22).")
