"""Value of a crawled collection by pages fetched: PageRank mass, in-link mass, relevant pages."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

from msgspec import Struct

DAMPING = 0.85
STEPS = 60
K1, B = 1.2, 0.75  # of BM25, the usual values
WORD = re.compile(r"[^\W\d_]{2,40}")


class Graph(Struct, frozen=True):
    """Pages by URL, with the places of those they link to."""

    urls: tuple[str, ...]
    links: tuple[tuple[int, ...], ...]


def pagerank(graph: Graph) -> list[float]:
    """PageRank of all pages; it adds up to 1."""
    count = len(graph.urls)
    rank = [1 / count] * count
    for _ in range(STEPS):
        new, lost = [0.0] * count, 0.0
        for place, targets in enumerate(graph.links):
            if not targets:
                lost += rank[place]
                continue
            share = rank[place] / len(targets)
            for target in targets:
                new[target] += share
        rank = [(1 - DAMPING + DAMPING * lost) / count + DAMPING * value for value in new]
    return rank


def in_links(graph: Graph) -> list[float]:
    """The share of all links that lead to each page."""
    counts = Counter(target for targets in graph.links for target in targets)
    total = sum(counts.values())
    return [counts[place] / total for place in range(len(graph.urls))]


def curve(order: Sequence[str], mass: Mapping[str, float], steps: int = 100) -> list[float]:
    """The mass collected after each hundredth of the pages."""
    sums, total = [0.0], 0.0
    for url in order:
        total += mass.get(url, 0.0)
        sums.append(total)
    count = len(mass)
    return [sums[min(len(sums) - 1, round(step / steps * count))] for step in range(steps + 1)]


def bm25(query: str, texts: Mapping[str, str]) -> dict[str, float]:
    """How relevant each text is that has all the words, by a measure that shares nothing with the crawler's own."""
    words = {url: Counter(WORD.findall(text.lower())) for url, text in texts.items()}
    lengths = {url: sum(counts.values()) for url, counts in words.items()}
    mean = sum(lengths.values()) / max(1, len(lengths))
    terms = WORD.findall(query.lower())
    scores = dict.fromkeys((url for url, counts in words.items() if all(counts[term] for term in terms)), 0.0)
    for term in terms:
        having = sum(1 for counts in words.values() if counts[term])
        weight = log(1 + (len(texts) - having + 0.5) / (having + 0.5))
        for url in scores:
            often = words[url][term]
            scores[url] += weight * often * (K1 + 1) / (often + K1 * (1 - B + B * lengths[url] / mean))
    return scores


def relevant(scores: Mapping[str, float], most: int) -> set[str]:
    """The best of those that have a score at all."""
    return set(sorted(scores, key=lambda url: (-scores[url], url))[: max(1, most)])
