"""Concept averaging: the probability that a page is of the type that sample pages stand for.

Implements Bayesian generalization with the size principle (Tenenbaum and Griffiths 2001). A *concept* is a set of pages
of a site that share a feature; equal sets are one concept. Samples weigh the concepts that contain them: small concepts
count more the more samples there are. The probability of a page is the weight of the concepts that contain it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import exp, log
from typing import Protocol

from msgspec import Struct

from sanderling.templates.page_features import VIEWS, get_view

MIN_CONCEPT_PAGES, MAX_MIN_PAGES = 2, 4  # pages of the smallest concepts of a small and of a large site
PAGES_PER_STEP = 100  # growth of a site that raises this minimum by one
SHARPNESS = 1.0  # exponent of the size principle per sample
FIRST_SAMPLE = 0.5  # the first sample counts as half: it does not say which of its features describe the type
EXCEPTION = 0.02  # probability of a sample outside its concept; from three samples on, one may be
NEGATIVE_SAMPLE = 0.25  # a negative sample makes as certain as this many samples
THRESHOLD = 0.4  # probability from which a page is of the type
CALIBRATION = ((1.1, -0.4), (0.5, -1.2), (0.75, -0.15))  # slope and offset of the log odds, for one, two, three samples
SCALE_BITS = 12  # weights are rounded to 1 / 4096, so that sums are exact in any order
QUESTION_CONCEPTS = 40
QUESTION_GROUPS = 100
UNCERTAIN = (0.02, 0.98)


class ConceptSource(Protocol):
    """Pages of a site, numbered, with the pages of each feature as bit sets."""

    @property
    def page_count(self) -> int: ...

    @property
    def concept_counts(self) -> Sequence[int]: ...  # per view

    def load_pages(self, features: Collection[int]) -> dict[int, int]:
        """Return the pages that have each of these features."""
        ...


class Concept(Struct, frozen=True):
    """A set of pages that share features, with its share of the weight of all concepts."""

    features: tuple[int, ...]
    pages: int
    weight: float


class PageSets:
    """Concept source in memory; grows page by page."""

    def __init__(self, pages: Sequence[Collection[int]] = ()) -> None:
        self.page_count = 0
        self._postings: dict[int, int] = {}
        self._concept_counts: tuple[int, Sequence[int]] = (-1, ())
        for features in pages:
            self.add(features)

    def add(self, features: Collection[int]) -> int:
        """Add a page and return its number."""
        number, bit = self.page_count, 1 << self.page_count
        for feature in features:
            self._postings[feature] = self._postings.get(feature, 0) | bit
        self.page_count += 1
        return number

    @property
    def concept_counts(self) -> Sequence[int]:
        if self._concept_counts[0] != self.page_count:
            self._concept_counts = self.page_count, count_concepts(self._postings, self.page_count)
        return self._concept_counts[1]

    def load_pages(self, features: Collection[int]) -> dict[int, int]:
        return {feature: self._postings[feature] for feature in features if feature in self._postings}


def is_concept_size(size: int, page_count: int) -> bool:
    least = min(MAX_MIN_PAGES, MIN_CONCEPT_PAGES + page_count // PAGES_PER_STEP)
    return least <= size < page_count


def count_concepts(postings: Mapping[int, int], page_count: int) -> list[int]:
    """Count the distinct concepts of each view."""
    found: list[set[int]] = [set() for _ in VIEWS]
    for feature, pages in postings.items():
        if is_concept_size(pages.bit_count(), page_count):
            found[get_view(feature)].add(pages)
    return [len(sets) for sets in found]


class Inference:
    """Concepts weighed by samples: ranks pages, explains itself, and chooses questions."""

    def __init__(self, concepts: Sequence[Concept]) -> None:
        self.concepts = concepts
        self._by_feature = {feature: n for n, concept in enumerate(concepts) for feature in concept.features}

    def compute_probability(self, features: Collection[int]) -> float:
        """Return the probability of a page by shared features; the page need not be in the concept source."""
        found = {self._by_feature[feature] for feature in features if feature in self._by_feature}
        return min(1.0, sum(self.concepts[n].weight for n in sorted(found)))

    def rank_pages(self, min_probability: float = THRESHOLD) -> dict[int, float]:
        """Return the probability of all pages with at least `min_probability`, by page number.

        Adds the weights for all pages at once, with one bit plane per binary digit.
        """
        planes = [0] * (SCALE_BITS + 2)
        for concept in self.concepts:
            weight, digit = round(concept.weight * (1 << SCALE_BITS)), 0
            while weight:
                if weight & 1:
                    _add(planes, digit, concept.pages)
                weight, digit = weight >> 1, digit + 1
        least = max(1, round(min_probability * (1 << SCALE_BITS)))
        found = _select_at_least(planes, least)
        size = (found.bit_length() + 7) // 8
        digits = [plane.to_bytes(max(size, (plane.bit_length() + 7) // 8), "little") for plane in planes]
        return {number: min(1.0, _sum_digits(digits, number) / (1 << SCALE_BITS)) for number in iter_bits(found)}

    def choose_questions(self, asked: Collection[int], count: int) -> list[int]:
        """Return the pages whose answer leaves the fewest pages wrongly classified, best first.

        Pages in the same of the heaviest concepts are one group; a question is asked about the first page of a group.
        """
        groups = self._group_uncertain_pages(asked)
        weights = [concept.weight for concept in self.concepts[:QUESTION_CONCEPTS]]
        sums = _MaskSums(weights)
        total = sums[(1 << len(weights)) - 1]
        scored = []
        for mask, pages in groups.items():
            yes = sums[mask]
            loss = 0.0
            for other, others in groups.items():
                both = sums[mask & other]
                if_yes, if_no = both / yes, (sums[other] - both) / max(1e-9, total - yes)
                loss += others.bit_count() * (
                    yes * min(if_yes, 1 - if_yes) + (total - yes) * min(if_no, max(0.0, 1 - if_no))
                )
            scored.append((loss, (pages & -pages).bit_length() - 1))
        return [page for _, page in sorted(scored)[:count]]

    def _group_uncertain_pages(self, asked: Collection[int]) -> dict[int, int]:
        """Return sets of pages by the mask of the heaviest concepts that contain them."""
        ranked = self.rank_pages(UNCERTAIN[0])
        uncertain = 0
        for number, probability in ranked.items():
            if probability < UNCERTAIN[1] and number not in asked:
                uncertain |= 1 << number
        groups = {0: uncertain}
        for n, concept in enumerate(self.concepts[:QUESTION_CONCEPTS]):
            split: dict[int, int] = {}
            for mask, pages in groups.items():
                inside = pages & concept.pages
                if inside:
                    split[mask | 1 << n] = inside
                if pages != inside:
                    split[mask] = pages & ~concept.pages
            groups = dict(sorted(split.items(), key=lambda item: (-item[1].bit_count(), item[0]))[:QUESTION_GROUPS])
        groups.pop(0, None)
        return groups


class _MaskSums(dict[int, float]):
    """Cache of the sums of the weights that masks select."""

    def __init__(self, weights: Sequence[float]) -> None:
        super().__init__()
        self._weights = weights

    def __missing__(self, mask: int) -> float:
        value = self[mask] = sum(self._weights[n] for n in iter_bits(mask))
        return value


def infer_concepts(
    source: ConceptSource, samples: Sequence[Collection[int]], negatives: Sequence[Collection[int]] = ()
) -> Inference:
    """Weigh the concepts that contain all samples (of three or more: all but one) and no negative sample."""
    least = len(samples) - (len(samples) > 2)
    wanted, unwanted = set().union(*samples), set().union(*negatives)
    having = {feature: frozenset(n for n, sample in enumerate(samples) if feature in sample) for feature in wanted}
    postings = source.load_pages(wanted)
    evidence = len(samples) - FIRST_SAMPLE + NEGATIVE_SAMPLE * len(negatives)
    by_pages: dict[int, list[int]] = {}
    for feature in sorted(postings):
        if is_concept_size(postings[feature].bit_count(), source.page_count):
            by_pages.setdefault(postings[feature], []).append(feature)
    scored: list[tuple[float, int, list[int]]] = [(_score_everything(source), (1 << source.page_count) - 1, [])]
    for pages, features in by_pages.items():
        inside = len(frozenset().union(*(having[feature] for feature in features)))
        if inside < least or not unwanted.isdisjoint(features):
            continue
        prior = sum(1 / max(1, source.concept_counts[view]) for view in {get_view(feature) for feature in features})
        share = pages.bit_count() / source.page_count
        likelihood = inside * log((1 - EXCEPTION) / share + EXCEPTION) + (len(samples) - inside) * log(EXCEPTION)
        scored.append((log(prior) + SHARPNESS * evidence / len(samples) * likelihood, pages, features))
    if negatives and len(scored) > 1:
        scored = scored[1:]
    return Inference(_normalize(scored))


def calibrate(probability: float, sample_count: int) -> float:
    """Return the share of right pages among those with such a probability (measured: docs/explanation/templates.md)."""
    if not 0 < probability < 1:
        return probability
    slope, offset = CALIBRATION[min(sample_count, len(CALIBRATION)) - 1]
    return 1 / (1 + exp(-slope * log(probability / (1 - probability)) - offset))


def _score_everything(source: ConceptSource) -> float:
    """Score the concept of all pages: one more concept among those of the site."""
    return -log(1 + sum(source.concept_counts))


def _normalize(scored: Sequence[tuple[float, int, list[int]]]) -> list[Concept]:
    best = max(score for score, _, _ in scored)
    weights = [exp(score - best) for score, _, _ in scored]
    total = sum(weights)
    concepts = [
        Concept(tuple(features), pages, weight / total)
        for weight, (_, pages, features) in zip(weights, scored, strict=True)
    ]
    return sorted(concepts, key=lambda concept: (-concept.weight, concept.features))


def _sum_digits(digits: Sequence[bytes], number: int) -> int:
    return sum((row[number >> 3] >> (number & 7) & 1) << n for n, row in enumerate(digits))


def _add(planes: list[int], digit: int, pages: int) -> None:
    while pages:
        planes[digit], pages = planes[digit] ^ pages, planes[digit] & pages
        digit += 1


def _select_at_least(planes: Sequence[int], least: int) -> int:
    """Return the pages whose sum is at least `least`, comparing digit by digit from the highest."""
    above, equal = 0, planes[0]
    for plane in planes:
        equal |= plane
    for digit in range(len(planes) - 1, -1, -1):
        if least >> digit & 1:
            equal &= planes[digit]
        else:
            above |= equal & planes[digit]
            equal &= ~planes[digit]
    return above | equal


def iter_bits(bits: int) -> Iterator[int]:
    """Yield the positions of the bits that are set, lowest first."""
    for position, byte in enumerate(bits.to_bytes((bits.bit_length() + 7) // 8, "little")):
        while byte:
            low = byte & -byte
            yield position * 8 + low.bit_length() - 1
            byte ^= low
