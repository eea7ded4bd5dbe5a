"""Normalize URLs to a key, which identifies the URL, and a request URL, which is sent.

ada-url passes the web platform tests; plain links are joined by the faster `_join_plain_url`. Credentials are removed,
because they would be stored in archives and reports.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

import ada_url
from msgspec import Struct

from sanderling.html.native_tables import MAX_URL_LENGTH
from sanderling.models import Host, Reason, Url
from sanderling.urls.query_encoding import encode_query

KEY_VERSION = 1  # increment if the rules below change, and migrate all stored keys
LENGTH_LIMIT = MAX_URL_LENGTH
RAW_LIMIT = 4 * LENGTH_LIMIT  # longer strings are not parsed; includes fragments and white space, which are removed


class NormalizedUrl(Struct, frozen=True, gc=False):
    """URL key and request URL."""

    url: Url  # key, by rules N1 to N7
    request_url: str  # parsed by WHATWG, without fragment and credentials

    @property
    def distinct_request_url(self) -> str:
        """Request URL, or "" if it equals the key."""
        return "" if self.request_url == self.url else self.request_url


class _BaseUrl(Struct, frozen=True, gc=False):
    """Base URL, parsed once for all links of a page."""

    href: str
    folder: str
    normalized: NormalizedUrl


# Characters that WHATWG parsing does not change. No `%`, no `:` before the first slash, no `\`, no white space.
# Possessive quantifiers prevent backtracking.
_PATH = r"[A-Za-z0-9_~!$&()*+,;=@.\-]++(?:/[A-Za-z0-9_~!$&()*+,;=@:.\-]*+)*+"
_TAIL = r"(\?[A-Za-z0-9_~!$&()*+,;=@:/?.\-]*+)?(?:#.*)?"
_RELATIVE = re.compile(rf"((?:\.\./)*+)({_PATH}){_TAIL}", re.DOTALL).fullmatch
_ROOTED = re.compile(rf"(/(?:{_PATH})?){_TAIL}", re.DOTALL).fullmatch
_ABSOLUTE = re.compile(rf"(https?://[a-z0-9.\-]++(?::[0-9]{{1,5}})?)(/(?:{_PATH})?){_TAIL}", re.DOTALL).fullmatch

_SCHEME = re.compile(r"[\s\x00-\x1f]*([A-Za-z][A-Za-z0-9+.\-]*):").match
_PERCENT_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_MALFORMED_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})").search
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def normalize_url(raw: str) -> NormalizedUrl | None:
    """Normalize an absolute URL. None: not http or https, invalid, or too long."""
    return _normalize_href(_parse_url(raw))


def resolve_url(base: str, raw: str, encoding: str = "utf-8") -> NormalizedUrl | None:
    """Resolve and normalize a link of a page with this encoding."""
    return _join_url(_parse_base(base), encode_query(raw, encoding, RAW_LIMIT))


def resolve_urls(base: str, raws: Iterable[str], encoding: str = "utf-8") -> list[NormalizedUrl | None]:
    """Resolve and normalize links of a page, in order."""
    page = _parse_base(base)
    if encoding.lower().startswith("utf"):
        return [_join_url(page, raw) for raw in raws]
    return [_join_url(page, raw if raw.isascii() else encode_query(raw, encoding, RAW_LIMIT)) for raw in raws]


def get_request_url(base: str) -> str | None:
    page = _parse_base(base)
    return page.href if page else None


def truncate_long_url(base: str, raw: str) -> Url | None:
    """Return `LENGTH_LIMIT + 1` characters of a URL that is too long, else None."""
    scheme = _SCHEME(raw[:40])
    if scheme and scheme[1].lower() not in ("http", "https"):
        return None
    href = _parse_url(raw[:RAW_LIMIT], base)
    if href is None or not href.startswith(("http://", "https://")):
        return None
    request_url = _strip_credentials(href.partition("#")[0])
    if len(request_url) <= LENGTH_LIMIT or "/" not in request_url[8:LENGTH_LIMIT]:
        return None
    return Url(request_url[: LENGTH_LIMIT + 1])


def find_rejection_reason(raw: str, base: str = "") -> Reason:
    """Return why a string cannot be normalized, or NONE."""
    scheme = _SCHEME(raw)
    if scheme and scheme[1].lower() not in ("http", "https"):
        return Reason.SCHEME
    if len(raw) > RAW_LIMIT:
        return Reason.TOO_LONG
    href = _parse_url(raw, base)
    if href is None:
        return Reason.BAD_URL
    if not href.startswith(("http://", "https://")):
        return Reason.SCHEME
    return Reason.NONE if _normalize_href(href) else Reason.TOO_LONG


def _join_url(base: _BaseUrl | None, raw: str) -> NormalizedUrl | None:
    if base is None:
        return _normalize_href(_parse_url(raw))
    if raw[:1] == "#":
        return base.normalized
    joined = _join_plain_url(base.folder, raw) if len(raw) <= LENGTH_LIMIT else None
    return joined or _normalize_href(_parse_url(raw, base.href))


@lru_cache(maxsize=8192)  # pages of a folder share most of their links
def _join_plain_url(folder: str, raw: str) -> NormalizedUrl | None:
    """Join a plain link, four times as fast as ada-url. None: not plain."""
    if match := _RELATIVE(raw):
        dot_segments, path, query = match.groups()
        parents = _list_parent_folders(folder)
        start = parents[min(len(dot_segments) // 3, len(parents) - 1)]
    elif match := _ROOTED(raw):
        path, query = match.groups()
        start = get_host(folder)
    elif match := _ABSOLUTE(raw):
        start, path, query = match.groups()
        if not _is_canonical_origin(start):
            return None
    else:
        return None
    if "./" in path or path[-1] == ".":
        return None  # may contain a dot segment
    href = start + path + query if query else start + path
    return NormalizedUrl(Url(href), href) if len(href) <= LENGTH_LIMIT else None


@lru_cache(maxsize=256)
def _list_parent_folders(folder: str) -> tuple[str, ...]:
    """Return the folder and its parents up to the root."""
    origin, path = split_url(folder)
    parts = path.split("/")[1:-1]
    return tuple(f"{origin}/" + "".join(part + "/" for part in parts[:n]) for n in range(len(parts), -1, -1))


@lru_cache(maxsize=4096)
def _is_canonical_origin(origin: str) -> bool:
    """Return whether WHATWG parsing leaves an origin unchanged."""
    return _parse_url(origin) == origin + "/"


@lru_cache(maxsize=256)
def _parse_base(base: str) -> _BaseUrl | None:
    plain = _join_plain_url("", base) if base.startswith(("http://", "https://")) else None
    normalized = plain or normalize_url(base)
    if normalized is None:
        return None
    path = normalized.request_url.partition("?")[0]
    return _BaseUrl(normalized.request_url, path[: path.rindex("/") + 1], normalized)


def _parse_url(raw: str, base: str = "") -> str | None:
    """Parse a URL by WHATWG. None: invalid or too long."""
    if len(raw) > RAW_LIMIT:
        return None
    try:
        return ada_url.join_url(base, raw) if base else ada_url.normalize_url(raw)
    except (ValueError, UnicodeEncodeError):
        return None


def _normalize_href(href: str | None) -> NormalizedUrl | None:
    if href is None or not href.startswith(("http://", "https://")):
        return None
    request_url = _strip_credentials(href.partition("#")[0])
    if len(request_url) > LENGTH_LIMIT:
        return None
    return NormalizedUrl(Url(_normalize_escapes(request_url) if "%" in request_url else request_url), request_url)


def _strip_credentials(href: str) -> str:
    start = href.index("//") + 2
    end = href.index("/", start)
    at = href.rfind("@", start, end)
    return href if at < 0 else href[:start] + href[at + 1 :]


def _normalize_escapes(request_url: str) -> str:
    """Decode unreserved characters and capitalize escapes (N5), unless malformed."""
    if _MALFORMED_ESCAPE(request_url):
        return request_url  # decoding `%%34%31` would give `%41`, a different URL
    return _PERCENT_ESCAPE.sub(_normalize_escape, request_url)


def _normalize_escape(match: re.Match[str]) -> str:
    char = chr(int(match[1], 16))
    return char if char in _UNRESERVED else match[0].upper()


def split_url(url: str) -> tuple[Host, str]:
    """Split a normalized URL into host and path with query."""
    slash = url.index("/", 8)
    return Host(url[:slash]), url[slash:]


def get_host(url: str) -> Host:
    """Return scheme and authority of a normalized URL."""
    return Host(url[: url.index("/", 8)])


def get_hostname(host: str) -> str:
    """Return the name or IP address, without scheme, port and brackets."""
    authority = host.partition("//")[2]
    return authority[1:].partition("]")[0] if authority.startswith("[") else authority.partition(":")[0]
