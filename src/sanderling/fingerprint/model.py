"""The stored fingerprint of a page version.

Hashes have up to 32 bits: they are only compared within a page. Text is hashed without white space, blocks also without
volatile text. A block hash is its bytes as a number modulo a prime, so the hash of joined blocks follows from theirs.
"""

from msgspec import Struct, msgpack

from sanderling.content.plugin_rules import compute_rules_checksum
from sanderling.content.word_lists import load_checksum

FINGERPRINT_VERSION = 29  # of the code; `tests/fingerprint/test_version.py` says when to raise it
STORED_VERSION = FINGERPRINT_VERSION << 16 | load_checksum() ^ compute_rules_checksum()
"""Version of the code, of the words of all languages, and of the content rules of plugins."""
MAIN_ROLE, HIDDEN_ROLE = 1, 4  # bits of a block role
MAX_BLOCK_SIZE = 65_535  # bytes: sizes are stored in 16 bits
HASH_PRIME = 2**30 - 35  # largest prime in one CPython int digit (30 bits): fast modulo
DIGITS = b"0123456789"
FIRST_DIGIT_TABLE, LAST_DIGIT_TABLE = (
    bytes.maketrans(DIGITS, bytes(range(start, start + 10))) for start in (0xB0, 0xF0)
)
"""Digits at the ends of a block are hashed as bytes that neither start nor end a UTF-8 character."""


class Fingerprint(Struct, frozen=True, array_like=True):
    """A page version, encoded as an array: the field order is the stored format."""

    version: int
    user_rules_hash: int  # rules it was made under; 0: none
    text_hash: int  # all visible text with volatile text and boilerplate, independent of block boundaries
    block_hashes: bytes  # four bytes for each text block
    block_sizes: bytes  # two bytes for each block; 0: only volatile text
    block_roles: bytes  # one byte for each block: 1 main content, 3 price in main content, 4 hidden, 0 boilerplate
    main_content_size: int  # bytes, with volatile text
    outline: bytes  # packed tag outline without cosmetic and invisible tags
    cosmetic_hash: int  # counts of cosmetic tags, and presentational attributes
    style_hashes: tuple[int, int]  # classes and styles: in document order, and as a set
    links: bytes  # this and the following fields: packed sets of hashes
    main_links: bytes
    images: bytes
    main_images: bytes
    scripts: bytes
    handlers: bytes
    forms: bytes
    frames: bytes
    title: bytes = b""
    first_block: int = 0  # blocks left out at the start: a partial fingerprint omits the common prefix and suffix


def hash_block(block: bytes) -> int:
    """Hash a block. Digits at its ends are replaced, so that 1 + 23 differs from 12 + 3."""
    if block[:1].isdigit():
        block = block[:1].translate(FIRST_DIGIT_TABLE) + block[1:]
    if block[-1:].isdigit():
        block = block[:-1] + block[-1:].translate(LAST_DIGIT_TABLE)
    return int.from_bytes(block) % HASH_PRIME


def combine_hashes(first_hash: int, second_hash: int, second_size: int) -> int:
    """Return the hash of two joined blocks."""
    return (first_hash * pow(256, second_size, HASH_PRIME) + second_hash) % HASH_PRIME


def decode_fingerprint(data: bytes) -> Fingerprint:
    return _decoder.decode(data)


def encode_fingerprint(fingerprint: Fingerprint) -> bytes:
    return msgpack.encode(fingerprint)


def is_current_fingerprint(data: bytes) -> bool:
    """Return whether data can be decoded: other versions cannot."""
    return data.startswith(_CURRENT_PREFIX)


_decoder = msgpack.Decoder(Fingerprint)
_CURRENT_PREFIX = msgpack.encode([STORED_VERSION] + [0] * (len(Fingerprint.__struct_fields__) - 1))[:8]
