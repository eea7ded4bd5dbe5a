"""Word diff of a paragraph."""

import re
from difflib import SequenceMatcher
from enum import StrEnum

from msgspec import Struct

from sanderling.fingerprint.fast.common_affix import count_common_prefix

MAX_COMPARED_TOKENS = 1_000  # between the first and last difference; more are replaced as a whole
UNSPACED_SCRIPTS = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
COMBINING_MARKS = (
    r"[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b6-\u17d3\u3099\u309a]"
)
TOKEN_PATTERN = re.compile(rf"{UNSPACED_SCRIPTS}{COMBINING_MARKS}*|(?:(?!{UNSPACED_SCRIPTS})\w)+|\s+|[^\w\s]")
"""A word; in scripts without spaces, a character with its combining marks."""


class DiffOperation(StrEnum):
    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


class DiffPiece(Struct, frozen=True):
    operation: DiffOperation
    text: str


def diff_words(old: str, new: str) -> tuple[DiffPiece, ...]:
    """Split two versions of a paragraph into unchanged, removed, and added pieces."""
    old_tokens, new_tokens = TOKEN_PATTERN.findall(old), TOKEN_PATTERN.findall(new)
    start = count_common_prefix(old_tokens, new_tokens)
    end = min(count_common_prefix(old_tokens[::-1], new_tokens[::-1]), min(len(old_tokens), len(new_tokens)) - start)
    old_middle, new_middle = (tokens[start : len(tokens) - end] for tokens in (old_tokens, new_tokens))
    middle = _diff_middle(old_middle, new_middle)
    return _merge_pieces(
        DiffPiece(DiffOperation.SAME, "".join(old_tokens[:start])),
        *middle,
        DiffPiece(DiffOperation.SAME, "".join(old_tokens[len(old_tokens) - end :])),
    )


def _diff_middle(old: list[str], new: list[str]) -> list[DiffPiece]:
    if max(len(old), len(new)) > MAX_COMPARED_TOKENS:
        return list(build_replacement("".join(old), "".join(new)))
    pieces: list[DiffPiece] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(DiffPiece(DiffOperation.SAME, "".join(old[a:b])))
        else:
            pieces += build_replacement("".join(old[a:b]), "".join(new[c:d]))
    return pieces


def _merge_pieces(*pieces: DiffPiece) -> tuple[DiffPiece, ...]:
    merged: list[DiffPiece] = []
    for piece in filter(lambda candidate: candidate.text, pieces):
        if merged and merged[-1].operation is piece.operation is DiffOperation.SAME:
            merged[-1] = DiffPiece(DiffOperation.SAME, merged[-1].text + piece.text)
        else:
            merged.append(piece)
    return tuple(merged)


def build_replacement(old: str, new: str) -> tuple[DiffPiece, ...]:
    """Return the pieces of a text that was replaced, added, or removed as a whole."""
    pieces = (DiffPiece(DiffOperation.REMOVED, old), DiffPiece(DiffOperation.ADDED, new))
    return tuple(piece for piece in pieces if piece.text)
