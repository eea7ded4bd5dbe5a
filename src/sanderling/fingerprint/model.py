"""The full mark of one version of a page, as it is stored: what `signatures.sign` makes and `changes` compares.

Hashes of blocks and assets have up to 32 bits: they are compared within one page only. All text is hashed without
blanks, that of blocks without stamps too. A block is hashed to its letters as one number, modulo a prime: so the hash
of two blocks that became one follows from theirs.
"""

from msgspec import Struct, msgpack

FINGERPRINT_VERSION = 28
MAIN_ROLE, HIDDEN_ROLE = 1, 4  # of a block's place in the page
MAX_BLOCK_SIZE = 65_535  # of a block
HASH_PRIME = 2**30 - 35  # the largest that one digit of Python's numbers holds: dividing by it is quick
DIGITS = b"0123456789"
FIRST_DIGIT_TABLE, LAST_DIGIT_TABLE = (
    bytes.maketrans(DIGITS, bytes(range(start, start + 10))) for start in (0xB0, 0xF0)
)
"""What digits at the ends of a block are hashed as: bytes with which no letter begins, and none ends."""


class Fingerprint(Struct, frozen=True, array_like=True):
    """What is remembered of one version of a page."""

    version: int
    user_rules_hash: int  # under which the mark was made; 0 for the usual one
    text_hash: int  # hash of the whole visible text, stamps and furniture too, however it is cut into blocks
    block_hashes: bytes  # of each block of text: hash, four bytes
    block_sizes: bytes  # its length in bytes, two bytes; 0 for a block that is all stamps
    block_roles: bytes  # one byte: 1 for main content, 3 for a price and the like there, 4 for what is not shown, or 0
    main_content_size: int  # length of all main content, stamps too
    outline: bytes  # the skeleton without tags that only change looks or are never seen, packed
    cosmetic_hash: int  # which tags only change looks, how often each, and the looks that old pages write into tags
    style_hashes: tuple[int, int]  # classes and styles in order, and as a set
    links: bytes  # sets of hashes from here on
    main_links: bytes
    images: bytes
    main_images: bytes
    scripts: bytes
    handlers: bytes
    forms: bytes
    frames: bytes
    title: bytes = b""
    first_block: int = 0  # blocks before these; two marks made of one another leave out what both begin and end with


def hash_block(block: bytes) -> int:
    """Hash a block; a digit at either end counts as another letter, for 1 and 23 are not 12 and 3."""
    if block[:1].isdigit():
        block = block[:1].translate(FIRST_DIGIT_TABLE) + block[1:]
    if block[-1:].isdigit():
        block = block[:-1] + block[-1:].translate(LAST_DIGIT_TABLE)
    return int.from_bytes(block) % HASH_PRIME


def combine_hashes(first_hash: int, second_hash: int, second_size: int) -> int:
    """Hash two blocks that became one, given their hashes and the length of the second."""
    return (first_hash * pow(256, second_size, HASH_PRIME) + second_hash) % HASH_PRIME


def decode_fingerprint(data: bytes) -> Fingerprint:
    """Read a full mark that `write` packed."""
    return _decoder.decode(data)


def encode_fingerprint(fingerprint: Fingerprint) -> bytes:
    """Pack a full mark."""
    return msgpack.encode(fingerprint)


def is_current_fingerprint(data: bytes) -> bool:
    """Say whether a mark is there and of this version; marks of others cannot be read."""
    return data.startswith(_CURRENT_PREFIX)


_decoder = msgpack.Decoder(Fingerprint)
_CURRENT_PREFIX = msgpack.encode([FINGERPRINT_VERSION] + [0] * (len(Fingerprint.__struct_fields__) - 1))[:4]
