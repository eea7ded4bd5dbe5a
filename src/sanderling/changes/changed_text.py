"""Changed text of a page for people: pieces that came and went, as plain text and as HTML.

Page content is only output as text: control characters are removed, HTML is escaped.
"""

from collections.abc import Iterable
from html import escape

from msgspec import Struct

from sanderling.changes.word_diff import DiffOperation, DiffPiece, diff_words
from sanderling.terminal import strip_control_characters

BRACKETS = {DiffOperation.ADDED: ("{+", "+}"), DiffOperation.REMOVED: ("[-", "-]"), DiffOperation.SAME: ("", "")}
SYMBOLS = {"added": "+", "removed": "-", "changed": "~", "moved": ">", "more": ""}
TAGS = {DiffOperation.ADDED: "ins", DiffOperation.REMOVED: "del"}
TEXT_CONTEXT = 60  # characters of unchanged text on each side of a change


class ChangedText(Struct, frozen=True, omit_defaults=True):
    """A paragraph, link or value that was added, removed, changed or moved."""

    action: str  # added, removed, changed, moved; more: a remark on the number left out
    pieces: tuple[DiffPiece, ...]
    label: str = ""  # its place: ¶ and number of a paragraph, title, link, asset, or a path in JSON


def build_changed_text(old: str, new: str, label: str = "") -> ChangedText:
    """Compare two versions of a text."""
    pieces = shorten_pieces(diff_words(old, new), TEXT_CONTEXT)
    return ChangedText("changed" if old and new else "added" if new else "removed", pieces, label)


def shorten_pieces(pieces: tuple[DiffPiece, ...], context: int) -> tuple[DiffPiece, ...]:
    """Shorten unchanged text to `context` characters on each side of a change."""
    last = len(pieces) - 1
    return (
        tuple(
            DiffPiece(piece.operation, _shorten_piece(piece, number == 0, number == last, context))
            for number, piece in enumerate(pieces)
        )
        if last
        else pieces
    )


def _shorten_piece(piece: DiffPiece, is_first: bool, is_last: bool, context: int) -> str:
    text = piece.text
    if piece.operation is not DiffOperation.SAME or len(text) <= 2 * context:
        return text
    if is_first:
        return f"…{text[-context:]}"
    return f"{text[:context]}…" if is_last else f"{text[:context]} … {text[-context:]}"


def truncate_text(changed: ChangedText, max_length: int) -> ChangedText:
    """Return the text with at most `max_length` characters."""
    kept: list[DiffPiece] = []
    for piece in changed.pieces:
        if max_length <= 0:
            break
        text = piece.text if len(piece.text) <= max_length else f"{piece.text[:max_length]}…"
        kept.append(DiffPiece(piece.operation, text))
        max_length -= len(piece.text)
    return ChangedText(changed.action, tuple(kept), changed.label)


def format_plain_text(changed: ChangedText) -> str:
    """Format as a line; words are bracketed as by wdiff only inside a changed paragraph."""
    symbol, is_whole = SYMBOLS[changed.action], len(changed.pieces) == 1
    words = "".join(
        f"{left}{strip_control_characters(piece.text)}{right}"
        for piece in changed.pieces
        for left, right in [("", "") if is_whole else BRACKETS[piece.operation]]
    )
    return " ".join(filter(None, (symbol, strip_control_characters(changed.label), words)))


def format_html(changed: ChangedText) -> str:
    """Format as HTML with `<del>` and `<ins>`."""
    words = "".join(
        f"<{tag}>{_escape_text(piece.text)}</{tag}>" if (tag := TAGS.get(piece.operation)) else _escape_text(piece.text)
        for piece in changed.pieces
    )
    return " ".join(filter(None, (_escape_text(changed.label), words)))


def format_html_list(texts: Iterable[ChangedText]) -> str:
    """Format several texts, a paragraph each."""
    return "".join(f"<p>{format_html(changed)}</p>" for changed in texts)


def _escape_text(text: str) -> str:
    return escape(strip_control_characters(text))
