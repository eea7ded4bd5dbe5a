"""The skeleton of a page: its opening tags in order with their depth, and the fingerprints of IPC section 4.1.2."""

import zlib
from collections import Counter
from itertools import compress, islice
from operator import attrgetter, not_

from msgspec import Struct
from turbohtml import Node
from xxhash import xxh3_64_intdigest

from sanderling.html.parser import Document, Element

MAX_TAGS = 50_000  # of one page; the rest is not looked at
MAX_DEPTH = 255
KNOWN = (
    *(
        "html",
        "head",
        "body",
        "div",
        "p",
        "a",
        "span",
        "ul",
        "ol",
        "li",
        "table",
        "thead",
        "tbody",
        "tfoot",
        "tr",
        "td",
    ),
    *("th", "caption", "colgroup", "col", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "aside", "nav"),
    *(
        "header",
        "footer",
        "main",
        "hgroup",
        "search",
        "address",
        "blockquote",
        "dd",
        "dl",
        "dt",
        "figure",
        "figcaption",
    ),
    *(
        "hr",
        "menu",
        "pre",
        "abbr",
        "b",
        "bdi",
        "bdo",
        "br",
        "cite",
        "code",
        "data",
        "dfn",
        "em",
        "i",
        "kbd",
        "mark",
        "q",
    ),
    *("rp", "rt", "ruby", "s", "samp", "small", "strong", "sub", "sup", "time", "u", "var", "wbr", "area", "audio"),
    *("img", "map", "track", "video", "embed", "iframe", "object", "picture", "source", "svg", "math", "canvas"),
    *("noscript", "script", "style", "link", "meta", "base", "title", "template", "slot", "del", "ins", "button"),
    *("datalist", "fieldset", "form", "input", "label", "legend", "meter", "optgroup", "option", "output", "progress"),
    *("select", "textarea", "details", "dialog", "summary", "center", "font", "big", "tt", "strike", "acronym"),
    *("frame", "frameset", "nobr", "basefont", "blink", "path", "g", "use", "rect", "circle", "line", "polygon"),
)  # their order is part of what is stored
COSMETIC = frozenset(
    (
        *("abbr", "acronym", "b", "basefont", "big", "blink", "br", "center", "cite", "code", "dfn", "em", "font"),
        *("hr", "i", "kbd", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup"),
        *("tt", "u", "var", "wbr"),
    )
)  # tags that only change looks
UNSEEN = frozenset(("link", "meta", "noscript", "script", "style", "template", "title", "base"))
SKIPPED = COSMETIC | UNSEEN
COSMETIC_IN_ORDER = sorted(COSMETIC)
KEPT = tuple(tag for tag in KNOWN if tag not in SKIPPED)
UNLISTED = frozenset(("acronym", "blink"))  # for which the parser goes through the whole page
OTHER = 255  # the code of a tag that HTML does not know
SMALL = 4_096  # bytes of a skeleton that is not worth compressing
TAG, PARENT = attrgetter("tag"), attrgetter("parent")
PLAIN, SHRUNK = b"\0", b"\1"


class Outline(Struct, frozen=True, array_like=True):
    """The document tree without its text: opening tags in document order, and how deep each stands (the root at 1)."""

    tags: list[str]
    depths: bytes


class Fingerprint(Struct, frozen=True, array_like=True):
    """First letters, last letters and, since title and table share both, a hash of all opening tags."""

    first: str
    last: str
    guard: int


def outline(tree: Document, elements: list[Element], skipped: frozenset[str] = frozenset()) -> Outline:
    """Take the skeleton of a page from its elements in document order; tags left out hand what is inside them up."""
    above: list[object] = [
        tree,
        *[None] * (len(elements) + 1),
    ]  # what the last element stands in, with itself, by depth
    depths, depth, last = [], 0, None
    for element, parent in zip(elements, map(PARENT, elements), strict=True):
        if parent is above[depth]:
            depth += 1
        elif parent is not last:  # most of all others follow one beside them
            depth = _at(above, depth, parent) + 1 or _climbed(above, depth, parent, skipped) + 1
        above[depth] = element
        last = parent
        depths.append(depth)
    if len(depths) and max(depths) > MAX_DEPTH:
        depths = [min(depth, MAX_DEPTH) for depth in depths]
    return Outline(list(map(TAG, elements)), bytes(depths))


def _at(above: list[object], depth: int, parent: object) -> int:
    """Say how deep something stands, going up; -1 if it is not there."""
    while depth >= 0 and above[depth] is not parent:
        depth -= 1
    return depth


def _climbed(above: list[object], depth: int, parent: Node | None, skipped: frozenset[str]) -> int:
    """Say how deep that stands which an element hangs on, tags left out being passed by."""
    while isinstance(parent, Element) and parent.tag in skipped:
        parent = parent.parent
    found = _at(above, depth, parent)
    if found < 0:  # inside a template: its content hangs on nothing that was seen
        above[1] = parent
        return 1
    return found


def pruned(tree: Document) -> tuple[Outline, list[int]]:
    """Take the skeleton without tags that only change looks or are never seen; and count those that change looks."""
    left = {tag: len(tree.find_all(tag)) for tag in SKIPPED - UNLISTED}  # the parser finds most tags at once
    left |= dict.fromkeys(UNLISTED, 0) | Counter(map(TAG, tree.iter_elements(UNLISTED)))  # and the others together
    elements = list(islice(tree.iter_elements(KEPT), MAX_TAGS))
    if len(elements) + sum(left.values()) != tree.xpath("count(//*)"):  # there are tags that HTML does not know
        every = list(islice(tree.iter_elements(), MAX_TAGS))
        elements = list(compress(every, map(not_, map(SKIPPED.__contains__, map(TAG, every)))))
    return outline(tree, elements, SKIPPED), [left[tag] for tag in COSMETIC_IN_ORDER]


def fingerprint(tags: list[str]) -> Fingerprint:
    """Reduce a sequence of tags to its letters (SPEC 7.2)."""
    return Fingerprint(
        "".join(tag[0] for tag in tags),
        "".join(tag[-1] for tag in tags),
        xxh3_64_intdigest(" ".join(tags).encode("utf-8", "replace")),
    )


class _Codes(dict[str, int]):
    """One byte for each tag of HTML, and one for all others."""

    def __missing__(self, tag: str) -> int:
        return OTHER


_codes = _Codes({tag: code for code, tag in enumerate(KNOWN)})


def pack(skeleton: Outline) -> bytes:
    """Write a skeleton in two bytes a tag; that of a large page is compressed, for pages repeat themselves."""
    codes = bytes(map(_codes.__getitem__, skeleton.tags))
    others = [tag for tag in skeleton.tags if tag not in _codes] if OTHER in codes else []
    body = codes + skeleton.depths + b"\0" + " ".join(others).encode("utf-8", "replace")
    head = len(codes).to_bytes(4, "little")
    return head + PLAIN + body if len(body) <= SMALL else head + SHRUNK + zlib.compress(body, 1)


class Coded(Struct, frozen=True, array_like=True):
    """A skeleton as it is stored: one byte for each tag and one for its depth; `others` names unknown tags in order."""

    codes: bytes
    depths: bytes
    others: tuple[str, ...] = ()


def unfold(packed: bytes) -> Coded:
    """Read what `pack` wrote, without naming the tags yet."""
    count, body = int.from_bytes(packed[:4], "little"), packed[5:]
    if packed[4:5] == SHRUNK:
        body = zlib.decompress(body)
    names = body[2 * count + 1 :]
    return Coded(body[:count], body[count : 2 * count], tuple(names.decode().split(" ")) if names else ())


def named(coded: Coded) -> Outline:
    """Name the tags of a skeleton."""
    others = iter(coded.others)
    return Outline([KNOWN[code] if code != OTHER else next(others) for code in coded.codes], coded.depths)


def unpack(packed: bytes) -> Outline:
    """Read a skeleton that `pack` wrote."""
    return named(unfold(packed))
