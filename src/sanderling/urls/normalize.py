"""One spelling per URL: the wire form that is sent, and the key that is its identity.

WHATWG parsing is done by ada-url: of the libraries measured it alone passes every http and https case of the web
platform tests. Plain links, which are most links, are joined by the few lines in `_plain`; a test holds both to the
same answers. Credentials in a URL go into neither form: they name a person, not a resource, and would end up in
archives and reports; a site that needs them gets them from the settings.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

import ada_url
from msgspec import Struct

from sanderling.models import Host, Reason, Url

QUERY_BYTES = frozenset(range(0x21, 0x7F)) - frozenset(b"\"#<>'")
QUERY_CODECS = {  # of encodings that browsers and Python call differently, or know differently well
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "big5": "big5hkscs",
    "windows-874": "cp874",
    "iso-8859-8-i": "iso-8859-8",
    "x-mac-cyrillic": "mac-cyrillic",
}
NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


def encode_query(raw: str, encoding: str, max_length: int) -> str:
    """Escape the query in the encoding of its page; the parser would take UTF-8. What is too long stays as it is."""
    if raw.isascii() or "?" not in raw or len(raw) > max_length or encoding.lower().startswith("utf"):
        return raw
    rest, number_sign, fragment = raw.partition("#")
    path, mark, query = rest.partition("?")
    return path + mark + NOT_ASCII.sub(lambda found: _escape_text(found[0], encoding), query) + number_sign + fragment


def _escape_text(text: str, encoding: str) -> str:
    try:
        encoded = text.encode(QUERY_CODECS.get(encoding.lower(), encoding))
        return "".join(chr(byte) if byte in QUERY_BYTES else f"%{byte:02X}" for byte in encoded)
    except UnicodeEncodeError:
        if len(text) > 1:
            return "".join(_escape_text(char, encoding) for char in text)
        return f"%26%23{ord(text)}%3B"
    except LookupError:
        return text


KEY_VERSION = 1  # of the key; a change of rules below is a new number and a migration of every stored key
LENGTH_LIMIT = 2083  # characters of the wire form; what the most restrictive of browsers took
RAW_LIMIT = 4 * LENGTH_LIMIT  # longer strings are not even parsed; fragments and white space may be cut off


class NormalizedUrl(Struct, frozen=True, gc=False):
    """The two forms of one URL."""

    url: Url  # identity: rules N1 to N7
    request_url: str  # what is sent: as written, parsed by WHATWG, without fragment and credentials

    @property
    def distinct_request_url(self) -> str:
        """Give the wire form, or nothing where the key says the same."""
        return "" if self.request_url == self.url else self.request_url


class _BaseUrl(Struct, frozen=True, gc=False):
    """A page's address, taken apart once for all its links."""

    href: str
    folder: str
    normalized: NormalizedUrl


# Characters that WHATWG parsing leaves as they are. No `%`, no `:` before the first slash, no `\`, no white space.
# Quantifiers are possessive, so that no string takes more than one pass.
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
    """Spell an absolute URL; None if it is no http or https URL we can use."""
    return _normalize_href(_parse_url(raw))


def resolve_url(base: str, raw: str, encoding: str = "utf-8") -> NormalizedUrl | None:
    """Spell a link as found on the page `base`; the page's encoding is that of the link's query, as in browsers."""
    return _join_url(_parse_base(base), encode_query(raw, encoding, RAW_LIMIT))


def resolve_urls(base: str, raws: Iterable[str], encoding: str = "utf-8") -> list[NormalizedUrl | None]:
    """Spell all links of one page, in order."""
    page = _parse_base(base)
    if encoding.lower().startswith("utf"):
        return [_join_url(page, raw) for raw in raws]
    return [_join_url(page, raw if raw.isascii() else encode_query(raw, encoding, RAW_LIMIT)) for raw in raws]


def get_request_url(base: str) -> str | None:
    """Spell the address that links are joined to, as it would be sent; None if it is none."""
    page = _parse_base(base)
    return page.href if page else None


def truncate_long_url(base: str, raw: str) -> Url | None:
    """Spell as much of a link as tells that it is too long: one character more than a URL may have. None: it is not."""
    scheme = _SCHEME(raw[:40])
    if scheme and scheme[1].lower() not in ("http", "https"):
        return None
    href = _parse_url(raw[:RAW_LIMIT], base)
    if href is None or not href.startswith(("http://", "https://")):
        return None
    wire = _strip_credentials(href.partition("#")[0])
    return Url(wire[: LENGTH_LIMIT + 1]) if len(wire) > LENGTH_LIMIT and "/" in wire[8:LENGTH_LIMIT] else None


def find_rejection_reason(raw: str, base: str = "") -> Reason:
    """Name the reason why a string gives no URL; NONE if it does."""
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


@lru_cache(maxsize=8192)  # pages of one folder share most of their links
def _join_plain_url(folder: str, raw: str) -> NormalizedUrl | None:
    """Join a link of plain characters by hand, four times as fast; None says: ask the library."""
    if found := _RELATIVE(raw):
        ups, path, query = found.groups()
        ways = _list_parent_folders(folder)
        start = ways[min(len(ups) // 3, len(ways) - 1)]
    elif found := _ROOTED(raw):
        path, query = found.groups()
        start = get_host(folder)
    elif found := _ABSOLUTE(raw):
        start, path, query = found.groups()
        if not _is_canonical_origin(start):
            return None
    else:
        return None
    if "./" in path or path[-1] == ".":
        return None  # perhaps a dot segment
    href = start + path + query if query else start + path
    return NormalizedUrl(Url(href), href) if len(href) <= LENGTH_LIMIT else None


@lru_cache(maxsize=256)
def _list_parent_folders(folder: str) -> tuple[str, ...]:
    """List where `../` leads to, taken 0, 1, 2 ... times; the last is the root of the host."""
    origin, path = split_url(folder)
    parts = path.split("/")[1:-1]
    return tuple(f"{origin}/" + "".join(part + "/" for part in parts[:n]) for n in range(len(parts), -1, -1))


@lru_cache(maxsize=4096)
def _is_canonical_origin(origin: str) -> bool:
    """Tell whether WHATWG parsing leaves this origin as it is written."""
    return _parse_url(origin) == origin + "/"


@lru_cache(maxsize=256)
def _parse_base(base: str) -> _BaseUrl | None:
    plain = _join_plain_url("", base) if base.startswith(("http://", "https://")) else None
    spelling = plain or normalize_url(base)
    if spelling is None:
        return None
    path = spelling.request_url.partition("?")[0]
    return _BaseUrl(spelling.request_url, path[: path.rindex("/") + 1], spelling)


def _parse_url(raw: str, base: str = "") -> str | None:
    """Parse by WHATWG; None where the standard says failure."""
    if len(raw) > RAW_LIMIT:
        return None
    try:
        return ada_url.join_url(base, raw) if base else ada_url.normalize_url(raw)
    except (ValueError, UnicodeEncodeError):
        return None


def _normalize_href(href: str | None) -> NormalizedUrl | None:
    if href is None or not href.startswith(("http://", "https://")):
        return None
    wire = _strip_credentials(href.partition("#")[0])
    if len(wire) > LENGTH_LIMIT:
        return None
    return NormalizedUrl(Url(_normalize_escapes(wire) if "%" in wire else wire), wire)


def _strip_credentials(href: str) -> str:
    start = href.index("//") + 2
    end = href.index("/", start)
    at = href.rfind("@", start, end)
    return href if at < 0 else href[:start] + href[at + 1 :]


def _normalize_escapes(request_url: str) -> str:
    """Decode what need not be encoded and write the rest in capitals (N5); leave malformed escapes wholly alone."""
    if _MALFORMED_ESCAPE(request_url):
        return request_url  # decoding `%%34%31` would give `%41`, another URL
    return _PERCENT_ESCAPE.sub(_normalize_escape, request_url)


def _normalize_escape(found: re.Match[str]) -> str:
    char = chr(int(found[1], 16))
    return char if char in _UNRESERVED else found[0].upper()


def split_url(url: str) -> tuple[Host, str]:
    """Part a spelled URL into host and path with query."""
    slash = url.index("/", 8)
    return Host(url[:slash]), url[slash:]


def get_host(url: str) -> Host:
    """Give scheme and authority of a spelled URL: what one robots.txt speaks for."""
    return Host(url[: url.index("/", 8)])


def get_hostname(host: str) -> str:
    """Give the bare name or address in a Host, without scheme, port and brackets."""
    authority = host.partition("//")[2]
    return authority[1:].partition("]")[0] if authority.startswith("[") else authority.partition(":")[0]
