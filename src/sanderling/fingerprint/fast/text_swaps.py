"""Pieces of text that stand in the place of others, between the same tags: what the tree was is known from what it is.

That a piece of the body is text, and not part of a script or a value, the tree bears witness to: it has as many such
texts behind such tags as there are spots, and the last version has these words nowhere.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import compress, repeat
from operator import attrgetter, eq, itemgetter

from msgspec import Struct
from turbohtml import Text, unescape

from sanderling.fingerprint.fast.tag_compare import TAG
from sanderling.html.parser import Document, Element

BLANKS = b" \t\n\f"
ELSEWHERE = frozenset(("title", "option", "template", "script", "style"))  # where marks see words in other ways
VOID = frozenset(("area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"))

NUMBERED = re.compile(r"&#[xX]?[0-9a-fA-F]+;?").findall
FIRST, NEXT = itemgetter(0), attrgetter("next_sibling")


class Swap(Struct, frozen=True):
    """A text of a tree, and what it was."""

    node: Text
    before: str


class Spoken(Struct, frozen=True):
    """A tag without its angles, and the words behind it as they were and as they are."""

    tag: bytes
    before: bytes
    after: bytes


def spoken(before: bytes, after: bytes) -> Spoken | None:
    """Read two versions of a tag with the words behind it; None if more than these may differ."""
    tag, _, old = before[1:].partition(b">")
    same, _, new = after[1:].partition(b">")
    if tag != same or before[:1] != b"<" or b"\0" in old or b"\r" in old or not _blank_alike(old, new):
        return None
    return Spoken(tag, old, new) if TAG(tag) is not None else None


def _blank_alike(old: bytes, new: bytes) -> bool:
    """Say whether there are words in both texts, and the same blanks around them."""
    left, right = len(old.lstrip(BLANKS)), len(new.lstrip(BLANKS))
    if not left or not right or old[: len(old) - left] != new[: len(new) - right]:
        return False
    return old[len(old.rstrip(BLANKS)) :] == new[len(new.rstrip(BLANKS)) :]


def swaps(tree: Document, some: Sequence[Spoken], old: bytes) -> list[Swap] | None:
    """Find the texts in a tree that were others in the last version; None if they are not sure to be there."""
    times = Counter((one.tag.split(None, 1)[0], one.after) for one in some)
    were = {(one.tag.split(None, 1)[0], one.after): one.before for one in some}
    found: list[Swap] = []
    for (name, after), many in times.items():
        before, now = (_read(words, tree.encoding or "utf-8") for words in (were[name, after], after))
        nodes = list(_texts(tree, name.decode("ascii", "replace").lower(), now)) if before and now else []
        if len(nodes) != many or after in old:
            return None
        found += [Swap(node, before) for node in nodes]
    is_one = all(were[one.tag.split(None, 1)[0], one.after] == one.before for one in some)
    return found if is_one else None


def _read(words: bytes, charset: str) -> str:
    """Read a text as the parser would; nothing if that is not sure."""
    if not words.isascii() and charset.lower() != "utf-8":
        return ""
    try:
        text = words.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    is_sure = all(map(unescape, NUMBERED(text))) if "&#" in text else True  # the parser drops none of them
    return unescape(text) if is_sure else ""


def _texts(tree: Document, name: str, words: str) -> Iterator[Text]:
    """Find the texts of these words that stand right behind a tag; there may be many such tags."""
    bare = name.strip("/")
    is_inside = not name.startswith("/") and bare not in VOID
    elements = tree.find_all(bare)
    nodes = list(map(FIRST, filter(len, elements)) if is_inside else map(NEXT, elements))
    said = map(getattr, nodes, repeat("data"), repeat(None))
    for node in compress(nodes, map(eq, said, repeat(words))):
        if isinstance(node, Text) and not _is_elsewhere(node):
            yield node


def _is_elsewhere(node: Text) -> bool:
    return any(isinstance(above, Element) and above.tag in ELSEWHERE for above in node.ancestors)


@contextmanager
def as_it_was(some: Sequence[Swap]) -> Iterator[None]:
    """Give texts the words they had, for a while."""
    now = [swap.node.data for swap in some]
    try:
        for swap in some:
            swap.node.data = swap.before
        yield
    finally:
        for swap, words in zip(some, now, strict=True):
            swap.node.data = words
