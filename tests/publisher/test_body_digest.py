"""Digests of page bodies without their volatile text."""

import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest

from sanderling.publisher.body_digest import BLOCK_BYTES, MAX_BODY_BYTES, BodyDigest


def digest_body(body: bytes, coding: str = "", chunk_size: int = 64 * 1024) -> str:
    digest = BodyDigest(coding)
    for start in range(0, len(body), chunk_size):
        digest.add(body[start : start + chunk_size])
    return digest.compute_digest()


@pytest.mark.parametrize("part", [b"<!-- 1 -->", b"<script>var n = 1</script>", b"<style>p { margin: 1px }</style>"])
def test_comments_scripts_and_styles_do_not_count(part: bytes) -> None:
    assert digest_body(b"<p>a</p>" + part + b"<p>b</p>") == digest_body(
        b"<p>a</p>" + part.replace(b"1", b"2") + b"<p>b</p>"
    )
    assert digest_body(part + b"<p>a</p>") != digest_body(part + b"<p>b</p>")


@pytest.mark.parametrize("tag", [b"<!--a", b"<script ", b"<style "])
def test_unclosed_markup_reaches_to_the_end(tag: bytes) -> None:
    body = tag * ((BLOCK_BYTES - 100) // len(tag))
    assert digest_body(b"<p>a</p>" + body) == digest_body(b"<p>a</p>" + tag)


@pytest.mark.parametrize(
    ("coding", "encode"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", brotli.compress), ("identity", bytes)],
)
def test_content_coding_does_not_count(coding: str, encode: Callable[[bytes], bytes]) -> None:
    body = b"<p>the tide comes in</p>" * 100
    assert digest_body(encode(body), coding, 7) == digest_body(body)
    assert digest_body(encode(body + b"<p>late</p>"), coding) != digest_body(body)


def test_every_block_of_a_large_body_counts() -> None:
    body = b"<p>the tide comes in at 10:15</p>\n" * (3 * BLOCK_BYTES // 34)
    assert digest_body(body)
    assert digest_body(body.replace(b"10:15", b"9:15")) == digest_body(body)
    assert digest_body(body + b"<p>late</p>") != digest_body(body)
    assert digest_body(body[:100] + b"late" + body[100:]) != digest_body(body)


@pytest.mark.parametrize(
    ("body", "coding"),
    [
        (b"", ""),
        (b"a" * (MAX_BODY_BYTES + 1), ""),
        (gzip.compress(b"a" * (MAX_BODY_BYTES + 1)), "gzip"),
        (gzip.compress(b"the tide comes in")[:-12], "gzip"),
        (b"\x1f\x8b damaged", "gzip"),
        (gzip.compress(b"the tide") * 2, "gzip"),
        (b"the tide comes in", "compress"),
    ],
    ids=["empty", "large", "bomb", "truncated", "damaged", "two members", "unknown coding"],
)
def test_bodies_that_cannot_be_decoded_within_the_limit_have_no_digest(body: bytes, coding: str) -> None:
    assert digest_body(body, coding) == ""
