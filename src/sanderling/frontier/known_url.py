"""Known URLs, packed into integers: depth in the lowest byte, the id above it, then `SOFT_SKIP_FLAG`."""

from msgspec import Struct

DEPTH_MASK = 255  # larger depths are clamped
SOFT_SKIP_FLAG = 1 << 56  # skipped for a reason that another link may lift


class KnownUrl(Struct, frozen=True, gc=False):
    """A URL that has a row in the store."""

    id: int
    depth: int
    is_soft_skip: bool = False  # skipped for a reason that another link may lift


def pack_known_url(known: KnownUrl) -> int:
    return known.is_soft_skip * SOFT_SKIP_FLAG | known.id << 8 | min(known.depth, DEPTH_MASK)


def unpack_known_url(packed_url: int) -> KnownUrl:
    return KnownUrl(unpack_url_id(packed_url), packed_url & DEPTH_MASK, packed_url >= SOFT_SKIP_FLAG)


def unpack_url_id(packed_url: int) -> int:
    return (packed_url & SOFT_SKIP_FLAG - 1) >> 8
