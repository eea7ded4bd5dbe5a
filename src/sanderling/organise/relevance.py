"""How much a text speaks of a topic."""

import struct


def pack_relevance(value: float) -> bytes:
    """A relevance as a mark of a page."""
    return struct.pack("<f", value)


def unpack_relevance(packed: bytes) -> float:
    """The relevance a mark holds."""
    value: float = struct.unpack("<f", packed)[0]
    return value
