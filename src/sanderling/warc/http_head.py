"""The head of an answer as it is stored: in the form every reader knows, and true to the body beside it."""

import re
from http import HTTPStatus

FRAMING_HEADERS = {b"transfer-encoding", b"content-length"}
REASON_PHRASES = {b"%d" % status: status.phrase.encode() for status in HTTPStatus}
RENAMED_HEADER_PREFIX = b"X-Crawler-"  # what Common Crawl and StormCrawler put before a header that is no longer true
VISIBLE_CHARACTER = re.compile(rb"[!-~]")  # a line without any looks empty to some readers
WELL_FORMED_HEAD = re.compile(rb"(?:[!-~][^\n]*\r\n)+\r\n")
CONTENT_LENGTH_PATTERN = re.compile(rb"\ncontent-length:[ \t]*(\d{1,19})[ \t]*(?=\r\n[^ \t])")


def build_stored_head(head: bytes, body_length: int) -> bytes:
    """Make a received head true to the stored body; nothing else in it changes.

    The client removes transfer coding, so `Transfer-Encoding` and a `Content-Length` that does not fit are renamed
    and the real length is added.
    """
    head = normalize_head(head)
    lower = head.lower()
    said = CONTENT_LENGTH_PATTERN.search(lower)
    true = said is not None and int(said[1]) == body_length and lower.count(b"\ncontent-length") == 1
    return head if true and b"\ntransfer-encoding" not in lower else _rewrite_framing(head, body_length)


def normalize_head(head: bytes) -> bytes:
    """Give a head the form every reader knows: HTTP/2 has no status line, and gets that of HTTP/1.1."""
    head = normalize_head_lines(head)
    return head if head.startswith(b"HTTP/1.") else _normalize_status_line(head)


def _rewrite_framing(head: bytes, body_length: int) -> bytes:
    """Rename the lines that are no longer true and add the length that is."""
    status, *lines = head[:-4].split(b"\r\n")
    kept = [RENAMED_HEADER_PREFIX + line if _is_framing_header(line) else line for line in lines]
    return b"\r\n".join([status, *kept, b"Content-Length: %d" % body_length, b"", b""])


def _is_framing_header(line: bytes) -> bool:
    """Say whether a header line speaks of how long the body is on the wire."""
    return line.partition(b":")[0].strip().lower() in FRAMING_HEADERS


def _normalize_status_line(head: bytes) -> bytes:
    """Give `HTTP/2 200` the form `HTTP/1.1 200 OK`; a head without any status line gets one."""
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
    """Let lines end in CRLF and the only empty one be the last.

    Interim answers (100 Continue, a proxy's CONNECT) that came before the real one are dropped. Trailers that came
    after the body join the head under other names: what they say is nothing readers may take for the head's own.
    """
    if WELL_FORMED_HEAD.fullmatch(head):
        return head
    lines: list[bytes] = []
    over = False
    for line in head.split(b"\n"):
        if line in (b"", b"\r"):
            over = bool(lines)
        elif over and line.startswith(b"HTTP/"):
            lines, over = [line.rstrip()], False
        elif VISIBLE_CHARACTER.search(line):
            lines.append((RENAMED_HEADER_PREFIX if over else b"") + line.rstrip())
    return b"".join([line + b"\r\n" for line in lines]) + b"\r\n"
