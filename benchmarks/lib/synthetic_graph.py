"""A web that needs no disk: the links of each page are computed from its number.

Each host is a tree: page m has the children m * FRESH + 1 and so on, found nowhere earlier. In addition a page links
to what real pages link to: the popular pages of its host, its neighbors, and a few pages anywhere that are known
already. Those last ones are what makes a frontier slow: no cache holds them.
"""

from functools import cache

from msgspec import Struct

FRESH = 20
POPULAR = 50
NEAR = 20
ANYWHERE = 10
DEGREE = FRESH + POPULAR + NEAR + ANYWHERE
WORDS = ("guide", "reference", "notes", "release", "tutorial", "index", "history", "about", "install", "examples")
MIX = 0x9E3779B97F4A7C15  # the golden ratio, as in splitmix64


class Web(Struct, frozen=True):
    """A synthetic web of so many hosts, counted from 1; `host` is a pattern like http://h{}.test."""

    hosts: int
    host: str

    def roots(self) -> list[str]:
        """The front pages."""
        return [self.url(number, 0) for number in range(1, self.hosts + 1)]

    def url(self, host: int, page: int) -> str:
        """The URL of a page."""
        return self.host.format(host) + path_of(page)

    def links(self, host: int, page: int) -> list[str]:
        """All links of a page."""
        here = self.host.format(host)
        near = (abs(page - step) for step in range(1, NEAR + 1))
        local = [*range(page * FRESH + 1, (page + 1) * FRESH + 1), *near]
        far = (mixed(host, page, n) for n in range(ANYWHERE))
        return [
            *(here + path_of(other) for other in local),
            *popular(here),
            *(self.url(1 + number % self.hosts, (number >> 20) % (page + 1)) for number in far),
        ]


def path_of(page: int) -> str:
    """Return the path of a page: sections of a thousand pages."""
    if page == 0:
        return "/"
    return f"/{WORDS[page // 1000 % 10]}-{page // 1000}/{WORDS[page % 10]}-{WORDS[page // 10 % 10]}-{page}.html"


def page_at(path: str) -> int:
    """The number of a page by its path."""
    return 0 if path == "/" else int(path[path.rindex("-") + 1 : -len(".html")])


@cache
def popular(host: str) -> list[str]:
    """Return the links of every page of a host."""
    return [host + path_of(page) for page in range(POPULAR)]


def mixed(*numbers: int) -> int:
    """A number that looks like chance and is always the same."""
    state = 0
    for number in numbers:
        state = (state + number + 1) * MIX & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 29
    return state
