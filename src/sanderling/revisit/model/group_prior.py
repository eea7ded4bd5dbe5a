"""Priors of groups of pages: how change rates are distributed in a directory, file extension or file name.

Pages of a group are similar: legal notes rarely change, lists of articles often. The prior of a page is a mixture
of its group priors. Which kind of group predicts best is learned per site.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from msgspec import Struct

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.change_rate import WEB_PRIOR, RateVector
from sanderling.urls.scope import get_site

GROUP_KINDS = ("place", "ending", "name")


class UrlGroups(NamedTuple):
    """The groups of a page, as keys within its site."""

    site: str
    directories: tuple[str, ...]  # two outermost and its own, outermost first
    extension: str
    file_stem: str
    closest_groups: tuple[str, str, str]  # per kind; an empty key is the site


@lru_cache(64)  # requested repeatedly in a row; a larger cache fragments memory
def parse_url_groups(url: str) -> UrlGroups:
    """Derive groups from a URL: `https://a/de/doc/list.html.fr` is in /de, /de/doc, *.fr and list.*."""
    _, _, rest = url.partition("#")[0].partition("?")[0].partition("://")
    _, _, path = rest.partition("/")
    folders, slash, name = path.rstrip("/").rpartition("/")
    stem, _, endings = name.partition(".")
    directories = _list_directories(folders) if slash else ()
    closest = (directories[-1] if directories else "", f"*.{endings.rpartition('.')[2]}", f"{stem}.*")
    return UrlGroups(f"http://{get_site(url)}", directories, closest[1], closest[2], closest)


@lru_cache(64)  # pages of a directory come together
def _list_directories(folder: str) -> tuple[str, ...]:
    folders = folder.split("/")
    depth = len(folders)
    levels = (1, 2, depth) if depth > 2 else range(1, depth + 1)
    return tuple("/" + "/".join(folders[:level]) for level in levels)


SITE_SHRINKAGE = 8.0  # weight of the site in a group, in pages
MIN_SITE_PAGES = 32  # limits how far one page moves the site prior
MAX_SITE_GROUPS = 4096  # the smallest are dropped
LEARNING_RATE = 0.01
MIN_WEIGHT = 0.01  # lets a kind recover


class GroupPrior(Struct):
    """Page count and rate distribution of a group."""

    page_count: int
    prior: RateVector


class SitePriors:
    """Priors of a site and its groups."""

    def __init__(self, prior: RateVector = WEB_PRIOR) -> None:
        self.prior = prior
        self.page_count = 0
        self.groups: dict[str, GroupPrior] = {}
        self.single_page_groups: set[int] = set()  # hashes: most file names occur once
        self.kind_weights = [1 / len(GROUP_KINDS)] * len(GROUP_KINDS)

    def add_page(self, url_groups: UrlGroups) -> None:
        self.page_count += 1
        for key in filter(None, url_groups.closest_groups):
            if (group := self.groups.get(key)) is not None:
                group.page_count += 1
            else:
                self._start_group(key)

    def remove_page(self, url_groups: UrlGroups) -> None:
        self.page_count = max(self.page_count - 1, 0)
        for key in url_groups.closest_groups:
            if (group := self.groups.get(key)) is None:
                self.single_page_groups.discard(hash_key(key))
                continue
            group.page_count -= 1
            if group.page_count <= 0:
                del self.groups[key]

    def get_prior(self, url_groups: UrlGroups) -> RateVector:
        """Return the rate distribution of a page before its own visits."""
        priors = self._list_priors(url_groups)
        if priors[0] is priors[1] is priors[2]:  # no group has two pages
            return priors[0]
        (a, first), (b, second), (c, third) = zip(self.kind_weights, priors, strict=True)
        return [a * x + b * y + c * z for x, y, z in zip(first, second, third, strict=True)]

    def update_weights(self, url_groups: UrlGroups, evidence: Sequence[float], likelihood: RateVector) -> None:
        """Weight group kinds by how well each predicted the visit of a page."""
        priors = self._list_priors(url_groups)
        if priors[0] is priors[1] is priors[2]:
            return
        updated = [old * new for old, new in zip(evidence, likelihood, strict=True)]
        chances = [
            change_rate.dot(prior, updated) / (change_rate.dot(prior, list(evidence)) or 1.0) for prior in priors
        ]
        self.kind_weights = update_kind_weights(self.kind_weights, chances)

    def update_priors(self, url_groups: UrlGroups, evidence: Sequence[float], vote: float) -> None:
        """Move priors towards the posterior of a page; `vote` is in mean intervals."""
        self.prior = change_rate.shift_prior(
            self.prior,
            *change_rate.compute_posterior(evidence, self.prior),
            vote / max(self.page_count, MIN_SITE_PAGES),
        )
        for key in url_groups.closest_groups:
            group = self.groups.get(key)
            if group is not None and group.page_count > 1:
                self._update_group(group, evidence, min(vote / group.page_count, 1.0))

    def _update_group(self, group: GroupPrior, evidence: Sequence[float], share: float) -> None:
        weights, total = change_rate.compute_posterior(evidence, group.prior)
        site_weight = SITE_SHRINKAGE / (group.page_count + SITE_SHRINKAGE)
        keep, own, site_share = 1 - share, share * (1 - site_weight) / total, share * site_weight
        group.prior = [
            keep * old + own * new + site_share * usual
            for old, new, usual in zip(group.prior, weights, self.prior, strict=True)
        ]

    def _list_priors(self, url_groups: UrlGroups) -> list[RateVector]:
        """List the prior of each group kind; single-page groups use that of the site."""
        groups = map(self.groups.get, url_groups.closest_groups)
        return [group.prior if group is not None and group.page_count > 1 else self.prior for group in groups]

    def _start_group(self, key: str) -> None:
        """Remember the first page of a group by hash; create the group at the second."""
        key_hash = hash_key(key)
        if key_hash not in self.single_page_groups:
            if len(self.single_page_groups) >= MAX_SITE_GROUPS:
                self.single_page_groups.clear()
            self.single_page_groups.add(key_hash)
            return
        self.single_page_groups.discard(key_hash)
        if len(self.groups) >= MAX_SITE_GROUPS:
            self._drop_smallest_groups()
        self.groups[key] = GroupPrior(2, self.prior)

    def _drop_smallest_groups(self) -> None:
        kept = sorted(self.groups.items(), key=lambda item: item[1].page_count, reverse=True)[: MAX_SITE_GROUPS // 2]
        self.groups = dict(kept)


def hash_key(key: str) -> int:
    """Hash a group key. Collisions merge two groups, which does little harm."""
    return crc32(key.encode("utf-8", "replace"))


def update_kind_weights(weights: list[float], likelihoods: list[float]) -> list[float]:
    """Update mixture weights by the likelihood that each component assigned to an observation."""
    posterior = [weight * chance for weight, chance in zip(weights, likelihoods, strict=True)]
    total = sum(posterior)
    if total <= 0:
        return weights
    new_weights = [
        max(weight * (1 - LEARNING_RATE) + LEARNING_RATE * value / total, MIN_WEIGHT)
        for weight, value in zip(weights, posterior, strict=True)
    ]
    return [weight / sum(new_weights) for weight in new_weights]
