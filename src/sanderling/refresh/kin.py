"""Which pages are likely to change together: of one site, one directory, one ending, one name."""

from functools import lru_cache
from typing import NamedTuple

KINDS = ("place", "ending", "name")  # which of the three tells most is learned per site


class Kin(NamedTuple):
    """The groups a page belongs to, as keys within its site."""

    site: str
    places: tuple[str, ...]  # its directory and the two highest above it, outermost first
    ending: str
    name: str
    leaves: tuple[str, str, str]  # the closest of each kind; an empty key is the site


@lru_cache(64)  # asked for twice or thrice in a row; what is kept longer only leaves holes in memory
def kin_of(url: str) -> Kin:
    """Read the groups off a URL: `https://a/de/doc/list.html.fr` is of /de, /de/doc, *.fr and list.*"""
    scheme, _, rest = url.partition("#")[0].partition("?")[0].partition("://")
    host, _, path = rest.partition("/")
    folders, slash, name = path.rstrip("/").rpartition("/")
    stem, _, endings = name.partition(".")
    places = _places(folders) if slash else ()
    leaves = (places[-1] if places else "", f"*.{endings.rpartition('.')[2]}", f"{stem}.*")
    return Kin(f"{scheme}://{host}", places, leaves[1], leaves[2], leaves)


@lru_cache(64)  # neighbours come together
def _places(folder: str) -> tuple[str, ...]:
    folders = folder.split("/")
    depth = len(folders)
    levels = (1, 2, depth) if depth > 2 else range(1, depth + 1)
    return tuple("/" + "/".join(folders[:level]) for level in levels)
