"""The branches in which two trees differ, and the parts of a mark that can see it.

Where the words and the tags that are read stay what they were, only those parts are made, of both versions: a script,
a class, the target of a link. Equal branches are passed over by the parser, whole.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from itertools import compress, count, groupby, islice, starmap

from msgspec.structs import replace
from turbohtml import Comment, Doctype, Node, Text

from sanderling.pages import assets, behaviour
from sanderling.pages.blocks import blocks, sounds_like_furniture
from sanderling.pages.parse import Document, Element, Namespace, values
from sanderling.pages.reworded import Pair
from sanderling.pages.signatures import NOTHING, Signature, main_assets

MAX_PAIRS = 500  # elements that are looked into; where more differ, full marks cost little more
MAX_WORK = 200_000_000  # bytes passed over for all of them, if each held the whole page
UNREAD = (Comment, Doctype)
BLANKS = " \t\r\n\f"
VERBATIM = ("pre", "textarea", "template", "option", "title")  # where blanks or scripts are read, or nothing is
LOOSE = ("html", "head")  # where blanks never are


class Part(StrEnum):
    """A part of a mark."""

    LOOKS = "looks"
    LINKS = "links"
    IMAGES = "images"
    SCRIPTS = "scripts"
    HANDLERS = "handlers"
    FORMS = "forms"
    FRAMES = "frames"
    ALL = "all"  # words or structure among them


LIGHT = {"script": {Part.SCRIPTS}, "style": {Part.LOOKS}, "link": {Part.LOOKS}, "meta": set[Part]()}
"""Tags that may come and go, and what of a mark sees them."""
BY_TAG = {
    ("a", "href"): Part.LINKS,
    ("link", "href"): Part.LOOKS,
    ("link", "rel"): Part.LOOKS,
    ("script", "src"): Part.SCRIPTS,
    ("script", "type"): Part.SCRIPTS,
    ("use", "href"): Part.IMAGES,
    ("input", "type"): Part.FORMS,
    **dict.fromkeys(behaviour.FRAMES.items(), Part.FRAMES),
    **{(tag, "src"): Part.IMAGES for tag in ("img", "video", "audio", "source")},
}  # attributes that some tags alone have for marks
BY_NAME = {
    **dict.fromkeys(("srcset", "alt", "width", "height", "poster", "d", "xlink:href", *assets.LAZY[1:]), Part.IMAGES),
    **dict.fromkeys(("method", "action", "name", "value", "placeholder", "checked", "selected"), Part.FORMS),
    **dict.fromkeys(("class", "style"), Part.LOOKS),
    **dict.fromkeys(("role", "hidden", *assets.DRESSES), Part.ALL),
}


def compare_trees(old: Document, new: Document, size: int) -> Pair | None:
    """Mark what differs between two trees of pages up to such a size; None if their words or structure may."""
    parts = set[Part]() if old.equals(new) else _parts(old, new, min(MAX_PAIRS, MAX_WORK // max(size, 1)))
    if Part.ALL in parts:
        return None
    return Pair(_marked(old, parts), _marked(new, parts))


def _marked(tree: Document, parts: set[Part]) -> Signature:
    """Make some parts of a mark."""
    found: dict[str, object] = {part: assets.pack(MADE[part](tree)) for part in parts if part in MADE}
    if Part.LOOKS in parts:
        found["looks"] = assets.looks(tree, values(tree.select("[class]"), "class"))
    if Part.LINKS in parts or Part.IMAGES in parts:
        links, images = main_assets(tree, blocks(tree))
        found |= {"main_links": assets.pack(links), "main_images": assets.pack(images)}
    return replace(NOTHING, **found)


MADE: dict[Part, Callable[[Document], set[int]]] = {
    Part.LINKS: assets.targets,
    Part.IMAGES: assets.shown,
    Part.SCRIPTS: behaviour.scripts,
    Part.HANDLERS: behaviour.handlers,
    Part.FORMS: behaviour.forms,
    Part.FRAMES: behaviour.frames,
}


def _parts(old: Document, new: Document, most: int) -> set[Part]:
    """Name the parts of a mark that may see how two trees differ, looking into so many elements at most."""
    found: set[Part] = set()
    pairs: list[tuple[Node, Node]] = [(old, new)]
    for _ in range(most):
        if not pairs or Part.ALL in found:
            return found
        one, other = pairs.pop()
        left, right = _between(one.children, other.children, may_be_alike=_seen(one, other, found))
        mine, yours = _read(left, one, found), _read(right, other, found)
        if len(mine) != len(yours):
            return {Part.ALL}
        is_one = len(left) == len(right) == 1
        for before, after in zip(mine, yours, strict=True):
            if isinstance(before, str) or isinstance(after, str):
                found |= set() if _reads_alike(before, after) else {Part.ALL}
            elif is_one or _differ(before, after):
                pairs.append((before, after))
    return {Part.ALL}


def _between(
    left: Sequence[Node], right: Sequence[Node], *, may_be_alike: bool
) -> tuple[Sequence[Node], Sequence[Node]]:
    """Leave out what two rows of branches begin and end with alike; they differ, unless they may be alike."""
    most = min(len(left), len(right))
    ends = zip(reversed(left), reversed(right), strict=False)
    last = most if may_be_alike or len(left) != len(right) else max(most - 1, 0)  # which must differ if no other does
    tail = next(compress(count(), starmap(_differ, islice(ends, last))), last)
    left, right = left[: len(left) - tail], right[: len(right) - tail]
    if len(left) == len(right) == 1:
        return left, right
    start = next(compress(count(), map(_differ, left, right)), min(len(left), len(right)))
    return left[start:], right[start:]


def _differ(one: Node, other: Node) -> bool:
    return not one.equals(other)


def _read(nodes: Sequence[Node], parent: Node, found: set[Part]) -> list[Node | str]:
    """Leave out what may come and go, and note what of a mark sees it; texts in a row are one."""
    read = [node for node in nodes if not isinstance(node, UNREAD) and not _is_light(node, found)]
    kept: list[Node | str] = []
    for is_text, row in groupby(read, lambda node: isinstance(node, Text)):
        some = list(row)
        kept += ["".join(node.data for node in some if isinstance(node, Text))] if is_text else some
    is_loose = isinstance(parent, Element) and parent.tag in LOOSE
    return [node for node in kept if not (isinstance(node, str) and _is_blank(node))] if is_loose else kept


def _is_light(node: Node, found: set[Part]) -> bool:
    """Say whether a node may come and go; note what sees it: what it is for, how it is dressed, what it listens to."""
    if not isinstance(node, Element) or node.tag not in LIGHT or node.namespace is not Namespace.HTML:
        return False
    found |= LIGHT[node.tag] | {Part.LOOKS for name in node.attrs if name in ("class", "style")}
    found |= {Part.HANDLERS for name in node.attrs if name.startswith("on")}
    return True


def _reads_alike(one: Node | str, other: Node | str) -> bool:
    """Say whether two texts are the same; how long a blank is does not matter."""
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    return one == other or (_is_blank(one) and _is_blank(other))


def _is_blank(words: str) -> bool:
    return not words.strip(BLANKS)


def _seen(old: Node, new: Node, found: set[Part]) -> bool:
    """Note which parts of a mark see that two nodes differ; say whether their attributes do."""
    if not isinstance(old, Element) or not isinstance(new, Element):
        found |= set() if type(old) is type(new) else {Part.ALL}
        return False
    if (old.tag, old.namespace) != (new.tag, new.namespace) or old.tag in VERBATIM:
        found.add(Part.ALL)
    before, after = old.attrs, new.attrs
    other = [name for name in {*before, *after} if before.get(name) != after.get(name)]
    found.update(part for name in other if (part := _part(name, old, new)) is not None)
    return bool(other)


def _part(name: str, old: Element, new: Element) -> Part | None:
    """Name the part of a mark that sees another value of an attribute; None if none does."""
    before, after = old.attr(name) or "", new.attr(name) or ""
    if name in ("id", "class") and sounds_like_furniture(before) != sounds_like_furniture(after):
        return Part.ALL
    if name == "style" and "display" in before + after:
        return Part.ALL
    if name == "value" and old.attr("type") == new.attr("type") == "hidden":
        return None
    if name.startswith("on"):
        return Part.HANDLERS
    return BY_TAG.get((old.tag, name)) or BY_NAME.get(name)
