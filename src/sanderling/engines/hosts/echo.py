"""What pages of a site have in common, said once: long stretches that follow their beginning as they did before.

A page is cut at its tags. Both sides remember which piece came after which two. Where enough pieces are those that
came the last time, only their number is sent. A model of text would find them too, but byte by byte.
"""

import re
from collections.abc import Iterable
from operator import eq

MARK = b"\x07"
CUT = b"<"
LEAST = 128  # bytes of a stretch: for a shorter one the model needs hardly more than for its number
PIECE_BYTES = 64  # what a piece costs beside its own bytes
MOST = 2**25  # bytes both sides remember by this count; then they begin again
RUN = re.compile(rb"\x01{2,}")
Place = tuple[bytes, bytes]


class Echo:
    """One side's memory of what followed what; the other side's is the same."""

    def __init__(self) -> None:
        self.next: dict[Place, bytes] = {}
        self.weight = 0

    def shorten(self, page: bytes) -> bytes:
        """Write stretches that came before as the number of their pieces."""
        pieces = page.split(CUT)
        known = bytes(map(eq, map(self.next.get, _places(pieces)), pieces))
        parts, at = list[bytes](), 0
        for run in RUN.finditer(known):
            first, end = run.span()
            if sum(map(len, pieces[first:end])) + end - first >= LEAST:
                parts += [*pieces[at:first], b"%b%d" % (MARK, end - first)]
                at = end
        self._learn(pieces, len(page))
        return CUT.join(parts + pieces[at:])

    def restore(self, short: bytes, most: int) -> bytes:
        """Write the stretches out; ValueError if there are none such, or for more than `most` bytes."""
        pieces, size = [b"", b""], len(short)
        for part in short.split(CUT):
            if not part.startswith(MARK):
                pieces.append(part)
                continue
            for _ in range(int(part[1:])):
                piece = self.next.get((pieces[-2], pieces[-1]))
                size += len(piece or b"") + 1
                if piece is None or size > most:
                    raise ValueError("an echo of nothing, or one that does not end")
                pieces.append(piece)
        page = CUT.join(pieces[2:])
        self._learn(pieces[2:], len(page))
        return page

    def _learn(self, pieces: list[bytes], length: int) -> None:
        weight = length + PIECE_BYTES * len(pieces)
        if weight > MOST // 8:  # a page that would push out all others
            return
        self.weight += weight
        if self.weight > MOST:
            self.next.clear()
            self.weight = weight
        self.next.update(zip(_places(pieces), pieces, strict=False))


def _places(pieces: list[bytes]) -> Iterable[Place]:
    return zip([b"", b"", *pieces], [b"", *pieces], strict=False)
