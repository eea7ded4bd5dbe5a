"""Response heads."""

import pytest

from sanderling.http.head import get_media_type, has_final_head, parse_head


def test_names_are_lower_case_and_the_first_value_counts() -> None:
    head = [b"HTTP/1.1 200 OK\r\n", b"Last-MODIFIED:  then \r\n", b"last-modified: now\r\n", b"\r\n"]
    assert parse_head(head) == (200, {b"last-modified": b"then"})


def test_last_valid_content_type_counts() -> None:
    head = [b"HTTP/1.1 200 OK\r\n", b"Content-Type: text/plain\r\n", b"Content-Type: text/html; charset=x\r\n"]
    assert get_media_type(parse_head([*head, b"Content-Type: none\r\n", b"\r\n"])[1]) == "text/html"


def test_list_headers_are_joined() -> None:
    head = [b"HTTP/2 200\r\n", b"content-encoding: gzip\r\n", b"content-encoding: br\r\n", b"x-robots-tag: a\r\n"]
    assert parse_head([*head, b"x-robots-tag: b\r\n"])[1] == {
        b"content-encoding": b"gzip, br",
        b"x-robots-tag": b"a\nb",
    }


def test_headers_of_interim_responses_are_dropped() -> None:
    head = [b"HTTP/1.1 103 Early\r\n", b'ETag: "early"\r\n', b"\r\n", b"HTTP/1.1 404 No\r\n", b"\r\n"]
    assert parse_head(head) == (404, {})


def test_trailers_are_ignored() -> None:
    head = [b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", b"\r\n", b"Content-Encoding: br\r\n", b"X: z\r\n", b"\r\n"]
    assert parse_head(head) == (200, {b"x": b"y"})


def test_header_that_looks_like_a_status_line_is_ignored() -> None:
    assert parse_head([b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 404: x\r\n", b"X: y\r\n"])[0] == 200


@pytest.mark.parametrize(
    "line", [b"HTTP/1.1\r\n", b"HTTP/1.1 banana\r\n", b"HTTP/1.1 20 OK\r\n", b"HTTP/1.1 \xb2\xb2\xb2\r\n"]
)
def test_invalid_status_is_zero(line: bytes) -> None:
    assert parse_head([line])[0] == 0


@pytest.mark.parametrize(
    ("value", "mime"),
    [
        (b"Text/HTML; charset=x", "text/html"),
        (b"", ""),
        (b" ;", ""),
        (b"\xff" * 500, ""),
        (b"a/" + b"x" * 500, "a/" + "x" * 98),
    ],
)
def test_media_type_is_truncated_and_has_no_parameters(value: bytes, mime: str) -> None:
    assert get_media_type({b"content-type": value}) == mime


def test_line_of_spaces_does_not_end_the_head() -> None:
    lines = [b"HTTP/1.1 200 OK\r\n", b"A: b\r\n", b" \r\n", b"C: d\r\n", b"\r\n", b"E: f\r\n"]
    assert parse_head(lines) == (200, {b"a": b"b", b"c": b"d"})


OK, END = b"HTTP/1.1 200 OK\r\n", b"\r\n"


@pytest.mark.parametrize("lines", [[OK, END], [OK, b"A: b\n", b"\n"], [OK, END, b"Trailer: x\r\n"], [OK, END, OK, END]])
def test_head_is_complete_after_its_empty_line(lines: list[bytes]) -> None:
    assert has_final_head(lines)


@pytest.mark.parametrize(
    "lines",
    [[], [OK], [OK, b"A: b\r\n"], [OK, b"\r"], [b"HTTP/1.1 100 Continue\r\n", END], [OK, END, OK], [b"A: b\r\n", END]],
)
def test_head_without_its_empty_line_is_incomplete(lines: list[bytes]) -> None:
    assert not has_final_head(lines)
