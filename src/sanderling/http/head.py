"""Parse status line and header fields of a response."""

from sanderling.http.content_type import parse_mime_type

HeaderFields = dict[bytes, bytes]
"""Header values by lower-case name."""

LIST_SEPARATORS = {
    b"content-type": b", ",  # not a list, but browsers join repeated fields and use the last type (WHATWG)
    b"content-encoding": b", ",
    b"x-robots-tag": b"\n",
    b"link": b", ",
}  # separator for fields that may be repeated; of any other field the first value counts


def parse_head(lines: list[bytes]) -> tuple[int, HeaderFields]:
    """Return status and headers by lower-case name."""
    status = 0
    fields: HeaderFields = {}
    is_complete = True  # before a status line, or after the empty line of a head
    for line in lines:
        if is_complete:
            if line.startswith(b"HTTP/"):
                status, fields, is_complete = _parse_status(line), {}, False
            continue
        name, colon, value = line.partition(b":")
        name = name.strip().lower()
        if not colon:
            is_complete = not line.strip(b"\r\n")
        elif name not in fields:
            fields[name] = value.strip()
        elif name in LIST_SEPARATORS:
            fields[name] += LIST_SEPARATORS[name] + value.strip()
    return status, fields


def has_final_head(lines: list[bytes]) -> bool:
    """Return whether a response head with status 200 or above is complete.

    libcurl succeeds even if the connection is closed between two header lines.
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
    return parse_mime_type(fields.get(b"content-type", b"").decode("latin-1"))
