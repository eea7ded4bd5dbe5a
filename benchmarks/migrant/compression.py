"""Measure bytes and CPU time of the first response of a migrant by compression method.

python -m benchmarks.migrant.compression [--sites a,b] [--data DIR] [--write]

All pages of a site are one stream, as a migrant sends them. The baseline is the sum of gzip -6 of each page: the bodies
that a compressing web server would send, without HTTP headers. Seconds are CPU seconds.
"""

import lzma
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import brotli
from benchmarks.lib.doc_sites import SITES, options_of
from benchmarks.lib.doc_tables import put
from msgspec import Struct

from sanderling.models import Host
from sanderling.workers.migrant.messages import (
    SMALL_ZSTD_LEVEL,
    ZSTD_LEVEL,
    MessageCompressor,
    MessageDecompressor,
    MigrantMessage,
    MigrantRequest,
    PageMessage,
    RequestedUrl,
)
from sanderling.workers.migrant.owner_rules import SiteRules
from sanderling.workers.migrant.rate_limit import SiteRateLimiter
from sanderling.workers.migrant.site_reader import open_site_reader
from sanderling.workers.migrant.site_walk import SiteWalk
from sanderling.workers.worker_protocol import encode_frame

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DOCUMENT = Path("docs/measurements/migrant-compression.md")
DEFAULT = ("junit4-doc", "postgresql-doc-15", "python-django-doc", "sqlite3-doc", "libstdc++-12-doc")
MB = 1_000_000
MAX_MESSAGE_BYTES = 2**27
XZ_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 2**26}]
TRAINED_DICTIONARY_BYTES = 112 * 1024  # the default of the zstd command
WINDOW_LOG = 27
DECOMPRESSION_OPTIONS = {int(zstd.DecompressionParameter.window_log_max): WINDOW_LOG}


class Measurement(Struct, frozen=True):
    """Size and CPU time of a compression method."""

    method: str
    size: int
    compression_seconds: float
    decompression_seconds: float


def main() -> int:
    """Measure, print, and write the table into the documentation if requested."""
    options = options_of(__doc__, DEFAULT)
    tables = []
    for name in options.sites.split(","):
        messages = load_messages(options.data / name / SITES[name])
        bodies = [message.body for message in messages if isinstance(message, PageMessage)]
        plain = sum(map(len, bodies))
        gzip = sum(len(zlib.compress(body, 6)) for body in bodies)
        title = f"{name}: {len(bodies):,} pages, {plain / MB:.1f} MB, {gzip / MB:.2f} MB with gzip -6 of each page"
        tables.append(f"{title}\n\n{build_table(measure_methods(messages, bodies), plain, gzip)}")
        print(tables[-1], flush=True)
    if options.write:
        put("compression", "\n\n".join(tables), DOCUMENT)
    return 0


def load_messages(root: Path) -> list[MigrantMessage]:
    """Return the messages a migrant sends about a folder of files."""
    site = SiteRules("http://site.example", root=str(root))
    now = time.time()
    request = MigrantRequest(
        "key", "migrant", Host(site.site), now, now + 3600, b"nonce", (RequestedUrl("/"),), is_whole_site=True
    )
    return list(SiteWalk(request, SiteRateLimiter(site), open_site_reader(site, "sanderling")).generate_messages())


def measure_methods(messages: Sequence[MigrantMessage], bodies: Sequence[bytes]) -> list[Measurement]:
    """Measure all methods, roughly from fast to slow."""
    stream = b"".join(map(encode_frame, messages))
    return [
        measure(f"**fast**: zstd {ZSTD_LEVEL}", lambda: compress_messages(messages, False), decompress_messages),
        measure_trained_dictionary(bodies),
        measure(f"**small**: zstd {SMALL_ZSTD_LEVEL}", lambda: compress_messages(messages, True), decompress_messages),
        measure("xz 9, 64 MB", lambda: lzma.compress(stream, lzma.FORMAT_XZ, filters=XZ_FILTERS), lzma.decompress),
        *(measure(f"zstd {level}", partial(compress_zstd, stream, level), decompress_zstd)
          for level in (19, 22)),
        measure("brotli 11, 16 MB", lambda: brotli.compress(stream, quality=11, lgwin=24), brotli.decompress),
    ]  # fmt: skip


def compress_messages(messages: Sequence[MigrantMessage], is_small: bool) -> bytes:
    """Compress messages as a migrant does."""
    compressor = MessageCompressor(is_small=is_small)
    return b"".join([compressor.compress(message) for message in messages]) + compressor.flush()


def decompress_messages(data: bytes) -> list[bytes]:
    """Decompress messages as a crawler does."""
    return list(MessageDecompressor(MAX_MESSAGE_BYTES).decompress(data))


def compress_zstd(stream: bytes, level: int) -> bytes:
    """Compress with a zstd level and a window of 128 MB."""
    option = zstd.CompressionParameter
    options: dict[int, int] = {
        option.compression_level: level, option.window_log: WINDOW_LOG, option.enable_long_distance_matching: 1,
    }  # fmt: skip
    return zstd.compress(stream, options=options)


def decompress_zstd(data: bytes) -> bytes:
    """Decompress a zstd stream with a window of 128 MB."""
    return zstd.decompress(data, options=DECOMPRESSION_OPTIONS)


def measure_trained_dictionary(bodies: Sequence[bytes]) -> Measurement:
    """Measure zstd on single pages, with a dictionary trained on a tenth of them; its size counts, too."""
    started = time.process_time()
    dictionary = zstd.train_dict(bodies[: len(bodies) // 10 + 8], TRAINED_DICTIONARY_BYTES)
    parts = [zstd.compress(body, 19, zstd_dict=dictionary) for body in bodies]
    compressed = time.process_time()
    for part in parts:
        zstd.decompress(part, zstd_dict=dictionary)
    size = sum(map(len, parts)) + len(zstd.compress(dictionary.dict_content, 19))
    return Measurement(
        "zstd 19, each page, trained dictionary", size, compressed - started, time.process_time() - compressed
    )


def measure(method: str, compress: Callable[[], bytes], decompress: Callable[[bytes], object]) -> Measurement:
    """Compress and decompress once."""
    started = time.process_time()
    data = compress()
    compressed = time.process_time()
    decompress(data)
    return Measurement(method, len(data), compressed - started, time.process_time() - compressed)


def build_table(measurements: Sequence[Measurement], plain: int, gzip: int) -> str:
    """Format measurements as a Markdown table."""
    lines = [
        "| method | MB | of gzip | compression, CPU s per MB of pages | decompression |",
        "|---|---:|---:|---:|---:|",
    ]
    for measured in measurements:
        seconds = [
            f"{value / plain * MB:.3f}" for value in (measured.compression_seconds, measured.decompression_seconds)
        ]
        lines.append(
            f"| {measured.method} | {measured.size / MB:.2f} | {measured.size / gzip:.1%} | {' | '.join(seconds)} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
