"""Compare the text of two page versions, reading common lines once.

If the tags are equal, the old blocks are the new ones with the old lines, unless the change is large enough to turn
other lines into main content.
"""

from collections.abc import Sequence
from itertools import accumulate, compress, count
from operator import ne

from msgspec import Struct
from msgspec.structs import replace
from xxhash import xxh3_64_intdigest

from sanderling.content.extract import TextBlocks, extract_blocks
from sanderling.content.line_features import LONG_LINE_LENGTH, MIN_PROSE_LENGTH, compute_weighted_length
from sanderling.content.phrases import classify_phrase
from sanderling.content.policy_notices import is_content_anywhere
from sanderling.fingerprint.build import EMPTY_FINGERPRINT, build_text_fingerprint
from sanderling.fingerprint.fast.common_affix import count_common_ends, count_common_prefix
from sanderling.fingerprint.model import Fingerprint
from sanderling.fingerprint.normalized_lines import (
    MAX_LINES,
    NormalizedLines,
    assign_price_roles,
    measure_main_content,
    normalize_line,
    normalize_lines,
)
from sanderling.html.parser import Document
from sanderling.html.text import compact_lines, render_text

MAX_SUMMED_LENGTH = 4_000  # characters; for more, extracting blocks again is cheaper
LETTER_HASHES = tuple(xxh3_64_intdigest(bytes([letter])) for letter in range(256))


class FingerprintPair(Struct, frozen=True):
    """Partial fingerprints that differ like complete fingerprints."""

    old: Fingerprint
    new: Fingerprint


def extract_old_blocks(old_tree: Document, new_blocks: TextBlocks, text_changes: list[tuple[str, str]]) -> TextBlocks:
    """Return the blocks of an old version with equal tags; `text_changes`: (old, new) texts."""
    old_blocks = None if _can_have_moved(text_changes) else _reuse_blocks(new_blocks, render_text(old_tree).split("\n"))
    return old_blocks or extract_blocks(old_tree)


def _can_have_moved(text_changes: list[tuple[str, str]]) -> bool:
    """Return whether text was added, removed, or moved between elements."""
    if any(bool(old.strip()) != bool(new.strip()) for old, new in text_changes):
        return True
    if len(text_changes) < 2 or sum(len(old) + len(new) for old, new in text_changes) > MAX_SUMMED_LENGTH:
        return len(text_changes) > 1
    # Moved text may leave all lines equal, but change the length of a link.
    differences = [_sum_letters(new) - _sum_letters(old) for old, new in text_changes]
    return len({0, *accumulate(differences)}) <= len(differences)


def _sum_letters(text: str) -> int:
    return sum(map(LETTER_HASHES.__getitem__, compact_lines(text)))


def _reuse_blocks(new_blocks: TextBlocks, old_lines: list[str]) -> TextBlocks | None:
    """Return the new blocks with the old lines.

    None: other lines could be main content.
    """
    if len(old_lines) != len(new_blocks.lines):
        return None
    total_difference = 0
    for number in compress(count(), map(ne, old_lines, new_blocks.lines)):
        old, new = compute_weighted_length(old_lines[number]), compute_weighted_length(new_blocks.lines[number])
        if number in new_blocks.decisive_lines or any(
            (old >= size) != (new >= size) for size in (MIN_PROSE_LENGTH, LONG_LINE_LENGTH)
        ):
            return None
        if classify_phrase(old_lines[number]) or classify_phrase(new_blocks.lines[number]):
            return None
        if is_content_anywhere(old_lines[number]) or is_content_anywhere(new_blocks.lines[number]):
            return None
        total_difference += abs(old - new)
    return (
        replace(new_blocks, lines=old_lines, landmarks=None)
        if 2 * total_difference < new_blocks.margin or not total_difference
        else None
    )


def compare_blocks(old: TextBlocks, new: TextBlocks) -> FingerprintPair:
    pair = compare_changed_lines(old, new)
    return pair or _build_pair(old, new, WHOLE_PAGE, [normalize_lines(page) for page in (old, new)])


def compare_changed_lines(old: TextBlocks, new: TextBlocks) -> FingerprintPair | None:
    """Build the fingerprints of the changed lines; None if other lines affect them."""
    if old.lines == new.lines and old.verbatim_mask == new.verbatim_mask and _has_same_visibility(old, new):
        return FingerprintPair(EMPTY_FINGERPRINT, EMPTY_FINGERPRINT)
    changed_range = _find_changed_range(old, new)
    normalized = (
        [normalize_lines(changed_range.select(page)) for page in (old, new)] if changed_range != WHOLE_PAGE else []
    )
    if (
        not normalized
        or not _is_sufficient(normalized, changed_range)
        or _can_reveal_hidden(old, new, changed_range, normalized)
    ):
        return None
    return _build_pair(old, new, changed_range, normalized)


def _build_pair(
    old: TextBlocks, new: TextBlocks, changed_range: "_ChangedRange", normalized: Sequence[NormalizedLines]
) -> FingerprintPair:
    fingerprints = [
        replace(
            build_text_fingerprint(assign_price_roles(lines, changed_range.select(page).lines), main_content_size),
            first_block=changed_range.count_preceding_blocks(page),
        )
        for lines, page, main_content_size in zip(
            normalized, (old, new), _measure_main_contents(old, new, changed_range), strict=True
        )
    ]
    return FingerprintPair(*fingerprints)


def _has_same_visibility(old: TextBlocks, new: TextBlocks) -> bool:
    return (old.main_mask, old.hidden_mask) == (new.main_mask, new.hidden_mask) or not (
        1 in old.hidden_mask or 1 in new.hidden_mask
    )


def _is_sufficient(normalized: Sequence[NormalizedLines], changed_range: "_ChangedRange") -> bool:
    """Return whether the changed lines show all differences.

    Not with bare times, or if the lines of a version are a prefix of the other: the end is ambiguous.
    """
    old_lines, new_lines = (list(filter(None, lines.stripped_lines)) for lines in normalized)
    is_prefix = bool(changed_range.tail) and count_common_prefix(old_lines, new_lines) == min(
        len(old_lines), len(new_lines)
    )
    return not is_prefix and not any(lines.bare_values for lines in normalized)


class _ChangedRange(Struct, frozen=True):
    """Lines between the common prefix and suffix."""

    start: int = 0
    tail: int = 0  # number of lines after the range

    def select(self, page_blocks: TextBlocks) -> TextBlocks:
        end = len(page_blocks.lines) - self.tail
        fields = {name: getattr(page_blocks, name)[self.start : end] for name in LINE_FIELDS}
        return replace(page_blocks, **fields)

    def get_unchanged(self, line_mask: bytes) -> tuple[bytes, bytes]:
        return line_mask[: self.start], line_mask[len(line_mask) - self.tail :]

    def count_preceding_blocks(self, page_blocks: TextBlocks) -> int:
        return sum(map(bool, page_blocks.lines[: self.start]))


WHOLE_PAGE = _ChangedRange()
LINE_FIELDS = ("lines", "main_mask", "verbatim_mask", "hidden_mask")  # fields with one item per line


def _find_changed_range(old: TextBlocks, new: TextBlocks) -> _ChangedRange:
    """Return the range of changed lines, extended by a block on each side."""
    start, tail = count_common_ends(old.lines, new.lines)
    after = next(compress(count(1), new.lines[len(new.lines) - tail :]), 0)
    changed_range = _ChangedRange(_find_last_block(new, start), tail - after if after else 0)
    is_whole_page = (
        changed_range.get_unchanged(old.verbatim_mask) != changed_range.get_unchanged(new.verbatim_mask)
        or max(map(len, (old.lines, new.lines))) >= MAX_LINES
    )
    return WHOLE_PAGE if is_whole_page else changed_range


def _find_last_block(page_blocks: TextBlocks, end: int) -> int:
    """Return the last line before `end` that has more than volatile text."""
    for number in range(end - 1, -1, -1):
        if normalize_line(page_blocks, number):
            return number
    return 0


def _measure_main_contents(old: TextBlocks, new: TextBlocks, changed_range: _ChangedRange) -> tuple[int, int]:
    """Return the main content sizes of both versions; 0 if it did not change."""
    old_range, new_range = changed_range.select(old), changed_range.select(new)
    if 1 not in old_range.main_mask and 1 not in new_range.main_mask:
        return 0, 0
    new_size = measure_main_content(new)
    if changed_range.get_unchanged(old.main_mask) != changed_range.get_unchanged(new.main_mask):
        return measure_main_content(old), new_size
    return new_size - measure_main_content(new_range) + measure_main_content(old_range), new_size


def _can_reveal_hidden(
    old: TextBlocks, new: TextBlocks, changed_range: _ChangedRange, normalized: Sequence[NormalizedLines]
) -> bool:
    """Return whether text of a version may be hidden in the other."""
    if 1 not in old.hidden_mask and 1 not in new.hidden_mask:
        return False
    if changed_range.get_unchanged(old.hidden_mask) != changed_range.get_unchanged(
        new.hidden_mask
    ) or changed_range.get_unchanged(old.main_mask) != changed_range.get_unchanged(new.main_mask):
        return True
    old_range, new_range = changed_range.select(old), changed_range.select(new)
    if (
        1 not in old_range.main_mask and 1 not in new_range.main_mask
    ):  # only main content is reported when it becomes visible
        return False
    if 1 in old_range.hidden_mask or 1 in new_range.hidden_mask:
        return True
    masks = {name: bytes(compress(getattr(new, name), new.hidden_mask)) for name in LINE_FIELDS[1:]}
    hidden_lines = replace(new, lines=list(compress(new.lines, new.hidden_mask)), **masks)
    return not set(normalize_lines(hidden_lines).stripped_lines).isdisjoint(
        {block for lines in normalized for block in lines.stripped_lines} - {b""}
    )
