"""Kinds of pages that have one file name, in directory after directory: `package-tree.html`, `reviews.html`.

A name that recurs may mean nothing: `Vector.html` and `class-use/Vector.html`. It names a kind where pages of that name
are built like each other more than like any other page.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from heapq import nlargest

from sanderling.fingerprint.structure import compute_feature_similarity
from sanderling.templates.template_views import PageView
from sanderling.urls.tokens import split_path

NAME = "name:"
USUAL = 0.5  # share of directories that have a page of the name, or lie in one that has
MOST = 64  # names that are looked into: where a site stands there in two languages, all its names recur
ASKED = 8  # pages of a name whose nearest page is looked for
REST = 256  # other pages they are compared with
NEARER = 1  # other pages that may be nearer: the one that tells of them all


def recurring(looks: Sequence[PageView]) -> dict[str, int]:
    """File names that name a kind, and the pages of each, as sets."""
    pages: defaultdict[str, list[int]] = defaultdict(list)
    homes: defaultdict[str, set[str]] = defaultdict(set)
    for position, look in enumerate(looks):
        name = get_file_stem(look.url)
        pages[name].append(position)
        homes[name].add("/".join(split_path(look.url)[0]))
    usual = nlargest(MOST, _usual(homes), key=lambda name: len(pages[name]))
    kinds = [name for name in usual if are_same_kind(pages[name], looks) and are_one(pages[name], looks)]
    return {NAME + name: sum(1 << page for page in pages[name]) for name in kinds}


def get_file_stem(url: str) -> str:
    """The name of a file without its ending."""
    name = split_path(url)[1]
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


def are_same_kind(here: Sequence[int], looks: Sequence[PageView]) -> bool:
    """Pages of a name are nearest to each other."""
    others = _others(here, looks)
    return all(_at_home(position, here, looks, others) for position in _asked(here))


def are_one(here: Sequence[int], looks: Sequence[PageView]) -> bool:
    """Most pages of a name are nearer to each other than half of the other pages are: they are not of two kinds."""
    others, asked = [*_others(here, looks)], _asked(here)
    rest = others[:: -(-len(others) // REST) or 1]
    return all(_is_near(looks[page].features, [looks[p].features for p in asked if p != page], rest) for page in asked)


def _is_near(own: frozenset[int], kin: Sequence[frozenset[int]], rest: Sequence[frozenset[int]]) -> bool:
    near, far = (sorted(compute_feature_similarity(own, other) for other in others) for others in (kin, rest))
    return not near or not far or near[len(near) // 4] >= far[len(far) // 2]


def _asked(here: Sequence[int]) -> Sequence[int]:
    """Some of the pages; an odd step, for a page and one that tells of it often take turns."""
    return here[:: -(-len(here) // ASKED) | 1]


def _others(here: Sequence[int], looks: Sequence[PageView]) -> Counter[frozenset[int]]:
    inside = set(here)
    return Counter(look.features for position, look in enumerate(looks) if position not in inside)


def _at_home(
    position: int, here: Sequence[int], looks: Sequence[PageView], others: Mapping[frozenset[int], int]
) -> bool:
    own = looks[position].features
    nearest = max(compute_feature_similarity(own, looks[other].features) for other in here if other != position)
    return sum(count for other, count in others.items() if compute_feature_similarity(own, other) >= nearest) <= NEARER
