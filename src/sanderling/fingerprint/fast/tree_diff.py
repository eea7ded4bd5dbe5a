"""Find where two trees differ, and which parts of a fingerprint are affected.

Equal branches are compared by the parser as a whole.
"""

from collections.abc import Iterator, Sequence, Set
from itertools import compress, count, islice
from operator import not_

from msgspec import Struct
from turbohtml import Comment, Doctype, Node, Text

from sanderling.fingerprint import assets
from sanderling.fingerprint.fast.fingerprint_parts import (
    ALL_PARTS,
    FingerprintPart,
    find_affected_parts,
    find_element_parts,
)
from sanderling.html.parser import Document, Element, Namespace

MAX_COMPARED_ELEMENTS = 100  # if more differ, all parts are taken to be affected
MAX_COMPARED_SIZE = 200_000_000  # bytes, if each compared element contained the whole page
MAX_LOOKAHEAD = 4  # nodes added or removed between two equal ones
IGNORED_NODES = (Comment, Doctype)
WHITESPACE = " \t\r\n\f"
NO_STYLE = (None, None, None)
BLANK_IGNORING_TAGS = ("html", "head")  # white space between their children is not content


INDEPENDENT_TAGS = frozenset(("script", "style", "link", "meta"))  # can be added and removed without other effects


class DifferenceRange(Struct, frozen=True):
    """Hint: line and column of the first and last difference in the old version."""

    first: tuple[int, int]
    last: tuple[int, int]


UNKNOWN_RANGE = DifferenceRange((0, 0), (0, 0))
NO_POSITION = (1 << 62, 0)  # of nodes without a position: text, and elements added by the parser


ComparedNode = Node | str | None
"""A node or the text of adjacent text nodes; None: added or removed."""


class TreeDiff:
    def __init__(self, max_elements: int, stop_parts: Set[FingerprintPart] = ALL_PARTS) -> None:
        self.parts: set[FingerprintPart] = set()  # affected
        self.stop_parts = stop_parts  # stop as soon as all of these are affected
        self.text_changes: list[tuple[str, str]] = []  # old text, new text
        self.removed_scripts: list[Element] = []
        self.added_scripts: list[Element] = []
        self.remaining_elements = max_elements  # budget
        self.remaining_lookaheads = 4 * max_elements  # budget

    @property
    def is_finished(self) -> bool:
        return self.remaining_elements <= 0 or self.stop_parts <= self.parts

    def add_change(self, old_node: "ComparedNode", new_node: "ComparedNode") -> None:
        """Record a node that was replaced, added, or removed."""
        old, new = (node if isinstance(node, str) else "" for node in (old_node, new_node))
        if isinstance(old_node, str) and isinstance(new_node, str) and _has_same_text(old, new):
            return
        self.parts.add(FingerprintPart.TEXT)
        self.text_changes += [(old, new)] if old or new else []
        for node in (old_node, new_node):
            if isinstance(node, Element):
                for element in islice(node.iter_elements(include_self=True), max(self.remaining_elements, 0)):
                    self.remaining_elements -= 1
                    self.parts |= find_element_parts(element)

    def add_independent_elements(self, old: list[Element], new: list[Element]) -> None:
        """Record added and removed scripts, style sheets, and the like."""
        self.removed_scripts += [element for element in old if element.tag == "script"]
        self.added_scripts += [element for element in new if element.tag == "script"]
        if _get_styles(old) != _get_styles(new):
            self.parts.add(FingerprintPart.STYLES)
        if any(name.startswith("on") for element in (*old, *new) for name in element.attrs):
            self.parts.add(FingerprintPart.HANDLERS)


class _NodePair(Struct, frozen=True):
    old: Node
    new: Node
    has_first_difference: bool = False
    has_last_difference: bool = False


def diff_trees(
    old: Document,
    new: Document,
    page_size: int,
    difference_range: DifferenceRange = UNKNOWN_RANGE,
    stop_parts: Set[FingerprintPart] = ALL_PARTS,
) -> TreeDiff:
    """Find the differences of two trees; all parts are affected if the budget is exceeded.

    Stops as soon as all `stop_parts` are affected.
    """
    found = TreeDiff(min(MAX_COMPARED_ELEMENTS, MAX_COMPARED_SIZE // max(page_size, 1)), stop_parts)
    pairs = [_NodePair(old, new, difference_range is not UNKNOWN_RANGE, difference_range is not UNKNOWN_RANGE)]
    while pairs and not found.is_finished:
        pair = pairs.pop()
        found.remaining_elements -= 1
        found.parts |= find_affected_parts(pair.old, pair.new)
        children = _find_differing_children(pair, difference_range)
        old_siblings, new_siblings = (
            _read_siblings(children.old_children, pair.old),
            _read_siblings(children.new_children, pair.new),
        )
        found.add_independent_elements(old_siblings.independent_elements, new_siblings.independent_elements)
        is_single_pair = (
            len(children.old_children)
            == len(children.new_children)
            == len(old_siblings.nodes)
            == len(new_siblings.nodes)
            == 1
        )
        aligned = (
            zip(old_siblings.nodes, new_siblings.nodes, strict=True)
            if is_single_pair
            else _align_nodes(old_siblings.nodes, new_siblings.nodes, found)
        )
        for old_node, new_node in aligned:
            if isinstance(old_node, Element) and isinstance(new_node, Element) and _is_same_element(old_node, new_node):
                pairs.append(
                    _NodePair(old_node, new_node, old_node is children.first_changed, old_node is children.last_changed)
                )
            else:
                found.add_change(old_node, new_node)
    if found.is_finished:
        found.parts = set(ALL_PARTS)
    return found


def _align_nodes(
    old_nodes: Sequence[ComparedNode], new_nodes: Sequence[ComparedNode], tree_diff: TreeDiff
) -> Iterator[tuple[ComparedNode, ComparedNode]]:
    """Yield differing pairs; an added or removed node has no partner."""
    i = j = 0
    while i < len(old_nodes) and j < len(new_nodes):
        if _is_equal(old_nodes[i], new_nodes[j]):
            i, j = i + 1, j + 1
            continue
        added = _find_ahead(old_nodes[i], new_nodes[j + 1 : j + 1 + MAX_LOOKAHEAD], tree_diff)
        removed = _find_ahead(new_nodes[j], old_nodes[i + 1 : i + 1 + MAX_LOOKAHEAD], tree_diff) if not added else 0
        if added or removed:
            yield from ((None, node) for node in new_nodes[j : j + added])
            yield from ((node, None) for node in old_nodes[i : i + removed])
            i, j = i + removed, j + added
        else:
            yield old_nodes[i], new_nodes[j]
            i, j = i + 1, j + 1
    yield from ((node, None) for node in old_nodes[i:])
    yield from ((None, node) for node in new_nodes[j:])


def _find_ahead(node: ComparedNode, candidates: Sequence[ComparedNode], tree_diff: TreeDiff) -> int:
    """Return the distance to an equal node; 0: not found, or the budget is used up."""
    if isinstance(node, str) and _is_blank(node):
        return 0
    tree_diff.remaining_lookaheads -= len(candidates)
    return (
        next((distance for distance, other in enumerate(candidates, 1) if _is_equal(node, other)), 0)
        if tree_diff.remaining_lookaheads > 0
        else 0
    )


def _is_equal(a: ComparedNode, b: ComparedNode) -> bool:
    if isinstance(a, Node) and isinstance(b, Node):
        return a.equals(b)
    return isinstance(a, str) and isinstance(b, str) and _has_same_text(a, b)


def _is_same_element(a: Element, b: Element) -> bool:
    return (a.tag, a.namespace) == (b.tag, b.namespace)


class _DifferingChildren(Struct, frozen=True):
    old_children: Sequence[Node]
    new_children: Sequence[Node]
    first_changed: Node | None
    last_changed: Node | None


def _find_differing_children(node_pair: _NodePair, difference_range: DifferenceRange) -> _DifferingChildren:
    """Drop the common prefix and suffix of children.

    Children at a position of `difference_range` are not compared: at each level of nesting that would read everything
    before it again.
    """
    left, right = node_pair.old.children, node_pair.new.children
    shortest = min(len(left), len(right))
    first = _find_node_at(left, difference_range.first) if node_pair.has_first_difference else None
    last = _find_node_at(left, difference_range.last) if node_pair.has_last_difference else None
    limit = shortest if last is None else min(shortest, len(left) - 1 - last)
    equal_children = map(Node.equals, islice(reversed(left), limit), reversed(right))
    tail = next(compress(count(), map(not_, equal_children)), limit)
    limit = shortest - tail if first is None else min(shortest - tail, first)
    start = next(compress(count(), map(not_, map(Node.equals, islice(left, limit), right))), limit)
    return _DifferingChildren(
        left[start : len(left) - tail],
        right[start : len(right) - tail],
        None if first is None else left[first],
        None if last is None else left[last],
    )


def _find_node_at(nodes: Sequence[Node], position: tuple[int, int]) -> int | None:
    indexes = count(len(nodes) - 1, -1)
    return next(
        (
            index
            for index, node in zip(indexes, reversed(nodes), strict=False)
            if (node.position or NO_POSITION) <= position
        ),
        None,
    )


class _SiblingNodes(Struct, frozen=True):
    nodes: list[ComparedNode]
    independent_elements: list[Element]


def _read_siblings(nodes: Sequence[Node], parent: Node) -> _SiblingNodes:
    compared: list[ComparedNode] = []
    independent: list[Element] = []
    texts: list[str] = []
    for node in nodes:
        if isinstance(node, Text):
            texts.append(node.data)
        elif isinstance(node, Element) and node.tag in INDEPENDENT_TAGS and node.namespace is Namespace.HTML:
            independent.append(node)
        elif not isinstance(node, IGNORED_NODES):
            compared += ("".join(texts), node) if texts else (node,)
            texts = []
    compared += ("".join(texts),) if texts else ()
    if isinstance(parent, Element) and parent.tag in BLANK_IGNORING_TAGS:
        compared = [node for node in compared if not (isinstance(node, str) and _is_blank(node))]
    return _SiblingNodes(compared, independent)


def _get_styles(elements: list[Element]) -> list[tuple[str | None, ...]]:
    styles = (
        (element.attr("class"), element.attr("style"), assets.identify_style_sheet(element)) for element in elements
    )
    return [style for style in styles if style != NO_STYLE]


def _has_same_text(a: str, b: str) -> bool:
    return a == b or (_is_blank(a) and _is_blank(b))


def _is_blank(text: str) -> bool:
    return not text.strip(WHITESPACE)
