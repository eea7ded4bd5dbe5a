"""Content decoding."""

import gzip
import itertools
import random
import sys
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile.server import bomb, gzip_of

from sanderling.http.decoders import CHUNK_BYTES, DECODERS, MAX_STREAMS
from sanderling.http.decoding import (
    CPU_LIMIT_SECONDS,
    PADDING_BYTES,
    BodyDecoder,
    DecodeProblem,
    build_decoder,
    decode_body,
)
from sanderling.models import Reason

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXT = b"".join(b"line %d of a page\n" % n for n in range(5000))
MAX_BYTES = 1_000_000


def _compress_raw_deflate(data: bytes) -> bytes:
    press = zlib.compressobj(wbits=-15)
    return press.compress(data) + press.flush()


def _compress_brotli(data: bytes) -> bytes:
    return bytes(brotli.compress(data, quality=1))


ENCODED = {
    "gzip": gzip.compress(TEXT),
    "x-gzip": gzip.compress(TEXT),
    "deflate": zlib.compress(TEXT),
    " Deflate ": _compress_raw_deflate(TEXT),
    "br": brotli.compress(TEXT),
    "zstd": zstd.compress(TEXT),
    "identity": TEXT,
    "": TEXT,
    "gzip, br": brotli.compress(gzip.compress(TEXT)),
    "identity,zstd,,deflate,gzip": gzip.compress(zlib.compress(zstd.compress(TEXT))),
}


def _decode(decoder: BodyDecoder, data: bytes, step: int = 100_000) -> bytes:
    out = [decoder.feed(data[at : at + step]) for at in range(0, len(data), step)]
    return b"".join([*out, decoder.finish()])


@pytest.mark.parametrize("step", [1, 7, 1024, 100_000])
@pytest.mark.parametrize("coding", ENCODED)
def test_encoded_body_is_decoded_in_parts_of_any_size(coding: str, step: int) -> None:
    decoder = build_decoder(coding, MAX_BYTES)
    assert _decode(decoder, ENCODED[coding], step) == TEXT
    assert decoder.problem is DecodeProblem.NONE
    assert decoder.size == len(TEXT)


@pytest.mark.parametrize("coding", ENCODED)
def test_empty_body_is_valid_in_any_coding(coding: str) -> None:
    decoder = build_decoder(coding, MAX_BYTES)
    assert decoder.finish() == b""
    assert decoder.problem is DecodeProblem.NONE


@pytest.mark.parametrize("step", [1, 100_000])
@pytest.mark.parametrize("coding", ENCODED)
def test_decoding_stops_at_the_size_limit(coding: str, step: int) -> None:
    decoder = build_decoder(coding, 5000)
    assert _decode(decoder, ENCODED[coding], step) == TEXT[:5000]
    assert decoder.problem is DecodeProblem.TOO_LARGE
    assert decoder.feed(b"more") == b""


@pytest.mark.parametrize("coding", ENCODED)
def test_body_of_exactly_the_size_limit_is_accepted(coding: str) -> None:
    decoder = build_decoder(coding, len(TEXT))
    assert _decode(decoder, ENCODED[coding]) == TEXT
    assert decoder.problem is DecodeProblem.NONE


@pytest.mark.parametrize("step", [1, 100_000])
@pytest.mark.parametrize("coding", [coding for coding in ENCODED if coding not in ("", "identity")])
def test_start_of_a_truncated_stream_is_kept(coding: str, step: int) -> None:
    decoder = build_decoder(coding, MAX_BYTES)
    half = ENCODED[coding][: len(ENCODED[coding]) * 3 // 4]
    decoded = _decode(decoder, half, step)
    assert TEXT.startswith(decoded)
    assert decoder.problem is DecodeProblem.TRUNCATED


def test_wrong_checksum_loses_no_text() -> None:
    coded = bytearray(ENCODED["gzip"])
    coded[-6] ^= 0xFF
    decoder = build_decoder("gzip", MAX_BYTES)
    assert _decode(decoder, bytes(coded)) == TEXT
    assert decoder.problem is DecodeProblem.DAMAGED


def test_start_of_a_damaged_stream_is_kept() -> None:
    noise = random.Random(1).randbytes(200_000)
    coded = gzip.compress(noise)
    decoder = build_decoder("gzip", MAX_BYTES)
    decoded = _decode(decoder, coded[:100_000] + b"\xff" * 1000 + coded[101_000:])
    assert len(decoded) > 90_000
    assert noise.startswith(decoded[:90_000])
    assert decoder.problem is DecodeProblem.DAMAGED


@pytest.mark.parametrize("step", [1, 7, 100_000])
@pytest.mark.parametrize(("coding", "compress"), [("gzip", gzip.compress), ("zstd", zstd.compress)])
def test_concatenated_members_are_decoded_and_trailing_garbage_is_ignored(
    coding: str, compress: Callable[[bytes], bytes], step: int
) -> None:
    decoder = build_decoder(coding, MAX_BYTES)
    assert _decode(decoder, compress(b"one ") + compress(b"") + compress(b"two") + b"\0\0 rubbish", step) == b"one two"
    assert decoder.problem is DecodeProblem.NONE


@pytest.mark.parametrize("coding", ["compress", "gzip, nonsense", "gzip,gzip,gzip,gzip,gzip", "x" * 100_000])
def test_unknown_coding_passes_the_bytes_through(coding: str) -> None:
    decoder = build_decoder(coding, MAX_BYTES)
    assert _decode(decoder, b"\x1f\x9d...") == b"\x1f\x9d..."
    assert decoder.problem is DecodeProblem.UNKNOWN_CODING


@pytest.mark.parametrize(
    "coding", ["", "none", "Identity, ,", "UTF-8", "ISO-8859-1", "windows-1251", "text/html", "8bit"]
)
def test_common_mistakes_in_content_encoding_are_ignored(coding: str) -> None:
    decoder = build_decoder(coding, MAX_BYTES)
    assert _decode(decoder, b"<p>plain") == b"<p>plain"
    assert decoder.problem is DecodeProblem.NONE


@pytest.mark.parametrize("body", [b"<html>plain</html>", b"<", b"\x1f<"])
@pytest.mark.parametrize("step", [1, 100])
def test_uncompressed_body_declared_as_gzip_is_passed_through(body: bytes, step: int) -> None:
    decoder = build_decoder("gzip", MAX_BYTES)
    assert _decode(decoder, body, step) == body
    assert decoder.problem is DecodeProblem.NOT_ENCODED


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "br, br"])
def test_decompression_bomb_does_not_fill_memory(coding: str) -> None:
    compress: dict[str, Callable[[bytes], bytes]]
    compress = {"gzip": gzip.compress, "deflate": zlib.compress, "br": _compress_brotli, "zstd": zstd.compress}
    body = bytes(10 * MAX_BYTES)
    for name in coding.split(", "):
        body = compress[name](body)
    decoder = build_decoder(coding, MAX_BYTES)
    tracemalloc.start()
    size = len(decoder.feed(body))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size <= MAX_BYTES
    assert decoder.problem is DecodeProblem.TOO_LARGE
    # an eighth of slack while a buffer grows, a chunk and the state of each coding
    assert peak < MAX_BYTES * 9 / 8 + 4 * CHUNK_BYTES * len(coding.split())


@given(st.binary(max_size=200), st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip, br"]), st.booleans())
def test_arbitrary_bytes_raise_no_exception(data: bytes, coding: str, with_start: bool) -> None:
    decoder = build_decoder(coding, 1000)
    assert len(_decode(decoder, (ENCODED[coding][:20] if with_start else b"") + data)) <= 1000


EMPTY_STREAMS = {
    "zstd": zstd.compress(b""),
    "gzip": gzip.compress(b""),
}


@pytest.mark.parametrize("coding", EMPTY_STREAMS)
def test_number_of_streams_is_bounded(coding: str) -> None:
    decoder = build_decoder(f"{coding}, gzip", MAX_BYTES * 100)
    _decode(decoder, gzip.compress(EMPTY_STREAMS[coding] * (MAX_STREAMS + 10)))
    assert decoder.problem is DecodeProblem.TOO_MANY_STREAMS
    decoder = build_decoder(f"{coding}, gzip", MAX_BYTES * 100)
    _decode(decoder, gzip.compress(EMPTY_STREAMS[coding] * MAX_STREAMS))
    assert decoder.problem is DecodeProblem.NONE


EMPTY_BLOCKS = b"\x02\x08\x20\x80\x00"  # four empty deflate blocks with the fixed code


@pytest.mark.parametrize("coding", ["deflate", "deflate, gzip", "deflate, gzip, gzip"])
def test_stream_of_empty_blocks_is_not_decoded_to_its_end(coding: str) -> None:
    body = EMPTY_BLOCKS * 200_000
    for _ in coding.split(", ")[1:]:
        body = gzip.compress(body)
    decoder = build_decoder(coding, MAX_BYTES * 100)
    assert not _decode(decoder, body)
    assert decoder.problem is DecodeProblem.PADDED


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_incompressible_body_and_frequent_flushes_are_not_padding(coding: str) -> None:
    body = random.Random(1).randbytes(1_000_000)
    encode = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress, "zstd": zstd.compress}[coding]
    assert decode_body(encode(body), coding, len(body)) == (body, Reason.NONE)


def test_stream_flushed_after_every_character_is_decoded() -> None:
    stream = zlib.compressobj(wbits=31)
    body = b"".join(stream.compress(b"x") + stream.flush(zlib.Z_SYNC_FLUSH) for _ in range(60_000)) + stream.flush()
    assert len(body) > PADDING_BYTES
    assert decode_body(body, "gzip", 100_000) == (b"x" * 60_000, Reason.NONE)


def test_decoding_stops_when_the_cpu_time_of_a_body_is_spent() -> None:
    ticks = itertools.count()
    decoder = BodyDecoder([DECODERS["gzip"]()], MAX_BYTES, clock=lambda: next(ticks) * CPU_LIMIT_SECONDS / 20)
    data = gzip.compress(random.Random(1).randbytes(200_000))
    out = _decode(decoder, data, 3000)
    assert decoder.problem is DecodeProblem.TOO_SLOW
    assert 0 < len(out) < 200_000


def test_decode_body_does_not_copy_a_plain_body() -> None:
    body = b"sand" * 1000
    assert decode_body(body, "", 10_000)[0] is body


@pytest.mark.parametrize(
    ("body", "coding", "result"),
    [
        (b"sand", "", (b"sand", Reason.NONE)),
        (b"sand", "identity", (b"sand", Reason.NONE)),
        (gzip_of(b"sand"), "gzip", (b"sand", Reason.NONE)),
        (b"sand", "gzip", (b"sand", Reason.NONE)),
        (b"sandy", "", (b"sand", Reason.TOO_LARGE)),
        (gzip_of(b"sandy"), "gzip", (b"sand", Reason.TOO_LARGE)),
        (gzip_of(b"sand")[:-3], "gzip", (b"sand", Reason.BAD_ENCODING)),
        (b"sand", "lz9", (b"sand", Reason.BAD_ENCODING)),
    ],
)
def test_decode_body_returns_the_decoded_bytes_and_a_reason(
    body: bytes, coding: str, result: tuple[bytes, Reason]
) -> None:
    assert decode_body(body, coding, 4) == result


def test_decode_body_stops_a_decompression_bomb_at_the_size_limit() -> None:
    body, reason = decode_body(bomb(), "gzip", 1_000_000)
    assert (len(body), reason) == (1_000_000, Reason.TOO_LARGE)
