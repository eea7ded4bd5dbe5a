"""The document tree method, with the papers' worked tables."""

from sanderling.changes.tag_tree_diff import Level, Verdict, structure, table
from sanderling.fingerprint.tag_outline import Outline, outline
from sanderling.html.parser import parse

Node = tuple[str, tuple["Node", ...]]


def node(tag: str, *kids: Node) -> Node:
    return (tag, kids)


def skeleton(root: Node, depth: int = 1) -> Outline:
    tags, depths = [root[0]], bytearray([depth])
    for kid in root[1]:
        inner = skeleton(kid, depth + 1)
        tags += inner.tags
        depths += inner.depths
    return Outline(tags, bytes(depths))


# IPC Tables 4 and 5
INITIAL = skeleton(
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
CHANGED = skeleton(
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
    assert table(INITIAL).siblings == [1, 2, 7, 7, 1]
    assert table(CHANGED).siblings == [1, 2, 8, 5]


def test_table_5_lists_tags_and_children_level_by_level() -> None:
    first = "html head body title center center center center p h2 h1 b br h3 br br center b"
    assert " ".join(map(str, flat(table(INITIAL).names))) == first
    assert flat(table(INITIAL).children) == [2, 1, 6, 0, 1, 2, 0, 1, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0]
    second = "html head body title center center center center center p h2 h1 b br b h3"
    assert " ".join(map(str, flat(table(CHANGED).names))) == second
    assert flat(table(CHANGED).children) == [2, 1, 7, 0, 1, 2, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0]


def test_table_6_a_lost_subtree_is_major() -> None:
    change = structure(INITIAL, CHANGED, skipped=frozenset())
    assert change.verdict is Verdict.MAJOR
    assert [(level.level, level.old, level.new) for level in change.levels] == [(3, 7, 8), (4, 7, 5), (5, 1, 0)]
    assert change.levels[1] == Level(4, 7, 5, added=("b",), removed=("br", "br", "center"))


def test_centre_and_bold_are_cosmetic_today() -> None:
    change = structure(INITIAL, CHANGED)
    assert (change.verdict, change.cosmetic) == (Verdict.NONE, True)


def test_table_6_a_leaf_sibling_is_minor_and_nothing_is_none() -> None:
    one = skeleton(node("div", node("p")))
    two = skeleton(node("div", node("p"), node("img")))
    assert structure(one, two).verdict is Verdict.MINOR
    assert structure(one, two).levels == (Level(2, 1, 2, added=("img",)),)
    assert structure(two, one).levels == (Level(2, 2, 1, removed=("img",)),)
    assert structure(one, one).verdict is Verdict.NONE


def test_a_swap_with_equal_counts_is_seen() -> None:
    one = skeleton(node("div", node("p"), node("img")))
    two = skeleton(node("div", node("img"), node("p")))
    change = structure(one, two)
    assert (change.verdict, change.reordered, change.levels) == (Verdict.MINOR, True, ())


def test_bold_words_are_cosmetic() -> None:
    tree, bold = parse(b"<p>one two"), parse(b"<p>one <b>two</b>")
    change = structure(outline(tree, list(tree.iter_elements())), outline(bold, list(bold.iter_elements())))
    assert (change.verdict, change.cosmetic) == (Verdict.NONE, True)
