"""What is usual in a group of pages: how their rates of change are spread. Few pages think as their whole site does.

Pages of one folder, ending or name are often alike: legal notes rarely change, lists of news often do. What is thought
of a page before its own visits tell is a mixture of what is usual in its groups; which kind of group knows best is
learned for every site by how well it foretold what visits found.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from msgspec import Struct

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.change_rate import WEB_PRIOR, RateVector

GROUP_KINDS = ("place", "ending", "name")  # which of the three tells most is learned per site


class UrlGroups(NamedTuple):
    """The groups a page belongs to, as keys within its site."""

    site: str
    directories: tuple[str, ...]  # its directory and the two highest above it, outermost first
    extension: str
    file_stem: str
    closest_groups: tuple[str, str, str]  # the closest of each kind; an empty key is the site


@lru_cache(64)  # asked for twice or thrice in a row; what is kept longer only leaves holes in memory
def parse_url_groups(url: str) -> UrlGroups:
    """Read the groups off a URL: `https://a/de/doc/list.html.fr` is of /de, /de/doc, *.fr and list.*"""
    scheme, _, rest = url.partition("#")[0].partition("?")[0].partition("://")
    host, _, path = rest.partition("/")
    folders, slash, name = path.rstrip("/").rpartition("/")
    stem, _, endings = name.partition(".")
    places = _list_directories(folders) if slash else ()
    leaves = (places[-1] if places else "", f"*.{endings.rpartition('.')[2]}", f"{stem}.*")
    return UrlGroups(f"{scheme}://{host}", places, leaves[1], leaves[2], leaves)


@lru_cache(64)  # neighbours come together
def _list_directories(folder: str) -> tuple[str, ...]:
    folders = folder.split("/")
    depth = len(folders)
    levels = (1, 2, depth) if depth > 2 else range(1, depth + 1)
    return tuple("/" + "/".join(folders[:level]) for level in levels)


SITE_SHRINKAGE = 8.0  # pages whose word that of the whole site counts for in a group
MIN_SITE_PAGES = 32  # pages a site counts as, at least, when its habits are moved
MAX_SITE_GROUPS = 4096  # groups of one site; the smallest are forgotten, and all of one page together
LEARNING_RATE = 0.01  # how fast the kind that knows best is learned
MIN_WEIGHT = 0.01  # weight a kind keeps, so that it can come back


class GroupPrior(Struct):
    """The pages of one group, and how probable each rate is among them."""

    page_count: int
    prior: RateVector


class SitePriors:
    """What is usual on one site and in its groups."""

    def __init__(self, prior: RateVector = WEB_PRIOR) -> None:
        self.prior = prior  # of the whole site
        self.page_count = 0
        self.groups: dict[str, GroupPrior] = {}
        self.single_page_groups: set[int] = (
            set()
        )  # hashes of the groups of one page: most pages have a name of their own
        self.kind_weights = [1 / len(GROUP_KINDS)] * len(GROUP_KINDS)

    def add_page(self, url_groups: UrlGroups) -> None:
        """One page more."""
        self.page_count += 1
        for key in filter(None, url_groups.closest_groups):
            if (habit := self.groups.get(key)) is not None:
                habit.page_count += 1
            else:
                self._start_group(key)

    def remove_page(self, url_groups: UrlGroups) -> None:
        """One page less."""
        self.page_count = max(self.page_count - 1, 0)
        for key in url_groups.closest_groups:
            if (habit := self.groups.get(key)) is None:
                self.single_page_groups.discard(hash_key(key))
                continue
            habit.page_count -= 1
            if habit.page_count <= 0:
                del self.groups[key]

    def get_prior(self, url_groups: UrlGroups) -> RateVector:
        """How probable each rate is for a page nothing else is known of."""
        words = self._list_priors(url_groups)
        if words[0] is words[1] is words[2]:  # as at a first visit
            return words[0]
        (a, one), (b, other), (c, third) = zip(self.kind_weights, words, strict=True)
        return [a * x + b * y + c * z for x, y, z in zip(one, other, third, strict=True)]

    def update_weights(self, url_groups: UrlGroups, evidence: Sequence[float], likelihood: RateVector) -> None:
        """Weigh the kinds of group by how probable each held what was found of one of its pages."""
        words = self._list_priors(url_groups)
        if words[0] is words[1] is words[2]:
            return
        told = [old * new for old, new in zip(evidence, likelihood, strict=True)]
        chances = [change_rate.dot(word, told) / (change_rate.dot(word, list(evidence)) or 1.0) for word in words]
        self.kind_weights = update_kind_weights(self.kind_weights, chances)

    def update_priors(self, url_groups: UrlGroups, evidence: Sequence[float], vote: float) -> None:
        """Move what is usual towards one of the pages; `vote` is the time it speaks for, in mean intervals."""
        self.prior = change_rate.shift_prior(
            self.prior,
            *change_rate.compute_posterior(evidence, self.prior),
            vote / max(self.page_count, MIN_SITE_PAGES),
        )
        for key in url_groups.closest_groups:
            habit = self.groups.get(key)
            if habit is not None and habit.page_count > 1:
                self._update_group(habit, evidence, min(vote / habit.page_count, 1.0))

    def _update_group(self, group: GroupPrior, evidence: Sequence[float], share: float) -> None:
        weights, total = change_rate.compute_posterior(evidence, group.prior)
        above = SITE_SHRINKAGE / (group.page_count + SITE_SHRINKAGE)
        keep, own, word = 1 - share, share * (1 - above) / total, share * above
        group.prior = [
            keep * old + own * new + word * usual
            for old, new, usual in zip(group.prior, weights, self.prior, strict=True)
        ]

    def _list_priors(self, url_groups: UrlGroups) -> list[RateVector]:
        """What each kind of group says; the site speaks for those that have but one page."""
        groups = map(self.groups.get, url_groups.closest_groups)
        return [habit.prior if habit is not None and habit.page_count > 1 else self.prior for habit in groups]

    def _start_group(self, key: str) -> None:
        """Note the first page of a group; with the second it has something to say."""
        mark = hash_key(key)
        if mark not in self.single_page_groups:
            if len(self.single_page_groups) >= MAX_SITE_GROUPS:
                self.single_page_groups.clear()
            self.single_page_groups.add(mark)
            return
        self.single_page_groups.discard(mark)
        if len(self.groups) >= MAX_SITE_GROUPS:
            self._drop_smallest_groups()
        self.groups[key] = GroupPrior(2, self.prior)

    def _drop_smallest_groups(self) -> None:
        """Drop the smaller half of the groups."""
        kept = sorted(self.groups.items(), key=lambda item: item[1].page_count, reverse=True)[: MAX_SITE_GROUPS // 2]
        self.groups = dict(kept)


def hash_key(key: str) -> int:
    """Hash the key of a group; two alike are taken for one, and that does little harm."""
    return crc32(key.encode("utf-8", "replace"))


def update_kind_weights(weights: list[float], likelihoods: list[float]) -> list[float]:
    """The weights of several voices after each said how probable it held what was found."""
    said = [weight * chance for weight, chance in zip(weights, likelihoods, strict=True)]
    total = sum(said)
    if total <= 0:
        return weights
    moved = [
        max(weight * (1 - LEARNING_RATE) + LEARNING_RATE * word / total, MIN_WEIGHT)
        for weight, word in zip(weights, said, strict=True)
    ]
    return [weight / sum(moved) for weight in moved]
