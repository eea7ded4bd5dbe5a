"""Normalize HTTP heads for storage: parseable by every WARC reader, with framing that matches the body."""

import re
from http import HTTPStatus

FRAMING_HEADERS = {b"transfer-encoding", b"content-length"}
REASON_PHRASES = {b"%d" % status: status.phrase.encode() for status in HTTPStatus}
RENAMED_HEADER_PREFIX = b"X-Crawler-"  # used by Common Crawl and StormCrawler for headers that no longer apply
VISIBLE_CHARACTER = re.compile(rb"[!-~]")  # some readers take a line without any for the end of the head
WELL_FORMED_HEAD = re.compile(rb"(?:[!-~][^\n]*\r\n)+\r\n")
CONTENT_LENGTH_PATTERN = re.compile(rb"\ncontent-length:[ \t]*(\d{1,19})[ \t]*(?=\r\n[^ \t])")


def build_stored_head(head: bytes, body_length: int) -> bytes:
    """Make the framing headers match the body, which is stored without transfer coding."""
    head = normalize_head(head)
    lower = head.lower()
    declared = CONTENT_LENGTH_PATTERN.search(lower)
    matches = declared is not None and int(declared[1]) == body_length and lower.count(b"\ncontent-length") == 1
    return head if matches and b"\ntransfer-encoding" not in lower else _rewrite_framing(head, body_length)


def normalize_head(head: bytes) -> bytes:
    """Normalize line ends, and give HTTP/2 heads an HTTP/1.1 status line."""
    head = normalize_head_lines(head)
    return head if head.startswith(b"HTTP/1.") else _normalize_status_line(head)


def _rewrite_framing(head: bytes, body_length: int) -> bytes:
    status, *lines = head[:-4].split(b"\r\n")
    headers = [RENAMED_HEADER_PREFIX + line if _is_framing_header(line) else line for line in lines]
    return b"\r\n".join([status, *headers, b"Content-Length: %d" % body_length, b"", b""])


def _is_framing_header(line: bytes) -> bool:
    return line.partition(b":")[0].strip().lower() in FRAMING_HEADERS


def _normalize_status_line(head: bytes) -> bytes:
    """Rewrite `HTTP/2 200` as `HTTP/1.1 200 OK`. Adds a missing status line."""
    first, _, rest = head.partition(b"\r\n")
    if not first.startswith(b"HTTP/"):
        return b"HTTP/1.0 200 OK\r\n" + head
    words = first.split(None, 2)
    code = words[1] if len(words) > 1 and words[1].isdigit() else b"200"
    return (
        b"HTTP/1.1 "
        + code
        + b" "
        + (words[2] if len(words) > 2 else REASON_PHRASES.get(code, b"Unknown"))
        + b"\r\n"
        + rest
    )


def normalize_head_lines(head: bytes) -> bytes:
    """End every line in CRLF and the head in an empty line.

    Interim responses are dropped and trailers renamed.
    """
    if WELL_FORMED_HEAD.fullmatch(head):
        return head
    lines: list[bytes] = []
    in_trailers = False
    for line in head.split(b"\n"):
        if line in (b"", b"\r"):
            in_trailers = bool(lines)
        elif in_trailers and line.startswith(b"HTTP/"):
            lines, in_trailers = [line.rstrip()], False
        elif VISIBLE_CHARACTER.search(line):
            lines.append((RENAMED_HEADER_PREFIX if in_trailers else b"") + line.rstrip())
    return b"".join([line + b"\r\n" for line in lines]) + b"\r\n"
