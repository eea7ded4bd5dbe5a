"""Rules that may merge different pages (N8, N9): each is a switch, all are off by default.

They change the key only. What is sent stays as written.
"""

import re
from collections.abc import Callable

from msgspec import Struct

from sanderling.organise.normalise import split
from sanderling.records import Url

_DEFAULT_PAGE = re.compile(
    r"/(?:index\.(?:html?|php\d?|s?html|aspx?|jsp|cgi|pl)|default\.(?:html?|aspx?))$", re.IGNORECASE
)


class Lossy(Struct, frozen=True):
    """Which lossy rules a crawl asked for."""

    lower_path: bool = False
    drop_final_slash: bool = False
    drop_default_page: bool = False


def loosen(url: Url, rules: Lossy) -> Url:
    """Apply the lossy rules that are on (N8) to a key."""
    host, rest = split(url)
    path, mark, query = rest.partition("?")
    if rules.lower_path:
        path = path.lower()
    if rules.drop_default_page:
        path = _DEFAULT_PAGE.sub("/", path)
    if rules.drop_final_slash:
        path = path.rstrip("/") or "/"
    return Url(host + path + mark + query)


def without_final_slash(url: Url, same: Callable[[Url, Url], bool]) -> Url:
    """Drop a final slash only if `same` saw that both forms give one resource (N9)."""
    shorter = loosen(url, Lossy(drop_final_slash=True))
    return shorter if shorter != url and same(url, shorter) else url
