"""Several sites behind one host: top directories that share no chrome are sites of their own.

A documentation server, a university, a mirror: what lies under `/postgresql/` and under `/sqlite/` was made by other
programs. Templates are learned of each alone, so that the chrome of one does not count as structure of the other.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from sanderling.fingerprint.structure import is_plain_feature
from sanderling.templates.template_views import PageView
from sanderling.urls.tokens import split_path

ENOUGH = 12  # pages before a directory is looked at
CHROME = 0.5  # share of a directory's pages that have a feature of its chrome
SHARED = 0.4  # of the smaller chrome: then it is one site


def get_top_folder(url: str, skip: int) -> str:
    """The top directory of a page, below those that are common to the whole host; empty for pages beside them."""
    folders = split_path(url)[0][skip:]
    return folders[0] if folders else ""


def partition(looks: Sequence[PageView], skip: int) -> dict[str, int]:
    """Number the sites that the top directories of a host belong to; one number if it is all one site."""
    pages: defaultdict[str, list[PageView]] = defaultdict(list)
    for look in looks:
        pages[get_top_folder(look.url, skip)].append(look)
    chromes = {folder: _chrome(members) for folder, members in pages.items() if len(members) >= ENOUGH}
    numbers = _joined(chromes, Counter({folder: len(members) for folder, members in pages.items()}))
    largest = numbers[max(chromes, key=lambda folder: len(pages[folder]))] if chromes else 0
    for folder in pages.keys() - chromes.keys():
        numbers[folder] = _nearest(_chrome(pages[folder]), chromes, numbers, largest)
    return numbers


def _chrome(looks: Sequence[PageView]) -> frozenset[int]:
    having = Counter(feature for look in looks for feature in look.features)
    return frozenset(
        feature for feature, count in having.items() if count >= CHROME * len(looks) and not is_plain_feature(feature)
    )


def _joined(chromes: Mapping[str, frozenset[int]], sizes: Mapping[str, int]) -> dict[str, int]:
    """Give directories with the same chrome the same number; larger ones found sites."""
    numbers: dict[str, int] = {}
    founders: list[str] = []
    for folder in sorted(chromes, key=lambda folder: (-sizes[folder], folder)):
        same = [n for n, founder in enumerate(founders) if _share(chromes[folder], chromes[founder]) >= SHARED]
        if not same:
            founders.append(folder)
        numbers[folder] = same[0] if same else len(founders) - 1
    return numbers


def _nearest(
    chrome: frozenset[int], chromes: Mapping[str, frozenset[int]], numbers: Mapping[str, int], default: int
) -> int:
    best, number = 0.0, default
    for folder, other in chromes.items():
        share = _share(chrome, other)
        if share > best:
            best, number = share, numbers[folder]
    return number


def _share(one: frozenset[int], other: frozenset[int]) -> float:
    least = min(len(one), len(other))
    return len(one & other) / least if least else 0.0
