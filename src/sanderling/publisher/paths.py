"""Canonicalize paths: access log, document root, and middleware agree on the same page."""

import re
from functools import lru_cache
from urllib.parse import parse_qsl, quote, urlencode

MAX_PATH_LENGTH = 2000  # longer paths are not listed
SAFE_CHARACTERS = "/:@!$&'()*+,;=-._~"
UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
PERCENT_ESCAPE_PATTERN = re.compile(r"%([0-9A-Fa-f]{2})")


@lru_cache(maxsize=16384)
def canonicalize_path(raw_path: str) -> str | None:
    """Canonicalize a percent-encoded path. Invalid and overlong paths return None."""
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
    resolved: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == ".." and resolved:
            resolved.pop()
        elif segment not in (".", ".."):
            resolved.append(segment)
    tail = "/" if segments[-1] in (".", "..") and resolved else ""
    return "/" + "/".join(resolved) + tail


def canonicalize_decoded_path(path: str | bytes) -> str | None:
    """Canonicalize a decoded path, such as a file name or PATH_INFO."""
    return canonicalize_path(
        quote(path, safe=SAFE_CHARACTERS, errors="surrogateescape")
        if isinstance(path, str)
        else quote(path, SAFE_CHARACTERS)
    )


def add_page_parameters(path: str, query: str, page_parameters: tuple[str, ...]) -> str:
    """Append only the query parameters that identify a page."""
    if not page_parameters or not query:
        return path
    parameters = sorted((name, value) for name, value in parse_qsl(query[:MAX_PATH_LENGTH]) if name in page_parameters)
    return f"{path}?{urlencode(parameters)}" if parameters else path


def strip_index_file(path: str, index_file: str) -> str:
    """Remove the index file name: /a/index.html and /a/ are the same page."""
    return path[: -len(index_file)] if index_file and path.endswith("/" + index_file) else path
