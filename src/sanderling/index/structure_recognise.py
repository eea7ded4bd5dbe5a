"""Tell wanted pages from others while a crawl is under way, knowing little but the samples.

At first a page is recognised by the features it shares with a sample, those that every page has counting nothing. As
pages come in the site's templates are learned, again and again, and then the template decides.
"""

from collections import Counter
from collections.abc import Sequence
from math import log

from sanderling.index.structure_templates import Model, learn
from sanderling.index.structure_views import Look
from sanderling.pages.structure import weighted

FIRST_LESSON = 24  # pages before templates are learned
NEXT_LESSON = 1.3  # growth until they are learned again
MOST = 5_000  # pages learned from
SURE_OF_SITE = 48  # pages after which a template is believed with little likeness
EARLY, LATE = 0.4, 0.0  # likeness asked for before and after


class Recogniser:
    """Decides whether a page is built like one of the samples; learns from every page it is shown."""

    def __init__(self, samples: Sequence[Look]) -> None:
        self.samples = list(samples)
        self.looks: list[Look] = list(samples)
        self.wanted = 0.0
        self.liked: Counter[int] = Counter()  # features of wanted pages
        self.others = 0
        self.common: Counter[int] = Counter()  # features of the others
        for look in samples:
            self._count(look, True)
        self.model: Model | None = None
        self.homes: set[int] = set()
        self.lesson = float(FIRST_LESSON)

    def show(self, look: Look) -> bool:
        """Take a page in, and say whether it is wanted."""
        if len(self.looks) < MOST:
            self.looks.append(look)
            if len(self.looks) >= self.lesson:
                self.study()
        self._count(look, False)
        wanted = self.wants(look)
        if wanted:
            self.others -= 1
            self.common.subtract(look.features)
            self._count(look, True)
        return wanted

    def _count(self, look: Look, wanted: bool) -> None:
        self.wanted += wanted
        self.others += not wanted
        (self.liked if wanted else self.common).update(look.features)

    def study(self) -> None:
        """Learn the templates of the pages seen so far."""
        self.lesson = len(self.looks) * NEXT_LESSON
        self.model = learn(self.looks)
        self.homes = {self.model.place(sample) for sample in self.samples}

    def wants(self, look: Look) -> bool:
        """Say whether a page is built like one of the samples."""
        if self.model is not None and self.model.place(look) not in self.homes:
            return False
        settled = self.model is not None and self.model.count > 1 and len(self.looks) >= SURE_OF_SITE
        return self.likeness(look) >= (LATE if settled else EARLY)

    def likeness(self, look: Look) -> float:
        """Share of features in common with the nearest sample, each counting as much as it is rare."""
        found = 0.0
        for sample in self.samples:
            weights = {feature: self.weight(feature) for feature in sample.features | look.features}
            found = max(found, weighted(sample.features, look.features, weights, 0.0))
        return found

    def weight(self, feature: int) -> float:
        """How rare a feature is among pages seen. Wanted pages are sought: they count for no more than the others do,
        and what only some of them have is not held against the rest."""
        wanted = min(self.wanted, max(2.0, self.others))
        having = self.common[feature] + (wanted if self.liked[feature] else 0.0)
        return log((wanted + self.others + 1) / max(1.0, having))
