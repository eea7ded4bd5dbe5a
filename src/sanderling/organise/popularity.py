"""Popularity from access logs (LIT-POP, Chandramouli): which pages people ask for, and what it tells of their rank.

Four counts for each path: total and unique requests from outside (TEC, UEC) and from the owner's own machines (TIC,
UIC). Each count alone orders pages; how well it does so, against the PageRank of pages that are stored already, is its
accuracy. The weight score adds the counts, each by its accuracy, so owners who inflate their own hits gain little:
WeightScore = (TEC * acc(TEC) + UEC * acc(UEC) + TIC * acc(TIC) + UIC * acc(UIC)) / (TEC + UEC + TIC + UIC).

The two learners guess the class of a page (of three by PageRank): TAC-L from the total count, SAC-L from the four.
"""

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from math import log1p
from pathlib import Path

from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.organise.learners import CLASSES, Guess, Tree, neighbours
from sanderling.publisher.logs import Line, read_line

PATHS = 200_000  # remembered; those asked for least are forgotten first
CLIENTS = 64  # unique clients counted one by one for a path; beyond, all count as new
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
    """Count requests for pages that were answered, in logs of the common or combined format."""
    tally = _Tally()
    for file in files:
        try:
            with file.open("rb") as lines:
                read = sum(tally.count(line) for raw in lines if (line := read_line(raw.rstrip(b"\r\n"))) is not None)
        except OSError as error:
            raise UsageError(f"cannot read --access-log {file}: {error.strerror}") from None
        if not read:
            raise UsageError(f"--access-log {file} has no line of the common or combined log format")
    return Popularity({path: Counts(*counts) for path, counts in tally.paths.items()})


class _Tally:
    def __init__(self) -> None:
        self.paths: dict[str, list[int]] = {}
        self.clients: dict[str, set[int]] = {}

    def count(self, line: Line) -> bool:
        """Count one request; False if it is none for a page that is there."""
        if line.method != "GET" or not (200 <= line.status < 400):
            return True
        path = line.target.partition("#")[0]
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
        return True

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


def scored(popularity: Popularity, accuracy: Sequence[float]) -> dict[str, float]:
    """A score for each path: the weight score, times the size of what was counted, since a mean knows no size."""
    return {path: weight_score(counts, accuracy) * log1p(counts.total) for path, counts in popularity.counts.items()}


def learned(popularity: Popularity, pages: Mapping[str, float], four: bool, by_tree: bool = True) -> dict[str, float]:
    """Guess the class of every path from those whose PageRank is known: TAC-L, or SAC-L with all four counts."""
    paths = [path for path in pages if path in popularity.counts]
    samples = [features(popularity.counts[path], four) for path in paths]
    labels = classes([pages[path] for path in paths])
    if len(set(labels)) < 2:
        return {path: float(counts.total) for path, counts in popularity.counts.items()}
    guess: Guess = Tree.grow(samples, labels).guess if by_tree else neighbours(samples, labels)
    return {path: guess(features(counts, four)) for path, counts in popularity.counts.items()}


def features(counts: Counts, four: bool) -> tuple[float, ...]:
    """What a learner sees of a page; logarithms, since counts have long tails."""
    return tuple(log1p(count) for count in counts.each()) if four else (log1p(counts.total),)
