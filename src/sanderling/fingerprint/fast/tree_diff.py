"""Where two trees differ, and which parts of a mark can see it: equal branches are passed over by the parser, whole."""

from collections.abc import Iterator, Sequence, Set
from enum import StrEnum
from itertools import compress, count, islice
from operator import not_

from msgspec import Struct
from turbohtml import Comment, Doctype, Node, Text

from sanderling.content.class_names import classify_name
from sanderling.content.collapsible import CONTROL_ATTRIBUTES
from sanderling.content.extract import TAGS_BY_LABEL
from sanderling.content.rules.share_links import is_share_link
from sanderling.fingerprint import assets, scripts
from sanderling.fingerprint.build import BOILERPLATE_TAGS
from sanderling.fingerprint.tag_outline import INVISIBLE_TAGS
from sanderling.html.parser import Document, Element, Namespace

MAX_COMPARED_ELEMENTS = 100  # that are looked into; where more differ, all parts are made
MAX_COMPARED_SIZE = 200_000_000  # bytes passed over for all of them, if each held the whole page
MAX_LOOKAHEAD = 4  # nodes that may have come or gone between two that are the same
MAX_CACHED_KINDS = 10_000  # of elements, remembered; a site uses the same ones on every page
VALUE_DEPENDENT_ATTRIBUTES = ("id", "class", "style")
IGNORED_NODES = (Comment, Doctype)
WHITESPACE = " \t\r\n\f"
NO_STYLE = (None, None, None)
BLANK_IGNORING_TAGS = ("html", "head")  # where blanks never are


class FingerprintPart(StrEnum):
    """A part of a mark, or what makes one."""

    TEXT = "words"
    STRUCTURE = "structure"  # tags, so that other words may be main content too
    PRESENTATIONAL = "dress"  # of old pages, in attributes
    STYLES = "looks"
    LINKS = "links"
    IMAGES = "images"
    SCRIPTS = "scripts"
    HANDLERS = "handlers"
    FORMS = "forms"
    FRAMES = "frames"
    TITLE = "title"


ALL_PARTS = frozenset(FingerprintPart)
INDEPENDENT_TAGS = frozenset(
    ("script", "style", "link", "meta")
)  # tags that may come and go, and leave the rest what it is
PART_BY_TAG_ATTRIBUTE = {
    ("a", "href"): FingerprintPart.LINKS,
    ("link", "href"): FingerprintPart.STYLES,
    ("link", "rel"): FingerprintPart.STYLES,
    ("script", "src"): FingerprintPart.SCRIPTS,
    ("script", "type"): FingerprintPart.SCRIPTS,
    ("use", "href"): FingerprintPart.IMAGES,
    ("input", "type"): FingerprintPart.FORMS,
    **dict.fromkeys(scripts.FRAME_SOURCE_ATTRIBUTES.items(), FingerprintPart.FRAMES),
    **{(tag, "src"): FingerprintPart.IMAGES for tag in ("img", "video", "audio", "source")},
}  # attributes that some tags alone have for marks
PART_BY_ATTRIBUTE = {
    **dict.fromkeys(
        ("srcset", "alt", "width", "height", "poster", "d", "xlink:href", *assets.LAZY_SOURCE_ATTRIBUTES),
        FingerprintPart.IMAGES,
    ),
    **dict.fromkeys(("method", "action", "name", "value", "placeholder", "checked", "selected"), FingerprintPart.FORMS),
    **dict.fromkeys(("class", "style"), FingerprintPart.STYLES),
    **dict.fromkeys(assets.PRESENTATIONAL_ATTRIBUTES, FingerprintPart.PRESENTATIONAL),
}
CONTENT_DECIDING_TAGS = {*BOILERPLATE_TAGS, *(tag for tags in TAGS_BY_LABEL.values() for tag in tags)} - {
    "pre",
    "textarea",
}
"""Tags that say what is main content."""
PARTS_BY_TAG: dict[str, Set[FingerprintPart]] = {
    "script": {FingerprintPart.SCRIPTS},
    **dict.fromkeys(("style", "link"), frozenset((FingerprintPart.STYLES,))),
    **dict.fromkeys(("input", "option", "textarea"), frozenset((FingerprintPart.FORMS,))),
    "title": {FingerprintPart.TITLE},
    **dict.fromkeys((*CONTENT_DECIDING_TAGS, "template"), ALL_PARTS),
}  # what of a mark sees that such a tag is there at all
PARTS_BY_ENCLOSING_TAG: dict[str, Set[FingerprintPart]] = {
    "pre": {FingerprintPart.TEXT},
    "textarea": {FingerprintPart.TEXT},
    "option": {FingerprintPart.TEXT, FingerprintPart.FORMS},
    "title": {FingerprintPart.TEXT, FingerprintPart.TITLE},
    "template": ALL_PARTS,
    "script": {FingerprintPart.SCRIPTS},
    "style": {FingerprintPart.STYLES},
}  # what sees any difference inside such a tag: blanks and scripts are read there, or nothing is


class DifferenceRange(Struct, frozen=True):
    """Line and column of the old version at which the first and the last difference seem to be; a hint, no more."""

    first: tuple[int, int]
    last: tuple[int, int]


UNKNOWN_RANGE = DifferenceRange((0, 0), (0, 0))
NO_POSITION = (1 << 62, 0)  # where a node is that has no place in the body: text, and what the parser added


ComparedNode = Node | str | None
"""A node that is compared, or a text; None where there is none."""


class TreeDiff:
    """What was found so far in looking at where two trees differ."""

    def __init__(self, max_elements: int, stop_parts: Set[FingerprintPart] = ALL_PARTS) -> None:
        self.parts: set[FingerprintPart] = set()  # of a mark, that see it
        self.stop_parts = stop_parts  # that are enough to know of
        self.text_changes: list[tuple[str, str]] = []  # as they were, and as they are
        self.removed_scripts: list[Element] = []  # scripts
        self.added_scripts: list[Element] = []
        self.remaining_elements = max_elements  # elements that may still be looked at
        self.remaining_lookaheads = 4 * max_elements  # times that one may still look ahead

    @property
    def is_finished(self) -> bool:
        """Say whether nothing can be added."""
        return self.remaining_elements <= 0 or self.stop_parts <= self.parts

    def add_change(self, old_node: "ComparedNode", new_node: "ComparedNode") -> None:
        """Note what sees that one node stands in the place of another, or that it came or went."""
        old, new = (node if isinstance(node, str) else "" for node in (old_node, new_node))
        if isinstance(old_node, str) and isinstance(new_node, str) and _has_same_text(old, new):
            return
        self.parts.add(FingerprintPart.TEXT)
        self.text_changes += [(old, new)] if old or new else []
        for node in (old_node, new_node):
            if isinstance(node, Element):
                for element in islice(node.iter_elements(include_self=True), max(self.remaining_elements, 0)):
                    self.remaining_elements -= 1
                    self._add_element(element)

    def add_independent_elements(self, old: list[Element], new: list[Element]) -> None:
        """Note what sees that other scripts, style sheets and the like are there."""
        self.removed_scripts += [element for element in old if element.tag == "script"]
        self.added_scripts += [element for element in new if element.tag == "script"]
        if _get_styles(old) != _get_styles(new):
            self.parts.add(FingerprintPart.STYLES)
        if any(name.startswith("on") for element in (*old, *new) for name in element.attrs):
            self.parts.add(FingerprintPart.HANDLERS)

    def _add_element(self, element: Element) -> None:
        names = tuple(element.attrs)
        self.parts |= _parts_by_element_kind[element.tag, names]
        for name in names:
            if name in VALUE_DEPENDENT_ATTRIBUTES:
                self.parts |= _get_affected_parts(name, element.tag, "", element.attr(name) or "")


class _PartsByElementKind(dict[tuple[str, tuple[str, ...]], Set[FingerprintPart]]):
    """What of a mark sees that an element with such attributes is there, whatever their values; remembered."""

    def __missing__(self, kind: tuple[str, tuple[str, ...]]) -> Set[FingerprintPart]:
        if len(self) >= MAX_CACHED_KINDS:
            self.clear()
        tag, names = kind
        parts = set(PARTS_BY_TAG.get(tag, frozenset())).union(
            *(_get_affected_parts(name, tag, "", "") for name in names)
        )
        value = self[kind] = parts if tag in INVISIBLE_TAGS else parts | {FingerprintPart.STRUCTURE}
        return value


_parts_by_element_kind = _PartsByElementKind()


class _NodePair(Struct, frozen=True):
    """Two nodes that may differ, and whether the first and the last spot at which the bodies do seems to be inside."""

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
    """Find how two trees of pages up to such a size differ; in everything, if that takes looking into too much.

    Once it is known that all of some parts of a mark see it, it is looked no further.
    """
    found = TreeDiff(min(MAX_COMPARED_ELEMENTS, MAX_COMPARED_SIZE // max(page_size, 1)), stop_parts)
    forks = [_NodePair(old, new, difference_range is not UNKNOWN_RANGE, difference_range is not UNKNOWN_RANGE)]
    while forks and not found.is_finished:
        fork = forks.pop()
        found.remaining_elements -= 1
        _add_affected_parts(fork.old, fork.new, found.parts)
        branch = _find_differing_children(fork, difference_range)
        mine, yours = _read_siblings(branch.old_children, fork.old), _read_siblings(branch.new_children, fork.new)
        found.add_independent_elements(mine.independent_elements, yours.independent_elements)
        is_one = len(branch.old_children) == len(branch.new_children) == len(mine.nodes) == len(yours.nodes) == 1
        rows = zip(mine.nodes, yours.nodes, strict=True) if is_one else _align_nodes(mine.nodes, yours.nodes, found)
        for before, after in rows:
            if isinstance(before, Element) and isinstance(after, Element) and _is_same_element(before, after):
                forks.append(_NodePair(before, after, before is branch.first_changed, before is branch.last_changed))
            else:
                found.add_change(before, after)
    if found.is_finished:
        found.parts = set(ALL_PARTS)
    return found


def _align_nodes(
    old_nodes: Sequence[ComparedNode], new_nodes: Sequence[ComparedNode], tree_diff: TreeDiff
) -> Iterator[tuple[ComparedNode, ComparedNode]]:
    """Lay two rows side by side, and give what differs, or came or went and has no other."""
    one = other = 0
    while one < len(old_nodes) and other < len(new_nodes):
        if _is_equal(old_nodes[one], new_nodes[other]):
            one, other = one + 1, other + 1
            continue
        came = _find_ahead(old_nodes[one], new_nodes[other + 1 : other + 1 + MAX_LOOKAHEAD], tree_diff)
        went = _find_ahead(new_nodes[other], old_nodes[one + 1 : one + 1 + MAX_LOOKAHEAD], tree_diff) if not came else 0
        if came or went:
            yield from ((None, node) for node in new_nodes[other : other + came])
            yield from ((node, None) for node in old_nodes[one : one + went])
            one, other = one + went, other + came
        else:
            yield old_nodes[one], new_nodes[other]
            one, other = one + 1, other + 1
    yield from ((node, None) for node in old_nodes[one:])
    yield from ((None, node) for node in new_nodes[other:])


def _find_ahead(node: ComparedNode, candidates: Sequence[ComparedNode], tree_diff: TreeDiff) -> int:
    """Say how far ahead a node is in a row; 0 if it is not there, or there are blanks everywhere."""
    if isinstance(node, str) and _is_blank(node):
        return 0
    tree_diff.remaining_lookaheads -= len(candidates)
    return (
        next((n for n, other in enumerate(candidates, 1) if _is_equal(node, other)), 0)
        if tree_diff.remaining_lookaheads > 0
        else 0
    )


def _is_equal(a: ComparedNode, b: ComparedNode) -> bool:
    if isinstance(a, Node) and isinstance(b, Node):
        return a.equals(b)
    return isinstance(a, str) and isinstance(b, str) and _has_same_text(a, b)


def _is_same_element(a: Element, b: Element) -> bool:
    """Say whether two elements are one that may have changed inside."""
    return (a.tag, a.namespace) == (b.tag, b.namespace)


class _DifferingChildren(Struct, frozen=True):
    """The children of two nodes that may differ, and those of the old one in which the first and the last spot are."""

    old_children: Sequence[Node]
    new_children: Sequence[Node]
    first_changed: Node | None
    last_changed: Node | None


def _find_differing_children(node_pair: _NodePair, difference_range: DifferenceRange) -> _DifferingChildren:
    """Leave out what the children of two nodes begin and end with alike.

    What seems to hold a spot is not compared: that would pass over all before the spot again, for each node around it.
    """
    left, right = node_pair.old.children, node_pair.new.children
    most = min(len(left), len(right))
    first = _find_node_at(left, difference_range.first) if node_pair.has_first_difference else None
    last = _find_node_at(left, difference_range.last) if node_pair.has_last_difference else None
    until = most if last is None else min(most, len(left) - 1 - last)
    alike = map(Node.equals, islice(reversed(left), until), reversed(right))
    tail = next(compress(count(), map(not_, alike)), until)
    until = most - tail if first is None else min(most - tail, first)
    start = next(compress(count(), map(not_, map(Node.equals, islice(left, until), right))), until)
    return _DifferingChildren(
        left[start : len(left) - tail],
        right[start : len(right) - tail],
        None if first is None else left[first],
        None if last is None else left[last],
    )


def _find_node_at(nodes: Sequence[Node], position: tuple[int, int]) -> int | None:
    """Number the node in which a spot seems to be: the last element that begins before it."""
    places = count(len(nodes) - 1, -1)
    return next(
        (n for n, node in zip(places, reversed(nodes), strict=False) if (node.position or NO_POSITION) <= position),
        None,
    )


class _SiblingNodes(Struct, frozen=True):
    """Nodes in a row: those that are compared, and those that may come and go."""

    nodes: list[ComparedNode]
    independent_elements: list[Element]


def _read_siblings(nodes: Sequence[Node], parent: Node) -> _SiblingNodes:
    """Read some nodes; texts in a row are one."""
    kept: list[ComparedNode] = []
    lights: list[Element] = []
    words: list[str] = []
    for node in nodes:
        if isinstance(node, Text):
            words.append(node.data)
        elif isinstance(node, Element) and node.tag in INDEPENDENT_TAGS and node.namespace is Namespace.HTML:
            lights.append(node)
        elif not isinstance(node, IGNORED_NODES):
            kept += ("".join(words), node) if words else (node,)
            words = []
    kept += ("".join(words),) if words else ()
    if isinstance(parent, Element) and parent.tag in BLANK_IGNORING_TAGS:
        kept = [node for node in kept if not (isinstance(node, str) and _is_blank(node))]
    return _SiblingNodes(kept, lights)


def _get_styles(elements: list[Element]) -> list[tuple[str | None, ...]]:
    """What a mark sees of the looks of scripts, style sheets and the like."""
    found = ((one.attr("class"), one.attr("style"), assets.identify_style_sheet(one)) for one in elements)
    return [look for look in found if look != NO_STYLE]


def _has_same_text(a: str, b: str) -> bool:
    """Say whether two texts are the same; how long a blank is does not matter."""
    return a == b or (_is_blank(a) and _is_blank(b))


def _is_blank(text: str) -> bool:
    return not text.strip(WHITESPACE)


def _add_affected_parts(old: Node, new: Node, parts: set[FingerprintPart]) -> None:
    """Note which parts of a mark see that two nodes differ, but for what is inside."""
    if not isinstance(old, Element) or not isinstance(new, Element):
        return
    parts |= PARTS_BY_ENCLOSING_TAG.get(old.tag, frozenset())
    before, after = old.attrs, new.attrs
    for name in {name for name in (*before, *after) if before.get(name) != after.get(name)}:
        if name != "value" or not old.attr("type") == new.attr("type") == "hidden":
            parts |= _get_affected_parts(name, old.tag, old.attr(name) or "", new.attr(name) or "")


def _get_affected_parts(attribute: str, tag: str, old_value: str, new_value: str) -> frozenset[FingerprintPart]:
    """Name the parts of a mark that see another value of an attribute."""
    if attribute in ("id", "class") and classify_name(old_value) != classify_name(new_value):
        return ALL_PARTS
    if attribute == "href" and tag == "a" and is_share_link(old_value) != is_share_link(new_value):
        return ALL_PARTS
    if attribute in ("role", "hidden") or (attribute == "style" and "display" in old_value + new_value):
        return ALL_PARTS
    if attribute in CONTROL_ATTRIBUTES and not (old_value and new_value):
        return ALL_PARTS
    if attribute.startswith("on"):
        return frozenset((FingerprintPart.HANDLERS,))
    part = PART_BY_TAG_ATTRIBUTE.get((tag, attribute)) or PART_BY_ATTRIBUTE.get(attribute)
    return frozenset((part,)) if part is not None else frozenset()
