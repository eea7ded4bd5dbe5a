"""The skeleton of a page: its opening tags in order with their depth, and the fingerprints of IPC section 4.1.2."""

import zlib
from array import array

from msgspec import Struct

from sanderling.pages.parse import Document, Element

MAX_TAGS = 50_000  # of one page; the rest is not looked at
MAX_DEPTH = 255


class Outline(Struct, frozen=True, array_like=True):
    """The document tree without its text: opening tags in document order, and how deep each stands (the root at 1)."""

    tags: list[str]
    depths: bytes


class Fingerprint(Struct, frozen=True, array_like=True):
    """First letters, last letters and, since title and table share both, the lengths of all opening tags."""

    first: str
    last: str
    lengths: bytes


def outline(tree: Document, elements: list[Element]) -> Outline:
    """Take the skeleton of a page from its elements in document order, the first `MAX_TAGS` of them."""
    above: list[object] = [tree]
    depths = []
    for element in elements:
        parent = element.parent
        while above[-1] is not parent:
            above.pop()
            if not above:  # inside a template: its content hangs on nothing that was seen
                above = [tree, parent]
        depths.append(len(above))
        above.append(element)
    if len(depths) and max(depths) > MAX_DEPTH:
        depths = [min(depth, MAX_DEPTH) for depth in depths]
    return Outline([element.tag for element in elements], bytes(depths))


def fingerprint(tags: list[str]) -> Fingerprint:
    """Reduce a sequence of tags to its letters (SPEC 7.2)."""
    return Fingerprint(
        "".join(tag[0] for tag in tags),
        "".join(tag[-1] for tag in tags),
        bytes(min(len(tag), 255) for tag in tags),
    )


def pack(skeleton: Outline) -> bytes:
    """Write a skeleton in few bytes: pages repeat themselves, so it shrinks to a tenth."""
    number = {name: index for index, name in enumerate(dict.fromkeys(skeleton.tags))}
    body = array("H", map(number.__getitem__, skeleton.tags)).tobytes() + skeleton.depths
    return zlib.compress(" ".join(number).encode("utf-8", "replace") + b"\0" + body, 1)


def unpack(packed: bytes) -> Outline:
    """Read a skeleton that `pack` wrote."""
    head, _, body = zlib.decompress(packed).partition(b"\0")
    names, count = head.decode().split(" "), len(body) // 3
    return Outline(list(map(names.__getitem__, array("H", body[: 2 * count]))), body[2 * count :])
