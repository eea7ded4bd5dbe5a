"""The branches in which two trees differ, and the parts of a mark that can see it.

Equal branches are passed over by the parser, whole. Only the parts of a mark that can see the others are made, of both
versions: most changed pages have a few other words, or another script, and all else as it was.
"""

from collections.abc import Callable, Iterable, Sequence, Set
from enum import StrEnum
from itertools import compress, count, islice

from msgspec import Struct
from msgspec.structs import replace
from turbohtml import Comment, Doctype, Node, Text

from sanderling.pages import assets, behaviour
from sanderling.pages.blocks import TAGS, Blocks, blocks, said, sounds_like_furniture
from sanderling.pages.fingerprint import UNSEEN
from sanderling.pages.parse import Document, Element, Namespace
from sanderling.pages.reworded import Pair, compare_blocks, page_before
from sanderling.pages.signatures import FURNITURE, NOTHING, main_assets, skeleton
from sanderling.pages.swaps import Swap, as_it_was

MAX_ELEMENTS = 500  # that are looked into; where more differ, all parts are made
MAX_WORK = 200_000_000  # bytes passed over for all of them, if each held the whole page
MAX_KINDS = 10_000  # of elements, remembered; a site uses the same ones on every page
TOLD_BY_VALUE = ("id", "class", "style")
UNREAD = (Comment, Doctype)
BLANKS = " \t\r\n\f"
LOOSE = ("html", "head")  # where blanks never are


class Part(StrEnum):
    """A part of a mark, or what makes one."""

    WORDS = "words"
    STRUCTURE = "structure"  # tags, so that other words may be main content too
    DRESS = "dress"  # of old pages, in attributes
    LOOKS = "looks"
    LINKS = "links"
    IMAGES = "images"
    SCRIPTS = "scripts"
    HANDLERS = "handlers"
    FORMS = "forms"
    FRAMES = "frames"
    TITLE = "title"


ALL = frozenset(Part)
SHOWN = frozenset((Part.LINKS, Part.IMAGES))
READ = frozenset((Part.WORDS, Part.STRUCTURE))
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
    **dict.fromkeys(assets.DRESSES, Part.DRESS),
}
DECIDING = {*FURNITURE, *(tag for tags in TAGS.values() for tag in tags)} - {"pre", "textarea"}
"""Tags that say what is main content."""
OWN: dict[str, Set[Part]] = {
    **LIGHT,
    **dict.fromkeys(("input", "option", "textarea"), frozenset((Part.FORMS,))),
    "title": {Part.TITLE},
    **dict.fromkeys((*DECIDING, "template"), ALL),
}  # what of a mark sees that such a tag is there at all
INSIDE: dict[str, Set[Part]] = {
    "pre": {Part.WORDS},
    "textarea": {Part.WORDS},
    "option": {Part.WORDS, Part.FORMS},
    "title": {Part.WORDS, Part.TITLE},
    "template": ALL,
    "script": {Part.SCRIPTS},
    "style": {Part.LOOKS},
}  # what sees any difference inside such a tag: blanks and scripts are read there, or nothing is


class Spots(Struct, frozen=True):
    """Line and column of the old version at which the first and the last difference seem to be; a hint, no more."""

    first: tuple[int, int]
    last: tuple[int, int]


NOWHERE = Spots((0, 0), (0, 0))
MISSING = (1 << 62, 0)  # where a node is that has no place in the body: text, and what the parser added


def compare_trees(old: Document, new: Document, size: int, spots: Spots = NOWHERE) -> Pair:
    """Mark what differs between two trees of pages up to such a size, maybe at these spots."""
    found = _look(old, new, spots, min(MAX_ELEMENTS, MAX_WORK // max(size, 1)))
    parts = found.parts
    left, right = _marked(old, parts), _marked(new, parts)
    words, last, page = Pair(NOTHING, NOTHING), None, None
    if parts & READ or parts & SHOWN:
        page = last = blocks(new)
    if page is not None and parts & READ:
        last = blocks(old) if Part.STRUCTURE in parts else page_before(old, page, found.texts)
        words = compare_blocks(last, page)
    if page is not None and last is not None and (parts & SHOWN or _is_elsewhere(last, page)):
        left |= _main(old, last if last is not page else replace(page, said=None))
        right |= _main(new, page)
    return Pair(replace(words.old, **left), replace(words.new, **right))


def compare_texts(tree: Document, texts: list[Swap]) -> Pair:
    """Mark what differs between a tree and what it was when some of its texts were others."""
    if not texts:
        return Pair(NOTHING, NOTHING)
    page, pieces = blocks(tree), [(swap.before, swap.node.data) for swap in texts]
    with as_it_was(texts):
        last = page_before(tree, page, pieces)
        left = _main(tree, last) if _is_elsewhere(last, page) else {}
    right = _main(tree, page) if left else {}
    words = compare_blocks(last, page)
    return Pair(replace(words.old, **left), replace(words.new, **right))


def _is_elsewhere(last: Blocks, page: Blocks) -> bool:
    """Say whether the main content of a page may be another part of it than that of the last version."""
    return last.is_believed != page.is_believed or last.core is not page.core


def _marked(tree: Document, parts: set[Part]) -> dict[str, object]:
    """Make some parts of a mark, but for the words."""
    found: dict[str, object] = {part: assets.pack(MADE[part](tree)) for part in parts if part in MADE}
    if Part.LOOKS in parts:
        found["looks"] = assets.looks(tree)
    if Part.STRUCTURE in parts or Part.DRESS in parts:
        found["outline"], found["cosmetic"] = skeleton(tree)
    return found


MADE: dict[Part, Callable[[Document], set[int]]] = {
    Part.LINKS: assets.targets,
    Part.IMAGES: assets.shown,
    Part.SCRIPTS: behaviour.scripts,
    Part.HANDLERS: behaviour.handlers,
    Part.FORMS: behaviour.forms,
    Part.FRAMES: behaviour.frames,
    Part.TITLE: assets.titled,
}


def _main(tree: Document, page: Blocks) -> dict[str, object]:
    """Make the parts of a mark that see links and images of the main content."""
    links, images = main_assets(tree, page.said or said(tree), page)
    return {"main_links": assets.pack(links), "main_images": assets.pack(images)}


class _Found:
    """What was found so far in looking at where two trees differ."""

    def __init__(self, most: int) -> None:
        self.parts: set[Part] = set()  # of a mark, that see it
        self.texts: list[tuple[str, str]] = []  # as they were, and as they are
        self.left = most  # elements that may still be looked at

    @property
    def is_over(self) -> bool:
        """Say whether nothing can be added."""
        return self.left <= 0 or len(self.parts) == len(ALL)

    def changed(self, before: Node | str, after: Node | str) -> None:
        """Note what sees that one node stands in the place of another."""
        if isinstance(before, str) and isinstance(after, str):
            self.parts.add(Part.WORDS)
            self.texts.append((before, after))
        else:
            self.went(before)
            self.came(after)

    def went(self, node: Node | str) -> None:
        """Note what sees that a node is gone."""
        self._moved(node, (node, "") if isinstance(node, str) else None)

    def came(self, node: Node | str) -> None:
        """Note what sees that a node is new."""
        self._moved(node, ("", node) if isinstance(node, str) else None)

    def _moved(self, node: Node | str, texts: tuple[str, str] | None) -> None:
        self.parts.add(Part.WORDS)
        self.texts += [texts] if texts else []
        if isinstance(node, Element):
            for element in islice(node.iter_elements(include_self=True), max(self.left, 0)):
                self.left -= 1
                self._add(element)

    def _add(self, element: Element) -> None:
        names = tuple(element.attrs)
        self.parts |= _kinds[element.tag, names]
        for name in names:
            if name in TOLD_BY_VALUE:
                self.parts |= _seen_by(name, element.tag, "", element.attr(name) or "")


class _Kinds(dict[tuple[str, tuple[str, ...]], Set[Part]]):
    """What of a mark sees that an element with such attributes is there, whatever their values; remembered."""

    def __missing__(self, kind: tuple[str, tuple[str, ...]]) -> Set[Part]:
        if len(self) >= MAX_KINDS:
            self.clear()
        tag, names = kind
        parts = set(OWN.get(tag, frozenset())).union(*(_seen_by(name, tag, "", "") for name in names))
        value = self[kind] = parts if tag in UNSEEN else parts | {Part.STRUCTURE}
        return value


_kinds = _Kinds()


class _Fork(Struct, frozen=True):
    """Two nodes that may differ, and whether the first and the last spot at which the bodies do seems to be inside."""

    old: Node
    new: Node
    has_first: bool = False
    has_last: bool = False


def _look(old: Document, new: Document, spots: Spots, most: int) -> _Found:
    """Find how two trees differ, looking into so many elements at most; beyond that, in everything."""
    found = _Found(most)
    forks = [_Fork(old, new, spots is not NOWHERE, spots is not NOWHERE)]
    while forks and not found.is_over:
        fork = forks.pop()
        found.left -= 1
        _seen(fork.old, fork.new, found.parts)
        branch = _branch(fork, spots)
        mine, yours = _read(branch.left, fork.old, found.parts), _read(branch.right, fork.new, found.parts)
        is_one = len(branch.left) == len(branch.right) == 1
        for before, after in _paired(mine, yours, found):
            if not _is_pair(before, after):
                found.changed(before, after)
            elif isinstance(before, Node) and isinstance(after, Node) and (is_one or _differ(before, after)):
                forks.append(_Fork(before, after, before is branch.first, before is branch.last))
    if found.is_over:
        found.parts = set(ALL)
    return found


def _paired(mine: list[Node | str], yours: list[Node | str], found: _Found) -> Iterable[tuple[Node | str, Node | str]]:
    """Lay nodes side by side; where there are more in one version, all of them came or went."""
    if len(mine) == len(yours):
        return zip(mine, yours, strict=True)
    for node in mine:
        found.went(node)
    for node in yours:
        found.came(node)
    return ()


def _is_pair(one: Node | str, other: Node | str) -> bool:
    """Say whether two nodes are one that may have changed inside; texts are if they read alike."""
    if isinstance(one, Element) and isinstance(other, Element):
        return (one.tag, one.namespace) == (other.tag, other.namespace)
    return isinstance(one, str) and isinstance(other, str) and _reads_alike(one, other)


class _Branch(Struct, frozen=True):
    """The children of two nodes that may differ, and those of the old one in which the first and the last spot are."""

    left: Sequence[Node]
    right: Sequence[Node]
    first: Node | None
    last: Node | None


def _branch(fork: _Fork, spots: Spots) -> _Branch:
    """Leave out what the children of two nodes begin and end with alike.

    What seems to hold a spot is not compared: that would pass over all before the spot again, for each node around it.
    """
    left, right = fork.old.children, fork.new.children
    most = min(len(left), len(right))
    first = _holder(left, spots.first) if fork.has_first else None
    last = _holder(left, spots.last) if fork.has_last else None
    until = most if last is None else min(most, len(left) - 1 - last)
    tail = next(compress(count(), map(_differ, islice(reversed(left), until), reversed(right))), until)
    until = most - tail if first is None else min(most - tail, first)
    start = next(compress(count(), map(_differ, islice(left, until), right)), until)
    return _Branch(
        left[start : len(left) - tail],
        right[start : len(right) - tail],
        None if first is None else left[first],
        None if last is None else left[last],
    )


def _holder(nodes: Sequence[Node], spot: tuple[int, int]) -> int | None:
    """Number the node in which a spot seems to be: the last element that begins before it."""
    places = count(len(nodes) - 1, -1)
    return next(
        (n for n, node in zip(places, reversed(nodes), strict=False) if (node.position or MISSING) <= spot), None
    )


def _differ(one: Node, other: Node) -> bool:
    return not one.equals(other)


def _read(nodes: Sequence[Node], parent: Node, found: set[Part]) -> list[Node | str]:
    """Leave out what may come and go, and note what of a mark sees it; texts in a row are one."""
    kept: list[Node | str] = []
    for node in nodes:
        if isinstance(node, Text):
            if kept and isinstance(kept[-1], str):
                kept[-1] += node.data
            else:
                kept.append(node.data)
        elif not isinstance(node, UNREAD) and not _is_light(node, found):
            kept.append(node)
    is_loose = isinstance(parent, Element) and parent.tag in LOOSE
    return [node for node in kept if not (isinstance(node, str) and _is_blank(node))] if is_loose else kept


def _is_light(node: Node, found: set[Part]) -> bool:
    """Say whether a node may come and go; note what sees it: what it is for, how it is dressed, what it listens to."""
    if not isinstance(node, Element) or node.tag not in LIGHT or node.namespace is not Namespace.HTML:
        return False
    found |= LIGHT[node.tag] | {Part.LOOKS for name in node.attrs if name in ("class", "style")}
    found |= {Part.HANDLERS for name in node.attrs if name.startswith("on")}
    return True


def _reads_alike(one: str, other: str) -> bool:
    """Say whether two texts are the same; how long a blank is does not matter."""
    return one == other or (_is_blank(one) and _is_blank(other))


def _is_blank(words: str) -> bool:
    return not words.strip(BLANKS)


def _seen(old: Node, new: Node, found: set[Part]) -> None:
    """Note which parts of a mark see that two nodes differ, but for what is inside."""
    if not isinstance(old, Element) or not isinstance(new, Element):
        return
    found |= INSIDE.get(old.tag, frozenset())
    before, after = old.attrs, new.attrs
    for name in {name for name in (*before, *after) if before.get(name) != after.get(name)}:
        if name != "value" or not old.attr("type") == new.attr("type") == "hidden":
            found |= _seen_by(name, old.tag, old.attr(name) or "", new.attr(name) or "")


def _seen_by(name: str, tag: str, before: str, after: str) -> frozenset[Part]:
    """Name the parts of a mark that see another value of an attribute."""
    if name in ("id", "class") and sounds_like_furniture(before) != sounds_like_furniture(after):
        return ALL
    if name in ("role", "hidden") or (name == "style" and "display" in before + after):
        return ALL
    if name.startswith("on"):
        return frozenset((Part.HANDLERS,))
    part = BY_TAG.get((tag, name)) or BY_NAME.get(name)
    return frozenset((part,)) if part is not None else frozenset()
