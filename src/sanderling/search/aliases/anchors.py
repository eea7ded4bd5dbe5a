"""Find aliases in anchor texts and redirects."""

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
    source: str
    target: str
    text: str


class Redirect(NamedTuple):
    source: str
    target: str
    title: str


def find_anchor_mentions(load_anchors: Callable[[], Iterable[Anchor]], matcher: NameMatcher) -> Iterator[Mention]:
    """Yield other anchor texts of targets linked by a name. Reads the links twice."""
    target_names: dict[str, set[str]] = {}
    for anchor in load_anchors():
        name = matcher.names.get(fold_name(anchor.text))
        if name is not None:
            target_names.setdefault(anchor.target, set()).add(name)
    for anchor in load_anchors():
        for name in target_names.get(anchor.target, ()):
            if _is_name(anchor.text) and fold_name(anchor.text) != fold_name(name):
                yield Mention(
                    name, " ".join(anchor.text.split()), "link", f"{anchor.text} → {anchor.target}", anchor.source
                )


def find_redirect_mentions(redirects: Iterable[Redirect], matcher: NameMatcher) -> Iterator[Mention]:
    """Yield URL words that redirect to a page titled with a name, and the reverse."""
    for redirect in redirects:
        url_words = extract_url_words(redirect.source)
        for name, alias in ((redirect.title, url_words), (url_words, redirect.title)):
            matched = matcher.names.get(fold_name(name))
            if matched is not None and _is_name(alias) and fold_name(alias) != fold_name(matched):
                evidence = f"{redirect.source} → {redirect.target}"
                yield Mention(matched, alias, "redirect", evidence, redirect.source)


def extract_url_words(url: str) -> str:
    """Return the last path segment as words: /wiki/Big_Apple.html gives Big Apple."""
    segment = unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])
    return " ".join(FILE_SUFFIX.sub("", segment).replace("_", " ").replace("+", " ").split())


def _is_name(words: str) -> bool:
    return (
        1 < len(words.strip()) <= MAX_NAME_LENGTH and fold_name(words) not in GENERIC_LINK_TEXTS and "://" not in words
    )
