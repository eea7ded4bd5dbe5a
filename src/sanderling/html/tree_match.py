"""How alike two tag trees are: Simple Tree Matching, and the methods it is compared with.

Simple Tree Matching counts the nodes two trees have in common, from the root down and in order. The recurrence printed
in the thesis adds the weight outside the maximum and so counts more nodes than there are; ours is the corrected one
(SPEC, section 9). Equal subtrees are recognised by their digest and equal siblings at either end are matched at once,
which is exact: nothing can be matched better than with its equal.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum

from sanderling.html.tag_tree import TagNode

SIMILAR_THRESHOLD, SAME_THRESHOLD = 0.4, 0.9  # MIG 7.2: similar from here, and nearly the same from there


class SimilarityClass(StrEnum):
    """What a similarity means."""

    DIFFERENT = "different"  # another structure
    SIMILAR = "similar"  # the same structure with other content: what a structure-driven crawl looks for
    SAME = "same"  # nearly the same tree: built alike, and perhaps a duplicate


def classify_similarity(similarity: float) -> SimilarityClass:
    """Read a similarity by the thesis's two thresholds; what is over the upper one also goes to the duplicate test."""
    if similarity < SIMILAR_THRESHOLD:
        return SimilarityClass.DIFFERENT
    return SimilarityClass.SIMILAR if similarity <= SAME_THRESHOLD else SimilarityClass.SAME


def compute_similarity(a: TagNode, b: TagNode) -> float:
    """Matched nodes over the mean size, in [0, 1]."""
    return count_matching_nodes(a, b) / ((a.size + b.size) / 2)


def count_matching_nodes(a: TagNode, b: TagNode) -> int:
    """Count the nodes that match: Simple Tree Matching."""
    return _count_matching_nodes(a, b, {})


def _count_matching_nodes(a: TagNode, b: TagNode, cache: dict[tuple[int, int], int]) -> int:
    if a.tag != b.tag:
        return 0
    if a.digest == b.digest:
        return a.size
    if not a.children or not b.children:
        return 1
    pair = (a.digest, b.digest)
    count = cache.get(pair)
    if count is None:
        count = cache[pair] = 1 + _align(a.children, b.children, cache)
    return count


def _align(first: Sequence[TagNode], second: Sequence[TagNode], cache: dict[tuple[int, int], int]) -> int:
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
            weight = before + _count_matching_nodes(a, b, cache) if a.tag == b.tag else 0
            before = above
            row[j + 1] = max(above, row[j], weight)
    return total + row[-1]


def count_matching_nodes_as_printed(a: TagNode, b: TagNode) -> int:
    """The recurrence as printed, kept to show what it counts: a list of four equal items scores 8, not 5."""
    if a.tag != b.tag:
        return 0
    table = [[0] * (len(b.children) + 1) for _ in range(len(a.children) + 1)]
    for i, left in enumerate(a.children, 1):
        for j, right in enumerate(b.children, 1):
            best = max(table[i][j - 1], table[i - 1][j], table[i - 1][j - 1])
            table[i][j] = best + count_matching_nodes_as_printed(left, right)
    return table[-1][-1] + 1


# Rivals (SPEC, section 12.6)


def list_tags(node: TagNode) -> list[str]:
    """The tags of a tree in document order."""
    found, waiting = [], [node]
    while waiting:
        node = waiting.pop()
        found.append(node.tag)
        waiting.extend(reversed(node.children))
    return found


def compute_tag_overlap(a: TagNode, b: TagNode) -> float:
    """LIT-TAG: tags in common, however they are arranged, over all tags of either."""
    one, other = Counter(list_tags(a)), Counter(list_tags(b))
    return (one & other).total() / (one | other).total()


def compute_tag_sequence_similarity(a: TagNode, b: TagNode) -> float:
    """Tags in common in the same order: longest common subsequence over the mean length."""
    one, other = list_tags(a), list_tags(b)
    row = [0] * (len(other) + 1)
    for tag in one:
        before = 0
        for j, candidate in enumerate(other):
            above = row[j + 1]
            row[j + 1] = before + 1 if tag == candidate else max(above, row[j])
            before = above
    return row[-1] / ((len(one) + len(other)) / 2)


def compute_layer_similarity(a: TagNode, b: TagNode) -> float:
    """LIT-LAY: one minus the sum of differences, layer by layer from the root, over all nodes."""
    difference, first, second = 0, [a], [b]
    while first or second:
        one, other = Counter(node.tag for node in first), Counter(node.tag for node in second)
        difference += ((one - other) + (other - one)).total()
        first = [child for node in first for child in node.children]
        second = [child for node in second for child in node.children]
    return 1 - difference / (a.size + b.size)


def compute_edit_similarity(a: TagNode, b: TagNode) -> float:
    """LIT-TED: one minus the edit distance over all nodes."""
    return 1 - compute_edit_distance(a, b) / (a.size + b.size)


def compute_edit_distance(a: TagNode, b: TagNode) -> int:
    """Nodes to insert, delete or rename to turn one tree into the other, subtrees coming and going whole (Selkow)."""
    return _count_edits(a, b, {})


def _count_edits(a: TagNode, b: TagNode, cache: dict[tuple[int, int], int]) -> int:
    if a.digest == b.digest:
        return 0
    pair = (a.digest, b.digest)
    if pair not in cache:
        row = [0]
        for child in b.children:
            row.append(row[-1] + child.size)
        for left in a.children:
            before, row[0] = row[0], row[0] + left.size
            for j, right in enumerate(b.children, 1):
                above = row[j]
                row[j] = min(above + left.size, row[j - 1] + right.size, before + _count_edits(left, right, cache))
                before = above
        cache[pair] = row[-1] + (a.tag != b.tag)
    return cache[pair]


SIMILARITY_MEASURES: dict[str, Callable[[TagNode, TagNode], float]] = {
    "simple tree matching": compute_similarity,
    "tag matching": compute_tag_overlap,
    "tag sequence": compute_tag_sequence_similarity,
    "layer by layer": compute_layer_similarity,
    "edit distance": compute_edit_similarity,
}
