"""The full mark of a page that was marked before: where only words of a few pieces differ, all else of the mark stays.

Many pages differ at every visit, and just a little: a time, a token, a line. The mark of a page that was seen to do so
carries a table of its pieces (`prepare`): a hash of the bytes of each, hashes of what a mark sees in it, and how many
blocks of text it has. `renew` reads the pieces that differ, no others. If each still has the tags, links, images and
scripts it had, the new mark is the old one but for these words: what marking in full would give, or None where that is
not sure. What is main content follows from all lengths of a page; `margin` says by how many letters they may change
before any line could change sides.
"""

from array import array
from itertools import accumulate, compress
from operator import ne

from msgspec import Struct, msgpack, structs
from xxhash import xxh3_64_intdigest, xxh32_intdigest

from sanderling.pages.blocks import PROSE, Blocks, blocks
from sanderling.pages.parse import Document
from sanderling.pages.pieces import CUTS, Facts, best_cut, facts, group, join
from sanderling.pages.signatures import Signature, brought, is_current, read, sign, sign_blocks

MOST = 0.5  # share of the pieces of a page that may differ; with more, marking in full costs hardly more
LARGEST = 65_535  # that two bytes hold
NO_TABLE = b"\0"
"""In place of a table: the words of this page cannot be read off its markup."""


class Table(Struct, array_like=True):
    """The pieces of a page, and what else the next mark can be made from."""

    cut: int  # where the page is cut: a number in CUTS
    cuts: bytes  # of each piece: how many cuts make it, two bytes
    pieces: bytes  # hash of its bytes, eight bytes
    frames: bytes  # hash of all but its words that a mark sees, four bytes
    words: bytes  # hash of its text, stamps too, four bytes
    counts: bytes  # how many blocks it has, two bytes
    inside: bytes  # how many verbatim elements are open where it begins, one byte
    lengths: bytes  # of each block: letters, two bytes
    linked: bytes  # whether it has links, one byte
    margin: int


_decoder = msgpack.Decoder(Table)


def sign_again(tree: Document, body: bytes, last: bytes) -> Signature:
    """Compute the full mark of a page, given that of its last version; empty for none."""
    if not is_current(last):
        return sign(tree)
    old = read(last)
    new = renew(old, body, tree)
    if new is not None:
        return new
    there, page = brought(tree), blocks(tree)
    mark, kept = sign_blocks(tree, page, there)
    if old.again == NO_TABLE:
        return structs.replace(mark, again=NO_TABLE)
    return structs.replace(mark, again=prepare(mark, body, tree, page, kept)) if is_little(old, mark) else mark


def is_little(old: Signature, new: Signature) -> bool:
    """Say whether just some words differ between two marks: only then a table is worth its price."""
    words = {"text": 0, "keys": b"", "sizes": b"", "weight": 0, "again": b""}
    same = structs.replace(old, **words) == structs.replace(new, **words)
    return same and len(old.keys) == len(new.keys)


def prepare(mark: Signature, body: bytes, tree: Document, page: Blocks, kept: list[int]) -> bytes:
    """Make the table of a page that was just marked in full, if its markup says what its tree says."""
    cut = best_cut(body)
    cuts = body.split(CUTS[cut])
    groups = group(cuts, CUTS[cut])
    pieces = join(cuts, groups, CUTS[cut])
    try:
        said = _read_all(pieces, CUTS[cut], tree.encoding or "utf-8")
    except LookupError:  # a charset only the parser knows
        return NO_TABLE
    lengths = [min(len(page.lines[place]), LARGEST) for place in kept]
    counts = [len(piece.lines) for piece in said]
    if not _agree(said, mark, lengths) or max(*groups, *counts) > LARGEST:
        return NO_TABLE
    return msgpack.encode(
        Table(
            cut,
            array("H", groups).tobytes(),
            array("Q", map(xxh3_64_intdigest, pieces)).tobytes(),
            array("I", [piece.frame for piece in said]).tobytes(),
            array("I", [piece.words for piece in said]).tobytes(),
            array("H", counts).tobytes(),
            bytes([0, *(min(piece.inside, 255) for piece in said[:-1])]),
            array("H", lengths).tobytes(),
            bytes([place in page.linked for place in kept]),
            page.margin,
        )
    )


def _read_all(pieces: list[bytes], mark: bytes, charset: str) -> list[Facts]:
    said = [facts(pieces[0], True, 0, charset)]
    for piece in pieces[1:]:
        said.append(facts(mark + piece, False, said[-1].inside, charset))
    return said


def _agree(said: list[Facts], mark: Signature, lengths: list[int]) -> bool:
    """Say whether the markup gives the blocks that the tree gave."""
    keys = array("I", [xxh32_intdigest(line) for piece in said for line in piece.lines])
    found = [min(length, LARGEST) for piece in said for length in piece.lengths]
    return keys.tobytes() == mark.keys and found == lengths


def renew(last: Signature, body: bytes, tree: Document) -> Signature | None:
    """Make the mark of a page from that of its last version; None if it has to be marked in full."""
    if last.attention or len(last.again) <= len(NO_TABLE):
        return None
    table = _decoder.decode(last.again)
    cut, groups = CUTS[table.cut], array("H", table.cuts)
    cuts = body.split(cut)
    if len(cuts) != sum(groups):
        return None
    pieces = join(cuts, groups, cut)
    hashes = array("Q", map(xxh3_64_intdigest, pieces))
    changed = list(compress(range(len(pieces)), map(ne, hashes, array("Q", table.pieces))))
    if len(changed) > max(1, MOST * len(pieces)):
        return None
    patch, charset = _Patch(last, table), tree.encoding or "utf-8"
    for number in changed:
        piece = cut + pieces[number] if number else pieces[0]
        if not patch.lay(number, facts(piece, not number, table.inside[number], charset)):
            return None
    return patch.mark(hashes.tobytes()) if patch.is_sure else None


class _Patch:
    """An old mark on which the words of new pieces are laid."""

    def __init__(self, last: Signature, table: Table) -> None:
        self.last, self.table, self.text = last, table, last.text
        self.keys, self.sizes, self.lengths = array("I", last.keys), array("H", last.sizes), array("H", table.lengths)
        self.frames, self.words = array("I", table.frames), array("I", table.words)
        self.starts = list(accumulate(array("H", table.counts), initial=0))
        self.drift = 0  # letters that came and went

    @property
    def is_sure(self) -> bool:
        """Say whether what was main content must still be."""
        return 2 * self.drift < self.table.margin or not self.drift

    def lay(self, number: int, said: Facts) -> bool:
        """Lay a piece on the mark; False if more than its words differ."""
        first, last = self.starts[number : number + 2]
        following = self.table.inside[number + 1 : number + 2]
        if said.frame != self.frames[number] or len(said.lines) != last - first or said.lost:
            return False
        if following and following[0] != min(said.inside, 255):
            return False
        self.text ^= self.words[number] ^ said.words
        self.words[number] = said.words
        return all(map(self._write, range(first, last), said.lines, said.lengths))

    def _write(self, place: int, line: bytes, length: int) -> bool:
        """Write a block over an old one; False if that could make a menu of what was none, or the other way round."""
        old = self.lengths[place]
        self.keys[place], self.sizes[place] = xxh32_intdigest(line), min(len(line), LARGEST)
        self.lengths[place] = min(length, LARGEST)
        self.drift += abs(length - old)
        return length == old or ((length >= PROSE) == (old >= PROSE) and not self.table.linked[place])

    def mark(self, hashes: bytes) -> Signature:
        """Put the new mark together."""
        self.table.pieces, self.table.words, self.table.lengths = hashes, self.words.tobytes(), self.lengths.tobytes()
        self.table.margin -= 2 * self.drift
        return structs.replace(
            self.last,
            text=self.text,
            keys=self.keys.tobytes(),
            sizes=self.sizes.tobytes(),
            weight=sum(compress(self.sizes, self.last.places)),
            again=msgpack.encode(self.table),
        )
