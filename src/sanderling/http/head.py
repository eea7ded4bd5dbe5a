"""Reading a head: the status line and headers of an answer, as lines of bytes."""

from sanderling.http.content_type import parse_mime_type

HeaderFields = dict[bytes, bytes]
"""Header values by lower-case name."""

LIST_SEPARATORS = {
    b"content-type": b", ",  # no list, and yet read as one: of several types the last counts (WHATWG)
    b"content-encoding": b", ",
    b"x-robots-tag": b"\n",
    b"link": b", ",
}  # may come in several lines: how to join them


def parse_head(lines: list[bytes]) -> tuple[int, HeaderFields]:
    """Read status and headers, names in lower case; of interim answers only the last head counts, trailers never."""
    status = 0
    fields: HeaderFields = {}
    over = True  # no head has begun, or its empty line has come
    for line in lines:
        if over:
            if line.startswith(b"HTTP/"):
                status, fields, over = _parse_status(line), {}, False
            continue
        name, colon, value = line.partition(b":")
        name = name.strip().lower()
        if not colon:
            over = not line.strip(b"\r\n")
        elif name not in fields:
            fields[name] = value.strip()
        elif name in LIST_SEPARATORS:
            fields[name] += LIST_SEPARATORS[name] + value.strip()
    return status, fields


def has_final_head(lines: list[bytes]) -> bool:
    """Return whether a final response head (status 200 or above) came up to its empty line.

    libcurl reports success where a connection is closed between two header lines (RFC 9112, 8: incomplete message).
    """
    status, is_open = 0, False
    for line in lines:
        if is_open:
            is_open = bool(line.strip(b"\r\n")) or not line.endswith(b"\n")
        elif line.startswith(b"HTTP/"):
            status, is_open = _parse_status(line), True
    return status >= 200 and not is_open


def _parse_status(line: bytes) -> int:
    code = line.split(None, 2)[1:2]
    return int(code[0]) if code and len(code[0]) == 3 and code[0].isdigit() else 0


def get_media_type(fields: HeaderFields) -> str:
    """Give the media type, without its parameters; empty if none is declared."""
    return parse_mime_type(fields.get(b"content-type", b"").decode("latin-1"))
