"""The words of two versions of a page: the lines that differ are read of both, all others once.

Where the tags are the same, the last version is what the new one would be with the lines it had, unless so much text
came or went that other lines could be main content.
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
from sanderling.fingerprint.build import (
    EMPTY_FINGERPRINT,
    MAX_LINES,
    NormalizedLines,
    assign_price_roles,
    build_text_fingerprint,
    compute_line_roles,
    get_main_content_size,
    hash_lines,
    measure_main_content,
    normalize_line,
    normalize_lines,
)
from sanderling.fingerprint.fast.common_affix import count_common_ends, count_common_prefix
from sanderling.fingerprint.model import Fingerprint
from sanderling.html.parser import Document
from sanderling.html.text import compact_lines, render_text

MAX_SUMMED_LENGTH = 4_000  # letters that are added up; reading a page costs less than many more
LETTER_HASHES = tuple(xxh3_64_intdigest(bytes([letter])) for letter in range(256))


class FingerprintPair(Struct, frozen=True):
    """Two marks that differ as two full ones would."""

    old: Fingerprint
    new: Fingerprint


def extract_old_blocks(old_tree: Document, new_blocks: TextBlocks, text_changes: list[tuple[str, str]]) -> TextBlocks:
    """Cut the last version of a page with the same tags into blocks, as it is cut itself if that is sure.

    `texts` are the pieces that differ, as they were and as they are.
    """
    last = None if _can_have_moved(text_changes) else _reuse_blocks(new_blocks, render_text(old_tree).split("\n"))
    return last or extract_blocks(old_tree)


def _can_have_moved(text_changes: list[tuple[str, str]]) -> bool:
    """Say whether a piece came or went, or letters from one to another: no line may show it, but a link is longer."""
    if any(bool(old.strip()) != bool(new.strip()) for old, new in text_changes):
        return True
    if len(text_changes) < 2 or sum(len(old) + len(new) for old, new in text_changes) > MAX_SUMMED_LENGTH:
        return len(text_changes) > 1
    drifts = [_sum_letters(new) - _sum_letters(old) for old, new in text_changes]
    return len({0, *accumulate(drifts)}) <= len(drifts)


def _sum_letters(text: str) -> int:
    """Add the letters up, in whatever order they stand."""
    return sum(map(LETTER_HASHES.__getitem__, compact_lines(text)))


def _reuse_blocks(new_blocks: TextBlocks, old_lines: list[str]) -> TextBlocks | None:
    """A page with the lines it had; None if others of them could be main content."""
    if len(old_lines) != len(new_blocks.lines):
        return None
    drift = 0
    for place in compress(count(), map(ne, old_lines, new_blocks.lines)):
        old, new = compute_weighted_length(old_lines[place]), compute_weighted_length(new_blocks.lines[place])
        if place in new_blocks.decisive_lines or any(
            (old >= size) != (new >= size) for size in (MIN_PROSE_LENGTH, LONG_LINE_LENGTH)
        ):
            return None
        if classify_phrase(old_lines[place]) or classify_phrase(new_blocks.lines[place]):
            return None
        if is_content_anywhere(old_lines[place]) or is_content_anywhere(new_blocks.lines[place]):
            return None
        drift += abs(old - new)
    return replace(new_blocks, lines=old_lines, landmarks=None) if 2 * drift < new_blocks.margin or not drift else None


def compare_blocks(old: TextBlocks, new: TextBlocks) -> FingerprintPair:
    """Mark the words of two versions whose blocks are known: those between what both begin and end with alike."""
    pair = compare_changed_lines(old, new)
    return pair or _build_pair(old, new, WHOLE_PAGE, [normalize_lines(page) for page in (old, new)])


def compare_all_lines(old: TextBlocks, new: TextBlocks) -> FingerprintPair:
    """Mark all words of two versions, reading once what both begin and end with alike."""
    cut, now = _find_changed_range(old, new), normalize_lines(new)
    if cut == WHOLE_PAGE or now.bare_values:
        last = normalize_lines(old)
    else:
        mine = normalize_lines(cut.select(old))
        blocks = [
            *now.stripped_lines[: cut.start],
            *mine.stripped_lines,
            *now.stripped_lines[len(now.stripped_lines) - cut.tail :],
        ]
        text = now.text_hash ^ (
            mine.text_hash != hash_lines(cut.select(new).lines)
        )  # only whether it is another one counts
        sizes = [*now.line_sizes[: cut.start], *mine.line_sizes, *now.line_sizes[len(now.line_sizes) - cut.tail :]]
        last = NormalizedLines(text, blocks, compute_line_roles(old), old.main_mask, old.lines, sizes, mine.bare_values)
    if last.bare_values and cut != WHOLE_PAGE:
        last = normalize_lines(old)
    pair = [
        build_text_fingerprint(assign_price_roles(some, page.lines), get_main_content_size(some, page))
        for some, page in ((last, old), (now, new))
    ]
    return FingerprintPair(*pair)


def compare_changed_lines(old: TextBlocks, new: TextBlocks) -> FingerprintPair | None:
    """Mark the lines that differ; None if others decide how these are read."""
    if old.lines == new.lines and old.verbatim_mask == new.verbatim_mask and _has_same_visibility(old, new):
        return FingerprintPair(EMPTY_FINGERPRINT, EMPTY_FINGERPRINT)
    cut = _find_changed_range(old, new)
    words = [normalize_lines(cut.select(page)) for page in (old, new)] if cut != WHOLE_PAGE else []
    if not words or not _is_sufficient(words, cut) or _can_reveal_hidden(old, new, cut, words):
        return None
    return _build_pair(old, new, cut, words)


def _build_pair(
    old: TextBlocks, new: TextBlocks, changed_range: "_ChangedRange", normalized: Sequence[NormalizedLines]
) -> FingerprintPair:
    marks = [
        replace(
            build_text_fingerprint(assign_price_roles(some, changed_range.select(page).lines), weight),
            first_block=changed_range.count_preceding_blocks(page),
        )
        for some, page, weight in zip(
            normalized, (old, new), _measure_main_contents(old, new, changed_range), strict=True
        )
    ]
    return FingerprintPair(*marks)


def _has_same_visibility(old: TextBlocks, new: TextBlocks) -> bool:
    """Say whether the same lines are shown."""
    return (old.main_mask, old.hidden_mask) == (new.main_mask, new.hidden_mask) or not (
        1 in old.hidden_mask or 1 in new.hidden_mask
    )


def _is_sufficient(normalized: Sequence[NormalizedLines], changed_range: "_ChangedRange") -> bool:
    """Say whether the lines of a cut tell what differs: no bare times, and no end of one inside what the other has."""
    mine, yours = (list(filter(None, some.stripped_lines)) for some in normalized)
    is_open = bool(changed_range.tail) and count_common_prefix(mine, yours) == min(len(mine), len(yours))
    return not is_open and not any(some.bare_values for some in normalized)


class _ChangedRange(Struct, frozen=True):
    """The lines between those that two versions begin and end with alike."""

    start: int = 0
    tail: int = 0  # lines behind them

    def select(self, page_blocks: TextBlocks) -> TextBlocks:
        """These lines of one version."""
        end = len(page_blocks.lines) - self.tail
        rows = {name: getattr(page_blocks, name)[self.start : end] for name in LINE_FIELDS}
        return replace(page_blocks, **rows)

    def get_unchanged(self, line_mask: bytes) -> tuple[bytes, bytes]:
        """What is before and behind them."""
        return line_mask[: self.start], line_mask[len(line_mask) - self.tail :]

    def count_preceding_blocks(self, page_blocks: TextBlocks) -> int:
        """Count the blocks before them."""
        return sum(map(bool, page_blocks.lines[: self.start]))


WHOLE_PAGE = _ChangedRange()
LINE_FIELDS = ("lines", "main_mask", "verbatim_mask", "hidden_mask")  # one thing for each line of a page


def _find_changed_range(old: TextBlocks, new: TextBlocks) -> _ChangedRange:
    """Cut off what two versions begin and end with, but for the blocks between which that stands which differs."""
    start, tail = count_common_ends(old.lines, new.lines)
    after = next(compress(count(1), new.lines[len(new.lines) - tail :]), 0)
    cut = _ChangedRange(_find_last_block(new, start), tail - after if after else 0)
    whole = (
        cut.get_unchanged(old.verbatim_mask) != cut.get_unchanged(new.verbatim_mask)
        or max(map(len, (old.lines, new.lines))) >= MAX_LINES
    )
    return WHOLE_PAGE if whole else cut


def _find_last_block(page_blocks: TextBlocks, end: int) -> int:
    """Number the last line before a place that is not empty nor all stamps."""
    for place in range(end - 1, -1, -1):
        if normalize_line(page_blocks, place):
            return place
    return 0


def _measure_main_contents(old: TextBlocks, new: TextBlocks, changed_range: _ChangedRange) -> tuple[int, int]:
    """Measure the main content of both versions, once where it is the same; nobody asks where none of it differs."""
    mine, yours = changed_range.select(old), changed_range.select(new)
    if 1 not in mine.main_mask and 1 not in yours.main_mask:
        return 0, 0
    weight = measure_main_content(new)
    if changed_range.get_unchanged(old.main_mask) != changed_range.get_unchanged(new.main_mask):
        return measure_main_content(old), weight
    return weight - measure_main_content(yours) + measure_main_content(mine), weight


def _can_reveal_hidden(
    old: TextBlocks, new: TextBlocks, changed_range: _ChangedRange, normalized: Sequence[NormalizedLines]
) -> bool:
    """Say whether one version may show what the other has and does not show."""
    if 1 not in old.hidden_mask and 1 not in new.hidden_mask:
        return False
    if changed_range.get_unchanged(old.hidden_mask) != changed_range.get_unchanged(
        new.hidden_mask
    ) or changed_range.get_unchanged(old.main_mask) != changed_range.get_unchanged(new.main_mask):
        return True
    mine, yours = changed_range.select(old), changed_range.select(new)
    if 1 not in mine.main_mask and 1 not in yours.main_mask:  # only of main content is it told that it is shown
        return False
    if 1 in mine.hidden_mask or 1 in yours.hidden_mask:
        return True
    rows = {name: bytes(compress(getattr(new, name), new.hidden_mask)) for name in LINE_FIELDS[1:]}
    veiled = replace(new, lines=list(compress(new.lines, new.hidden_mask)), **rows)
    return not set(normalize_lines(veiled).stripped_lines).isdisjoint(
        {block for some in normalized for block in some.stripped_lines} - {b""}
    )
