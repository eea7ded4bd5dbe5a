"""Word by word: what was added to and removed from a paragraph."""

import re
from difflib import SequenceMatcher
from enum import StrEnum

from msgspec import Struct

MAX_WORDS = 1_000  # tokens of one paragraph; longer ones are shown whole
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


class Mark(StrEnum):
    """What became of a piece of text."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


class Piece(Struct, frozen=True):
    """Some words and what became of them."""

    mark: Mark
    text: str


def pieces(old: str, new: str) -> tuple[Piece, ...]:
    """Split two versions of a paragraph into what stayed, went and came."""
    before, after = TOKEN.findall(old), TOKEN.findall(new)
    if max(len(before), len(after)) > MAX_WORDS:
        return whole(old, new)
    found: list[Piece] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            found.append(Piece(Mark.SAME, "".join(before[a:b])))
        else:
            found += whole("".join(before[a:b]), "".join(after[c:d]))
    return tuple(found)


def whole(old: str, new: str) -> tuple[Piece, ...]:
    """One text for another."""
    both = (Piece(Mark.REMOVED, old), Piece(Mark.ADDED, new))
    return tuple(piece for piece in both if piece.text)
