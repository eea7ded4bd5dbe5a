"""How alike two tag trees are: Simple Tree Matching, and the methods it is compared with.

Simple Tree Matching counts the nodes two trees have in common, from the root down and in order. The recurrence printed
in the thesis adds the weight outside the maximum and so counts more nodes than there are; ours is the corrected one
(SPEC, section 9). Equal subtrees are recognised by their digest and equal siblings at either end are matched at once,
which is exact: nothing can be matched better than with its equal.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum

from sanderling.html.tag_tree import Node

THETA_LOW, THETA_HIGH = 0.4, 0.9  # MIG 7.2: similar from here, and nearly the same from there


class Verdict(StrEnum):
    """What a similarity means."""

    DIFFERENT = "different"  # another structure
    SIMILAR = "similar"  # the same structure with other content: what a structure-driven crawl looks for
    SAME = "same"  # nearly the same tree: built alike, and perhaps a duplicate


def verdict(similarity: float) -> Verdict:
    """Read a similarity by the thesis's two thresholds; what is over the upper one also goes to the duplicate test."""
    if similarity < THETA_LOW:
        return Verdict.DIFFERENT
    return Verdict.SIMILAR if similarity <= THETA_HIGH else Verdict.SAME


def similarity(a: Node, b: Node) -> float:
    """Matched nodes over the mean size, in [0, 1]."""
    return matched(a, b) / ((a.size + b.size) / 2)


def matched(a: Node, b: Node) -> int:
    """Count the nodes that match: Simple Tree Matching."""
    return _matched(a, b, {})


def _matched(a: Node, b: Node, known: dict[tuple[int, int], int]) -> int:
    if a.tag != b.tag:
        return 0
    if a.digest == b.digest:
        return a.size
    if not a.children or not b.children:
        return 1
    pair = (a.digest, b.digest)
    count = known.get(pair)
    if count is None:
        count = known[pair] = 1 + _align(a.children, b.children, known)
    return count


def _align(first: Sequence[Node], second: Sequence[Node], known: dict[tuple[int, int], int]) -> int:
    """Best weight of an order-keeping alignment of two lists of subtrees."""
    start, total = 0, 0
    while start < min(len(first), len(second)) and first[start].digest == second[start].digest:
        total += first[start].size
        start += 1
    end = 0
    while end < min(len(first), len(second)) - start and first[-1 - end].digest == second[-1 - end].digest:
        total += first[-1 - end].size
        end += 1
    rows, columns = first[start : len(first) - end], second[start : len(second) - end]
    row = [0] * (len(columns) + 1)
    for a in rows:
        before = 0
        for j, b in enumerate(columns):
            above = row[j + 1]
            weight = before + _matched(a, b, known) if a.tag == b.tag else 0
            before = above
            row[j + 1] = max(above, row[j], weight)
    return total + row[-1]


def matched_as_printed(a: Node, b: Node) -> int:
    """The recurrence as printed, kept to show what it counts: a list of four equal items scores 8, not 5."""
    if a.tag != b.tag:
        return 0
    table = [[0] * (len(b.children) + 1) for _ in range(len(a.children) + 1)]
    for i, left in enumerate(a.children, 1):
        for j, right in enumerate(b.children, 1):
            best = max(table[i][j - 1], table[i - 1][j], table[i - 1][j - 1])
            table[i][j] = best + matched_as_printed(left, right)
    return table[-1][-1] + 1


# Rivals (SPEC, section 12.6)


def tags(node: Node) -> list[str]:
    """The tags of a tree in document order."""
    found, waiting = [], [node]
    while waiting:
        node = waiting.pop()
        found.append(node.tag)
        waiting.extend(reversed(node.children))
    return found


def tag_matching(a: Node, b: Node) -> float:
    """LIT-TAG: tags in common, however they are arranged, over all tags of either."""
    one, other = Counter(tags(a)), Counter(tags(b))
    return (one & other).total() / (one | other).total()


def tag_sequence(a: Node, b: Node) -> float:
    """Tags in common in the same order: longest common subsequence over the mean length."""
    one, other = tags(a), tags(b)
    row = [0] * (len(other) + 1)
    for tag in one:
        before = 0
        for j, candidate in enumerate(other):
            above = row[j + 1]
            row[j + 1] = before + 1 if tag == candidate else max(above, row[j])
            before = above
    return row[-1] / ((len(one) + len(other)) / 2)


def layers(a: Node, b: Node) -> float:
    """LIT-LAY: one minus the sum of differences, layer by layer from the root, over all nodes."""
    difference, first, second = 0, [a], [b]
    while first or second:
        one, other = Counter(node.tag for node in first), Counter(node.tag for node in second)
        difference += ((one - other) + (other - one)).total()
        first = [child for node in first for child in node.children]
        second = [child for node in second for child in node.children]
    return 1 - difference / (a.size + b.size)


def edit_similarity(a: Node, b: Node) -> float:
    """LIT-TED: one minus the edit distance over all nodes."""
    return 1 - edit_distance(a, b) / (a.size + b.size)


def edit_distance(a: Node, b: Node) -> int:
    """Nodes to insert, delete or rename to turn one tree into the other, subtrees coming and going whole (Selkow)."""
    return _edits(a, b, {})


def _edits(a: Node, b: Node, known: dict[tuple[int, int], int]) -> int:
    if a.digest == b.digest:
        return 0
    pair = (a.digest, b.digest)
    if pair not in known:
        row = [0]
        for child in b.children:
            row.append(row[-1] + child.size)
        for left in a.children:
            before, row[0] = row[0], row[0] + left.size
            for j, right in enumerate(b.children, 1):
                above = row[j]
                row[j] = min(above + left.size, row[j - 1] + right.size, before + _edits(left, right, known))
                before = above
        known[pair] = row[-1] + (a.tag != b.tag)
    return known[pair]


RIVALS: dict[str, Callable[[Node, Node], float]] = {
    "simple tree matching": similarity,
    "tag matching": tag_matching,
    "tag sequence": tag_sequence,
    "layer by layer": layers,
    "edit distance": edit_similarity,
}
