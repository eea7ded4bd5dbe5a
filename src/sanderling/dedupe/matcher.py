"""The duplicate eliminator of MIG-10 (SPEC 8): the matcher for pages, the link extractor's decision for URLs."""

import hashlib
from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from sanderling.dedupe.cache import OccurrenceCache

ALGORITHMS = ("sha256", "sha1")  # the thesis uses SHA-1, which has public collisions since 2017


def digest(body: bytes, algorithm: str = "sha256") -> bytes:
    """Digest a body with its content coding removed."""
    if algorithm not in ALGORITHMS:
        raise ValueError(f"no digest {algorithm!r}; there are {' and '.join(ALGORITHMS)}")
    return hashlib.new(algorithm, body, usedforsecurity=False).digest()


class Fate(StrEnum):
    """What becomes of a page that was downloaded."""

    STORE = "store"  # never seen: store it, and extract its links
    REPLACE = "replace"  # seen, and modified since
    DISCARD = "discard"  # seen, and not newer


def match(known: float | None, modified: float | None) -> Fate:
    """Judge a page by when the page of the same digest was last modified; None if there is none or nobody says."""
    if known is None:
        return Fate.STORE
    return Fate.REPLACE if modified is not None and modified > known else Fate.DISCARD


class Course(StrEnum):
    """What becomes of a link that was found."""

    QUEUE = "queue"  # never met
    REVISIT = "revisit"  # known, and modified since the last crawl
    DISCARD = "discard"  # known, and not newer: one more occurrence


class Known(Struct, frozen=True):
    """What the storage says of a URL."""

    crawled_at: float  # 0 if it is known and was not crawled yet
    due: bool = False  # its change frequency says that it is time


class LinkSieve:
    """Asks the cache, then the storage; counts what each spared."""

    def __init__(self, cache: OccurrenceCache, storage: Callable[[str], Known | None]) -> None:
        self.cache = cache
        self.storage = storage
        self.duplicates = self.look_ups = 0
        self._crawled: dict[str, float] = {}

    def judge(self, url: str, modified: float | None = None) -> Course:
        """Say what to do with a normalised link; `modified` is what a sitemap says."""
        if self.cache.look(url):
            return self._known(Known(self._crawled.get(url, 0.0)), modified)
        self.look_ups += 1
        known = self.storage(url)
        self._keep(url, known)
        if known is None:
            return Course.QUEUE
        return self._known(known, modified)

    def _keep(self, url: str, known: Known | None) -> None:
        self.cache.keep(url)
        self._crawled[url] = known.crawled_at if known else 0.0
        if len(self._crawled) > 2 * self.cache.capacity:
            self._crawled = {kept: at for kept, at in self._crawled.items() if kept in self.cache}

    def _known(self, known: Known, modified: float | None) -> Course:
        if known.crawled_at and (known.due or (modified is not None and modified > known.crawled_at)):
            return Course.REVISIT
        self.duplicates += 1
        return Course.DISCARD
