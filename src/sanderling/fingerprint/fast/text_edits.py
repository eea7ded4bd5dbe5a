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

from sanderling.fingerprint.fast.tag_compare import MATCH_TAG
from sanderling.html.parser import Document, Element

WHITESPACE = b" \t\n\f"
SPECIAL_TEXT_TAGS = frozenset(("title", "option", "template", "script", "style"))  # where marks see words in other ways
VOID_TAGS = frozenset(("area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"))

FIND_NUMERIC_REFERENCES = re.compile(r"&#[xX]?[0-9a-fA-F]+;?").findall
GET_FIRST_CHILD, GET_NEXT_SIBLING = itemgetter(0), attrgetter("next_sibling")


class TextEdit(Struct, frozen=True):
    """A text of a tree, and what it was."""

    node: Text
    old_text: str


class RawTextEdit(Struct, frozen=True):
    """A tag without its angles, and the words behind it as they were and as they are."""

    tag: bytes
    old_text: bytes
    new_text: bytes


def parse_text_edit(old_markup: bytes, new_markup: bytes) -> RawTextEdit | None:
    """Read two versions of a tag with the words behind it; None if more than these may differ."""
    tag, _, old = old_markup[1:].partition(b">")
    same, _, new = new_markup[1:].partition(b">")
    if tag != same or old_markup[:1] != b"<" or b"\0" in old or b"\r" in old or not _has_same_blanks(old, new):
        return None
    return RawTextEdit(tag, old, new) if MATCH_TAG(tag) is not None else None


def _has_same_blanks(old: bytes, new: bytes) -> bool:
    """Say whether there are words in both texts, and the same blanks around them."""
    left, right = len(old.lstrip(WHITESPACE)), len(new.lstrip(WHITESPACE))
    if not left or not right or old[: len(old) - left] != new[: len(new) - right]:
        return False
    return old[len(old.rstrip(WHITESPACE)) :] == new[len(new.rstrip(WHITESPACE)) :]


def locate_text_edits(tree: Document, raw_edits: Sequence[RawTextEdit], old_body: bytes) -> list[TextEdit] | None:
    """Find the texts in a tree that were others in the last version; None if they are not sure to be there."""
    times = Counter((one.tag.split(None, 1)[0], one.new_text) for one in raw_edits)
    were = {(one.tag.split(None, 1)[0], one.new_text): one.old_text for one in raw_edits}
    found: list[TextEdit] = []
    for (name, after), many in times.items():
        before, now = (_decode_text(words, tree.encoding or "utf-8") for words in (were[name, after], after))
        nodes = list(_find_texts(tree, name.decode("ascii", "replace").lower(), now)) if before and now else []
        if len(nodes) != many or after in old_body:
            return None
        found += [TextEdit(node, before) for node in nodes]
    is_one = all(were[one.tag.split(None, 1)[0], one.new_text] == one.old_text for one in raw_edits)
    return found if is_one else None


def _decode_text(raw_text: bytes, charset: str) -> str:
    """Read a text as the parser would; nothing if that is not sure."""
    if not raw_text.isascii() and charset.lower() != "utf-8":
        return ""
    try:
        text = raw_text.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    is_sure = (
        all(map(unescape, FIND_NUMERIC_REFERENCES(text))) if "&#" in text else True
    )  # the parser drops none of them
    return unescape(text) if is_sure else ""


def _find_texts(tree: Document, tag_name: str, text: str) -> Iterator[Text]:
    """Find the texts of these words that stand right behind a tag; there may be many such tags."""
    bare = tag_name.strip("/")
    is_inside = not tag_name.startswith("/") and bare not in VOID_TAGS
    elements = tree.find_all(bare)
    nodes = list(map(GET_FIRST_CHILD, filter(len, elements)) if is_inside else map(GET_NEXT_SIBLING, elements))
    said = map(getattr, nodes, repeat("data"), repeat(None))
    for node in compress(nodes, map(eq, said, repeat(text))):
        if isinstance(node, Text) and not _is_special_text(node):
            yield node


def _is_special_text(node: Text) -> bool:
    return any(isinstance(above, Element) and above.tag in SPECIAL_TEXT_TAGS for above in node.ancestors)


@contextmanager
def restore_old_texts(edits: Sequence[TextEdit]) -> Iterator[None]:
    """Give texts the words they had, for a while."""
    now = [swap.node.data for swap in edits]
    try:
        for swap in edits:
            swap.node.data = swap.old_text
        yield
    finally:
        for swap, words in zip(edits, now, strict=True):
            swap.node.data = words
