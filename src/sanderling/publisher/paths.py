"""One spelling per path: what the log, the document root and the middleware call the same page."""

import re
from functools import lru_cache
from urllib.parse import parse_qsl, quote, urlencode

MAX_PATH_LENGTH = 2000  # bytes of a listed path; a longer one is somebody's attack, or nobody's page
SAFE_CHARACTERS = "/:@!$&'()*+,;=-._~"
UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
PERCENT_ESCAPE_PATTERN = re.compile(r"%([0-9A-Fa-f]{2})")


@lru_cache(maxsize=16384)
def canonicalize_path(raw_path: str) -> str | None:
    """Spell a path as it came over the wire in the one way we use; None if it can be no page of ours."""
    if not raw_path.startswith("/") or len(raw_path) > MAX_PATH_LENGTH:
        return None
    text = PERCENT_ESCAPE_PATTERN.sub(
        _normalize_escape, quote(raw_path, safe=SAFE_CHARACTERS + "%", errors="surrogateescape")
    )
    if "/." in text:
        text = _remove_dot_segments(text)
    return text if len(text) <= MAX_PATH_LENGTH else None


def _normalize_escape(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in UNRESERVED else match[0].upper()


def _remove_dot_segments(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == ".." and kept:
            kept.pop()
        elif segment not in (".", ".."):
            kept.append(segment)
    tail = "/" if segments[-1] in (".", "..") and kept else ""
    return "/" + "/".join(kept) + tail


def canonicalize_decoded_path(path: str | bytes) -> str | None:
    """Spell a path that was already decoded, such as a file name or WSGI's PATH_INFO."""
    return canonicalize_path(
        quote(path, safe=SAFE_CHARACTERS, errors="surrogateescape")
        if isinstance(path, str)
        else quote(path, SAFE_CHARACTERS)
    )


def add_page_parameters(path: str, query: str, page_parameters: tuple[str, ...]) -> str:
    """Add the query parameters that name a page of their own; all others are noise."""
    if not page_parameters or not query:
        return path
    named = sorted((name, value) for name, value in parse_qsl(query[:MAX_PATH_LENGTH]) if name in page_parameters)
    return f"{path}?{urlencode(named)}" if named else path


def strip_index_file(path: str, index_file: str) -> str:
    """Call a directory's index page by the directory: /a/index.html and /a/ are one page."""
    return path[: -len(index_file)] if index_file and path.endswith("/" + index_file) else path
