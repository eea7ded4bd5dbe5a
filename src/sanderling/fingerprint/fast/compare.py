"""The marks by which two versions of a page are compared, made of what differs alone.

Most pages whose bytes differ have the tags they had: a time, a token, some words are others. Where that is so at a few
spots, it is seen at once. Else the trees are compared, and only the parts of a mark that can see how they differ are
made, of both versions. Comparing two such small marks gives what comparing two full ones would. Where tags came or went
the mark of the new version is a full one, and kept: at the next such change one mark is enough. So it is where the last
version is not at hand.
"""

from collections.abc import Set

from msgspec import Struct

from sanderling.fingerprint.build import NOTHING, sign
from sanderling.fingerprint.fast.byte_diff import told
from sanderling.fingerprint.fast.common_affix import common_end, common_start
from sanderling.fingerprint.fast.line_diff import Pair
from sanderling.fingerprint.fast.partial_fingerprint import compare_spots, compare_trees
from sanderling.fingerprint.fast.stable_hash import sift
from sanderling.fingerprint.fast.tree_diff import ALL, NOWHERE, Found, Part, Spots, look
from sanderling.fingerprint.model import write
from sanderling.html.parser import Document, parse
from sanderling.html.xhtml import closed

LONG = 100_000  # bytes
ALIKE = Pair(NOTHING, NOTHING)
UNSEEN = {"before": write(NOTHING), "after": write(NOTHING)}  # the marks of two versions that are alike


class Before(Struct, frozen=True):
    """The last version of a page."""

    body: bytes  # empty if it is not at hand
    charset: str = ""
    is_marked: bool = False  # its full mark is at hand elsewhere
    left: bytes = b""  # of the version after it without what no mark sees, if nobody knows what was left of this one


def marks_between(tree: Document, body: bytes, before: Before) -> dict[str, bytes]:
    """Make the marks of a page that changed: `signature` is to be kept, `before` and `after` are to be compared."""
    if not before.body:
        return {"signature": write(sign(tree))}
    pair = _at_spots(tree, body, before)
    if pair is None:
        last, found = _forks(tree, body, before, {Part.STRUCTURE} if before.is_marked else ALL)
        if Part.STRUCTURE in found.parts and before.is_marked:
            return {"signature": write(sign(tree))}
        pair = compare_trees(last, tree, found)
        if Part.STRUCTURE in found.parts:
            return {"before": write(pair.old), "signature": write(pair.new)}
    marks = {"before": write(pair.old), "after": write(pair.new)}
    return marks | {"signature": b""} if before.is_marked and pair.old != pair.new else marks


def compare(tree: Document, body: bytes, before: Before) -> Pair:
    """Compare a page with its last version by what differs."""
    pair = _at_spots(tree, body, before)
    if pair is not None:
        return pair
    last, found = _forks(tree, body, before)
    return compare_trees(last, tree, found)


def _at_spots(tree: Document, body: bytes, before: Before) -> Pair | None:
    """Compare two versions that differ in nothing that a mark sees, or at a few spots; None if they differ in more."""
    if (tree.encoding or "").lower() != before.charset:
        return None
    if before.left and _may_be_alike(before.body, body) and before.left == sift(before.body):
        return ALIKE
    found = told(tree, before.body, body)
    return None if found is None else compare_spots(tree, found)


def _may_be_alike(old: bytes, new: bytes) -> bool:
    """Say whether two versions differ first in a tag, a script or a comment; where they do in words, it is seen."""
    at = common_start(old, new)
    tag = new.rfind(b"<", 0, at + 1)
    return new.rfind(b">", 0, at) < tag or new.startswith((b"<script", b"<!--"), tag)


def _forks(tree: Document, body: bytes, before: Before, until: Set[Part] = ALL) -> tuple[Document, Found]:
    """Parse the last version of a page, and find where it differs, until some parts of a mark are known to see it."""
    old, new = closed(before.body), closed(body)  # as trees are made
    last = parse(old, before.charset, positions=True)
    return last, look(last, tree, max(len(new), len(old)), _spots(old, new), until)


def _spots(old: bytes, new: bytes) -> Spots:
    """Find the first and the last place at which two bodies differ, unless counting lines costs more than it saves."""
    if len(old) > LONG:
        return NOWHERE
    start = common_start(old, new)
    end = len(old) - common_end(old, new, min(len(old), len(new)) - start)
    line = old.count(b"\n", 0, start) + 1
    return Spots((line, _column(old, start)), (line + old.count(b"\n", start, end), _column(old, end)))


def _column(body: bytes, at: int) -> int:
    return at - body.rfind(b"\n", 0, at) - 1
