"""Locate edited texts in a tree, so that the old tree can be restored.

That bytes are text, not code or a value, is verified with the tree: it must contain as many such texts after such tags
as there are differences, and the old body must not contain the new text.
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
from sanderling.html.native_tables import VOID_TAGS
from sanderling.html.parser import Document, Element

WHITESPACE = b" \t\n\f"
SPECIAL_TEXT_TAGS = frozenset(
    ("title", "option", "template", "script", "style")
)  # their text is fingerprinted in other ways
FIND_NUMERIC_REFERENCES = re.compile(r"&#[xX]?[0-9a-fA-F]+;?").findall
GET_FIRST_CHILD, GET_NEXT_SIBLING = itemgetter(0), attrgetter("next_sibling")


class TextEdit(Struct, frozen=True):
    node: Text
    old_text: str


class RawTextEdit(Struct, frozen=True):
    """A tag without angle brackets, and the text after it."""

    tag: bytes
    old_text: bytes
    new_text: bytes


def parse_text_edit(old_markup: bytes, new_markup: bytes) -> RawTextEdit | None:
    """Parse two versions of a tag with text.

    None: more than the text may differ.
    """
    tag, _, old = old_markup[1:].partition(b">")
    new_tag, _, new = new_markup[1:].partition(b">")
    if tag != new_tag or old_markup[:1] != b"<" or b"\0" in old or b"\r" in old or not _has_same_blanks(old, new):
        return None
    return RawTextEdit(tag, old, new) if MATCH_TAG(tag) is not None else None


def _has_same_blanks(old: bytes, new: bytes) -> bool:
    old_size, new_size = len(old.lstrip(WHITESPACE)), len(new.lstrip(WHITESPACE))
    if not old_size or not new_size or old[: len(old) - old_size] != new[: len(new) - new_size]:
        return False
    return old[len(old.rstrip(WHITESPACE)) :] == new[len(new.rstrip(WHITESPACE)) :]


def locate_text_edits(tree: Document, raw_edits: Sequence[RawTextEdit], old_body: bytes) -> list[TextEdit] | None:
    """Find the edited text nodes.

    None: they are not certain.
    """
    counts = Counter((edit.tag.split(None, 1)[0], edit.new_text) for edit in raw_edits)
    old_texts = {(edit.tag.split(None, 1)[0], edit.new_text): edit.old_text for edit in raw_edits}
    edits: list[TextEdit] = []
    for (name, raw_text), count in counts.items():
        old_text, new_text = (
            _decode_text(text, tree.encoding or "utf-8") for text in (old_texts[name, raw_text], raw_text)
        )
        nodes = (
            list(_find_texts(tree, name.decode("ascii", "replace").lower(), new_text)) if old_text and new_text else []
        )
        if len(nodes) != count or raw_text in old_body:
            return None
        edits += [TextEdit(node, old_text) for node in nodes]
    is_consistent = all(old_texts[edit.tag.split(None, 1)[0], edit.new_text] == edit.old_text for edit in raw_edits)
    return edits if is_consistent else None


def _decode_text(raw_text: bytes, charset: str) -> str:
    """Decode a text as the parser does; empty if not certain."""
    if not raw_text.isascii() and charset.lower() != "utf-8":
        return ""
    try:
        text = raw_text.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    has_dropped_references = "&#" in text and not all(map(unescape, FIND_NUMERIC_REFERENCES(text)))
    return "" if has_dropped_references else unescape(text)


def _find_texts(tree: Document, tag_name: str, text: str) -> Iterator[Text]:
    element_name = tag_name.strip("/")
    is_inside = not tag_name.startswith("/") and element_name not in VOID_TAGS
    elements = tree.find_all(element_name)
    nodes = list(map(GET_FIRST_CHILD, filter(len, elements)) if is_inside else map(GET_NEXT_SIBLING, elements))
    texts = map(getattr, nodes, repeat("data"), repeat(None))
    for node in compress(nodes, map(eq, texts, repeat(text))):
        if isinstance(node, Text) and not _is_special_text(node):
            yield node


def _is_special_text(node: Text) -> bool:
    return any(isinstance(above, Element) and above.tag in SPECIAL_TEXT_TAGS for above in node.ancestors)


@contextmanager
def restore_old_texts(edits: Sequence[TextEdit]) -> Iterator[None]:
    """Temporarily restore the old text of nodes."""
    new_texts = [edit.node.data for edit in edits]
    try:
        for edit in edits:
            edit.node.data = edit.old_text
        yield
    finally:
        for edit, text in zip(edits, new_texts, strict=True):
            edit.node.data = text
