"""Partition of a site into page types, without a sample: a decision tree of minimum description length.

A node is split by the feature that saves most bits when each feature is encoded with its frequency in both parts, if
that is more than the cost of the new frequencies (Rissanen 1978). Each view has the same total weight. The tree is
learned from a sample of the pages that depends on their URLs only, so it is the same in every run.
"""

from collections.abc import Collection, Sequence
from math import log, log2

from msgspec import Struct
from xxhash import xxh64_intdigest

from sanderling.templates.concept_coherence import BitCosts, WeightedSet, build_postings, select_sets
from sanderling.templates.page_features import PageView, extract_features
from sanderling.urls.tokens import split_path

MAX_LEARNING_PAGES = 800
MAX_FEATURES = 300
MIN_SHARE = 0.01  # of the pages that have a feature
MIN_PART = 2  # pages
PENALTY = 0.7  # cost of a frequency, in units of log2 of the number of pages
MAX_DEPTH = 12
COMMON_SHARE = 0.9  # of the pages that agree on a part of a URL pattern


class Branch(Struct, frozen=True):
    """A split: pages with `feature` are in `inside`. Leaves are numbers."""

    feature: int
    inside: "Branch | int"
    outside: "Branch | int"


class PageType(Struct, frozen=True):
    """Pages of one type: URL pattern, ids, an example, rarity (IDF)."""

    pattern: str
    ids: tuple[int, ...]
    example: str
    rarity: float


def partition_pages(views: Sequence[PageView]) -> list[PageType]:
    """Partition the pages of a site into types, the rarest first."""
    features = [extract_features(view) for view in views]
    order = sorted(range(len(views)), key=lambda n: (xxh64_intdigest(views[n].url.encode("utf-8", "replace")), n))
    tree = learn_tree([features[n] for n in order[:MAX_LEARNING_PAGES]])
    members: dict[int, list[PageView]] = {}
    for view, found in zip(views, features, strict=True):
        members.setdefault(find_leaf(tree, found), []).append(view)
    types = [_describe_type(part, len(views)) for part in members.values()]
    return sorted(types, key=lambda page_type: (-page_type.rarity, page_type.pattern, page_type.example))


def find_leaf(tree: Branch | int, features: Collection[int]) -> int:
    while isinstance(tree, Branch):
        tree = tree.inside if tree.feature in features else tree.outside
    return tree


def learn_tree(pages: Sequence[Collection[int]]) -> Branch | int:
    sets = select_sets(build_postings(pages), len(pages), MIN_SHARE * len(pages), MAX_FEATURES)
    return _TreeLearner(sets, len(pages)).learn()


class _TreeLearner:
    def __init__(self, sets: Sequence[WeightedSet], page_count: int) -> None:
        self.sets = sets
        self.page_count = page_count
        self.weight = sum(found.weight for found in sets)
        self.leaf_count = 0
        self._costs = BitCosts(page_count)

    def learn(self) -> Branch | int:
        return self._learn_node((1 << self.page_count) - 1, MAX_DEPTH)

    def _learn_node(self, pages: int, depth: int) -> Branch | int:
        split = self._find_split(pages) if depth else None
        if split is None:
            self.leaf_count += 1
            return self.leaf_count - 1
        inside = self._learn_node(pages & split.pages, depth - 1)
        return Branch(split.feature, inside, self._learn_node(pages & ~split.pages, depth - 1))

    def _find_split(self, pages: int) -> WeightedSet | None:
        """Return the set that saves most bits, or None if no split is worth its cost."""
        size = pages.bit_count()
        varied = [
            (found, inside, count)
            for found in self.sets
            if 0 < (count := (inside := found.pages & pages).bit_count()) < size
        ]
        before = sum(found.weight * self._costs.compute(size, count) for found, _, count in varied)
        best, least = None, before - PENALTY * log2(max(2, size)) * self.weight
        for found, inside, count in varied:
            if not MIN_PART <= count <= size - MIN_PART:
                continue
            sizes, after = (count, size - count), 0.0
            for other, others, total in varied:
                both = (inside & others).bit_count()
                after += other.weight * self._costs.compute_split(sizes, both, total - both)
                if after >= least:
                    break
            else:
                best, least = found, after
        return best


def _describe_type(views: Sequence[PageView], page_count: int) -> PageType:
    return PageType(
        build_url_pattern([view.url for view in views]),
        tuple(view.id for view in views),
        min((view.url for view in views), key=lambda url: (len(url), url)),
        log(page_count / len(views)),
    )


def build_url_pattern(urls: Sequence[str]) -> str:
    """Return the path that URLs share, with `*` for what varies: `/news/*.html`."""
    paths = [split_path(url)[:2] for url in urls]
    depth = max(len(folders) for folders, _ in paths)
    if min(len(folders) for folders, _ in paths) == depth:
        folders = [_pick_common([parts[n] for parts, _ in paths]) for n in range(depth)]
    else:
        common = 0
        while all(len(parts) > common and parts[common] == paths[0][0][common] for parts, _ in paths):
            common += 1
        folders = [*paths[0][0][:common], "**"]
    names = [name for _, name in paths]
    name = names[0] if len(set(names)) == 1 else "*" + _find_common_suffix(names)
    return "/" + "/".join([*folders, name])


def _pick_common(parts: Sequence[str]) -> str:
    best = max(sorted(set(parts)), key=parts.count)
    return best if parts.count(best) >= COMMON_SHARE * len(parts) else "*"


def _find_common_suffix(names: Sequence[str]) -> str:
    """Return the common end of names from its first punctuation mark on."""
    shortest = min(names, key=len)
    length = 0
    while length < len(shortest) and len({name[-1 - length] for name in names}) == 1:
        length += 1
    suffix = shortest[len(shortest) - length :]
    start = next(iter(n for n, character in enumerate(suffix) if not character.isalnum()), len(suffix))
    return suffix[start:]
