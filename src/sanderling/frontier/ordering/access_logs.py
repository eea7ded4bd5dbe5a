"""Popularity from access logs (Chandramouli): request counts per path, and how well they predict PageRank.

Each path has four counts: total and unique requests from outside (TEC, UEC) and from the owner's network (TIC, UIC).
The accuracy of a count is the share of stored pages that it puts into the right third by PageRank. The weight score is
the mean of the accuracies weighted by the counts, so inflating one's own requests gains little:
WeightScore = (TEC * acc(TEC) + UEC * acc(UEC) + TIC * acc(TIC) + UIC * acc(UIC)) / (TEC + UEC + TIC + UIC).

The learned scorers predict the PageRank third: TAC-L from the total count, SAC-L from all four counts.
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
MIN_LEAF_SAMPLES = 5
MAX_CUTS = 16  # thresholds tried per feature
NEIGHBOR_COUNT = 7
MAX_SAMPLES = 500
STEPS_PER_UNIT = 4  # rounding of features for nearest neighbors

FeatureVector = Sequence[float]
Predictor = Callable[[FeatureVector], float]


class RegressionTree(Struct, frozen=True):
    """A node: a leaf with a mean, or a threshold on a feature with two subtrees."""

    mean: float
    feature: int = -1
    threshold: float = 0.0
    below: "RegressionTree | None" = None
    above: "RegressionTree | None" = None

    @staticmethod
    def fit(samples: Sequence[FeatureVector], labels: Sequence[int], depth: int = MAX_TREE_DEPTH) -> "RegressionTree":
        """Split recursively where the variance of the labels decreases most."""
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
        """Return the mean label of the leaf that a sample falls into."""
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
                and (remaining := _sum_squared_deviations(low) + _sum_squared_deviations(high)) < best
            ):
                best, found = remaining, (feature, cut)
    return found


def _sum_squared_deviations(labels: Sequence[int]) -> float:
    total = sum(labels)
    return sum(label * label for label in labels) - total * total / len(labels) if labels else 0.0


def fit_nearest_neighbors(
    samples: Sequence[FeatureVector], labels: Sequence[int], k: int = NEIGHBOR_COUNT
) -> Predictor:
    """Return a predictor: the mean label of the k nearest samples."""
    step = max(1, len(samples) // MAX_SAMPLES)
    known = list(zip(samples[::step], labels[::step], strict=True))

    @cache
    def predict(sample: FeatureVector) -> float:
        nearest = nsmallest(k, known, key=lambda pair: sum((a - b) ** 2 for a, b in zip(pair[0], sample, strict=True)))
        return sum(label for _, label in nearest) / len(nearest)

    return lambda sample: predict(tuple(round(STEPS_PER_UNIT * value) / STEPS_PER_UNIT for value in sample))


MAX_PATHS = 200_000  # the rarest are evicted
MAX_CLIENTS_PER_PATH = 64  # clients remembered per path; beyond, every request counts as a new client
DEFAULT_USER_AGENT = "Mozilla/5.0"  # for logs without User-Agent
GZIP_MAGIC = b"\x1f\x8b"
PLACEHOLDER_HOST = "http://here.test"
COUNT_NAMES = ("TEC", "UEC", "TIC", "UIC")


class RequestCounts(Struct, frozen=True):
    """Request counts of a path."""

    tec: int = 0
    uec: int = 0
    tic: int = 0
    uic: int = 0

    @property
    def total(self) -> int:
        return self.tec + self.uec + self.tic + self.uic

    def as_tuple(self) -> tuple[int, int, int, int]:
        return self.tec, self.uec, self.tic, self.uic


class AccessCounts(Struct, frozen=True):
    """Request counts by path."""

    counts: dict[str, RequestCounts] = {}


def read_access_logs(files: Iterable[Path]) -> AccessCounts:
    """Count successful GET requests of people in common or combined logs, plain or gzipped."""
    counter = _PathCounter()
    for file in files:
        entries = 0
        try:
            for entry in _read_entries(file):
                entries += 1
                if (
                    entry.method == "GET"
                    and 200 <= entry.status < 400
                    and not is_bot(entry.user_agent or DEFAULT_USER_AGENT)
                ):
                    counter.add(entry)
        except (OSError, EOFError, zlib.error) as error:
            raise UsageError(f"cannot read --access-log {file}: {getattr(error, 'strerror', '') or error}") from None
        if not entries:
            raise UsageError(f"--access-log {file} has no line in common or combined log format")
    return AccessCounts({path: RequestCounts(*counts) for path, counts in counter.paths.items()})


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
    """Return the normalized path of a request target, or "" if it is not a URL."""
    normalized = normalize_url(PLACEHOLDER_HOST + target) if target.startswith("/") else normalize_url(target)
    return split_url(normalized.url)[1] if normalized else ""


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
        offset = 2 * is_internal_host(entry.client_address)
        counts[offset] += 1
        seen = self.clients.setdefault(path, set())
        client = hash((entry.client_address, entry.user))
        if client not in seen:
            counts[offset + 1] += 1
            if len(seen) < MAX_CLIENTS_PER_PATH:
                seen.add(client)

    def _evict_rare_paths(self) -> None:
        for path in sorted(self.paths, key=lambda path: sum(self.paths[path]))[: MAX_PATHS // 4]:
            del self.paths[path]
            self.clients.pop(path, None)


def is_internal_host(host: str) -> bool:
    """Return True if a request came from the owner's network: loopback, private, or a name without a dot."""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host


def compute_accuracies(
    pageranks: Mapping[str, float], access_counts: AccessCounts
) -> tuple[float, float, float, float]:
    """Return, for each of the four counts, the share of pages it puts into the right PageRank third."""
    paths = [path for path in pageranks if path in access_counts.counts]
    labels = split_into_classes([pageranks[path] for path in paths])
    accuracies = []
    for index in range(len(COUNT_NAMES)):
        predicted = split_into_classes([float(access_counts.counts[path].as_tuple()[index]) for path in paths])
        right = sum(a == b for a, b in zip(predicted, labels, strict=True))
        accuracies.append(right / len(paths) if paths else 1.0)
    return accuracies[0], accuracies[1], accuracies[2], accuracies[3]


def split_into_classes(values: Sequence[float]) -> list[int]:
    """Assign values to thirds: 2 for the largest, 0 for the smallest; equal values share a class."""
    ranked = sorted(values)
    cuts = [ranked[len(ranked) * part // CLASS_COUNT] for part in range(1, CLASS_COUNT)] if ranked else []
    return [sum(value >= cut for cut in cuts) if value > 0 else 0 for value in values]


def compute_weight_score(counts: RequestCounts, accuracy: Sequence[float]) -> float:
    """Return the weight score of the paper (module docstring); 0 for a page without requests."""
    if not counts.total:
        return 0.0
    return sum(count * share for count, share in zip(counts.as_tuple(), accuracy, strict=True)) / counts.total


PageRanks = Mapping[str, float]
"""PageRank of stored pages by path."""


def score_by_weight(access_counts: AccessCounts, pageranks: PageRanks) -> dict[str, float]:
    """Score each path: weight score times log(1 + requests), since a mean does not reflect the volume."""
    accuracy = compute_accuracies(pageranks, access_counts)
    return {
        path: compute_weight_score(counts, accuracy) * log1p(counts.total)
        for path, counts in access_counts.counts.items()
    }


def build_learned_scorer(
    use_all_counts: bool, use_tree: bool = True
) -> Callable[[AccessCounts, PageRanks], dict[str, float]]:
    """Return a scorer that predicts the PageRank third of every path: TAC-L, or SAC-L with all counts."""

    def score(access_counts: AccessCounts, pageranks: PageRanks) -> dict[str, float]:
        paths = [path for path in pageranks if path in access_counts.counts]
        samples = [extract_count_features(access_counts.counts[path], use_all_counts) for path in paths]
        labels = split_into_classes([pageranks[path] for path in paths])
        if len(set(labels)) < 2:  # nothing to learn from yet: use thirds by count
            thirds = split_into_classes([float(counts.total) for counts in access_counts.counts.values()])
            return dict(zip(access_counts.counts, map(float, thirds), strict=True))
        predict: Predictor = (
            RegressionTree.fit(samples, labels).predict if use_tree else fit_nearest_neighbors(samples, labels)
        )
        return {
            path: predict(extract_count_features(counts, use_all_counts))
            for path, counts in access_counts.counts.items()
        }

    return score


def extract_count_features(counts: RequestCounts, use_all_counts: bool) -> tuple[float, ...]:
    """Return the feature vector of a path; logarithms, since counts have long tails."""
    return tuple(log1p(count) for count in counts.as_tuple()) if use_all_counts else (log1p(counts.total),)
