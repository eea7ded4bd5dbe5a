"""File names that go on after others: `Foo-members.html` after `Foo.html`, `globals_vars.html` after `globals.html`.

What goes on may be another kind of page, which then stands beside pages of one kind (`companions`), or the same kind: a
series, as a list in several files. Another kind of page may also stand in a directory below (`tellers`).
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from sanderling.templates.bitsets import members

COMPANY = 32  # kinds of pages that stand beside others
LEAST = 4  # pages that have such a page beside them
SEPARATOR = re.compile(r"[-_.]")


def companions(urls: Sequence[str]) -> dict[str, int]:
    """Which pages have another beside them whose name goes on: `Foo.html` has `Foo-members.html`, by `-members`."""
    stems = {_stem(url): position for position, url in enumerate(urls)}
    found: defaultdict[str, int] = defaultdict(int)
    for stem in stems:
        for part in SEPARATOR.finditer(stem, stem.rfind("/") + 1):
            position = stems.get(stem[: part.start()])
            if position is not None:
                found[stem[part.start() :]] |= 1 << position
    most = sorted(found.items(), key=lambda item: (-item[1].bit_count(), item[0]))[:COMPANY]
    return {more: pages for more, pages in most if pages.bit_count() >= LEAST}


def series(kinds: Mapping[str, int], urls: Sequence[str]) -> frozenset[str]:
    """Kinds within which a name goes on after that of another page of the kind: `globals_vars.html`."""
    stems = [_stem(url) for url in urls]
    return frozenset(name for name, pages in kinds.items() if _goes_on({stems[at] for at in members(pages)}))


def tellers(urls: Sequence[str]) -> dict[int, int]:
    """The page of the same name in a directory below, which tells of a page: `class-use/Foo.html` of `Foo.html`."""
    places = {url: position for position, url in enumerate(urls)}
    found: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for url, teller in places.items():
        folder, _, name = url.rpartition("/")
        above, _, below = folder.rpartition("/")
        position = places.get(f"{above}/{name}")
        if position is not None:
            found[below][position] = teller
    return max(found.values(), key=len, default={})


def _goes_on(stems: Collection[str]) -> bool:
    return any(
        stem[: part.start()] in stems for stem in stems for part in SEPARATOR.finditer(stem, stem.rfind("/") + 1)
    )


def _stem(url: str) -> str:
    """A URL without the ending of its file name, if it has one; the dots of the host are no endings."""
    folder, slash, name = url.rpartition("/")
    return folder + slash + (name.rpartition(".")[0] or name)
