"""MIG Tables 6.2 to 6.6: page weights from users' actions."""

from experiments.frame import Figure, Series, Table, exact
from sanderling.search.feedback.apriori import (
    compute_confidences,
    compute_min_count,
    compute_pattern_weight,
    find_frequent_sets,
)

TITLE = "MIG Tables 6.2-6.6: Apriori page weights"

# page P1: one transaction per user; actions 1 Scroll, 5 Open URL, 8 Favourite, 10 Save As ...
P1 = (*({8, 1, 5}, {10, 8, 1}, {6}, {7}, {9}, {11}, {12}, {1, 8, 10}, {4}, {2}, {8, 3}, {13}, {8, 10}, {8}, {1, 5}),)
PATTERN = (1, 8, 10)
# subset: confidence in percent as printed, and as it is
CONFIDENCES: dict[tuple[int, ...], tuple[float | str, float]] = {
    (10,): ("67 (Table: 100)", 66.67),
    (8,): (33, 33.33),
    (1,): (50, 50.0),
    (8, 10): (67, 66.67),
    (1, 10): (100, 100.0),
    (1, 8): (67, 66.67),
}
# page P2: its transactions are not printed, only these counts; 8 Favourite, 9 Print, 13 Mouse click
P2 = {(8,): 4, (9,): 6, (13,): 3, (8, 9): 3, (8, 13): 2, (9, 13): 4, (8, 9, 13): 2}


def table() -> Table:
    """Mine the transactions of P1 and weigh both pages."""
    counts = find_frequent_sets(P1, 2)
    found = compute_confidences(PATTERN, counts)
    rows = [
        exact(f"confidence of {set(part)} %", printed, right, 100 * found[part], 5e-3)
        for part, (printed, right) in CONFIDENCES.items()
    ]
    frequent = frozenset(PATTERN) in find_frequent_sets(P1, compute_min_count(0.2, len(P1)))
    second = compute_pattern_weight((8, 9, 13), {frozenset(part): count for part, count in P2.items()})
    rows += [
        exact("weight of P1", 3.34, 3.00, compute_pattern_weight(PATTERN, counts).weight, 5e-3),
        exact("weight of P2 by the printed counts", "2.34, 2.6", 2.33, second.weight, 5e-3),
        exact("the triple is frequent at 20 %", "yes", "no", "yes" if frequent else "no"),
    ]
    remark = (
        "The triple has support 2 of 15; 20 % needs 3 (E20). The ranking P1 over P2 rests on an impossible count (E19)."
    )
    ours = compute_pattern_weight(PATTERN, counts).weight, second.weight
    figure = Figure(
        "Weights of two pages", ("P1", "P2"), (Series("printed", (3.34, 2.6)), Series("ours", ours)), "weight"
    )
    return Table(TITLE, tuple(rows), remark, figure)
