"""The compact mark of a page from which a later version is told apart without this one's body."""

from msgspec import Struct, msgpack
from xxhash import xxh3_64_digest

from sanderling.pages.parse import Document
from sanderling.pages.text import text

VERSION = 1


class Signature(Struct, frozen=True, array_like=True):
    """What is remembered of one version of a page."""

    version: int
    words: bytes  # hash of the visible text, blanks removed
    blocks: bytes  # 8 bytes for each block of text, in order
    tags: bytes  # hash of the sequence of opening tags


def signatures(tree: Document) -> bytes:
    """Compute the mark of a page from its tree."""
    blocks = [block for block in text(tree).encode(errors="replace").translate(None, b" \t\r").split(b"\n") if block]
    tags = ",".join([element.tag for element in tree.iter_elements()])
    return msgpack.encode(
        Signature(
            version=VERSION,
            words=xxh3_64_digest(b"\n".join(blocks)),
            blocks=b"".join(map(xxh3_64_digest, blocks)),
            tags=xxh3_64_digest(tags.encode(errors="replace")),
        )
    )
