"""The marks by which two versions of a page are compared, made of what differs alone.

Most pages whose bytes differ have the tags they had: a time, a token, some words are others. Where that is so at a few
spots, it is seen at once. Else the trees are compared, and only the parts of a mark that can see how they differ are
made, of both versions. Comparing two such small marks gives what comparing two full ones would. A full mark is made
where the last version is not at hand.
"""

from msgspec import Struct

from sanderling.pages.branches import compare_spots, compare_trees
from sanderling.pages.forks import NOWHERE, Spots
from sanderling.pages.parse import Document, parse
from sanderling.pages.reworded import Pair
from sanderling.pages.signatures import sign, write
from sanderling.pages.spots import told
from sanderling.pages.stretch import common_end, common_start

LONG = 100_000  # bytes


class Before(Struct, frozen=True):
    """The last version of a page."""

    body: bytes  # empty if it is not at hand
    charset: str = ""
    is_marked: bool = False  # its full mark is at hand elsewhere


def marks_between(tree: Document, body: bytes, before: Before) -> dict[str, bytes]:
    """Make the marks of a page that changed: `signature` is to be kept, `before` and `after` are to be compared."""
    if not before.body:
        return {"signature": write(sign(tree))}
    pair = compare(tree, body, before)
    found = {"before": write(pair.old), "after": write(pair.new)}
    return found | {"signature": b""} if before.is_marked and pair.old != pair.new else found


def compare(tree: Document, body: bytes, before: Before) -> Pair:
    """Compare a page with its last version by what differs."""
    found = told(tree, before.body, body) if (tree.encoding or "").lower() == before.charset else None
    if found is not None:
        return compare_spots(tree, found)
    last = parse(before.body, before.charset, positions=True)
    return compare_trees(last, tree, max(len(body), len(before.body)), _spots(before.body, body))


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
