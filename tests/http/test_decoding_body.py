"""A whole body without its content coding."""

import pytest
from tests.hostile.server import bomb, gzip_of

from sanderling.http.decoding import decode_body
from sanderling.models import Reason


def test_a_plain_body_is_handed_on_without_a_copy() -> None:
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
def test_what_can_be_undone_is_and_the_rest_has_a_reason(
    body: bytes, coding: str, result: tuple[bytes, Reason]
) -> None:
    assert decode_body(body, coding, 4) == result


def test_a_bomb_goes_off_at_the_limit() -> None:
    body, reason = decode_body(bomb(), "gzip", 1_000_000)
    assert (len(body), reason) == (1_000_000, Reason.TOO_LARGE)
