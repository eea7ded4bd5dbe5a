"""Pages of a URL pattern are sampled while they have new content."""

import pytest

from sanderling.workers import pattern_sampling
from sanderling.workers.pattern_sampling import FIRST_PAGES, MAX_SAMPLING_INTERVAL, PatternSampler


def compare(sampler: PatternSampler, number: int, content: object, path: str = "/item?id=") -> bool:
    url = f"https://a.org{path}{number}"
    pattern = sampler.count_page(url)
    if pattern is None:
        return False
    sampler.record(pattern, str(content).encode())
    return True


def test_first_pages_are_not_compared() -> None:
    sampler = PatternSampler()
    assert [compare(sampler, n, n) for n in range(FIRST_PAGES + 1)] == [False] * FIRST_PAGES + [True]


def test_fewer_pages_are_compared_the_more_had_new_content_until_one_repeats() -> None:
    sampler = PatternSampler()
    compared = [compare(sampler, n, n) for n in range(1000)]
    assert sum(compared) == pytest.approx(2 * 1000**0.5, abs=5)
    assert sum([compare(sampler, n, n) for n in range(1000, 9000)]) == pytest.approx(
        8000 / MAX_SAMPLING_INTERVAL, abs=5
    )
    later = [compare(sampler, n, "no events") for n in range(9000, 9000 + 4 * MAX_SAMPLING_INTERVAL)]
    assert all(later[2 * MAX_SAMPLING_INTERVAL :])


def test_patterns_are_sampled_independently() -> None:
    sampler = PatternSampler()
    for n in range(500):
        compare(sampler, n, n)
    assert not compare(sampler, 1, "other", path="/day?d=")


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_sampling, "MAX_PATTERNS", 10)
    monkeypatch.setattr(pattern_sampling, "MAX_TOTAL_CONTENTS", 100)
    sampler = PatternSampler()
    for n in range(2000):
        compare(sampler, n, n, path=f"/{'abcdefghijklmnopqrst'[n % 20]}/x?id=")
    for n in range(3000):
        compare(sampler, n, n)
    assert len(sampler._patterns) <= 10
    assert sampler._content_count == sum(len(state.contents) for state in sampler._patterns.values()) <= 100
