"""The full mark of a page that was marked before: where only words and tokens differ, all else of the mark stays.

Many pages differ at every visit, and just a little: a time, a token, a line. A full mark carries a table of the page's
pieces (pieces.py) and of its lines, about as large as the rest of the mark: at most 1.1 KB for the pieces, and 7 bytes
a line. `renew` looks which pieces differ. If each has the frame it had, tags, links and images are what they were;
scripts are read again, and the words only where they differ. The mark is then the one that marking in full would give;
None where that is not sure. What is main content follows from the lengths of all lines; `margin` says by how many
letters these may change before any line could change sides.
"""

from array import array
from itertools import compress, count
from operator import ne

from msgspec import Struct, msgpack, structs
from xxhash import xxh3_64_intdigest, xxh32_intdigest

from sanderling.pages import assets, behaviour, pieces
from sanderling.pages.blocks import PROSE, Blocks, blocks
from sanderling.pages.parse import Document
from sanderling.pages.signatures import (
    CLOCK,
    MAIN,
    MAX_CLOCK,
    MAX_LINES,
    NO_DIGITS,
    VEILED,
    Signature,
    brought,
    is_current,
    read,
    sign,
    sign_blocks,
    whole_mark,
)
from sanderling.pages.stamps import reduce
from sanderling.pages.text import RARE, UNSEEN, squeeze, text
from sanderling.pages.worth import weighed

MOST = 0.5  # share of the lines that may differ; with more, marking in full costs hardly more
LARGEST = 65_535  # that two bytes hold
TOO_MANY = 20_000  # lines of a page that is given no table
HEAVIEST = 1 << 18  # bytes of a mark that a migrant is given
VERBATIM, LINKED, KEPT = 1, 2, 4  # of a line
ONLY_KEPT = bytes(flag & KEPT for flag in range(256))
LEAST_CLOCK = 4
NO_TABLE = b"\0"
"""In place of a table: this page never changes just a little, or cannot be cut."""
TO_PREPARE = b"\1"
"""In place of a mark: it is there and has no table yet."""
_ENDS = (msgpack.encode(b""), msgpack.encode(NO_TABLE))  # a table ends otherwise: with True or False
_SERVED = msgpack.encode(True)


class Table(Struct, array_like=True):
    """The pieces of a page, and what else the next mark can be made from."""

    cut: int  # where the page is cut: a number in CUTS
    script: int  # hash of its scripts
    style: int  # hash of its style sheets
    groups: bytes  # of each piece: how many cuts make it, two bytes
    hashes: bytes  # hash of its bytes, eight bytes
    frames: bytes  # hash of its tags, four bytes
    words: bytes  # hash of its text, four bytes
    lines: bytes  # of each line of text that is not empty: its hash, stamps too, four bytes
    lengths: bytes  # its letters, two bytes
    flags: bytes  # whether it is verbatim, has links, is in the mark: one byte
    margin: int  # negative if words may not differ at all
    served: bool = False  # whether a mark was made from it


_decoder = msgpack.Decoder(Table)


def in_brief(mark: bytes) -> bytes:
    """Of the mark of a page, what a migrant needs to make the next one; empty for nothing.

    A page that changes for the first time is marked in full. If it changes again it is given a table, once more if that
    served.
    """
    if not is_current(mark):
        return b""
    if mark.endswith(_ENDS) or len(mark) > HEAVIEST:
        return TO_PREPARE if mark.endswith(_ENDS[0]) else NO_TABLE
    return mark


def sign_again(tree: Document, body: bytes, last: bytes) -> Signature:
    """Compute the full mark of a page, given that of its last version `in_brief`."""
    if len(last) <= len(TO_PREPARE):
        return _prepared(tree, body) if last == TO_PREPARE else structs.replace(sign(tree), again=last)
    new = renew(read(last), body, tree)
    if new is not None:
        return new
    return _prepared(tree, body) if is_served(last) else structs.replace(sign(tree), again=NO_TABLE)


def is_served(mark: bytes) -> bool:
    """Say whether a mark was made from another."""
    return is_current(mark) and mark.endswith(_SERVED)


def _prepared(tree: Document, body: bytes) -> Signature:
    """The full mark of a page with a table for the next."""
    there, page = brought(tree), blocks(tree)
    mark, kept = sign_blocks(tree, page, there)
    return structs.replace(mark, again=prepare(body, tree, page, kept))


def prepare(body: bytes, tree: Document, page: Blocks, kept: list[int]) -> bytes:
    """Make the table of a page that was just marked in full."""
    aside = pieces.set_aside(body, tree)
    if aside is None or len(page.lines) > TOO_MANY:
        return NO_TABLE
    cut = pieces.best_cut(aside.markup)
    cuts = aside.markup.split(pieces.CUTS[cut])
    groups = pieces.group(cuts)
    if max(groups) > LARGEST:
        return NO_TABLE
    parts = pieces.join(cuts, groups, pieces.CUTS[cut])
    said = list(map(pieces.facts, parts))
    raw = squeeze("\n".join(page.lines), unseen=UNSEEN + RARE).split(b"\n")
    there = list(compress(count(), raw))
    table = Table(
        cut,
        aside.script,
        aside.style,
        array("H", groups).tobytes(),
        array("Q", map(xxh3_64_intdigest, parts)).tobytes(),
        array("I", [one.frame for one in said]).tobytes(),
        array("I", [one.words for one in said]).tobytes(),
        array("I", map(xxh32_intdigest, filter(None, raw))).tobytes(),
        array("H", [min(len(page.lines[place]), LARGEST) for place in there]).tobytes(),
        _flags(page, there, set(kept)),
        -1 if _has_clock(raw) else page.margin,
    )
    return msgpack.encode(table)


def _flags(page: Blocks, there: list[int], kept: set[int]) -> bytes:
    return bytes(
        page.verbatim[place] * VERBATIM | (place in page.linked) * LINKED | (place in kept) * KEPT for place in there
    )


def _has_clock(raw: list[bytes]) -> bool:
    """Say whether a line is a bare time of day: then all lines decide whether it is one of a timetable."""
    return any(map(CLOCK, [line for line in raw if LEAST_CLOCK <= len(line) <= MAX_CLOCK]))


def renew(last: Signature, body: bytes, tree: Document) -> Signature | None:
    """Make the mark of a page from that of its last version; None if it has to be marked in full."""
    if last.attention or len(last.again) <= len(NO_TABLE):
        return None
    table, aside = _decoder.decode(last.again), pieces.set_aside(body, tree)
    if aside is None or aside.style != table.style:
        return None
    mark, groups = pieces.CUTS[table.cut], array("H", table.groups)
    cuts = aside.markup.split(mark)
    if len(cuts) != sum(groups):
        return None
    parts = pieces.join(cuts, groups, mark)
    hashes = array("Q", map(xxh3_64_intdigest, parts))
    words, frames = array("I", table.words), array("I", table.frames)
    is_worded = False
    for number in compress(count(), map(ne, hashes, array("Q", table.hashes))):
        said = pieces.facts(parts[number])
        if not said.frame or said.frame != frames[number]:
            return None
        is_worded |= said.words != words[number]
        words[number] = said.words
    patch = _Patch(last, table)
    if is_worded and not patch.lay(tree):
        return None
    scripts = last.scripts if aside.script == table.script else assets.pack(behaviour.scripts(tree))
    table = structs.replace(table, script=aside.script, hashes=hashes.tobytes(), words=words.tobytes(), served=True)
    new = patch.mark(scripts, table)
    if not is_worded:
        return new
    forms, title = assets.pack(behaviour.forms(tree)), assets.pack(assets.titled(tree))
    return structs.replace(new, forms=forms, title=title)


class _Patch:
    """An old mark on which new lines are laid."""

    def __init__(self, last: Signature, table: Table) -> None:
        self.last, self.table, self.text = last, table, last.text
        self.keys, self.sizes, self.places = last.keys, last.sizes, last.places
        self.lines, self.lengths, self.weight = table.lines, table.lengths, last.weight

    def lay(self, tree: Document) -> bool:
        """Lay the lines of a tree on the mark; False if more than some words differ."""
        words = text(tree)
        raw = squeeze(words, unseen=UNSEEN + RARE)
        shown = raw.split(b"\n")
        hashes = array("I", map(xxh32_intdigest, filter(None, shown)))
        before = array("I", self.table.lines)
        if self.table.margin < 0 or len(hashes) != len(before) or len(shown) > MAX_LINES:
            return False
        changed = list(compress(count(), map(ne, hashes, before)))
        lines, there = words.split("\n"), list(compress(count(), shown))
        if len(changed) > max(1, MOST * len(hashes)) or _has_clock([shown[there[number]] for number in changed]):
            return False
        self.text, self.lines = whole_mark(raw), hashes.tobytes()
        return self._write([(number, lines[there[number]]) for number in changed])

    def _write(self, changed: list[tuple[int, str]]) -> bool:
        """Write lines over old ones; False if another line could be main content then."""
        keys, sizes, lengths = array("I", self.keys), array("H", self.sizes), array("H", self.lengths)
        places, flags, drift = bytearray(self.places), self.table.flags, 0
        kept = flags.translate(ONLY_KEPT)
        for number, line in changed:
            old, length = lengths[number], min(len(line), LARGEST)
            block = _block(line, flags[number])
            if flags[number] & LINKED or not flags[number] & KEPT or not block or (old >= PROSE) != (length >= PROSE):
                return False
            place = kept.count(KEPT, 0, number)
            is_main = places[place] & MAIN
            self.weight += is_main * (min(len(block), LARGEST) - sizes[place])
            keys[place], sizes[place] = xxh32_intdigest(block), min(len(block), LARGEST)
            places[place] = weighed([line], bytes([is_main]))[0] or places[place] & VEILED
            lengths[number] = length
            drift += abs(length - old)
        self.keys, self.sizes, self.lengths = keys.tobytes(), sizes.tobytes(), lengths.tobytes()
        self.places = bytes(places)
        return 2 * drift < self.table.margin or not drift

    def mark(self, scripts: bytes, table: Table) -> Signature:
        """The new mark, with a table for the next."""
        table = structs.replace(table, lines=self.lines, lengths=self.lengths)
        return structs.replace(
            self.last,
            text=self.text,
            keys=self.keys,
            sizes=self.sizes,
            places=self.places,
            weight=self.weight,
            scripts=scripts,
            again=msgpack.encode(table),
        )


def _block(line: str, flag: int) -> bytes:
    """A line as it is hashed: without blanks and, unless it is verbatim, without stamps."""
    block = squeeze(line, unseen=UNSEEN + RARE)
    if flag & VERBATIM or not block.translate(None, NO_DIGITS):
        return block
    seen = reduce(line)
    return block if seen is line else squeeze(seen, unseen=UNSEEN + RARE)
