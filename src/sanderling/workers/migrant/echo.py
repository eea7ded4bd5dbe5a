"""What pages of a site have in common, said once: long stretches that follow their beginning as they did before.

A page is cut into its lines, or at its tags if it has hardly any lines. Both sides remember which piece came after
which two. Where enough pieces are those that came the last time, only their number is sent. A model of text would find
them too, but byte by byte.
"""

import re
from operator import eq
from typing import NamedTuple

MARK = b"\x07"
LEAST = 64  # bytes of a stretch: for a shorter one the model needs hardly more than for its number
LONG_LINE = 400  # bytes: with longer ones than this on average, a page is cut at its tags
PIECE_BYTES = 64  # what a piece costs beside its own bytes
MOST = 2**25  # bytes both sides remember by this count; then they begin again
RUN = re.compile(rb"\x01{2,}")
Place = tuple[bytes, bytes]


class Cut(NamedTuple):
    """Where a page is cut, and how a stretch is written there."""

    at: bytes
    mark: bytes
    marked: re.Pattern[bytes]


LINES = Cut(b"\n", MARK, re.compile(rb"\n\x07([^\n]*)"))
TAGS = Cut(b"<", MARK + MARK, re.compile(rb"<\x07\x07([^<]*)"))


class Echo:
    """One side's memory of what followed what; the other side's is the same."""

    def __init__(self) -> None:
        self.next: dict[Place, bytes] = {}
        self.weight = 0

    def shorten(self, page: bytes) -> bytes:
        """Write stretches that came before as the number of their pieces."""
        cut = _cut_of(page)
        pieces = page.split(cut.at)
        places = _places(pieces)
        known = bytes(map(eq, map(self.next.get, places), pieces))
        parts, at = list[bytes](), 0
        for run in RUN.finditer(known):
            first, end = run.span()
            if sum(map(len, pieces[first:end])) + end - first >= LEAST:
                parts += [*pieces[at:first], b"%b%d" % (cut.mark, end - first)]
                at = end
        self._remember(page, places, pieces)
        return cut.at.join(parts + pieces[at:])

    def restore(self, short: bytes, most: int) -> bytes:
        """Write the stretches out; ValueError if there are none such, or for more than `most` bytes."""
        if MARK not in short:
            cut, pieces = _cut_of(short), short.split(_cut_of(short).at)
        else:
            cut = TAGS if TAGS.mark in short else LINES
            pieces = self._written_out(short, cut, most)
        page = cut.at.join(pieces)
        self._remember(page, _places(pieces), pieces)
        return page

    def _written_out(self, short: bytes, cut: Cut, most: int) -> list[bytes]:
        plain, *marked = cut.marked.split(cut.at + short)
        pieces, size = [b"", b"", *plain.split(cut.at)[1:]], len(short)
        for count, plain in zip(marked[::2], marked[1::2], strict=True):
            for _ in range(int(count)):
                piece = self.next.get((pieces[-2], pieces[-1]))
                size += len(piece or b"") + 1
                if piece is None or size > most:
                    raise ValueError("an echo of nothing, or one that does not end")
                pieces.append(piece)
            pieces += plain.split(cut.at)[1:]
        return pieces[2:]

    def _remember(self, page: bytes, places: list[Place], pieces: list[bytes]) -> None:
        """Remember what followed what, unless this page is a giant; all else is forgotten if there is no room."""
        weight = len(page) + PIECE_BYTES * len(pieces)
        if weight > MOST // 8:  # a page that would push out all others
            return
        self.weight += weight
        if self.weight > MOST:
            self.next.clear()
            self.weight = weight
        self.next.update(zip(places, pieces, strict=False))


def _cut_of(page: bytes) -> Cut:
    return LINES if page.count(LINES.at) * LONG_LINE >= len(page) else TAGS


def _places(pieces: list[bytes]) -> list[Place]:
    return list(zip([b"", b"", *pieces], [b"", *pieces], strict=False))
