"""Minimum description length (Rissanen 1978): how natural a set of pages is, and the partition of a site into types.

A set saves bits if every other feature is encoded with its frequency inside and outside of the set, less the cost of
the new frequencies. Each view has the same weight in total. The partition is a decision tree: a node is split by the
feature that saves most bits. It is learned from a sample of the pages that depends on their URLs only, so it is the
same in every run.
"""

from collections.abc import Collection, Sequence
from itertools import takewhile
from math import log, log2

from msgspec import Struct
from xxhash import xxh64_intdigest

from sanderling.templates.page_features import VIEWS, PageView, extract_features, get_view
from sanderling.urls.tokens import split_path

MIN_CONCEPT_PAGES, MAX_MIN_PAGES = 2, 4  # pages of the smallest concepts of a small and of a large site
PAGES_PER_STEP = 100  # growth of a site that raises this minimum by one
MAX_SETS = 600  # that are encoded, the most even ones
PENALTY = 0.15  # cost of a frequency, in units of log2 of the number of pages
MAX_MEASURED = 5_000  # sets per site
MAX_LEARNING_PAGES = 800
MAX_TREE_SETS, MIN_TREE_SHARE = 300, 0.01  # sets that split, and share of the pages of the smallest
MIN_PART = 2  # pages
SPLIT_PENALTY = 0.7  # in units of log2 of half of the pages of the node, the size of an average part
MAX_DEPTH = 12
COMMON_SHARE = 0.9  # of the pages that agree on a part of a URL pattern


def is_concept_size(size: int, page_count: int) -> bool:
    least = min(MAX_MIN_PAGES, MIN_CONCEPT_PAGES + page_count // PAGES_PER_STEP)
    return least <= size < page_count


class WeightedSet(Struct, frozen=True):
    """Reference pages that share features; the lowest of the features; weight."""

    feature: int
    pages: int
    weight: float


class BitCosts:
    """Bits that encode which of some pages have a feature, at its frequency."""

    def __init__(self, page_count: int) -> None:
        self._bits = [0.0] + [n * log2(n) for n in range(1, page_count + 1)]

    def compute(self, page_count: int, having: int) -> float:
        bits = self._bits
        return bits[page_count] - bits[having] - bits[page_count - having]

    def compute_split(self, sizes: tuple[int, int], inside: int, outside: int) -> float:
        """Return the bits of a feature that some pages of both parts have."""
        bits, (left, right) = self._bits, sizes
        return bits[left] - bits[inside] - bits[left - inside] + bits[right] - bits[outside] - bits[right - outside]


class ReferencePages:
    """Pages of a site that stand for the others."""

    def __init__(self, pages: Sequence[Collection[int]]) -> None:
        self.page_count = len(pages)
        self.postings = build_postings(pages)
        self.sets = select_sets(self.postings, self.page_count, 1, MAX_SETS)
        self.costs = BitCosts(self.page_count)
        self._counted = [(found.pages, found.pages.bit_count(), found.weight) for found in self.sets]
        self._bits = sum(weight * self.costs.compute(self.page_count, size) for _, size, weight in self._counted)
        self._penalty = PENALTY * log2(max(2, self.page_count)) * sum(weight for _, _, weight in self._counted)
        self._savings: dict[int, float] = {}

    def measure_saving(self, feature: int) -> float:
        """Return the share of all bits that the pages of a feature save; 0 if they are too few."""
        pages = self.postings.get(feature, 0)
        if pages not in self._savings:
            is_measured = pages.bit_count() > 1 and len(self._savings) < MAX_MEASURED and self._bits
            self._savings[pages] = self._measure(pages) / self._bits if is_measured else 0.0
        return self._savings[pages]

    def _measure(self, pages: int) -> float:
        inside, compute = pages.bit_count(), self.costs.compute_split
        sizes = inside, self.page_count - inside
        after = 0.0
        for other, size, weight in self._counted:
            both = (pages & other).bit_count()
            after += weight * compute(sizes, both, size - both)
        return max(0.0, self._bits - after - self._penalty)


def build_postings(pages: Sequence[Collection[int]]) -> dict[int, int]:
    """Return the pages of each feature as a bit set."""
    postings: dict[int, int] = {}
    for number, features in enumerate(pages):
        for feature in features:
            postings[feature] = postings.get(feature, 0) | 1 << number
    return postings


def select_sets(postings: dict[int, int], page_count: int, min_pages: float, limit: int) -> list[WeightedSet]:
    """Return the distinct sets of at least so many pages, the most even first; each view has weight 1 in total."""
    by_pages: dict[int, list[int]] = {}
    for feature in sorted(postings):
        if max(2, min_pages) <= postings[feature].bit_count() < page_count:
            by_pages.setdefault(postings[feature], []).append(feature)
    views = {pages: {get_view(feature) for feature in features} for pages, features in by_pages.items()}
    counts = [sum(view in found for found in views.values()) for view in range(len(VIEWS))]
    sets = [
        WeightedSet(features[0], pages, sum(1 / counts[view] for view in sorted(views[pages])))
        for pages, features in by_pages.items()
    ]
    sets.sort(key=lambda found: (abs(2 * found.pages.bit_count() - page_count), found.feature))
    return sets[:limit]


# Partition


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
    sets = select_sets(build_postings(pages), len(pages), MIN_TREE_SHARE * len(pages), MAX_TREE_SETS)
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
        best, least = None, before - SPLIT_PENALTY * log2(max(2, size) / 2) * self.weight
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
    name = names[0] if len(set(names)) == 1 else _find_common_start(names) + "*" + _find_common_end(names)
    return "/" + "/".join([*folders, name])


def _pick_common(parts: Sequence[str]) -> str:
    best = max(sorted(set(parts)), key=parts.count)
    return best if parts.count(best) >= COMMON_SHARE * len(parts) else "*"


def _find_common_prefix(names: Sequence[str]) -> str:
    same = takewhile(lambda characters: len(set(characters)) == 1, zip(*names, strict=False))
    return "".join(characters[0] for characters in same)


def _find_common_start(names: Sequence[str]) -> str:
    """Return the common start of names up to its last punctuation mark: `product-`."""
    start = _find_common_prefix(names)
    return start[: next((n for n in range(len(start), 0, -1) if not start[n - 1].isalnum()), 0)]


def _find_common_end(names: Sequence[str]) -> str:
    """Return the common end of names from its first punctuation mark on: `.html`."""
    length = min(map(len, names)) - len(_find_common_start(names))
    end = _find_common_prefix([name[::-1][:length] for name in names])[::-1]
    return end[next((n for n, character in enumerate(end) if not character.isalnum()), len(end)) :]
