"""Digests of page bodies without their volatile text."""

import pytest

from sanderling.publisher.body_digest import MAX_BODY_BYTES, digest_body


@pytest.mark.parametrize("part", [b"<!-- 1 -->", b"<script>var n = 1</script>", b"<style>p { margin: 1px }</style>"])
def test_comments_scripts_and_styles_do_not_count(part: bytes) -> None:
    assert digest_body(b"<p>a</p>" + part + b"<p>b</p>") == digest_body(
        b"<p>a</p>" + part.replace(b"1", b"2") + b"<p>b</p>"
    )
    assert digest_body(part + b"<p>a</p>") != digest_body(part + b"<p>b</p>")


@pytest.mark.parametrize("tag", [b"<!--a", b"<script ", b"<style "])
def test_unclosed_markup_reaches_to_the_end(tag: bytes) -> None:
    body = tag * (MAX_BODY_BYTES // len(tag))
    assert digest_body(b"<p>a</p>" + body) == digest_body(b"<p>a</p>" + tag)
