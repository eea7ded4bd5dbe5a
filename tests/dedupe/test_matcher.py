"""The matcher and the link sieve of MIG-10."""

import hashlib

import pytest

from sanderling.dedupe.cache import OccurrenceCache
from sanderling.dedupe.matcher import Course, Fate, Known, LinkSieve, digest, match


def test_sha_256_is_the_default_and_sha_1_can_be_chosen() -> None:
    assert digest(b"x") == hashlib.sha256(b"x").digest()
    assert digest(b"x", "sha1") == hashlib.sha1(b"x").digest()
    with pytest.raises(ValueError, match="no digest 'md5'"):
        digest(b"x", "md5")


def test_a_page_is_stored_replaced_or_discarded() -> None:
    assert match(None, None) is Fate.STORE
    assert match(100.0, 200.0) is Fate.REPLACE
    assert match(100.0, 100.0) is Fate.DISCARD
    assert match(100.0, None) is Fate.DISCARD


def test_a_link_is_looked_for_in_the_cache_before_the_storage() -> None:
    stored = {"b": Known(50.0), "c": Known(50.0, due=True), "d": Known(0.0)}
    sieve = LinkSieve(OccurrenceCache(10), stored.get)
    assert sieve.judge("a") is Course.QUEUE
    assert sieve.judge("a") is Course.DISCARD
    assert sieve.judge("b") is Course.DISCARD
    assert sieve.judge("b", modified=60.0) is Course.REVISIT
    assert sieve.judge("c") is Course.REVISIT
    assert sieve.judge("d", modified=60.0) is Course.DISCARD
    assert sieve.look_ups == 4
    assert sieve.cache.counts["a"] == 2
    assert sieve.duplicates == 3


def test_the_sieve_stays_as_small_as_its_cache() -> None:
    sieve = LinkSieve(OccurrenceCache(10), lambda url: None)
    for number in range(1000):
        sieve.judge(str(number))
    assert len(sieve.cache) == 10
    assert len(sieve._crawled) <= 21
