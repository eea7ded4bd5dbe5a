"""One spelling per path: what the log, the document root and the middleware call the same page."""

import re
from functools import lru_cache
from urllib.parse import parse_qsl, quote, urlencode

LONGEST = 2000  # bytes of a listed path; a longer one is somebody's attack, or nobody's page
SAFE = "/:@!$&'()*+,;=-._~"
UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")


@lru_cache(maxsize=16384)
def canonical(raw: str) -> str | None:
    """Spell a path as it came over the wire in the one way we use; None if it can be no page of ours."""
    if not raw.startswith("/") or len(raw) > LONGEST:
        return None
    text = ESCAPE.sub(_escape, quote(raw, safe=SAFE + "%", errors="surrogateescape"))
    if "/." in text:
        text = _without_dots(text)
    return text if len(text) <= LONGEST else None


def _escape(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in UNRESERVED else match[0].upper()


def _without_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == ".." and kept:
            kept.pop()
        elif segment not in (".", ".."):
            kept.append(segment)
    tail = "/" if segments[-1] in (".", "..") and kept else ""
    return "/" + "/".join(kept) + tail


def encoded(path: str | bytes) -> str | None:
    """Spell a path that was already decoded, such as a file name or WSGI's PATH_INFO."""
    return canonical(quote(path, safe=SAFE, errors="surrogateescape") if isinstance(path, str) else quote(path, SAFE))


def with_query(path: str, query: str, kept: tuple[str, ...]) -> str:
    """Add the query parameters that name a page of their own; all others are noise."""
    if not kept or not query:
        return path
    named = sorted((name, value) for name, value in parse_qsl(query[:LONGEST]) if name in kept)
    return f"{path}?{urlencode(named)}" if named else path


def without_index(path: str, index: str) -> str:
    """Call a directory's index page by the directory: /a/index.html and /a/ are one page."""
    return path[: -len(index)] if index and path.endswith("/" + index) else path
