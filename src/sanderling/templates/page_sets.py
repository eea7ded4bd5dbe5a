"""The pages of a site as sets, and the profile of a part: how many of its pages have each feature."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import log

from msgspec import Struct

from sanderling.fingerprint.structure import is_block_feature
from sanderling.templates.bitsets import union
from sanderling.templates.file_names import recurring
from sanderling.templates.file_series import companions, series, tellers
from sanderling.templates.named_types import called, named_kinds
from sanderling.templates.template_views import PageView
from sanderling.templates.titles import ENDS, Titles, read_titles
from sanderling.urls.tokens import count_common_folders, tokenize_page

LEAST = 4  # pages that carry a token before it can tell anything
MOST, FEW = 0.8, 0.1  # share of the pages of a part that have a block of its own, and of another part


class PageSets(Struct, frozen=True):
    """The pages of a site as sets: which pages carry a token, which have a feature."""

    size: int
    skip: int
    tokens: Mapping[str, int]
    features: Mapping[int, int]
    weight: Mapping[int, float]
    titles: Titles = Titles()
    kinds: Mapping[str, int] = {}  # pages of each kind that the site names
    believed: int = 0  # so many of them, the first, are kinds whatever their pages are built like
    company: Mapping[str, int] = {}  # pages that have another beside them, by what its name has more
    tellers: Mapping[int, int] = {}  # the page that tells of a page, in a directory below
    lists: int = 0  # pages of kinds that are lists: under one title, in several files

    @property
    def everything(self) -> int:
        return (1 << self.size) - 1


def build_page_sets(looks: Sequence[PageView]) -> PageSets:
    """Turn pages into sets; what is on one page only says nothing."""
    skip = count_common_folders(look.url for look in looks)
    said: defaultdict[str, int] = defaultdict(int)
    had: defaultdict[int, int] = defaultdict(int)
    for position, look in enumerate(looks):
        bit = 1 << position
        for token in tokenize_page(look.url, look.title, skip):
            said[token] |= bit
        for feature in look.features:
            had[feature] |= bit
    kept = {feature: pages for feature, pages in had.items() if pages.bit_count() > 1}
    titles = read_titles([look.title for look in looks])
    named = named_kinds(looks, skip, titles, kept)
    kinds = named or recurring(looks) or called(looks, titles)
    titled = {name: pages for name, pages in kinds.items() if name.removeprefix(ENDS) in titles.repeated}
    urls = [look.url for look in looks]
    return PageSets(
        size=len(looks),
        skip=skip,
        tokens={token: pages for token, pages in said.items() if pages.bit_count() >= LEAST},
        features=kept,
        weight={feature: log(len(looks) / pages.bit_count()) for feature, pages in kept.items()},
        titles=titles,
        kinds=kinds,
        believed=sum(name.startswith(ENDS) for name in named),
        company=companions(urls),
        tellers=tellers(urls),
        lists=union(kinds[name] for name in series(titled, urls)),
    )


def profile(sets: PageSets, pages: int) -> dict[int, float]:
    """How many of these pages have each feature, as shares."""
    count = pages.bit_count()
    shares = {feature: (having & pages).bit_count() / count for feature, having in sets.features.items()}
    return {feature: share for feature, share in shares.items() if share}


def containment(small: Mapping[int, float], large: Mapping[int, float], weight: Mapping[int, float]) -> float:
    """Share of the blocks of one profile that the other holds too."""
    blocks = [feature for feature in small if is_block_feature(feature)]
    whole = sum(weight[block] * small[block] for block in blocks)
    shared = sum(weight[block] * min(small[block], large.get(block, 0.0)) for block in blocks)
    return shared / whole if whole else 1.0


def has_own_block(one: Mapping[int, float], other: Mapping[int, float]) -> bool:
    """Some block is on most pages of the one part and on hardly any of the other."""
    return any(
        share >= MOST and other.get(block, 0.0) <= FEW for block, share in one.items() if is_block_feature(block)
    )


def overlap(one: Mapping[int, float], other: Mapping[int, float], weight: Mapping[int, float]) -> float:
    """What two profiles share, of what either has."""
    shared = whole = 0.0
    for feature in one.keys() | other.keys():
        a, b = one.get(feature, 0.0), other.get(feature, 0.0)
        shared += weight[feature] * min(a, b)
        whole += weight[feature] * max(a, b)
    return shared / whole if whole else 1.0


def compute_distinctness(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """How surely a single feature tells two parts apart."""
    return max((abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in one.keys() | other.keys()), default=0.0)
