"""The sort key of a URL in CDXJ indexes: `http://www.Example.org/A?b=2&a=1` is `org,example)/a?a=1&b=2`.

Replay tools look a URL up by the key that the `surt` package makes, so ours must be the same, lossy as it is (the case
of the path, a leading `www.`, session ids); whoever looks up compares the whole URL afterwards. Written anew because
that package brings a public-suffix list and takes four times as long; most URLs need none of its steps.
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
PATH_SESSION_PATTERNS = (
    r"(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^?]+\.aspx.*)",
    r"(.*/)(?:\([0-9a-z]{24}\)/)([^?]+\.aspx.*)",
)
QUERY_SESSION_PATTERNS = (  # few URLs have one; the patterns are made when the first is met
    r"(.*)(?:jsessionid=[0-9a-z]{32})(?:&(.*))?",
    r"(.*)(?:phpsessid=[0-9a-z]{32})(?:&(.*))?",
    r"(.*)(?:sid=[0-9a-z]{32})(?:&(.*))?",
    r"(.*)(?:ASPSESSIONID[a-z]{8}=[a-z]{24})(?:&(.*))?",
    r"(.*)(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?",
)


def build_surt(url: str) -> str:
    """Make the sort key; what is not a web URL is its own key."""
    found = URL_PATTERN.fullmatch(url) or URL_PATTERN.match(url)
    if not found or not found[2]:
        return quote_from_bytes(url.encode("utf-8", "replace"), SAFE_CHARACTERS + "%#")
    scheme, authority, path, query = found.groups()
    key = f"{_build_authority_key(scheme.lower(), authority)}){_normalize_path(path)}"
    query = _normalize_query(query) if query else ""
    return f"{key}?{query}" if query else key


@lru_cache(maxsize=1024)  # a batch has few hosts
def _build_authority_key(scheme: str, authority: str) -> str:
    """Host labels from the right, and the port unless it goes without saying."""
    found = HOST_PATTERN.match(authority)
    host, port = (found[1].strip("[]").lower(), found[2] or "") if found else (authority.lower(), "")
    if not SIMPLE_HOST_PATTERN.fullmatch(host):
        host = _escape(_unescape(host)).replace("..", ".").strip(".").lower()
    if host.startswith("www") and (
        prefix := WWW_PREFIX_PATTERN.match(host)
    ):  # the first label only: `wwww.example.org` keeps its own
        host = host[prefix.end() :]
    labels = host.split(".")
    return ",".join(reversed(labels)) + (f":{int(port)}" if port and port != DEFAULT_PORTS[scheme] else "")


def _normalize_path(path: str) -> str:
    if not SIMPLE_PATH_PATTERN.fullmatch(path):
        path = _escape(_remove_dot_segments(_unescape(path)))
    path = path.lower()
    for pattern in PATH_SESSION_PATTERNS:
        if ".aspx" in path and (found := re.fullmatch(pattern, path, re.I)):
            path = found[1] + found[2]
    return path[:-1] if path.endswith("/") and len(path) > 1 else path


def _normalize_query(query: str) -> str:
    """Escape alike, drop session ids, lower the case, sort the arguments."""
    if not SIMPLE_QUERY_PATTERN.fullmatch(query):
        query = _escape(_unescape(query))
    if "id=" in query.lower() or "sessionid" in query.lower() or "cftoken=" in query.lower():
        for pattern in QUERY_SESSION_PATTERNS:
            if found := re.fullmatch(pattern, query, re.I):
                query = found[1] + (found[2] or "")
    if len(query) < 2:
        return query.lower()
    return "&".join("=".join(pair) for pair in sorted(arg.split("=", 1) for arg in query.lower().split("&")))


def _remove_dot_segments(path: bytes) -> bytes:
    """Resolve `.` and `..`, and drop empty segments but the last."""
    kept: list[bytes] = []
    for segment in path.split(b"/")[1:]:
        if segment == b".." and kept:
            kept.pop()
        elif segment != b".":
            kept.append(segment)
    return b"/" + b"/".join([segment for segment in kept[:-1] if segment] + kept[-1:])


def _unescape(text: str) -> bytes:
    """Undo percent-encoding until there is none left."""
    before = text.encode("utf-8", "replace")
    while (after := unquote_to_bytes(before)) != before:
        before = after
    return before


def _escape(data: bytes) -> str:
    return quote_from_bytes(data, SAFE_CHARACTERS)
