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

from sanderling.pages.blocks import PROSE, Blocks, blocks
from sanderling.pages.parse import Document
from sanderling.pages.signatures import (
    MAX_LINES,
    NOTHING,
    Signature,
    Words,
    hashed,
    places_of,
    read_words,
    text_of,
    weigh,
    worded,
)
from sanderling.pages.text import squeeze, text

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
        old, new = len(lines[place]), len(page.lines[place])
        if place in page.linked or (old >= PROSE) != (new >= PROSE):
            return None
        drift += abs(old - new)
    return replace(page, lines=lines, said=None) if 2 * drift < page.margin or not drift else None


def compare_blocks(old: Blocks, new: Blocks, *, is_kept: bool = False) -> Pair:
    """Mark the words of two versions whose blocks are known; all of those of the new one, if its mark is kept."""
    alike = old.lines == new.lines and old.verbatim == new.verbatim and _show_alike(old, new)
    if alike and not is_kept:
        return Pair(NOTHING, NOTHING)
    return _spliced(old, new, is_kept) or Pair(_marked(old), _marked(new))


def _show_alike(old: Blocks, new: Blocks) -> bool:
    """Say whether the same lines are shown."""
    return (old.main, old.veiled) == (new.main, new.veiled) or not (1 in old.veiled or 1 in new.veiled)


def _marked(page: Blocks) -> Signature:
    return worded(weigh(read_words(page), page.lines))


class _Cut(Struct, frozen=True):
    """The lines between those that two versions begin and end with alike."""

    start: int
    tail: int  # lines behind them

    def of(self, page: Blocks) -> Blocks:
        """These lines of one version."""
        end = len(page.lines) - self.tail
        rows = {name: getattr(page, name)[self.start : end] for name in ("lines", "main", "verbatim", "veiled")}
        return replace(page, **rows)

    def around(self, rows: bytes) -> tuple[bytes, bytes]:
        """What is before and behind them."""
        return rows[: self.start], rows[len(rows) - self.tail :]


def _cut(old: list[str], new: list[str]) -> _Cut:
    start = _common(old, new)
    return _Cut(start, min(_common(old[::-1], new[::-1]), min(len(old), len(new)) - start))


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines two texts begin with alike."""
    return next(compress(count(), map(ne, one, other)), min(len(one), len(other)))


def _spliced(old: Blocks, new: Blocks, is_kept: bool) -> Pair | None:
    """Mark two versions, reading once what both begin and end with; None if one line there decides about another."""
    cut = _cut(old.lines, new.lines)
    mine, yours = cut.of(old), cut.of(new)
    if max(len(old.lines), len(new.lines)) >= MAX_LINES or cut.around(old.verbatim) != cut.around(new.verbatim):
        return None
    read, part = read_words(new, is_part=not is_kept), read_words(mine)
    end = len(read.blocks) - cut.tail
    if part.clocks or any(cut.start <= place < end for place in read.clocks):
        return None
    row = read.blocks[: cut.start], read.blocks[cut.start : end], read.blocks[end:]
    head, middle, tail = map(hashed, row)
    gone = part.blocks[: len(mine.lines)]  # no lines read as an empty one
    last = Words(part.text, [*row[0], *gone, *row[2]], places_of(old), old.main)
    now = replace(read, text=text_of(yours.lines))
    other = {*gone, *row[1]} - {b""}
    if is_kept or _may_be_unveiled(old, new, cut, other, set(compress(read.blocks, new.veiled))):
        last, now = weigh(last, old.lines), weigh(now, new.lines)
    else:
        last, now = _weighed(last, old.lines, other), _weighed(now, new.lines, other)
    if is_kept:  # of the last version only whether it was another text counts
        last, now = replace(last, text=read.text ^ (last.text != now.text)), replace(now, text=read.text)
    return Pair(worded(last, row=head + hashed(gone) + tail), worded(now, row=head + middle + tail))


def _may_be_unveiled(old: Blocks, new: Blocks, cut: _Cut, other: set[bytes], veiled: set[bytes]) -> bool:
    """Say whether one version may show what the other has and does not show; `other` are the blocks that differ."""
    if cut.around(old.veiled) != cut.around(new.veiled) or cut.around(old.main) != cut.around(new.main):
        return 1 in old.veiled or 1 in new.veiled
    return 1 in cut.of(old).veiled or 1 in cut.of(new).veiled or not veiled.isdisjoint(other)


def _weighed(words: Words, lines: list[str], other: set[bytes]) -> Words:
    """Weigh the blocks that differ, wherever they stand: beside one like it, either may be said to be new."""
    wanted = [place for place, block in enumerate(words.blocks) if block in other]
    some = bytes(map(words.main.__getitem__, wanted))
    places = bytearray(words.places)
    for place, value in zip(wanted, weigh(Words(0, [], some, some), [lines[n] for n in wanted]).places, strict=True):
        places[place] = value
    return replace(words, places=bytes(places))
