"""Build the sort key (SURT) of a URL in CDXJ indexes.

`http://www.Example.org/A?b=2&a=1` becomes `org,example)/a?a=1&b=2`, as by the `surt` package, which takes four times as
long. The key is lossy: compare the full URL after a lookup.
"""

import re
from functools import lru_cache
from urllib.parse import quote_from_bytes, unquote_to_bytes

URL_PATTERN = re.compile(r"(https?)://(?:[^/?#@]*@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?", re.I)
HOST_PATTERN = re.compile(r"(\[[^\]]*\]|[^:]*)(?::([0-9]{0,9}))?")
WWW_PREFIX_PATTERN = re.compile(r"www\d*\.")
SIMPLE_HOST_PATTERN = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z-]+")
SIMPLE_PATH_PATTERN = re.compile(r"(?:/[a-zA-Z0-9!$&'*+,:;=@_~-][a-zA-Z0-9!$&'*+,:;=@._~-]*)+")
SIMPLE_QUERY_PATTERN = re.compile(r"[!-$&-~]*")
SAFE_CHARACTERS = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
DEFAULT_PORTS = {"http": "80", "https": "443"}
PATH_SESSION_PATTERNS = tuple(  # the last session before `.aspx`; no scan passes the next session: linear time
    rf"(.*/){session}((?:(?!(?<=/){session}(?!\.aspx))[^?])+\.aspx.*)"
    for session in (r"\((?:[a-z]\([0-9a-z]{24}\))+\)/", r"\([0-9a-z]{24}\)/")
)
QUERY_SESSION_PATTERNS = (  # compiled on first use, because few URLs have a session id
    r"(.*)(?:jsessionid=[0-9a-z]{32})(?:&(.*))?",
    r"(.*)(?:phpsessid=[0-9a-z]{32})(?:&(.*))?",
    r"(.*)(?:sid=[0-9a-z]{32})(?:&(.*))?",
    r"(.*)(?:ASPSESSIONID[a-z]{8}=[a-z]{24})(?:&(.*))?",
    r"(.*)(?:cfid=(?:(?!cfid=[^&])[^&])+&cftoken=[^&]+)(?:&(.*))?",
)


def build_surt(url: str) -> str:
    match = URL_PATTERN.fullmatch(url) or URL_PATTERN.match(url)
    if not match or not match[2]:
        return quote_from_bytes(url.encode("utf-8", "replace"), SAFE_CHARACTERS + "%#")
    scheme, authority, path, query = match.groups()
    key = f"{_build_authority_key(scheme.lower(), authority)}){_normalize_path(path)}"
    query = _normalize_query(query) if query else ""
    return f"{key}?{query}" if query else key


@lru_cache(maxsize=1024)  # a batch has few hosts
def _build_authority_key(scheme: str, authority: str) -> str:
    """Return the host labels in reverse order, and any non-default port."""
    match = HOST_PATTERN.match(authority)
    host, port = (match[1].strip("[]").lower(), match[2] or "") if match else (authority.lower(), "")
    if not SIMPLE_HOST_PATTERN.fullmatch(host):
        host = _escape(_unescape(host)).replace("..", ".").strip(".").lower()
    if host.startswith("www") and (
        prefix := WWW_PREFIX_PATTERN.match(host)
    ):  # the first label only: `wwww.example.org` is kept
        host = host[prefix.end() :]
    labels = host.split(".")
    return ",".join(reversed(labels)) + (f":{int(port)}" if port and port != DEFAULT_PORTS[scheme] else "")


def _normalize_path(path: str) -> str:
    if not SIMPLE_PATH_PATTERN.fullmatch(path):
        path = _escape(_remove_dot_segments(_unescape(path)))
    path = path.lower()
    for pattern in PATH_SESSION_PATTERNS:
        if ".aspx" in path and (match := re.fullmatch(pattern, path, re.I)):
            path = match[1] + match[2]
    return path[:-1] if path.endswith("/") and len(path) > 1 else path


def _normalize_query(query: str) -> str:
    """Normalize escapes and case, remove session ids, and sort parameters."""
    if not SIMPLE_QUERY_PATTERN.fullmatch(query):
        query = _escape(_unescape(query))
    if "id=" in query.lower() or "sessionid" in query.lower() or "cftoken=" in query.lower():
        for pattern in QUERY_SESSION_PATTERNS:
            if match := re.fullmatch(pattern, query, re.I):
                query = match[1] + (match[2] or "")
    if len(query) < 2:
        return query.lower()
    return "&".join(
        "=".join(pair) for pair in sorted(parameter.split("=", 1) for parameter in query.lower().split("&"))
    )


def _remove_dot_segments(path: bytes) -> bytes:
    """Resolve `.` and `..`, and remove empty segments except the last."""
    segments: list[bytes] = []
    for segment in path.split(b"/")[1:]:
        if segment == b".." and segments:
            segments.pop()
        elif segment != b".":
            segments.append(segment)
    return b"/" + b"/".join([segment for segment in segments[:-1] if segment] + segments[-1:])


def _unescape(text: str) -> bytes:
    before = text.encode("utf-8", "replace")
    while (after := unquote_to_bytes(before)) != before:
        before = after
    return before


def _escape(data: bytes) -> str:
    return quote_from_bytes(data, SAFE_CHARACTERS)
