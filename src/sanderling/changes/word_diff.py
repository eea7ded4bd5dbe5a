"""Word by word: what was added to and removed from a paragraph."""

import re
from difflib import SequenceMatcher
from enum import StrEnum

from msgspec import Struct

from sanderling.fingerprint.fast.common_affix import count_common_prefix

MAX_COMPARED_TOKENS = 1_000  # tokens between the first and the last that differ; more are shown whole
UNSPACED_SCRIPTS = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
COMBINING_MARKS = (
    r"[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b6-\u17d3\u3099\u309a]"
)
TOKEN_PATTERN = re.compile(rf"{UNSPACED_SCRIPTS}{COMBINING_MARKS}*|(?:(?!{UNSPACED_SCRIPTS})\w)+|\s+|[^\w\s]")
"""A word; where a script has no blanks between words, a letter with its marks."""


class DiffOperation(StrEnum):
    """What became of a piece of text."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


class DiffPiece(Struct, frozen=True):
    """Some words and what became of them."""

    operation: DiffOperation
    text: str


def diff_words(old: str, new: str) -> tuple[DiffPiece, ...]:
    """Split two versions of a paragraph into what stayed, went and came."""
    before, after = TOKEN_PATTERN.findall(old), TOKEN_PATTERN.findall(new)
    start = count_common_prefix(before, after)
    end = min(count_common_prefix(before[::-1], after[::-1]), min(len(before), len(after)) - start)
    left, right = (tokens[start : len(tokens) - end] for tokens in (before, after))
    found = _diff_middle(left, right)
    return _merge_pieces(
        DiffPiece(DiffOperation.SAME, "".join(before[:start])),
        *found,
        DiffPiece(DiffOperation.SAME, "".join(before[len(before) - end :])),
    )


def _diff_middle(before: list[str], after: list[str]) -> list[DiffPiece]:
    """Compare what lies between the first and the last words that differ."""
    if max(len(before), len(after)) > MAX_COMPARED_TOKENS:
        return list(build_replacement("".join(before), "".join(after)))
    found: list[DiffPiece] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            found.append(DiffPiece(DiffOperation.SAME, "".join(before[a:b])))
        else:
            found += build_replacement("".join(before[a:b]), "".join(after[c:d]))
    return found


def _merge_pieces(*pieces: DiffPiece) -> tuple[DiffPiece, ...]:
    """Leave out empty pieces, and make one of two that stayed side by side."""
    kept: list[DiffPiece] = []
    for piece in filter(lambda one: one.text, pieces):
        if kept and kept[-1].operation is piece.operation is DiffOperation.SAME:
            kept[-1] = DiffPiece(DiffOperation.SAME, kept[-1].text + piece.text)
        else:
            kept.append(piece)
    return tuple(kept)


def build_replacement(old: str, new: str) -> tuple[DiffPiece, ...]:
    """One text for another."""
    both = (DiffPiece(DiffOperation.REMOVED, old), DiffPiece(DiffOperation.ADDED, new))
    return tuple(piece for piece in both if piece.text)
