"""Class names and ids that sound like furniture, and the elements that have them."""

import re
from collections.abc import Iterable
from itertools import compress

from sanderling.pages.parse import Document, Element, values

TELLING = ("cookie", "consent", "onetrust", "newsletter", "advert", "breadcrumb")  # wherever in a name
ENDINGS = ("banner", "popup", "modal", "promo", "sidebar", "footer", "navbar", "menu", "menubar")  # of a word of a name
SIGNS = tuple(map(str.encode, (*TELLING, *ENDINGS)))
NO_LETTERS = bytes(set(range(256)) - set(b"abcdefghijklmnopqrstuvwxyz\n"))
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
WORD = re.compile(r"[a-z]+")
NEVER = frozenset(("html", "body", "main", "h1", "h2", "h3", "h4", "h5", "h6", "th", "td"))
MAX_KNOWN = 20_000  # class names remembered; a site uses the same ones on every page


class _Known(dict[str, bool]):
    """Whether a class name or id sounds like furniture, remembered."""

    def __missing__(self, name: str) -> bool:
        if len(self) >= MAX_KNOWN:
            self.clear()
        value = self[name] = _is_telling(name)
        return value


def _is_telling(name: str) -> bool:
    """Say whether a class name or id is one of menus, banners and the like."""
    words = WORD.findall(CAMEL.sub(" ", name).lower())
    whole = "".join(words)
    return any(word.endswith(ENDINGS) for word in words) or any(part in whole for part in TELLING)


_known = _Known({"": False})


def sounds_like_furniture(name: str) -> bool:
    """Say whether a class name or id is one of menus, banners and the like."""
    return _known[name]


def hinted(tree: Document) -> list[Element]:
    """Find the elements whose class or id sounds like furniture."""
    found = [element for name in ("class", "id") for element in _telling(tree.select(f"[{name}]"), name)]
    return [element for element in dict.fromkeys(found) if element.tag not in NEVER]


def _telling(elements: list[Element], name: str) -> Iterable[Element]:
    """Choose the elements whose attribute of this name sounds like furniture; classes are few, most ids are new."""
    names = values(elements, name)
    if name == "id" and not _may_tell(names):
        return ()
    telling = set(filter(_known.__getitem__, set(names)))
    return compress(elements, map(telling.__contains__, names)) if telling else ()


def _may_tell(names: list[str]) -> bool:
    """Say whether one of many names may sound like furniture: the letters of such a name are there."""
    letters = "\n".join(names).lower().encode("utf-8", "replace").translate(None, NO_LETTERS)
    return any(map(letters.__contains__, SIGNS))
