"""Popularity from access logs (LIT-POP, Chandramouli): which pages people ask for, and what it tells of their rank.

Four counts for each path: total and unique requests from outside (TEC, UEC) and from the owner's own machines (TIC,
UIC). Each count alone orders pages; how well it does so, against the PageRank of pages that are stored already, is its
accuracy. The weight score adds the counts, each by its accuracy, so owners who inflate their own hits gain little:
WeightScore = (TEC * acc(TEC) + UEC * acc(UEC) + TIC * acc(TIC) + UIC * acc(UIC)) / (TEC + UEC + TIC + UIC).

The two learners guess the class of a page (of three by PageRank): TAC-L from the total count, SAC-L from the four.
"""

import gzip
import ipaddress
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from heapq import nsmallest
from io import BufferedIOBase
from math import log1p
from pathlib import Path

from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.publisher.access_log import LONGEST, Line, read_line
from sanderling.publisher.crawlers import is_machine
from sanderling.urls.normalize import normalise, split

CLASSES = 3
DEEPEST = 6
LEAVES = 5  # samples in the smallest leaf
CUTS = 16  # places of each feature where a cut is tried
NEIGHBOURS = 7
MOST_SAMPLES = 500
GRAIN = 4  # steps in which features are told apart by nearest neighbours

Sample = Sequence[float]
Guess = Callable[[Sample], float]


class Tree(Struct, frozen=True):
    """A node: a leaf with a mean, or a question with two answers."""

    mean: float
    feature: int = -1
    cut: float = 0.0
    below: "Tree | None" = None
    above: "Tree | None" = None

    @staticmethod
    def grow(samples: Sequence[Sample], labels: Sequence[int], depth: int = DEEPEST) -> "Tree":
        """Split where the variance of the labels falls most."""
        mean = sum(labels) / len(labels)
        best = _best_cut(samples, labels) if depth and len(samples) >= 2 * LEAVES else None
        if best is None:
            return Tree(mean)
        feature, cut = best
        sides = [[n for n, s in enumerate(samples) if (s[feature] >= cut) is side] for side in (False, True)]
        low, high = (Tree.grow([samples[n] for n in side], [labels[n] for n in side], depth - 1) for side in sides)
        return Tree(mean, feature, cut, low, high)

    def guess(self, sample: Sample) -> float:
        """The mean class of the leaf a sample falls into."""
        node = self
        while node.below is not None and node.above is not None:
            node = node.above if sample[node.feature] >= node.cut else node.below
        return node.mean


def _best_cut(samples: Sequence[Sample], labels: Sequence[int]) -> tuple[int, float] | None:
    best, found = _spread(labels) - 1e-9, None
    for feature in range(len(samples[0])):
        values = sorted({sample[feature] for sample in samples})
        for cut in values[1 :: max(1, len(values) // CUTS)]:
            low = [label for sample, label in zip(samples, labels, strict=True) if sample[feature] < cut]
            high = [label for sample, label in zip(samples, labels, strict=True) if sample[feature] >= cut]
            if min(len(low), len(high)) >= LEAVES and (left := _spread(low) + _spread(high)) < best:
                best, found = left, (feature, cut)
    return found


def _spread(labels: Sequence[int]) -> float:
    """The sum of squares around the mean."""
    total = sum(labels)
    return sum(label * label for label in labels) - total * total / len(labels) if labels else 0.0


def neighbours(samples: Sequence[Sample], labels: Sequence[int], k: int = NEIGHBOURS) -> Guess:
    """Guess by the mean class of the k samples that are nearest."""
    step = max(1, len(samples) // MOST_SAMPLES)
    known = list(zip(samples[::step], labels[::step], strict=True))

    @cache
    def near(sample: Sample) -> float:
        nearest = nsmallest(k, known, key=lambda one: sum((a - b) ** 2 for a, b in zip(one[0], sample, strict=True)))
        return sum(label for _, label in nearest) / len(nearest)

    return lambda sample: near(tuple(round(GRAIN * value) / GRAIN for value in sample))


PATHS = 200_000  # remembered; those asked for least are forgotten first
CLIENTS = 64  # unique clients counted one by one for a path; beyond, all count as new
PERSON = "Mozilla/5.0"  # for logs that do not name the browser
GZIP = b"\x1f\x8b"
HERE = "http://here.test"
KINDS = ("TEC", "UEC", "TIC", "UIC")


class Counts(Struct, frozen=True):
    """How often a page was asked for."""

    tec: int = 0
    uec: int = 0
    tic: int = 0
    uic: int = 0

    @property
    def total(self) -> int:
        """TEC + UEC + TIC + UIC."""
        return self.tec + self.uec + self.tic + self.uic

    def each(self) -> tuple[int, int, int, int]:
        """The four counts."""
        return self.tec, self.uec, self.tic, self.uic


class Popularity(Struct, frozen=True):
    """The counts of every path in the logs."""

    counts: dict[str, Counts] = {}


def read_logs(files: Iterable[Path]) -> Popularity:
    """Count what people asked for and got, in logs of the common or combined format, plain or gzipped."""
    tally = _Tally()
    for file in files:
        read = 0
        try:
            for line in _lines(file):
                read += 1
                if line.method == "GET" and 200 <= line.status < 400 and not is_machine(line.agent or PERSON):
                    tally.count(line)
        except (OSError, EOFError, zlib.error) as error:
            raise UsageError(f"cannot read --access-log {file}: {getattr(error, 'strerror', '') or error}") from None
        if not read:
            raise UsageError(f"--access-log {file} has no line of the common or combined log format")
    return Popularity({path: Counts(*counts) for path, counts in tally.paths.items()})


def _lines(file: Path) -> Iterator[Line]:
    with file.open("rb") as plain:
        is_packed = plain.read(2) == GZIP
        plain.seek(0)
        raw: BufferedIOBase = gzip.GzipFile(fileobj=plain) if is_packed else plain
        while text := raw.readline(LONGEST):
            line = read_line(text.rstrip(b"\r\n"))
            if line is not None:
                yield line


@lru_cache(100_000)
def path_of(target: str) -> str:
    """The path of a request in the one spelling that URLs have here; empty if it is none."""
    spelling = normalise(HERE + target) if target.startswith("/") else normalise(target)
    return split(spelling.url)[1] if spelling else ""


class _Tally:
    def __init__(self) -> None:
        self.paths: dict[str, list[int]] = {}
        self.clients: dict[str, set[int]] = {}

    def count(self, line: Line) -> None:
        path = path_of(line.target)
        counts = self.paths.get(path)
        if counts is None:
            if len(self.paths) >= PATHS:
                self._forget()
            counts = self.paths[path] = [0, 0, 0, 0]
        inside = 2 * is_inside(line.host)
        counts[inside] += 1
        seen = self.clients.setdefault(path, set())
        client = hash((line.host, line.user))
        if client not in seen:
            counts[inside + 1] += 1
            if len(seen) < CLIENTS:
                seen.add(client)

    def _forget(self) -> None:
        for path in sorted(self.paths, key=lambda path: sum(self.paths[path]))[: PATHS // 4]:
            del self.paths[path]
            self.clients.pop(path, None)


def is_inside(host: str) -> bool:
    """Did a request come from the owner's own network: loopback, private, or a name without a dot?"""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host


def accuracies(pages: Mapping[str, float], popularity: Popularity) -> tuple[float, float, float, float]:
    """How well each count alone orders pages, against their PageRank: the share of pages in the right third."""
    paths = [path for path in pages if path in popularity.counts]
    labels = classes([pages[path] for path in paths])
    found = []
    for kind in range(len(KINDS)):
        guessed = classes([float(popularity.counts[path].each()[kind]) for path in paths])
        right = sum(a == b for a, b in zip(guessed, labels, strict=True))
        found.append(right / len(paths) if paths else 1.0)
    return found[0], found[1], found[2], found[3]


def classes(values: Sequence[float]) -> list[int]:
    """Cut values into thirds: 2 for the largest, 0 for the smallest; equals stay together."""
    ranked = sorted(values)
    cuts = [ranked[len(ranked) * part // CLASSES] for part in range(1, CLASSES)] if ranked else []
    return [sum(value >= cut for cut in cuts) if value > 0 else 0 for value in values]


def weight_score(counts: Counts, accuracy: Sequence[float]) -> float:
    """The formula of the paper: a mean of the accuracies, weighted by the counts; 0 for a page nobody asked for."""
    if not counts.total:
        return 0.0
    return sum(count * share for count, share in zip(counts.each(), accuracy, strict=True)) / counts.total


Ranks = Mapping[str, float]
"""The PageRank of stored pages, by path."""


def weighed(popularity: Popularity, pages: Ranks) -> dict[str, float]:
    """A score for each path: the weight score, times the size of what was counted, since a mean knows no size."""
    accuracy = accuracies(pages, popularity)
    return {path: weight_score(counts, accuracy) * log1p(counts.total) for path, counts in popularity.counts.items()}


def learned(four: bool, by_tree: bool = True) -> Callable[[Popularity, Ranks], dict[str, float]]:
    """Guess the class of every path from those whose PageRank is known: TAC-L, or SAC-L with all four counts."""

    def score(popularity: Popularity, pages: Ranks) -> dict[str, float]:
        paths = [path for path in pages if path in popularity.counts]
        samples = [features(popularity.counts[path], four) for path in paths]
        labels = classes([pages[path] for path in paths])
        if len(set(labels)) < 2:  # nothing to learn from yet: the thirds by count alone
            thirds = classes([float(counts.total) for counts in popularity.counts.values()])
            return dict(zip(popularity.counts, map(float, thirds), strict=True))
        guess: Guess = Tree.grow(samples, labels).guess if by_tree else neighbours(samples, labels)
        return {path: guess(features(counts, four)) for path, counts in popularity.counts.items()}

    return score


def features(counts: Counts, four: bool) -> tuple[float, ...]:
    """What a learner sees of a page; logarithms, since counts have long tails."""
    return tuple(log1p(count) for count in counts.each()) if four else (log1p(counts.total),)
