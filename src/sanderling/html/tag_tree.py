"""Build a cleaned tag tree of a page for template comparison.

Inline tags are dropped, advertisements and media become leaves, equal siblings are collapsed. Depth and size are
bounded.
"""

import re
from collections.abc import Iterator

from sanderling.html.parser import Document, Element

MAX_DEPTH = 60
MAX_NODES = 5_000
INLINE_TAGS = frozenset(
    ("a", "abbr", "acronym", "b", "basefont", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "dfn", "em",
     "font", "i", "img", "ins", "kbd", "mark", "nobr", "q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike",
     "strong", "sub", "sup", "tbody", "tfoot", "thead", "time", "tt", "u", "var", "wbr")
)  # fmt: skip
INVISIBLE_TAGS = frozenset(
    ("area", "base", "head", "link", "map", "meta", "noscript", "param", "script", "source", "style", "template",
     "title", "track")
)  # fmt: skip
OPAQUE_TAGS = frozenset(("audio", "canvas", "iframe", "math", "object", "select", "svg", "video"))
WIDGET_CLASSES = re.compile(
    r"(?:^|[\s_-])(?:ads?|advert\w*|adsbygoogle|banner|sponsor\w*|promo\w*|cookie\w*|consent|newsletter|popup|modal|"
    r"share|sharing|social|widget\w*|recommend\w*|related)(?:$|[\s_-])",
    re.IGNORECASE,
)


class TagNode:
    """Equal digests mean equal subtrees."""

    __slots__ = ("children", "digest", "size", "tag")

    def __init__(self, tag: str, children: tuple["TagNode", ...] = ()) -> None:
        self.tag = tag
        self.children = children
        self.size: int = 1 + sum(child.size for child in children)
        self.digest: int = hash((tag, *(child.digest for child in children)))

    def __repr__(self) -> str:
        return format_tag_tree(self)


def build_tag_tree(document: Document) -> TagNode:
    """Build the cleaned tag tree; an empty page gives a bare `body`."""
    body = document.find("body") or document.find("frameset")
    if body is None:
        return TagNode("body")
    budget = [MAX_NODES]
    return TagNode(body.tag, _drop_equal_siblings(_build_nodes(body, MAX_DEPTH, budget)))


def _build_nodes(parent: Element, depth: int, budget: list[int]) -> Iterator[TagNode]:
    for child in parent.children:
        if not isinstance(child, Element) or child.tag in INVISIBLE_TAGS:
            continue
        budget[0] -= 1
        if budget[0] < 0:
            return
        if child.tag in INLINE_TAGS:
            if depth > 0:
                yield from _build_nodes(child, depth - 1, budget)
        elif depth <= 0 or child.tag in OPAQUE_TAGS or _is_widget(child):
            yield TagNode(child.tag)
        else:
            yield TagNode(child.tag, _drop_equal_siblings(_build_nodes(child, depth - 1, budget)))


def _drop_equal_siblings(nodes: Iterator[TagNode]) -> tuple[TagNode, ...]:
    by_digest: dict[int, TagNode] = {}
    for node in nodes:
        by_digest.setdefault(node.digest, node)
    return tuple(by_digest.values())


def _is_widget(element: Element) -> bool:
    name = element.attr("class") or element.attr("id")
    return name is not None and WIDGET_CLASSES.search(name) is not None


def get_tag_path(element: Element, levels: int = 3) -> str:
    """Return the tags above an element with their first class, nearest last."""
    steps: list[str] = []
    node = element.parent
    while len(steps) < levels and isinstance(node, Element) and node.tag not in ("body", "html"):
        classes = (node.attr("class") or "").split()
        steps.append(f"{node.tag}.{classes[0]}" if classes else node.tag)
        node = node.parent
    return ">".join(reversed(steps))


def format_tag_tree(node: TagNode) -> str:
    """Serialize a tree as text such as `body(div(ul(li)) p)`."""
    inner = " ".join(map(format_tag_tree, node.children))
    return f"{node.tag}({inner})" if inner else node.tag
