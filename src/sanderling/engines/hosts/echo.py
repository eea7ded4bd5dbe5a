"""What pages of a site have in common, said once: long stretches that follow their beginning as they did before.

A page is cut at its tags. Both sides remember which piece came after which two. Where enough pieces are those that
came the last time, only their number is sent. A model of text would find them too, but byte by byte.
"""

import re
from operator import eq

MARK = b"\x07"
CUT = b"<"
LEAST = 128  # bytes of a stretch: for a shorter one the model needs hardly more than for its number
PIECE_BYTES = 64  # what a piece costs beside its own bytes
MOST = 2**25  # bytes both sides remember by this count; then they begin again
RUN = re.compile(rb"\x01{2,}")
MARKED = re.compile(rb"<\x07([^<]*)")
Place = tuple[bytes, bytes]


class Echo:
    """One side's memory of what followed what; the other side's is the same."""

    def __init__(self) -> None:
        self.next: dict[Place, bytes] = {}
        self.weight = 0

    def shorten(self, page: bytes) -> bytes:
        """Write stretches that came before as the number of their pieces."""
        pieces = page.split(CUT)
        places = _places(pieces)
        known = bytes(map(eq, map(self.next.get, places), pieces))
        parts, at = list[bytes](), 0
        for run in RUN.finditer(known):
            first, end = run.span()
            if sum(map(len, pieces[first:end])) + end - first >= LEAST:
                parts += [*pieces[at:first], b"%b%d" % (MARK, end - first)]
                at = end
        if self._has_room(len(page) + PIECE_BYTES * len(pieces)):
            self.next.update(zip(places, pieces, strict=False))
        return CUT.join(parts + pieces[at:])

    def restore(self, short: bytes, most: int) -> bytes:
        """Write the stretches out; ValueError if there are none such, or for more than `most` bytes."""
        plain, *marked = MARKED.split(CUT + short)
        pieces, size = [b"", b"", *plain.split(CUT)[1:]], len(short)
        for count, plain in zip(marked[::2], marked[1::2], strict=True):
            for _ in range(int(count)):
                piece = self.next.get((pieces[-2], pieces[-1]))
                size += len(piece or b"") + 1
                if piece is None or size > most:
                    raise ValueError("an echo of nothing, or one that does not end")
                pieces.append(piece)
            pieces += plain.split(CUT)[1:]
        del pieces[:2]
        page = CUT.join(pieces)
        if self._has_room(len(page) + PIECE_BYTES * len(pieces)):
            self.next.update(zip(_places(pieces), pieces, strict=False))
        return page

    def _has_room(self, weight: int) -> bool:
        """Is there room for a page of this weight? All else is forgotten for it, if it is no giant."""
        if weight > MOST // 8:  # a page that would push out all others
            return False
        self.weight += weight
        if self.weight > MOST:
            self.next.clear()
            self.weight = weight
        return True


def _places(pieces: list[bytes]) -> list[Place]:
    return list(zip([b"", b"", *pieces], [b"", *pieces], strict=False))
