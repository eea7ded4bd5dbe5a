"""A path as it is spelled and as web servers may read it: what an owner keeps back has no other way in."""

import posixpath
import re
from functools import lru_cache
from urllib.parse import quote, unquote

from sanderling.organise.normalise import normalise, split

TWO_WAYS = re.compile(r"[%\\;]|//|/\.")  # a server may read such a path as another one
PARAMETERS = re.compile(r";[^/]*")  # of a segment; some servers cut them off before they resolve dots
ANY = "http://any.example"
Readings = tuple[str, str, str]  # as spelled, as most servers read it, as servers do that cut parameters off


def readings(path: str) -> Readings:
    """The ways to read a path."""
    return (path, as_read(path), as_read(path, cuts=True)) if TWO_WAYS.search(path) else (path, path, path)


def as_read(path: str, cuts: bool = False) -> str:
    """A path as many web servers read it: decoded, slashes merged, dots resolved; `/a/..%2fb?c` is `/b?c`."""
    before, mark, query = path.partition("?")
    name = unquote(before).replace("\\", "/")
    name = PARAMETERS.sub("", name) if cuts else name
    plain = posixpath.normpath("/" + name.lstrip("/"))
    slash = "/" if name.endswith(("/", "/.", "/..")) and plain != "/" else ""
    return plain + slash + mark + unquote(query)


def request_urls(url: str, site: str) -> set[str]:
    """Return a URL of a site and those of the other readings of its path: `/a%2fb` may be answered as `/a/b`."""
    path = url[len(site) :] or "/"
    return {url, *(site + quote(one, safe="/?&=;:@!$'()*+,~") for one in readings(path)[1:] if one != path)}


@lru_cache(maxsize=256)
def admitting(prefixes: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """What each reading of a path has to begin with."""
    return tuple(zip(*(readings(_spelled(prefix)) for prefix in prefixes), strict=True)) or ((), (), ())


@lru_cache(maxsize=256)
def hiding(prefixes: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """What no reading of a path may begin with; `/a;b` does not hide all of `/a`."""
    spelled, read, _ = admitting(prefixes)
    return spelled, read, read


def _spelled(prefix: str) -> str:
    """As we spell URLs: `/café/` is `/caf%C3%A9/`."""
    spelling = normalise(ANY + prefix) if prefix.startswith("/") else None
    return split(spelling.url)[1] if spelling is not None else prefix
