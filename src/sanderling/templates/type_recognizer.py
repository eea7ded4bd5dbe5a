"""Recognize pages of the type of the samples while a crawl runs, against the pages seen so far."""

from collections.abc import Sequence
from math import log

from sanderling.fingerprint.structure import decode_features
from sanderling.models import TemplateFilter
from sanderling.templates.concept_averaging import THRESHOLD, Inference, PageSets, infer_concepts
from sanderling.templates.page_features import VIEW_BITS, PageView, extract_features

RELEARN_GROWTH = 1.1
MAX_FILTER_FEATURES = 2_000
MIN_FILTER_SIMILARITY = 0.4  # of parked pages; the coordinator looks at their URL and title too


class TypeRecognizer:
    """Probability that pages are like the samples, against the pages seen so far."""

    def __init__(self, samples: Sequence[PageView]) -> None:
        self.samples = list(samples)
        self.sample_features = [extract_features(view) for view in samples]
        self.seen = PageSets(self.sample_features)
        self.views: dict[int, PageView] = {}
        self.inference: Inference = infer_concepts(self.seen, self.sample_features)
        self.learned_pages = self.seen.page_count
        self._sample_urls = {view.url for view in samples}

    def add(self, view: PageView) -> float:
        """Add a page; return its probability."""
        if view.url in self._sample_urls:
            return 1.0
        features = extract_features(view)
        self.seen.add(features)
        self.views[view.id] = view
        if self.seen.page_count >= RELEARN_GROWTH * self.learned_pages:
            self.inference = infer_concepts(self.seen, self.sample_features)
            self.learned_pages = self.seen.page_count
        return self.inference.compute_probability(features)

    def list_matches(self) -> dict[int, float]:
        """Return the probabilities of all matching pages, by what is known now."""
        self.inference = infer_concepts(self.seen, self.sample_features)
        found = {id_: self.inference.compute_probability(extract_features(view)) for id_, view in self.views.items()}
        return {id_: probability for id_, probability in found.items() if probability >= THRESHOLD}

    def build_template_filter(self) -> TemplateFilter:
        """Return the structures and feature weights by which workers filter."""
        structures = tuple(decode_features(view.fingerprint) for view in self.samples)
        features = frozenset[int]().union(*structures)
        postings = self.seen.load_pages([feature << VIEW_BITS for feature in features])
        weights = {f >> VIEW_BITS: log((self.seen.page_count + 1) / pages.bit_count()) for f, pages in postings.items()}
        heaviest = dict(sorted(weights.items(), key=lambda item: -item[1])[:MAX_FILTER_FEATURES])
        return TemplateFilter(structures, heaviest, log(self.seen.page_count + 1), MIN_FILTER_SIMILARITY)
