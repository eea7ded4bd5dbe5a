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

from sanderling.content.extract import Blocks, blocks
from sanderling.content.line_features import LONG, PROSE, size_of
from sanderling.content.phrases import sort_of
from sanderling.content.policy_notices import matters_anywhere
from sanderling.fingerprint.build import (
    MAX_LINES,
    NOTHING,
    Words,
    places_of,
    read_line,
    read_words,
    text_of,
    weigh,
    weight_in,
    weight_of,
    worded,
)
from sanderling.fingerprint.fast.common_affix import common, ends
from sanderling.fingerprint.model import Signature
from sanderling.html.parser import Document
from sanderling.html.text import squeeze, text

FEW = 4_000  # letters that are added up; reading a page costs less than many more
LETTERS = tuple(xxh3_64_intdigest(bytes([letter])) for letter in range(256))


class Pair(Struct, frozen=True):
    """Two marks that differ as two full ones would."""

    old: Signature
    new: Signature


def page_before(old: Document, page: Blocks, texts: list[tuple[str, str]]) -> Blocks:
    """Cut the last version of a page with the same tags into blocks, as it is cut itself if that is sure.

    `texts` are the pieces that differ, as they were and as they are.
    """
    last = None if _may_stand_elsewhere(texts) else _as_before(page, text(old).split("\n"))
    return last or blocks(old)


def _may_stand_elsewhere(texts: list[tuple[str, str]]) -> bool:
    """Say whether a piece came or went, or letters from one to another: no line may show it, but a link is longer."""
    if any(bool(old.strip()) != bool(new.strip()) for old, new in texts):
        return True
    if len(texts) < 2 or sum(len(old) + len(new) for old, new in texts) > FEW:
        return len(texts) > 1
    drifts = [_sum(new) - _sum(old) for old, new in texts]
    return len({0, *accumulate(drifts)}) <= len(drifts)


def _sum(words: str) -> int:
    """Add the letters up, in whatever order they stand."""
    return sum(map(LETTERS.__getitem__, squeeze(words)))


def _as_before(page: Blocks, lines: list[str]) -> Blocks | None:
    """A page with the lines it had; None if others of them could be main content."""
    if len(lines) != len(page.lines):
        return None
    drift = 0
    for place in compress(count(), map(ne, lines, page.lines)):
        old, new = size_of(lines[place]), size_of(page.lines[place])
        if place in page.linked or any((old >= size) != (new >= size) for size in (PROSE, LONG)):
            return None
        if sort_of(lines[place]) or sort_of(page.lines[place]):
            return None
        if matters_anywhere(lines[place]) or matters_anywhere(page.lines[place]):
            return None
        drift += abs(old - new)
    return replace(page, lines=lines, said=None) if 2 * drift < page.margin or not drift else None


def compare_blocks(old: Blocks, new: Blocks) -> Pair:
    """Mark the words of two versions whose blocks are known: those between what both begin and end with alike."""
    pair = compare_lines(old, new)
    return pair or _pair(old, new, WHOLE, [read_words(page) for page in (old, new)])


def compare_whole(old: Blocks, new: Blocks) -> Pair:
    """Mark all words of two versions, reading once what both begin and end with alike."""
    cut, now = _cut(old, new), read_words(new)
    if cut == WHOLE or now.clocks:
        last = read_words(old)
    else:
        mine = read_words(cut.of(old))
        blocks = [*now.blocks[: cut.start], *mine.blocks, *now.blocks[len(now.blocks) - cut.tail :]]
        text = now.text ^ (mine.text != text_of(cut.of(new).lines))  # only whether it is another one counts
        sizes = [*now.sizes[: cut.start], *mine.sizes, *now.sizes[len(now.sizes) - cut.tail :]]
        last = Words(text, blocks, places_of(old), old.main, old.lines, sizes, mine.clocks)
    if last.clocks and cut != WHOLE:
        last = read_words(old)
    pair = [worded(weigh(some, page.lines), weight_in(some, page)) for some, page in ((last, old), (now, new))]
    return Pair(*pair)


def compare_lines(old: Blocks, new: Blocks) -> Pair | None:
    """Mark the lines that differ; None if others decide how these are read."""
    if old.lines == new.lines and old.verbatim == new.verbatim and _show_alike(old, new):
        return Pair(NOTHING, NOTHING)
    cut = _cut(old, new)
    words = [read_words(cut.of(page)) for page in (old, new)] if cut != WHOLE else []
    if not words or not _is_enough(words, cut) or _may_be_unveiled(old, new, cut, words):
        return None
    return _pair(old, new, cut, words)


def _pair(old: Blocks, new: Blocks, cut: "_Cut", words: Sequence[Words]) -> Pair:
    marks = [
        replace(worded(weigh(some, cut.of(page).lines), weight), start=cut.blocks(page))
        for some, page, weight in zip(words, (old, new), _weights(old, new, cut), strict=True)
    ]
    return Pair(*marks)


def _show_alike(old: Blocks, new: Blocks) -> bool:
    """Say whether the same lines are shown."""
    return (old.main, old.veiled) == (new.main, new.veiled) or not (1 in old.veiled or 1 in new.veiled)


def _is_enough(words: Sequence[Words], cut: "_Cut") -> bool:
    """Say whether the lines of a cut tell what differs: no bare times, and no end of one inside what the other has."""
    mine, yours = (list(filter(None, some.blocks)) for some in words)
    is_open = bool(cut.tail) and common(mine, yours) == min(len(mine), len(yours))
    return not is_open and not any(some.clocks for some in words)


class _Cut(Struct, frozen=True):
    """The lines between those that two versions begin and end with alike."""

    start: int = 0
    tail: int = 0  # lines behind them

    def of(self, page: Blocks) -> Blocks:
        """These lines of one version."""
        end = len(page.lines) - self.tail
        rows = {name: getattr(page, name)[self.start : end] for name in ROWS}
        return replace(page, **rows)

    def around(self, rows: bytes) -> tuple[bytes, bytes]:
        """What is before and behind them."""
        return rows[: self.start], rows[len(rows) - self.tail :]

    def blocks(self, page: Blocks) -> int:
        """Count the blocks before them."""
        return sum(map(bool, page.lines[: self.start]))


WHOLE = _Cut()
ROWS = ("lines", "main", "verbatim", "veiled")  # one thing for each line of a page


def _cut(old: Blocks, new: Blocks) -> _Cut:
    """Cut off what two versions begin and end with, but for the blocks between which that stands which differs."""
    start, tail = ends(old.lines, new.lines)
    after = next(compress(count(1), new.lines[len(new.lines) - tail :]), 0)
    cut = _Cut(_last_block(new, start), tail - after if after else 0)
    whole = cut.around(old.verbatim) != cut.around(new.verbatim) or max(map(len, (old.lines, new.lines))) >= MAX_LINES
    return WHOLE if whole else cut


def _last_block(page: Blocks, end: int) -> int:
    """Number the last line before a place that is not empty nor all stamps."""
    for place in range(end - 1, -1, -1):
        if read_line(page, place):
            return place
    return 0


def _weights(old: Blocks, new: Blocks, cut: _Cut) -> tuple[int, int]:
    """Measure the main content of both versions, once where it is the same; nobody asks where none of it differs."""
    mine, yours = cut.of(old), cut.of(new)
    if 1 not in mine.main and 1 not in yours.main:
        return 0, 0
    weight = weight_of(new)
    if cut.around(old.main) != cut.around(new.main):
        return weight_of(old), weight
    return weight - weight_of(yours) + weight_of(mine), weight


def _may_be_unveiled(old: Blocks, new: Blocks, cut: _Cut, words: Sequence[Words]) -> bool:
    """Say whether one version may show what the other has and does not show."""
    if 1 not in old.veiled and 1 not in new.veiled:
        return False
    if cut.around(old.veiled) != cut.around(new.veiled) or cut.around(old.main) != cut.around(new.main):
        return True
    mine, yours = cut.of(old), cut.of(new)
    if 1 not in mine.main and 1 not in yours.main:  # only of main content is it told that it is shown
        return False
    if 1 in mine.veiled or 1 in yours.veiled:
        return True
    rows = {name: bytes(compress(getattr(new, name), new.veiled)) for name in ROWS[1:]}
    veiled = replace(new, lines=list(compress(new.lines, new.veiled)), **rows)
    return not set(read_words(veiled).blocks).isdisjoint({block for some in words for block in some.blocks} - {b""})
