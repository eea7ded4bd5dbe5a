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
from sanderling.publisher.access_log import MAX_LINE_BYTES, AccessLogEntry, parse_log_line
from sanderling.publisher.crawlers import is_bot
from sanderling.urls.normalize import normalize_url, split_url

CLASS_COUNT = 3
MAX_TREE_DEPTH = 6
MIN_LEAF_SAMPLES = 5  # samples in the smallest leaf
MAX_CUTS = 16  # places of each feature where a cut is tried
NEIGHBOR_COUNT = 7
MAX_SAMPLES = 500
STEPS_PER_UNIT = 4  # steps in which features are told apart by nearest neighbours

FeatureVector = Sequence[float]
Predictor = Callable[[FeatureVector], float]


class RegressionTree(Struct, frozen=True):
    """A node: a leaf with a mean, or a question with two answers."""

    mean: float
    feature: int = -1
    threshold: float = 0.0
    below: "RegressionTree | None" = None
    above: "RegressionTree | None" = None

    @staticmethod
    def fit(samples: Sequence[FeatureVector], labels: Sequence[int], depth: int = MAX_TREE_DEPTH) -> "RegressionTree":
        """Split where the variance of the labels falls most."""
        mean = sum(labels) / len(labels)
        best = _find_best_cut(samples, labels) if depth and len(samples) >= 2 * MIN_LEAF_SAMPLES else None
        if best is None:
            return RegressionTree(mean)
        feature, cut = best
        sides = [[n for n, s in enumerate(samples) if (s[feature] >= cut) is side] for side in (False, True)]
        low, high = (
            RegressionTree.fit([samples[n] for n in side], [labels[n] for n in side], depth - 1) for side in sides
        )
        return RegressionTree(mean, feature, cut, low, high)

    def predict(self, sample: FeatureVector) -> float:
        """The mean class of the leaf a sample falls into."""
        node = self
        while node.below is not None and node.above is not None:
            node = node.above if sample[node.feature] >= node.threshold else node.below
        return node.mean


def _find_best_cut(samples: Sequence[FeatureVector], labels: Sequence[int]) -> tuple[int, float] | None:
    best, found = _sum_squared_deviations(labels) - 1e-9, None
    for feature in range(len(samples[0])):
        values = sorted({sample[feature] for sample in samples})
        for cut in values[1 :: max(1, len(values) // MAX_CUTS)]:
            low = [label for sample, label in zip(samples, labels, strict=True) if sample[feature] < cut]
            high = [label for sample, label in zip(samples, labels, strict=True) if sample[feature] >= cut]
            if (
                min(len(low), len(high)) >= MIN_LEAF_SAMPLES
                and (left := _sum_squared_deviations(low) + _sum_squared_deviations(high)) < best
            ):
                best, found = left, (feature, cut)
    return found


def _sum_squared_deviations(labels: Sequence[int]) -> float:
    """The sum of squares around the mean."""
    total = sum(labels)
    return sum(label * label for label in labels) - total * total / len(labels) if labels else 0.0


def fit_nearest_neighbors(
    samples: Sequence[FeatureVector], labels: Sequence[int], k: int = NEIGHBOR_COUNT
) -> Predictor:
    """Guess by the mean class of the k samples that are nearest."""
    step = max(1, len(samples) // MAX_SAMPLES)
    known = list(zip(samples[::step], labels[::step], strict=True))

    @cache
    def near(sample: FeatureVector) -> float:
        nearest = nsmallest(k, known, key=lambda one: sum((a - b) ** 2 for a, b in zip(one[0], sample, strict=True)))
        return sum(label for _, label in nearest) / len(nearest)

    return lambda sample: near(tuple(round(STEPS_PER_UNIT * value) / STEPS_PER_UNIT for value in sample))


MAX_PATHS = 200_000  # remembered; those asked for least are forgotten first
MAX_CLIENTS_PER_PATH = 64  # unique clients counted one by one for a path; beyond, all count as new
DEFAULT_USER_AGENT = "Mozilla/5.0"  # for logs that do not name the browser
GZIP_MAGIC = b"\x1f\x8b"
PLACEHOLDER_HOST = "http://here.test"
COUNT_NAMES = ("TEC", "UEC", "TIC", "UIC")


class RequestCounts(Struct, frozen=True):
    """How often a page was asked for."""

    tec: int = 0
    uec: int = 0
    tic: int = 0
    uic: int = 0

    @property
    def total(self) -> int:
        """TEC + UEC + TIC + UIC."""
        return self.tec + self.uec + self.tic + self.uic

    def as_tuple(self) -> tuple[int, int, int, int]:
        """The four counts."""
        return self.tec, self.uec, self.tic, self.uic


class AccessCounts(Struct, frozen=True):
    """The counts of every path in the logs."""

    counts: dict[str, RequestCounts] = {}


def read_access_logs(files: Iterable[Path]) -> AccessCounts:
    """Count what people asked for and got, in logs of the common or combined format, plain or gzipped."""
    tally = _PathCounter()
    for file in files:
        read = 0
        try:
            for line in _read_entries(file):
                read += 1
                if (
                    line.method == "GET"
                    and 200 <= line.status < 400
                    and not is_bot(line.user_agent or DEFAULT_USER_AGENT)
                ):
                    tally.add(line)
        except (OSError, EOFError, zlib.error) as error:
            raise UsageError(f"cannot read --access-log {file}: {getattr(error, 'strerror', '') or error}") from None
        if not read:
            raise UsageError(f"--access-log {file} has no line of the common or combined log format")
    return AccessCounts({path: RequestCounts(*counts) for path, counts in tally.paths.items()})


def _read_entries(file: Path) -> Iterator[AccessLogEntry]:
    with file.open("rb") as plain:
        is_packed = plain.read(2) == GZIP_MAGIC
        plain.seek(0)
        raw: BufferedIOBase = gzip.GzipFile(fileobj=plain) if is_packed else plain
        while text := raw.readline(MAX_LINE_BYTES):
            line = parse_log_line(text.rstrip(b"\r\n"))
            if line is not None:
                yield line


@lru_cache(100_000)
def normalize_path(target: str) -> str:
    """The path of a request in the one spelling that URLs have here; empty if it is none."""
    spelling = normalize_url(PLACEHOLDER_HOST + target) if target.startswith("/") else normalize_url(target)
    return split_url(spelling.url)[1] if spelling else ""


class _PathCounter:
    def __init__(self) -> None:
        self.paths: dict[str, list[int]] = {}
        self.clients: dict[str, set[int]] = {}

    def add(self, entry: AccessLogEntry) -> None:
        path = normalize_path(entry.target)
        counts = self.paths.get(path)
        if counts is None:
            if len(self.paths) >= MAX_PATHS:
                self._evict_rare_paths()
            counts = self.paths[path] = [0, 0, 0, 0]
        inside = 2 * is_internal_host(entry.client_address)
        counts[inside] += 1
        seen = self.clients.setdefault(path, set())
        client = hash((entry.client_address, entry.user))
        if client not in seen:
            counts[inside + 1] += 1
            if len(seen) < MAX_CLIENTS_PER_PATH:
                seen.add(client)

    def _evict_rare_paths(self) -> None:
        for path in sorted(self.paths, key=lambda path: sum(self.paths[path]))[: MAX_PATHS // 4]:
            del self.paths[path]
            self.clients.pop(path, None)


def is_internal_host(host: str) -> bool:
    """Did a request come from the owner's own network: loopback, private, or a name without a dot?"""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host


def compute_accuracies(
    pageranks: Mapping[str, float], access_counts: AccessCounts
) -> tuple[float, float, float, float]:
    """How well each count alone orders pages, against their PageRank: the share of pages in the right third."""
    paths = [path for path in pageranks if path in access_counts.counts]
    labels = split_into_classes([pageranks[path] for path in paths])
    found = []
    for kind in range(len(COUNT_NAMES)):
        guessed = split_into_classes([float(access_counts.counts[path].as_tuple()[kind]) for path in paths])
        right = sum(a == b for a, b in zip(guessed, labels, strict=True))
        found.append(right / len(paths) if paths else 1.0)
    return found[0], found[1], found[2], found[3]


def split_into_classes(values: Sequence[float]) -> list[int]:
    """Cut values into thirds: 2 for the largest, 0 for the smallest; equals stay together."""
    ranked = sorted(values)
    cuts = [ranked[len(ranked) * part // CLASS_COUNT] for part in range(1, CLASS_COUNT)] if ranked else []
    return [sum(value >= cut for cut in cuts) if value > 0 else 0 for value in values]


def compute_weight_score(counts: RequestCounts, accuracy: Sequence[float]) -> float:
    """The formula of the paper: a mean of the accuracies, weighted by the counts; 0 for a page nobody asked for."""
    if not counts.total:
        return 0.0
    return sum(count * share for count, share in zip(counts.as_tuple(), accuracy, strict=True)) / counts.total


PageRanks = Mapping[str, float]
"""The PageRank of stored pages, by path."""


def score_by_weight(access_counts: AccessCounts, pageranks: PageRanks) -> dict[str, float]:
    """A score for each path: the weight score, times the size of what was counted, since a mean knows no size."""
    accuracy = compute_accuracies(pageranks, access_counts)
    return {
        path: compute_weight_score(counts, accuracy) * log1p(counts.total)
        for path, counts in access_counts.counts.items()
    }


def build_learned_scorer(
    use_all_counts: bool, use_tree: bool = True
) -> Callable[[AccessCounts, PageRanks], dict[str, float]]:
    """Guess the class of every path from those whose PageRank is known: TAC-L, or SAC-L with all four counts."""

    def score(popularity: AccessCounts, pages: PageRanks) -> dict[str, float]:
        paths = [path for path in pages if path in popularity.counts]
        samples = [extract_count_features(popularity.counts[path], use_all_counts) for path in paths]
        labels = split_into_classes([pages[path] for path in paths])
        if len(set(labels)) < 2:  # nothing to learn from yet: the thirds by count alone
            thirds = split_into_classes([float(counts.total) for counts in popularity.counts.values()])
            return dict(zip(popularity.counts, map(float, thirds), strict=True))
        guess: Predictor = (
            RegressionTree.fit(samples, labels).predict if use_tree else fit_nearest_neighbors(samples, labels)
        )
        return {
            path: guess(extract_count_features(counts, use_all_counts)) for path, counts in popularity.counts.items()
        }

    return score


def extract_count_features(counts: RequestCounts, use_all_counts: bool) -> tuple[float, ...]:
    """What a learner sees of a page; logarithms, since counts have long tails."""
    return tuple(log1p(count) for count in counts.as_tuple()) if use_all_counts else (log1p(counts.total),)
