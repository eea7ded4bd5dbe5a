"""Other names by links: what pages call the same target, and where redirects lead."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from sanderling.search.aliases.mentions import Mention, Wanted, fold

LONGEST = 80
ENDING = re.compile(r"\.\w{1,5}$")
NO_NAMES = frozenset(
    ("here", "click here", "more", "read more", "next", "previous", "prev", "home", "up", "back", "top")
)


class Anchor(NamedTuple):
    """One link: the page it stands on, the page it leads to, its words."""

    source: str
    target: str
    words: str


class Redirect(NamedTuple):
    """One redirect, and the title of the page it leads to."""

    source: str
    target: str
    title: str


def anchor_mentions(anchors: Callable[[], Iterable[Anchor]], wanted: Wanted) -> Iterator[Mention]:
    """Take the other words of links to a target that some link calls by a wanted name; reads the links twice."""
    called: dict[str, set[str]] = {}
    for anchor in anchors():
        name = wanted.names.get(fold(anchor.words))
        if name is not None:
            called.setdefault(anchor.target, set()).add(name)
    for anchor in anchors():
        for name in called.get(anchor.target, ()):
            if _is_name(anchor.words) and fold(anchor.words) != fold(name):
                yield Mention(
                    name, " ".join(anchor.words.split()), "link", f"{anchor.words} → {anchor.target}", anchor.source
                )


def redirect_mentions(redirects: Iterable[Redirect], wanted: Wanted) -> Iterator[Mention]:
    """Take the last part of an address that redirects to a page with a wanted name as its title, or the reverse."""
    for redirect in redirects:
        called = words_of(redirect.source)
        for name, alias in ((redirect.title, called), (called, redirect.title)):
            known = wanted.names.get(fold(name))
            if known is not None and _is_name(alias) and fold(alias) != fold(known):
                said = f"{redirect.source} → {redirect.target}"
                yield Mention(known, alias, "redirect", said, redirect.source)


def words_of(url: str) -> str:
    """Read the last part of an address as words: /wiki/Big_Apple.html says Big Apple."""
    last = unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])
    return " ".join(ENDING.sub("", last).replace("_", " ").replace("+", " ").split())


def _is_name(words: str) -> bool:
    return 1 < len(words.strip()) <= LONGEST and fold(words) not in NO_NAMES and "://" not in words
