"""Word by word: what was added to and removed from a paragraph."""

import re
from difflib import SequenceMatcher
from enum import StrEnum

from msgspec import Struct

from sanderling.fingerprint.fast.common_affix import common

MAX_WORDS = 1_000  # tokens between the first and the last that differ; more are shown whole
UNSPACED = r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
MARKS = r"[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b6-\u17d3\u3099\u309a]"
TOKEN = re.compile(rf"{UNSPACED}{MARKS}*|(?:(?!{UNSPACED})\w)+|\s+|[^\w\s]")
"""A word; where a script has no blanks between words, a letter with its marks."""


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
    start = common(before, after)
    end = min(common(before[::-1], after[::-1]), min(len(before), len(after)) - start)
    left, right = (tokens[start : len(tokens) - end] for tokens in (before, after))
    found = _middle(left, right)
    return _joined(
        Piece(Mark.SAME, "".join(before[:start])), *found, Piece(Mark.SAME, "".join(before[len(before) - end :]))
    )


def _middle(before: list[str], after: list[str]) -> list[Piece]:
    """Compare what lies between the first and the last words that differ."""
    if max(len(before), len(after)) > MAX_WORDS:
        return list(whole("".join(before), "".join(after)))
    found: list[Piece] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            found.append(Piece(Mark.SAME, "".join(before[a:b])))
        else:
            found += whole("".join(before[a:b]), "".join(after[c:d]))
    return found


def _joined(*found: Piece) -> tuple[Piece, ...]:
    """Leave out empty pieces, and make one of two that stayed side by side."""
    kept: list[Piece] = []
    for piece in filter(lambda one: one.text, found):
        if kept and kept[-1].mark is piece.mark is Mark.SAME:
            kept[-1] = Piece(Mark.SAME, kept[-1].text + piece.text)
        else:
            kept.append(piece)
    return tuple(kept)


def whole(old: str, new: str) -> tuple[Piece, ...]:
    """One text for another."""
    both = (Piece(Mark.REMOVED, old), Piece(Mark.ADDED, new))
    return tuple(piece for piece in both if piece.text)
