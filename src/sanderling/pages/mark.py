"""The full mark of one version of a page, as it is stored: what `signatures.sign` makes and `changes` compares.

Hashes of blocks and assets have 32 bits: they are compared within one page only. All text is hashed without blanks,
that of blocks without stamps too.
"""

from msgspec import Struct, msgpack

VERSION = 22
MAIN, VEILED = 1, 4  # of a block's place in the page


class Signature(Struct, frozen=True, array_like=True):
    """What is remembered of one version of a page."""

    version: int
    attention: int  # under which the mark was made; 0 for the usual one
    text: int  # hash of the whole visible text, stamps and furniture too, however it is cut into blocks
    keys: bytes  # of each block of text: hash, four bytes
    sizes: bytes  # its length in bytes, two bytes; 0 for a block that is all stamps
    places: bytes  # one byte: 1 for main content, 3 for a price and the like there, 4 for what is not shown, or 0
    weight: int  # length of all main content, stamps too
    outline: bytes  # the skeleton without tags that only change looks or are never seen, packed
    cosmetic: int  # which tags only change looks, how often each, and the looks that old pages write into tags
    looks: tuple[int, int]  # classes and styles in order, and as a set
    links: bytes  # sets of hashes from here on
    main_links: bytes
    images: bytes
    main_images: bytes
    scripts: bytes
    handlers: bytes
    forms: bytes
    frames: bytes
    title: bytes = b""
    start: int = 0  # blocks before these; two marks made of one another leave out what both begin and end with


def read(mark: bytes) -> Signature:
    """Read a full mark that `write` packed."""
    return _decoder.decode(mark)


def write(signature: Signature) -> bytes:
    """Pack a full mark."""
    return msgpack.encode(signature)


def is_current(mark: bytes) -> bool:
    """Say whether a mark is there and of this version; marks of others cannot be read."""
    return mark.startswith(_START)


_decoder = msgpack.Decoder(Signature)
_START = msgpack.encode([VERSION] + [0] * (len(Signature.__struct_fields__) - 1))[:4]
