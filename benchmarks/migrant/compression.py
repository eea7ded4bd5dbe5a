"""What a first answer of a host weighs and costs, packed in ours and in other ways.

python -m benchmarks.migrant.compression [--sites a,b] [--data DIR] [--write]

All pages of a site are one stream, as a host sends them. The measure is the sum of gzip -6 of each page: what a web
server that compresses would send. Seconds are of the processor.
"""

import lzma
import os
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import brotli
from benchmarks.lib.doc_sites import SITES, options_of
from benchmarks.lib.doc_tables import put
from msgspec import Struct

from sanderling.models import Host
from sanderling.workers.migrant.coder import BEHIND, ORDER, Coder, Decoder
from sanderling.workers.migrant.messages import (
    MessageCompressor,
    MessageDecompressor,
    MigrantMessage,
    MigrantRequest,
    PageMessage,
    RequestedUrl,
)
from sanderling.workers.migrant.owner_rules import SiteRules
from sanderling.workers.migrant.prose import ProsePacker, framed
from sanderling.workers.migrant.rate_limit import SiteRateLimiter
from sanderling.workers.migrant.reader import ProseUnpacker
from sanderling.workers.migrant.site_reader import open_site_reader
from sanderling.workers.migrant.site_walk import SiteWalk

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DOCUMENT = Path("docs/explanation/migrants.md")
DEFAULT = ("postgresql-doc-15", "python-django-doc", "sqlite3-doc")
MB = 1_000_000
MOST = 2**27
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 2**26}]
DICTIONARY = 112 * 1024


class Packed(Struct, frozen=True):
    """One way to pack a site."""

    way: str
    size: int
    packing: float
    unpacking: float


def main() -> int:
    """Measure, print, and write the table if asked."""
    options = options_of(__doc__, DEFAULT)
    tables = []
    for name in options.sites.split(","):
        messages = pages_of(options.data / name / SITES[name])
        plain = sum(len(message.body) for message in messages if isinstance(message, PageMessage))
        gzip = sum(len(zlib.compress(message.body, 6)) for message in messages if isinstance(message, PageMessage))
        title = f"{name}: {plain / MB:.1f} MB of pages, {gzip / MB:.2f} MB by gzip -6 of each"
        tables.append(f"{title}\n\n{table(measure(messages), plain, gzip)}")
        print(tables[-1], flush=True)
    if options.write:
        put("packing", "\n\n".join(tables), DOCUMENT)
    return 0


def pages_of(root: Path) -> list[MigrantMessage]:
    """What a host would send of this folder."""
    site = SiteRules("http://site.example", root=str(root))
    now = time.time()
    letter = MigrantRequest(
        "key", "host", Host(site.site), now, now + 3600, b"nonce", (RequestedUrl("/"),), is_whole_site=True
    )
    return list(SiteWalk(letter, SiteRateLimiter(site), open_site_reader(site, "sanderling")).generate_messages())


def measure(messages: Sequence[MigrantMessage]) -> list[Packed]:
    """Every way, the fastest first."""
    whole = b"".join(map(framed, messages))
    each = [message.body for message in messages if isinstance(message, PageMessage)]
    return [
        timed("**fast**: zstd 9, one stream", lambda: fast(messages), read_fast),
        learned(each),
        timed("zstd 22, one stream", lambda: zstd.compress(whole, options=ULTRA), widely),
        timed("xz 9, 64 MB", lambda: lzma.compress(whole, lzma.FORMAT_XZ, filters=FILTERS), lzma.decompress),
        timed("brotli 11, 16 MB", lambda: brotli.compress(whole, quality=11, lgwin=24), brotli.decompress),
        timed(f"PPMd {ORDER} alone", lambda: coded(whole), lambda data: decoded(data, len(whole))),
        timed(f"**small**: PPMd {ORDER} behind shorthand", lambda: small(messages), read_small),
    ]  # fmt: skip


ULTRA = {
    int(zstd.CompressionParameter.compression_level): 22, int(zstd.CompressionParameter.window_log): 27,
    int(zstd.CompressionParameter.enable_long_distance_matching): 1,
}  # fmt: skip
WIDE = {int(zstd.DecompressionParameter.window_log_max): 27}


def fast(messages: Sequence[MigrantMessage]) -> bytes:
    """As a host packs fast."""
    packer = MessageCompressor()
    return b"".join([packer.compress(message) for message in messages]) + packer.flush()


def small(messages: Sequence[MigrantMessage]) -> bytes:
    """As a host packs small."""
    packer = ProsePacker()
    return b"".join([packer.compress(message) for message in messages]) + b"".join(packer.finish())


def widely(data: bytes) -> bytes:
    """With a window as wide as it was packed."""
    return zstd.decompress(data, options=WIDE)


def coded(whole: bytes) -> bytes:
    """By the model alone."""
    coder = Coder()
    return coder.encode(whole) + coder.end()


def decoded(data: bytes, length: int) -> bytes:
    """What the other side does with it."""
    return Decoder().decode(data + bytes(BEHIND), length)


def learned(each: Sequence[bytes]) -> Packed:
    """Every page by itself, with a dictionary from the first tenth of them; it counts too."""
    began = processor()
    dictionary = zstd.train_dict(each[: len(each) // 10 + 8], DICTIONARY)
    parts = [zstd.compress(page, 19, zstd_dict=dictionary) for page in each]
    packing, began = processor() - began, processor()
    for part in parts:
        zstd.decompress(part, zstd_dict=dictionary)
    size = sum(map(len, parts)) + len(zstd.compress(dictionary.dict_content, 19))
    return Packed("zstd 19, each page, learned dictionary", size, packing, processor() - began)


def read_fast(data: bytes) -> list[bytes]:
    """What the other side does with the first."""
    return list(MessageDecompressor(MOST).decompress(data))


def read_small(data: bytes) -> list[bytes]:
    """What the other side does with the last."""
    return list(ProseUnpacker(MOST).decompress(data))


def timed(way: str, pack: Callable[[], bytes], unpack: Callable[[bytes], object]) -> Packed:
    """Pack and unpack once."""
    began = processor()
    data = pack()
    packing, began = processor() - began, processor()
    unpack(data)
    return Packed(way, len(data), packing, processor() - began)


def processor() -> float:
    """Seconds of the processor so far, those of processes that ended included."""
    return sum(os.times()[:4])


def table(found: Sequence[Packed], plain: int, gzip: int) -> str:
    """A Markdown table."""
    lines = ["| packed by | MB | of gzip | packing, s per MB of pages | unpacking |", "|---|---:|---:|---:|---:|"]
    for one in found:
        seconds = f"{one.packing / plain * MB:.3f} | {one.unpacking / plain * MB:.3f}"
        lines.append(f"| {one.way} | {one.size / MB:.2f} | {one.size / gzip:.1%} | {seconds} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
