"""Content codings, undone while a body streams in."""

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

from sanderling.http.decoders import CHUNK_BYTES, DECODERS, MAX_STREAMS
from sanderling.http.decoding import CPU_LIMIT_SECONDS, BodyDecoder, DecodeProblem, build_decoder

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXT = b"".join(b"line %d of a page\n" % n for n in range(5000))
CAP = 1_000_000


def _raw_deflate(data: bytes) -> bytes:
    press = zlib.compressobj(wbits=-15)
    return press.compress(data) + press.flush()


def _quick_brotli(data: bytes) -> bytes:
    return bytes(brotli.compress(data, quality=1))


CODED = {
    "gzip": gzip.compress(TEXT),
    "x-gzip": gzip.compress(TEXT),
    "deflate": zlib.compress(TEXT),
    " Deflate ": _raw_deflate(TEXT),
    "br": brotli.compress(TEXT),
    "zstd": zstd.compress(TEXT),
    "identity": TEXT,
    "": TEXT,
    "gzip, br": brotli.compress(gzip.compress(TEXT)),
    "identity,zstd,,deflate,gzip": gzip.compress(zlib.compress(zstd.compress(TEXT))),
}


def _decoded(decoder: BodyDecoder, data: bytes, step: int = 100_000) -> bytes:
    out = [decoder.feed(data[at : at + step]) for at in range(0, len(data), step)]
    return b"".join([*out, decoder.finish()])


@pytest.mark.parametrize("step", [1, 7, 1024, 100_000])
@pytest.mark.parametrize("coding", CODED)
def test_what_was_coded_is_decoded_however_it_is_cut(coding: str, step: int) -> None:
    decoder = build_decoder(coding, CAP)
    assert _decoded(decoder, CODED[coding], step) == TEXT
    assert decoder.problem is DecodeProblem.NONE
    assert decoder.size == len(TEXT)


@pytest.mark.parametrize("coding", CODED)
def test_an_empty_body_is_empty_in_any_coding(coding: str) -> None:
    decoder = build_decoder(coding, CAP)
    assert decoder.finish() == b""
    assert decoder.problem is DecodeProblem.NONE


@pytest.mark.parametrize("step", [1, 100_000])
@pytest.mark.parametrize("coding", CODED)
def test_at_the_cap_decoding_ends(coding: str, step: int) -> None:
    decoder = build_decoder(coding, 5000)
    assert _decoded(decoder, CODED[coding], step) == TEXT[:5000]
    assert decoder.problem is DecodeProblem.TOO_LARGE
    assert decoder.feed(b"more") == b""


@pytest.mark.parametrize("coding", CODED)
def test_a_body_as_large_as_the_cap_is_not_too_large(coding: str) -> None:
    decoder = build_decoder(coding, len(TEXT))
    assert _decoded(decoder, CODED[coding]) == TEXT
    assert decoder.problem is DecodeProblem.NONE


@pytest.mark.parametrize("step", [1, 100_000])
@pytest.mark.parametrize("coding", [coding for coding in CODED if coding not in ("", "identity")])
def test_of_a_stream_cut_short_the_beginning_is_kept(coding: str, step: int) -> None:
    decoder = build_decoder(coding, CAP)
    half = CODED[coding][: len(CODED[coding]) * 3 // 4]
    decoded = _decoded(decoder, half, step)
    assert TEXT.startswith(decoded)
    assert decoder.problem is DecodeProblem.TRUNCATED


def test_a_wrong_checksum_costs_no_text() -> None:
    coded = bytearray(CODED["gzip"])
    coded[-6] ^= 0xFF
    decoder = build_decoder("gzip", CAP)
    assert _decoded(decoder, bytes(coded)) == TEXT
    assert decoder.problem is DecodeProblem.DAMAGED


def test_of_a_stream_damaged_in_the_middle_the_beginning_is_kept() -> None:
    noise = random.Random(1).randbytes(200_000)
    coded = gzip.compress(noise)
    decoder = build_decoder("gzip", CAP)
    decoded = _decoded(decoder, coded[:100_000] + b"\xff" * 1000 + coded[101_000:])
    assert len(decoded) > 90_000
    assert noise.startswith(decoded[:90_000])
    assert decoder.problem is DecodeProblem.DAMAGED


@pytest.mark.parametrize("step", [1, 7, 100_000])
@pytest.mark.parametrize(("coding", "compress"), [("gzip", gzip.compress), ("zstd", zstd.compress)])
def test_members_follow_each_other_and_rubbish_behind_them_is_left(
    coding: str, compress: Callable[[bytes], bytes], step: int
) -> None:
    decoder = build_decoder(coding, CAP)
    assert _decoded(decoder, compress(b"one ") + compress(b"") + compress(b"two") + b"\0\0 rubbish", step) == b"one two"
    assert decoder.problem is DecodeProblem.NONE


@pytest.mark.parametrize("coding", ["compress", "gzip, nonsense", "gzip,gzip,gzip,gzip,gzip", "x" * 100_000])
def test_an_unknown_coding_hands_the_bytes_on(coding: str) -> None:
    decoder = build_decoder(coding, CAP)
    assert _decoded(decoder, b"\x1f\x9d...") == b"\x1f\x9d..."
    assert decoder.problem is DecodeProblem.UNKNOWN_CODING


@pytest.mark.parametrize(
    "coding", ["", "none", "Identity, ,", "UTF-8", "ISO-8859-1", "windows-1251", "text/html", "8bit"]
)
def test_what_is_written_there_by_mistake_means_nothing(coding: str) -> None:
    decoder = build_decoder(coding, CAP)
    assert _decoded(decoder, b"<p>plain") == b"<p>plain"
    assert decoder.problem is DecodeProblem.NONE


@pytest.mark.parametrize("body", [b"<html>plain</html>", b"<", b"\x1f<"])
@pytest.mark.parametrize("step", [1, 100])
def test_what_was_announced_as_gzip_and_is_not_is_handed_on(body: bytes, step: int) -> None:
    decoder = build_decoder("gzip", CAP)
    assert _decoded(decoder, body, step) == body
    assert decoder.problem is DecodeProblem.NOT_ENCODED


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "br, br"])
def test_a_bomb_never_fills_memory(coding: str) -> None:
    compress: dict[str, Callable[[bytes], bytes]]
    compress = {"gzip": gzip.compress, "deflate": zlib.compress, "br": _quick_brotli, "zstd": zstd.compress}
    bomb = bytes(10 * CAP)
    for name in coding.split(", "):
        bomb = compress[name](bomb)
    decoder = build_decoder(coding, CAP)
    tracemalloc.start()
    size = len(decoder.feed(bomb))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size <= CAP
    assert decoder.problem is DecodeProblem.TOO_LARGE
    # one eighth of slack while a buffer grows, a piece and the state of each coding
    assert peak < CAP * 9 / 8 + 4 * CHUNK_BYTES * len(coding.split())


@given(st.binary(max_size=200), st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip, br"]), st.booleans())
def test_no_bytes_break_it(data: bytes, coding: str, with_start: bool) -> None:
    decoder = build_decoder(coding, 1000)
    assert len(_decoded(decoder, (CODED[coding][:20] if with_start else b"") + data)) <= 1000


EMPTY_STREAMS = {
    "zstd": zstd.compress(b""),
    "gzip": gzip.compress(b""),
}


@pytest.mark.parametrize("coding", EMPTY_STREAMS)
def test_number_of_streams_is_bounded(coding: str) -> None:
    decoder = build_decoder(f"{coding}, gzip", CAP * 100)
    _decoded(decoder, gzip.compress(EMPTY_STREAMS[coding] * (MAX_STREAMS + 10)))
    assert decoder.problem is DecodeProblem.TOO_MANY_STREAMS
    decoder = build_decoder(f"{coding}, gzip", CAP * 100)
    _decoded(decoder, gzip.compress(EMPTY_STREAMS[coding] * MAX_STREAMS))
    assert decoder.problem is DecodeProblem.NONE


def test_decoding_stops_when_the_cpu_time_of_a_body_is_spent() -> None:
    ticks = itertools.count()
    decoder = BodyDecoder([DECODERS["gzip"]()], CAP, clock=lambda: next(ticks) * CPU_LIMIT_SECONDS / 20)
    data = gzip.compress(random.Random(1).randbytes(200_000))
    out = _decoded(decoder, data, 3000)
    assert decoder.problem is DecodeProblem.TOO_SLOW
    assert 0 < len(out) < 200_000
