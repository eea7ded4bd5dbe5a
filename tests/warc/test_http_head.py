"""Tests of normalizing HTTP heads for storage."""

import pytest

from sanderling.warc.http_head import build_stored_head

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n"


def test_transfer_encoding_is_renamed_and_length_added() -> None:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nX: y\r\n\r\n"
    assert build_stored_head(head, 7) == (
        b"HTTP/1.1 200 OK\r\nX-Crawler-transfer-encoding: chunked\r\nX: y\r\nContent-Length: 7\r\n\r\n"
    )


def test_matching_head_is_stored_unchanged() -> None:
    assert build_stored_head(HEAD, 5) == HEAD


@pytest.mark.parametrize(
    ("received", "stored"),
    [
        (b"HTTP/2 404 \r\nserver: x\r\n\r\n", b"HTTP/1.1 404 Not Found\r\nserver: x\r\nContent-Length: 0\r\n\r\n"),
        (b"HTTP/3 799\r\n\r\n", b"HTTP/1.1 799 Unknown\r\nContent-Length: 0\r\n\r\n"),
        (b"", b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
        (b"X: y\r\n\r\n", b"HTTP/1.0 200 OK\r\nX: y\r\nContent-Length: 0\r\n\r\n"),
        (b"HTTP/1.0 200 OK\nX: y\n\n", b"HTTP/1.0 200 OK\r\nX: y\r\nContent-Length: 0\r\n\r\n"),
        (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nX-Trailer: z\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Crawler-X-Trailer: z\r\n\r\n",
        ),
        (
            b"HTTP/1.1 103 Early Hints\nLink: </x>\n\nHTTP/1.1 200 OK\nContent-Length: 0\n\nContent-Encoding: br\n\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Crawler-Content-Encoding: br\r\n\r\n",
        ),
    ],
)
def test_head_is_normalized(received: bytes, stored: bytes) -> None:
    assert build_stored_head(received, 0) == stored
