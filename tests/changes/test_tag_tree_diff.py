"""Worked tables of the papers."""

from experiments.paper_methods import build_tree_levels, compare_outlines

from sanderling.changes.tag_tree_diff import StructureSeverity, TreeLevelDiff
from sanderling.fingerprint.tag_outline import TagOutline, build_outline
from sanderling.html.parser import parse_html

Node = tuple[str, tuple["Node", ...]]


def node(tag: str, *kids: Node) -> Node:
    return (tag, kids)


def build_test_outline(root: Node, depth: int = 1) -> TagOutline:
    tags, depths = [root[0]], bytearray([depth])
    for kid in root[1]:
        inner = build_test_outline(kid, depth + 1)
        tags += inner.tags
        depths += inner.depths
    return TagOutline(tags, bytes(depths))


# IPC Tables 4 and 5
INITIAL = build_test_outline(
    node(
        "html",
        node("head", node("title")),
        node(
            "body",
            node("center", node("h1")),
            node("center", node("b"), node("br")),
            node("center"),
            node("center", node("h3")),
            node("p", node("br"), node("br"), node("center", node("b"))),
            node("h2"),
        ),
    )
)
CHANGED = build_test_outline(
    node(
        "html",
        node("head", node("title")),
        node(
            "body",
            node("center", node("h1")),
            node("center", node("b"), node("br")),
            node("center"),
            node("center", node("b")),
            node("center", node("h3")),
            node("p"),
            node("h2"),
        ),
    )
)


def flat(rows: tuple[tuple[object, ...], ...]) -> list[object]:
    return [cell for row in rows for cell in row]


def test_table_4_counts_the_nodes_of_each_level() -> None:
    assert build_tree_levels(INITIAL).sibling_counts == [1, 2, 7, 7, 1]
    assert build_tree_levels(CHANGED).sibling_counts == [1, 2, 8, 5]


def test_table_5_lists_tags_and_children_level_by_level() -> None:
    first = "html head body title center center center center p h2 h1 b br h3 br br center b"
    assert " ".join(map(str, flat(build_tree_levels(INITIAL).names))) == first
    assert flat(build_tree_levels(INITIAL).children) == [2, 1, 6, 0, 1, 2, 0, 1, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0]
    second = "html head body title center center center center center p h2 h1 b br b h3"
    assert " ".join(map(str, flat(build_tree_levels(CHANGED).names))) == second
    assert flat(build_tree_levels(CHANGED).children) == [2, 1, 7, 0, 1, 2, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0]


def test_table_6_lost_subtree_is_major() -> None:
    change = compare_outlines(INITIAL, CHANGED, skipped_tags=frozenset())
    assert change.severity is StructureSeverity.MAJOR
    assert [(level.level, level.old, level.new) for level in change.levels] == [(3, 7, 8), (4, 7, 5), (5, 1, 0)]
    assert change.levels[1] == TreeLevelDiff(4, 7, 5, added=("b",), removed=("br", "br", "center"))


def test_center_and_bold_are_cosmetic() -> None:
    change = compare_outlines(INITIAL, CHANGED)
    assert (change.severity, change.cosmetic) == (StructureSeverity.NONE, True)


def test_table_6_leaf_sibling_is_minor() -> None:
    old = build_test_outline(node("div", node("p")))
    new = build_test_outline(node("div", node("p"), node("img")))
    assert compare_outlines(old, new).severity is StructureSeverity.MINOR
    assert compare_outlines(old, new).levels == (TreeLevelDiff(2, 1, 2, added=("img",)),)
    assert compare_outlines(new, old).levels == (TreeLevelDiff(2, 2, 1, removed=("img",)),)
    assert compare_outlines(old, old).severity is StructureSeverity.NONE


def test_reordered_nodes_are_detected() -> None:
    old = build_test_outline(node("div", node("p"), node("img")))
    new = build_test_outline(node("div", node("img"), node("p")))
    change = compare_outlines(old, new)
    assert (change.severity, change.reordered, change.levels) == (StructureSeverity.MINOR, True, ())


def test_bold_text_is_cosmetic() -> None:
    tree, bold = parse_html(b"<p>one two"), parse_html(b"<p>one <b>two</b>")
    change = compare_outlines(
        build_outline(tree, list(tree.iter_elements())), build_outline(bold, list(bold.iter_elements()))
    )
    assert (change.severity, change.cosmetic) == (StructureSeverity.NONE, True)
