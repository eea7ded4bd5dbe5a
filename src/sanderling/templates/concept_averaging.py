"""Concept averaging: the probability that a page is of the type that sample pages stand for.

Implements Bayesian generalization with the size principle (Tenenbaum and Griffiths 2001). A *concept* is a set of pages
of a site that share a feature; equal sets are one concept. Samples weigh the concepts that contain them: small concepts
count more the more samples there are, and coherent ones (`page_partition`) count more from the start. The
probability of a page is the weight of the concepts that contain it.
"""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from math import exp, log
from operator import or_
from typing import Protocol

from msgspec import Struct

from sanderling.templates.page_features import DIRECTORY, URL, get_view
from sanderling.templates.page_partition import ReferencePages, is_concept_size

COHERENCE = 1.5  # exponent of the coherence of a concept
SHARPNESS = 0.5  # exponent of the size principle for each sample after the first
URL_WEIGHT = 2.0  # log odds of a concept that the URL names
MIN_SAVING = 0.05  # of a concept, per page: small concepts of a large site cannot be measured
EXCEPTION = 0.02  # probability of a sample outside its concept; from three samples on, one may be
NEGATIVE_SAMPLE = 0.25  # a negative sample makes as certain as this many samples
THRESHOLD = 0.4  # probability from which a page is of the type
CALIBRATION = {1: (0.99, 0.14), 2: (0.84, -0.47), 3: (0.80, -0.16), 5: (0.55, -0.38)}
"""Slope and offset of the log odds by number of samples (Platt scaling, fitted on labelled sites)."""
SCALE_BITS = 8  # weights are rounded to 1 / 256, so that sums are exact in any order
CUTS = range(1 << SCALE_BITS - 4, (1 << SCALE_BITS) + 1, 1 << SCALE_BITS - 4)
MIN_WEIGHT = 0.01  # of a concept that is not dropped
WHOLE_SITE = 1e-3  # share of other pages assumed next to a concept of all pages
REFERENCE_PAGES = 800  # in memory; half of them are dropped when there are more
REFERENCE_GROWTH = 1.1
UNCERTAIN = (0.02, 0.98)  # probabilities of pages that are asked about


class PageSet(Struct, frozen=True):
    """The pages that share a feature: equal for equal sets; number of pages; bits that they save."""

    key: Hashable
    size: int
    saving: float


class ConceptSource(Protocol):
    """Pages of a site, numbered, with the pages of each feature as bit sets."""

    @property
    def page_count(self) -> int: ...

    def load_sets(self, features: Collection[int]) -> Mapping[int, PageSet]:
        """Return the sets of pages of these features, without those that are too small for a concept."""
        ...

    def load_pages(self, features: Collection[int]) -> Mapping[int, int]:
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
        self._sample: list[Collection[int]] = []  # every page whose number the stride divides
        self._stride = 1
        self._reference: tuple[int, ReferencePages] | None = None
        for features in pages:
            self.add(features)

    def add(self, features: Collection[int]) -> int:
        """Add a page and return its number."""
        number, bit = self.page_count, 1 << self.page_count
        for feature in features:
            self._postings[feature] = self._postings.get(feature, 0) | bit
        if number % self._stride == 0:
            self._sample.append(features)
        if len(self._sample) > REFERENCE_PAGES:
            self._sample, self._stride = self._sample[::2], 2 * self._stride
        self.page_count += 1
        return number

    def load_sets(self, features: Collection[int]) -> dict[int, PageSet]:
        if self._reference is None or self.page_count >= REFERENCE_GROWTH * self._reference[0]:
            self._reference = self.page_count, ReferencePages(self._sample)
        reference = self._reference[1]
        return {
            feature: PageSet(pages, pages.bit_count(), reference.measure_saving(feature))
            for feature, pages in self.load_pages(features).items()
            if is_concept_size(pages.bit_count(), self.page_count)
        }

    def load_pages(self, features: Collection[int]) -> dict[int, int]:
        return {feature: self._postings[feature] for feature in features if feature in self._postings}


class Inference:
    """Concepts weighed by samples: ranks pages, explains itself, and chooses questions."""

    def __init__(self, concepts: Sequence[Concept]) -> None:
        self.concepts = concepts
        self._by_feature: dict[int, list[int]] = {}
        for number, concept in enumerate(concepts):
            for feature in concept.features:
                self._by_feature.setdefault(feature, []).append(number)

    def compute_probability(self, features: Collection[int]) -> float:
        """Return the probability of a page by shared features; the page need not be in the concept source."""
        found = {number for feature in features for number in self._by_feature.get(feature, ())}
        return min(1.0, sum(self.concepts[n].weight for n in sorted(found)))

    def rank_pages(self, min_probability: float | None = None) -> dict[int, float]:
        """Return the probability of all pages with at least `min_probability` (None: the best cut), by page number."""
        least = self.choose_cut() if min_probability is None else round(min_probability * (1 << SCALE_BITS))
        return _read_sums(_select_at_least(self._planes, max(1, least)), self._planes)

    def choose_cut(self) -> int:
        """Return the probability, in steps, from which pages have the largest expected F1, one concept being right."""
        sizes = [concept.pages.bit_count() for concept in self.concepts]
        best, cut, pages = 0.0, CUTS[-1], -1
        for least in CUTS:
            before, pages = pages, _select_at_least(self._planes, least)
            if pages == before:
                continue
            found = pages.bit_count()
            expected = sum(
                2 * concept.weight * (pages & concept.pages).bit_count() / (found + size)
                for concept, size in zip(self.concepts, sizes, strict=True)
            )
            if expected > best:
                best, cut = expected, least
        return cut

    @cached_property
    def _planes(self) -> list[int]:
        """The weights of the concepts added for all pages at once, with one bit plane per binary digit."""
        planes = [0] * (SCALE_BITS + 2)
        for concept in self.concepts:
            weight, digit = round(concept.weight * (1 << SCALE_BITS)), 0
            while weight:
                if weight & 1:
                    _add(planes, digit, concept.pages)
                weight, digit = weight >> 1, digit + 1
        return planes

    def choose_questions(self, asked: Collection[int], count: int) -> list[int]:
        """Return the pages whose answer would correct most pages, best first.

        Pages with the same probability share the same concepts, so one answer holds for all of them.
        """
        groups: dict[float, list[int]] = {}
        for page, probability in self.rank_pages(UNCERTAIN[0]).items():
            if probability < UNCERTAIN[1] and page not in asked:
                groups.setdefault(probability, []).append(page)
        scored = sorted((-min(p, 1 - p) * len(pages), min(pages)) for p, pages in groups.items())
        return [page for _, page in scored[:count]]


def infer_concepts(
    source: ConceptSource, samples: Sequence[Collection[int]], negatives: Sequence[Collection[int]] = ()
) -> Inference:
    """Weigh the concepts that contain all samples (of three or more: all but one) and no negative sample."""
    least = len(samples) - (len(samples) > 2)
    wanted, unwanted = set[int]().union(*samples), set[int]().union(*negatives)
    having = {feature: frozenset(n for n, sample in enumerate(samples) if feature in sample) for feature in wanted}
    sets = source.load_sets(wanted)
    by_key: dict[Hashable, list[int]] = {}
    for feature in sorted(sets):
        by_key.setdefault(sets[feature].key, []).append(feature)
    candidates = []
    for features in by_key.values():
        inside = len(frozenset[int]().union(*(having[feature] for feature in features)))
        saving = max(sets[feature].saving for feature in features)
        candidates.append((features, features[:1], sets[features[0]].size, saving, inside))
    own = [feature for sample in samples for feature in sample if feature & DIRECTORY and feature in sets]
    if len(directories := sorted(set(own))) > 1:  # a sample is evidence only if another one is in its directory
        size, saving = (sum(getattr(sets[feature], name) for feature in directories) for name in ("size", "saving"))
        candidates.append((directories, directories, size, saving, sum(own.count(feature) > 1 for feature in own)))
    scored = []
    for features, parts, size, saving, inside in candidates:
        if inside >= least and unwanted.isdisjoint(features):
            share = min(1.0, size / source.page_count)
            has_url = any(get_view(feature) == URL for feature in features)
            score = _score_prior(1 if len(parts) > 1 else len(features), has_url, share, saving)
            score += SHARPNESS * _score_samples(share, inside, len(samples), len(negatives))
            scored.append((score, features, parts))
    return Inference(_load_concepts(source, scored))


def _score_prior(agreeing: int, has_url: bool, share: float, saving: float) -> float:
    """Score what makes a concept natural: bits saved per page, features that agree on it, and a name in the URL."""
    coherence = max(saving / share, MIN_SAVING) * agreeing
    return COHERENCE * log(coherence) + URL_WEIGHT * has_url + log(1 - share + WHOLE_SITE)


def _score_samples(share: float, inside: int, sample_count: int, negative_count: int) -> float:
    """Score the samples after the first: each is drawn from the pages of the concept."""
    score = inside * log((1 - EXCEPTION) / share + EXCEPTION) + (sample_count - inside) * log(EXCEPTION)
    return score + (1 - NEGATIVE_SAMPLE * negative_count) * log(share)


def _load_concepts(
    source: ConceptSource, scored: Sequence[tuple[float, Sequence[int], Sequence[int]]]
) -> list[Concept]:
    """Normalize the weights, and load the pages of the concepts that count."""
    best = max((score for score, _, _ in scored), default=0.0)
    weights = [exp(score - best) for score, _, _ in scored]
    total = sum(sorted(weights))
    heavy = [
        (weight / total, features, parts)
        for weight, (_, features, parts) in zip(weights, scored, strict=True)
        if weight >= MIN_WEIGHT * total
    ]
    pages = source.load_pages([part for _, _, parts in heavy for part in parts])
    concepts = [
        Concept(tuple(features), reduce(or_, (pages[part] for part in parts)), weight)
        for weight, features, parts in heavy
    ]
    return sorted(concepts, key=lambda concept: (-concept.weight, concept.features))


def calibrate(probability: float, sample_count: int) -> float:
    """Return the share of right pages among those with such a probability (measured: docs/explanation/templates.md)."""
    if not 0 < probability < 1:
        return probability
    slope, offset = CALIBRATION[max(count for count in CALIBRATION if count <= max(1, sample_count))]
    return 1 / (1 + exp(-slope * log(probability / (1 - probability)) - offset))


def _read_sums(selected: int, planes: Sequence[int]) -> dict[int, float]:
    """Return the sums of the selected pages, eight pages at a time; pages of a type often have the same ones."""
    rows = (selected, *planes)
    size = max(row.bit_length() + 7 >> 3 for row in rows)
    known: dict[tuple[int, ...], list[tuple[int, float]]] = {}
    found: dict[int, float] = {}
    for position, column in enumerate(zip(*(row.to_bytes(size, "little") for row in rows), strict=True)):
        if column[0]:
            if column not in known:
                known[column] = [(bit, _sum_digits(column[1:], bit)) for bit in iter_bits(column[0])]
            for bit, probability in known[column]:
                found[8 * position + bit] = probability
    return found


def _sum_digits(digits: Sequence[int], bit: int) -> float:
    return min(1.0, sum((row >> bit & 1) << n for n, row in enumerate(digits)) / (1 << SCALE_BITS))


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
