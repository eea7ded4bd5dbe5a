"""The words of two versions of a page whose tags are the same.

Which lines differ is read off a stretch of the page around what differs, if that is small, or else off all of the last
version. Lines that come to the same without their stamps need no more. For others the new version is read as a whole,
and the last one is what it would be with the lines it had.
"""

from itertools import compress, count
from operator import ne

from msgspec import Struct
from msgspec.structs import replace

from sanderling.pages import assets, behaviour
from sanderling.pages.blocks import CONCEALED, PROSE, Blocks, blocks
from sanderling.pages.parse import Document, parse
from sanderling.pages.signatures import (
    NOTHING,
    Signature,
    Words,
    is_clock,
    read_words,
    reduced,
    text_of,
    weigh,
    worded,
)
from sanderling.pages.text import text

FAR = (b"<t", b"<option", b"<col", b"<caption", b"<noscript", b"<svg", b"<math", b"<pre", b"<select")
"""Tags that a stretch of a page makes no sense of by itself, or whose words marks see: cells, titles and the like."""
FEW = 16_384  # bytes of a stretch that is read by itself


class Pair(Struct, frozen=True):
    """Two marks that differ as two full ones would."""

    old: Signature
    new: Signature


class Version(Struct, frozen=True):
    """A version of a page, and the stretch of it in which it differs from another."""

    body: bytes
    charset: str
    stretch: bytes


Lines = list[tuple[str, str]]
"""Those that differ: as they were, and as they are."""


def compare_words(tree: Document, old: Version, new: bytes) -> Pair | None:
    """Mark the words of both versions; None if other lines could be main content in one than in the other.

    `new` is the stretch of the new version.
    """
    near = _nearby(old, new) if tree.find("template") is None else None  # its words are nowhere
    if near is not None and _are_stamped(near, tree):
        return Pair(*(replace(NOTHING, text=text_of(list(lines))) for lines in zip(*near, strict=True)))
    page = blocks(tree)
    before = None if near is None else _placed(near, page.lines)
    if before is not None:
        return _marked(page, before)
    last = parse(old.body, old.charset)
    lines = text(last).split("\n")
    if len(lines) != len(page.lines):
        return None
    pair = _marked(page, {place: lines[place] for place in compress(count(), map(ne, lines, page.lines))})
    return pair and Pair(_with_fields(pair.old, last), _with_fields(pair.new, tree))


def _with_fields(mark: Signature, tree: Document) -> Signature:
    """Add what else of the words of a page a mark has."""
    return replace(mark, forms=assets.pack(behaviour.forms(tree)), title=assets.pack(assets.titled(tree)))


def _nearby(old: Version, new: bytes) -> Lines | None:
    """Read the lines that differ off a stretch; None if it does not say."""
    if max(len(old.stretch), len(new)) > FEW or any(map(new.lower().__contains__, FAR)):
        return None
    left, right = (text(parse(stretch, old.charset)).split("\n") for stretch in (old.stretch, new))
    there = list(compress(count(), right))
    if len(left) != len(right) or len(there) < 3:
        return None
    changed = list(compress(count(), map(ne, left, right)))
    if not changed or changed[0] <= there[0] or changed[-1] >= there[-1]:  # where lines are cut
        return None
    return [(left[place], right[place]) for place in changed]


def _are_stamped(lines: Lines, tree: Document) -> bool:
    """Say whether lines come to the same without their stamps, and leave main content what it is."""
    if any(len(old) != len(new) or is_clock(old) or is_clock(new) for old, new in lines):
        return False
    if any(tree.find(tag) is not None for tag in ("pre", "textarea", "template")) or tree.select(CONCEALED):
        return False
    return all(reduced(old, False) == reduced(new, False) for old, new in lines)


def _placed(near: Lines, lines: list[str]) -> dict[int, str] | None:
    """Find lines in a page, each by its number as it was; None unless each is there once."""
    before = {new: old for old, new in near}
    there = [(place, line) for place, line in enumerate(lines) if line in before]
    if not len(there) == len(before) == len(near):
        return None
    return {place: before[line] for place, line in there}


def _marked(page: Blocks, before: dict[int, str]) -> Pair | None:
    """Mark the words of a page, and those it had before in some of its lines."""
    if not before or not _is_steady(page, before):
        return Pair(NOTHING, NOTHING) if not before else None
    lines, words = list(page.lines), read_words(page)
    for place, line in before.items():
        lines[place] = line
    if max(before) >= len(words.blocks) or any(is_clock(lines[n]) or is_clock(page.lines[n]) for n in before):
        both = (weigh(read_words(replace(page, lines=all_)), all_) for all_ in (lines, page.lines))
        return Pair(*map(worded, both))
    span = slice(min(before), max(before) + 1)
    last = list(words.blocks)
    for place, line in before.items():
        last[place] = reduced(line, bool(page.verbatim[place]))
    new = _weighed(replace(words, text=text_of(page.lines[span])), page.lines, before)
    old = _weighed(replace(words, blocks=last, text=text_of(lines[span])), lines, before)
    return Pair(worded(old), worded(new))


def _weighed(words: Words, lines: list[str], wanted: dict[int, str]) -> Words:
    """Weigh some lines; all others are the same in both versions."""
    some = Words(0, [], bytes(words.places[place] for place in wanted), bytes(words.main[place] for place in wanted))
    places = bytearray(words.places)
    for place, value in zip(wanted, weigh(some, [lines[place] for place in wanted]).places, strict=True):
        places[place] = value
    return replace(words, places=bytes(places))


def _is_steady(page: Blocks, before: dict[int, str]) -> bool:
    """Say whether lines of other lengths leave main content what it is."""
    drift = 0
    for place, line in before.items():
        old, new = len(line), len(page.lines[place])
        if place in page.linked or (old >= PROSE) != (new >= PROSE):
            return False
        drift += abs(old - new)
    return 2 * drift < page.margin or not drift
