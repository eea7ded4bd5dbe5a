"""Other names by links: what pages call the same target, and where redirects lead."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from sanderling.search.aliases.mentions import Mention, NameMatcher, fold_name

MAX_NAME_LENGTH = 80
FILE_SUFFIX = re.compile(r"\.\w{1,5}$")
GENERIC_LINK_TEXTS = frozenset(
    ("here", "click here", "more", "read more", "next", "previous", "prev", "home", "up", "back", "top")
)


class Anchor(NamedTuple):
    """One link: the page it stands on, the page it leads to, its words."""

    source: str
    target: str
    text: str


class Redirect(NamedTuple):
    """One redirect, and the title of the page it leads to."""

    source: str
    target: str
    title: str


def find_anchor_mentions(load_anchors: Callable[[], Iterable[Anchor]], matcher: NameMatcher) -> Iterator[Mention]:
    """Take the other words of links to a target that some link calls by a wanted name; reads the links twice."""
    called: dict[str, set[str]] = {}
    for anchor in load_anchors():
        name = matcher.names.get(fold_name(anchor.text))
        if name is not None:
            called.setdefault(anchor.target, set()).add(name)
    for anchor in load_anchors():
        for name in called.get(anchor.target, ()):
            if _is_name(anchor.text) and fold_name(anchor.text) != fold_name(name):
                yield Mention(
                    name, " ".join(anchor.text.split()), "link", f"{anchor.text} → {anchor.target}", anchor.source
                )


def find_redirect_mentions(redirects: Iterable[Redirect], matcher: NameMatcher) -> Iterator[Mention]:
    """Take the last part of an address that redirects to a page with a wanted name as its title, or the reverse."""
    for redirect in redirects:
        called = extract_url_words(redirect.source)
        for name, alias in ((redirect.title, called), (called, redirect.title)):
            known = matcher.names.get(fold_name(name))
            if known is not None and _is_name(alias) and fold_name(alias) != fold_name(known):
                said = f"{redirect.source} → {redirect.target}"
                yield Mention(known, alias, "redirect", said, redirect.source)


def extract_url_words(url: str) -> str:
    """Read the last part of an address as words: /wiki/Big_Apple.html says Big Apple."""
    last = unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])
    return " ".join(FILE_SUFFIX.sub("", last).replace("_", " ").replace("+", " ").split())


def _is_name(words: str) -> bool:
    return (
        1 < len(words.strip()) <= MAX_NAME_LENGTH and fold_name(words) not in GENERIC_LINK_TEXTS and "://" not in words
    )
