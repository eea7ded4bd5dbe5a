"""Where two trees differ, and which parts of a mark can see it: equal branches are passed over by the parser, whole."""

from collections.abc import Iterator, Sequence, Set
from enum import StrEnum
from itertools import compress, count, islice
from operator import not_

from msgspec import Struct
from turbohtml import Comment, Doctype, Node, Text

from sanderling.content.class_names import sound
from sanderling.content.collapsible import CONTROLS
from sanderling.content.extract import TAGS
from sanderling.content.rules.share_links import is_sharer
from sanderling.fingerprint import assets, scripts
from sanderling.fingerprint.build import FURNITURE
from sanderling.fingerprint.tag_outline import UNSEEN
from sanderling.html.parser import Document, Element, Namespace

MAX_ELEMENTS = 100  # that are looked into; where more differ, all parts are made
MAX_WORK = 200_000_000  # bytes passed over for all of them, if each held the whole page
AHEAD = 4  # nodes that may have come or gone between two that are the same
MAX_KINDS = 10_000  # of elements, remembered; a site uses the same ones on every page
TOLD_BY_VALUE = ("id", "class", "style")
UNREAD = (Comment, Doctype)
BLANKS = " \t\r\n\f"
NO_LOOK = (None, None, None)
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
LIGHT = frozenset(("script", "style", "link", "meta"))  # tags that may come and go, and leave the rest what it is
BY_TAG = {
    ("a", "href"): Part.LINKS,
    ("link", "href"): Part.LOOKS,
    ("link", "rel"): Part.LOOKS,
    ("script", "src"): Part.SCRIPTS,
    ("script", "type"): Part.SCRIPTS,
    ("use", "href"): Part.IMAGES,
    ("input", "type"): Part.FORMS,
    **dict.fromkeys(scripts.FRAMES.items(), Part.FRAMES),
    **{(tag, "src"): Part.IMAGES for tag in ("img", "video", "audio", "source")},
}  # attributes that some tags alone have for marks
BY_NAME = {
    **dict.fromkeys(("srcset", "alt", "width", "height", "poster", "d", "xlink:href", *assets.LATER), Part.IMAGES),
    **dict.fromkeys(("method", "action", "name", "value", "placeholder", "checked", "selected"), Part.FORMS),
    **dict.fromkeys(("class", "style"), Part.LOOKS),
    **dict.fromkeys(assets.DRESSES, Part.DRESS),
}
DECIDING = {*FURNITURE, *(tag for tags in TAGS.values() for tag in tags)} - {"pre", "textarea"}
"""Tags that say what is main content."""
OWN: dict[str, Set[Part]] = {
    "script": {Part.SCRIPTS},
    **dict.fromkeys(("style", "link"), frozenset((Part.LOOKS,))),
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


Kept = Node | str | None
"""A node that is compared, or a text; None where there is none."""


class Found:
    """What was found so far in looking at where two trees differ."""

    def __init__(self, most: int, until: Set[Part] = ALL) -> None:
        self.parts: set[Part] = set()  # of a mark, that see it
        self.until = until  # that are enough to know of
        self.texts: list[tuple[str, str]] = []  # as they were, and as they are
        self.gone: list[Element] = []  # scripts
        self.come: list[Element] = []
        self.left = most  # elements that may still be looked at
        self.ahead = 4 * most  # times that one may still look ahead

    @property
    def is_over(self) -> bool:
        """Say whether nothing can be added."""
        return self.left <= 0 or self.until <= self.parts

    def changed(self, before: "Kept", after: "Kept") -> None:
        """Note what sees that one node stands in the place of another, or that it came or went."""
        old, new = (node if isinstance(node, str) else "" for node in (before, after))
        if isinstance(before, str) and isinstance(after, str) and _reads_alike(old, new):
            return
        self.parts.add(Part.WORDS)
        self.texts += [(old, new)] if old or new else []
        for node in (before, after):
            if isinstance(node, Element):
                for element in islice(node.iter_elements(include_self=True), max(self.left, 0)):
                    self.left -= 1
                    self._add(element)

    def lights(self, old: list[Element], new: list[Element]) -> None:
        """Note what sees that other scripts, style sheets and the like are there."""
        self.gone += [element for element in old if element.tag == "script"]
        self.come += [element for element in new if element.tag == "script"]
        if _looks(old) != _looks(new):
            self.parts.add(Part.LOOKS)
        if any(name.startswith("on") for element in (*old, *new) for name in element.attrs):
            self.parts.add(Part.HANDLERS)

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


def look(old: Document, new: Document, size: int, spots: Spots = NOWHERE, until: Set[Part] = ALL) -> Found:
    """Find how two trees of pages up to such a size differ; in everything, if that takes looking into too much.

    Once it is known that all of some parts of a mark see it, it is looked no further.
    """
    found = Found(min(MAX_ELEMENTS, MAX_WORK // max(size, 1)), until)
    forks = [_Fork(old, new, spots is not NOWHERE, spots is not NOWHERE)]
    while forks and not found.is_over:
        fork = forks.pop()
        found.left -= 1
        _seen(fork.old, fork.new, found.parts)
        branch = _branch(fork, spots)
        mine, yours = _read(branch.left, fork.old), _read(branch.right, fork.new)
        found.lights(mine.lights, yours.lights)
        is_one = len(branch.left) == len(branch.right) == len(mine.nodes) == len(yours.nodes) == 1
        rows = zip(mine.nodes, yours.nodes, strict=True) if is_one else _aligned(mine.nodes, yours.nodes, found)
        for before, after in rows:
            if isinstance(before, Element) and isinstance(after, Element) and _is_one(before, after):
                forks.append(_Fork(before, after, before is branch.first, before is branch.last))
            else:
                found.changed(before, after)
    if found.is_over:
        found.parts = set(ALL)
    return found


def _aligned(mine: Sequence[Kept], yours: Sequence[Kept], found: Found) -> Iterator[tuple[Kept, Kept]]:
    """Lay two rows side by side, and give what differs, or came or went and has no other."""
    one = other = 0
    while one < len(mine) and other < len(yours):
        if _are_alike(mine[one], yours[other]):
            one, other = one + 1, other + 1
            continue
        came = _ahead(mine[one], yours[other + 1 : other + 1 + AHEAD], found)
        went = _ahead(yours[other], mine[one + 1 : one + 1 + AHEAD], found) if not came else 0
        if came or went:
            yield from ((None, node) for node in yours[other : other + came])
            yield from ((node, None) for node in mine[one : one + went])
            one, other = one + went, other + came
        else:
            yield mine[one], yours[other]
            one, other = one + 1, other + 1
    yield from ((node, None) for node in mine[one:])
    yield from ((None, node) for node in yours[other:])


def _ahead(node: Kept, row: Sequence[Kept], found: Found) -> int:
    """Say how far ahead a node is in a row; 0 if it is not there, or there are blanks everywhere."""
    if isinstance(node, str) and _is_blank(node):
        return 0
    found.ahead -= len(row)
    return next((n for n, other in enumerate(row, 1) if _are_alike(node, other)), 0) if found.ahead > 0 else 0


def _are_alike(one: Kept, other: Kept) -> bool:
    if isinstance(one, Node) and isinstance(other, Node):
        return one.equals(other)
    return isinstance(one, str) and isinstance(other, str) and _reads_alike(one, other)


def _is_one(one: Element, other: Element) -> bool:
    """Say whether two elements are one that may have changed inside."""
    return (one.tag, one.namespace) == (other.tag, other.namespace)


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
    alike = map(Node.equals, islice(reversed(left), until), reversed(right))
    tail = next(compress(count(), map(not_, alike)), until)
    until = most - tail if first is None else min(most - tail, first)
    start = next(compress(count(), map(not_, map(Node.equals, islice(left, until), right))), until)
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


class _Row(Struct, frozen=True):
    """Nodes in a row: those that are compared, and those that may come and go."""

    nodes: list[Kept]
    lights: list[Element]


def _read(nodes: Sequence[Node], parent: Node) -> _Row:
    """Read some nodes; texts in a row are one."""
    kept: list[Kept] = []
    lights: list[Element] = []
    words: list[str] = []
    for node in nodes:
        if isinstance(node, Text):
            words.append(node.data)
        elif isinstance(node, Element) and node.tag in LIGHT and node.namespace is Namespace.HTML:
            lights.append(node)
        elif not isinstance(node, UNREAD):
            kept += ("".join(words), node) if words else (node,)
            words = []
    kept += ("".join(words),) if words else ()
    if isinstance(parent, Element) and parent.tag in LOOSE:
        kept = [node for node in kept if not (isinstance(node, str) and _is_blank(node))]
    return _Row(kept, lights)


def _looks(elements: list[Element]) -> list[tuple[str | None, ...]]:
    """What a mark sees of the looks of scripts, style sheets and the like."""
    found = ((one.attr("class"), one.attr("style"), assets.sheet(one)) for one in elements)
    return [look for look in found if look != NO_LOOK]


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
    if name in ("id", "class") and sound(before) != sound(after):
        return ALL
    if name == "href" and tag == "a" and is_sharer(before) != is_sharer(after):
        return ALL
    if name in ("role", "hidden") or (name == "style" and "display" in before + after):
        return ALL
    if name in CONTROLS and not (before and after):
        return ALL
    if name.startswith("on"):
        return frozenset((Part.HANDLERS,))
    part = BY_TAG.get((tag, name)) or BY_NAME.get(name)
    return frozenset((part,)) if part is not None else frozenset()
