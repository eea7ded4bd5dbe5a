"""Texts of a site in a form that a model of text needs least for: without echoes and line breaks, words as codes."""

import re

from sanderling.workers.migrant import lines
from sanderling.workers.migrant.echo import Echo
from sanderling.workers.migrant.words import ESCAPE, Words

END = b"\x04"  # between two texts
OWN = bytes((*range(3, 8), *range(14, 32)))  # bytes that stand for something here; few texts have them
OWN_BYTE = re.compile(rb"[\x03-\x07\x0e-\x1f]")
ESCAPED = re.compile(rb"\x06(.?)", re.DOTALL)
NAMES = {bytes((byte,)): ESCAPE + bytes((0x23 + n,)) for n, byte in enumerate(OWN)}  # no letters, no `<`
MEANT = {name[1:]: byte for byte, name in NAMES.items()}


class Shorthand:
    """One side of a stream of texts; the other side's memory is the same."""

    def __init__(self) -> None:
        self.echo = Echo()

    def prepare(self, page: bytes) -> bytes:
        """Take out echoes and line breaks."""
        return lines.join(self.echo.shorten(escape(page)))

    def write(self, words: Words, first: bytes, prepared: list[bytes]) -> bytes:
        """Write texts as one: something else first, then pages that were prepared."""
        return words.shorten(END.join([escape(first), *prepared]))

    def read(self, words: Words, short: bytes, most: int) -> tuple[bytes, list[bytes]]:
        """What came first and the pages; ValueError for more than `most` bytes, or for what nobody wrote."""
        first, *prepared = words.restore(short, most).split(END)
        pages = list[bytes]()
        for text in prepared:
            pages.append(unescape(self.echo.restore(lines.split(text, most), most)))
            most -= len(pages[-1])
        return unescape(first), pages


def escape(text: bytes) -> bytes:
    """Write our own bytes as two others."""
    if len(text.translate(None, OWN)) == len(text):
        return text
    return OWN_BYTE.sub(lambda found: NAMES[found[0]], text)


def unescape(text: bytes) -> bytes:
    """Write them as they were."""
    if ESCAPE not in text:
        return text
    try:
        return ESCAPED.sub(lambda found: MEANT[found[1]], text)
    except KeyError:
        raise ValueError("an escape of nothing") from None
