"""Measures of tree similarity that Simple Tree Matching is compared with, and its recurrence as printed."""

import re
from collections import Counter
from collections.abc import Callable
from enum import StrEnum

from sanderling.html.tag_tree import TagNode
from sanderling.html.tree_match import SIMILAR_THRESHOLD, compute_similarity

SAME_THRESHOLD = 0.9  # lower bound of nearly equal trees (MIG 7.2)


class SimilarityClass(StrEnum):
    DIFFERENT = "different"
    SIMILAR = "similar"  # same template, other content
    SAME = "same"  # nearly equal trees, possibly duplicates


def classify_similarity(similarity: float) -> SimilarityClass:
    """Classify a similarity by the two thresholds of the thesis."""
    if similarity < SIMILAR_THRESHOLD:
        return SimilarityClass.DIFFERENT
    return SimilarityClass.SIMILAR if similarity <= SAME_THRESHOLD else SimilarityClass.SAME


def count_matching_nodes_as_printed(a: TagNode, b: TagNode) -> int:
    """Count by the recurrence as printed: a list of four equal items scores 8 instead of 5."""
    if a.tag != b.tag:
        return 0
    table = [[0] * (len(b.children) + 1) for _ in range(len(a.children) + 1)]
    for i, left in enumerate(a.children, 1):
        for j, right in enumerate(b.children, 1):
            best = max(table[i][j - 1], table[i - 1][j], table[i - 1][j - 1])
            table[i][j] = best + count_matching_nodes_as_printed(left, right)
    return table[-1][-1] + 1


def list_tags(node: TagNode) -> list[str]:
    tags, stack = [], [node]
    while stack:
        node = stack.pop()
        tags.append(node.tag)
        stack.extend(reversed(node.children))
    return tags


def compute_tag_overlap(a: TagNode, b: TagNode) -> float:
    """Return shared tags divided by all tags."""
    first, second = Counter(list_tags(a)), Counter(list_tags(b))
    return (first & second).total() / (first | second).total()


def compute_tag_sequence_similarity(a: TagNode, b: TagNode) -> float:
    """Return the longest common subsequence of tags divided by the mean length."""
    first, second = list_tags(a), list_tags(b)
    row = [0] * (len(second) + 1)
    for tag in first:
        diagonal = 0
        for j, candidate in enumerate(second):
            above = row[j + 1]
            row[j + 1] = diagonal + 1 if tag == candidate else max(above, row[j])
            diagonal = above
    return row[-1] / ((len(first) + len(second)) / 2)


def compute_layer_similarity(a: TagNode, b: TagNode) -> float:
    """Return 1 minus the tag differences per layer, divided by all nodes."""
    difference, first, second = 0, [a], [b]
    while first or second:
        first_tags, second_tags = Counter(node.tag for node in first), Counter(node.tag for node in second)
        difference += ((first_tags - second_tags) + (second_tags - first_tags)).total()
        first = [child for node in first for child in node.children]
        second = [child for node in second for child in node.children]
    return 1 - difference / (a.size + b.size)


def compute_edit_similarity(a: TagNode, b: TagNode) -> float:
    """Return 1 minus the edit distance divided by all nodes."""
    return 1 - compute_edit_distance(a, b) / (a.size + b.size)


def compute_edit_distance(a: TagNode, b: TagNode) -> int:
    """Return the number of edits, with whole subtrees inserted or deleted (Selkow)."""
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
            diagonal, row[0] = row[0], row[0] + left.size
            for j, right in enumerate(b.children, 1):
                above = row[j]
                row[j] = min(above + left.size, row[j - 1] + right.size, diagonal + _count_edits(left, right, cache))
                diagonal = above
        cache[pair] = row[-1] + (a.tag != b.tag)
    return cache[pair]


SIMILARITY_MEASURES: dict[str, Callable[[TagNode, TagNode], float]] = {
    "simple tree matching": compute_similarity,
    "tag matching": compute_tag_overlap,
    "tag sequence": compute_tag_sequence_similarity,
    "layer by layer": compute_layer_similarity,
    "edit distance": compute_edit_similarity,
}


def parse_tag_tree(text: str) -> TagNode:
    """Parse the output of `format_tag_tree`. Raises ValueError."""
    stack: list[tuple[str, list[TagNode]]] = [("", [])]
    for tag, paren in re.findall(r"([^\s()]+)|([()])", text):
        if tag:
            stack[-1][1].append(TagNode(tag))
        elif paren == "(":
            stack.append((stack[-1][1].pop().tag, []))
        else:
            name, children = stack.pop()
            stack[-1][1].append(TagNode(name, tuple(children)))
    if len(stack) != 1 or len(stack[0][1]) != 1:
        raise ValueError("expected exactly one tag tree")
    return stack[0][1][0]
