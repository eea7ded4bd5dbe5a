"""Kinds of pages that have one file name, in directory after directory: `package-tree.html`, `reviews.html`.

A name that recurs may mean nothing: `Vector.html` and `class-use/Vector.html`. It names a kind where pages of that name
are built like each other more than like any other page.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from heapq import nlargest

from sanderling.index.structure_views import Look
from sanderling.organise.tokens import path_of
from sanderling.pages.structure import likeness

NAME = "name:"
USUAL = 0.5  # share of directories that have a page of the name, or lie in one that has
MOST = 64  # names that are looked into: where a site stands there in two languages, all its names recur
ASKED = 8  # pages of a name whose nearest page is looked for
NEARER = 1  # other pages that may be nearer: the one that tells of them all


def recurring(looks: Sequence[Look]) -> dict[str, int]:
    """File names that name a kind, and the pages of each, as sets."""
    pages: defaultdict[str, list[int]] = defaultdict(list)
    homes: defaultdict[str, set[str]] = defaultdict(set)
    for position, look in enumerate(looks):
        name = stem(look.url)
        pages[name].append(position)
        homes[name].add("/".join(path_of(look.url)[0]))
    usual = nlargest(MOST, _usual(homes), key=lambda name: len(pages[name]))
    return {NAME + name: sum(1 << page for page in pages[name]) for name in usual if are_kin(pages[name], looks)}


def stem(url: str) -> str:
    """The name of a file without its ending."""
    name = path_of(url)[1]
    return name.rpartition(".")[0] or name


def _usual(homes: Mapping[str, Collection[str]]) -> list[str]:
    """Names of which most directories, or those they lie in, have a page."""
    within: defaultdict[str, set[str]] = defaultdict(set)
    folders = set[str]().union(*homes.values())
    for folder in folders:
        within[folder.rpartition("/")[0]].add(folder)
    recur = {name: here for name, here in homes.items() if len(here) > 1}
    served = {name: set(here).union(*(within[folder] for folder in here)) for name, here in recur.items()}
    return [name for name, having in served.items() if len(having) >= USUAL * len(folders)]


def are_kin(here: Sequence[int], looks: Sequence[Look]) -> bool:
    """Pages of a name are nearest to each other."""
    inside = set(here)
    others = Counter(look.features for position, look in enumerate(looks) if position not in inside)
    return all(_at_home(position, here, looks, others) for position in here[:: -(-len(here) // ASKED)])


def _at_home(position: int, here: Sequence[int], looks: Sequence[Look], others: Mapping[frozenset[int], int]) -> bool:
    own = looks[position].features
    nearest = max(likeness(own, looks[other].features) for other in here if other != position)
    return sum(count for other, count in others.items() if likeness(own, other) >= nearest) <= NEARER
