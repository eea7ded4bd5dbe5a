"""Predict from the URL, anchor and place of a link what following it brings; learned online."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import repeat
from math import exp, log

from msgspec import Struct

from sanderling.templates.page_features import tokenize_location
from sanderling.urls.tokens import WORD

MAX_ANCHOR_WORDS = 6
START_PROBABILITY = 0.02  # of a link of which nothing is known
VARIED_CLASS = re.compile(r"\.(?:[\w-]*-)?(?:even|odd)(?:-[\w-]*)?(?=[.>]|$)|[0-9]+")
UNCERTAIN_WEIGHT, SETTLED_WEIGHT = 1.0, 0.02  # variances of weights: of a new one, and the smallest
MAX_LOG_ODDS = 30.0
MAX_CACHED_LINKS = 65_536


class LinkEvidence(Struct, frozen=True):
    """A link as a page shows it: target, anchor, source page, and tag path."""

    url: str
    anchor: str = ""
    source: str = ""
    place: str = ""


class LinkModel:
    """Logistic regression over tokens, learned in one pass (extended Kalman filter with diagonal covariance)."""

    def __init__(self) -> None:
        self.start = log(START_PROBABILITY / (1 - START_PROBABILITY))
        self.weights: dict[str, float] = {}
        self.variances: dict[str, float] = {}

    def predict(self, tokens: Sequence[str], bonus: float = 0.0) -> float:
        """Return the probability of the outcome; `bonus` is added to the log odds."""
        odds = self.start + bonus + sum(map(self.weights.get, tokens, repeat(0.0)))
        return 1 / (1 + exp(-max(-MAX_LOG_ODDS, min(MAX_LOG_ODDS, odds))))

    def learn(self, tokens: Sequence[str], outcome: float, weight: float = 1.0) -> None:
        """Correct the weights of tokens by an outcome in [0, 1], uncertain weights most."""
        chance, variances, weights = self.predict(tokens), self.variances, self.weights
        doubt = weight * max(chance * (1 - chance), 1e-3)
        share = weight / (1 + doubt * sum(variances.get(token, UNCERTAIN_WEIGHT) for token in tokens))
        for token in tokens:
            variance = variances.get(token, UNCERTAIN_WEIGHT)
            weights[token] = weights.get(token, 0.0) + variance * share * (outcome - chance)
            variances[token] = max(SETTLED_WEIGHT, variance - variance * variance * share * doubt / weight)


@lru_cache(maxsize=MAX_CACHED_LINKS)
def tokenize_link(link: LinkEvidence) -> tuple[str, ...]:
    """Return the tokens of a link: its URL, anchor words, tag path, and the list of the page it is on."""
    tokens = tokenize_location(link.url)
    words = dict.fromkeys(word.lower() for word in WORD.findall(link.anchor[:200]))
    tokens += [f"anchor {word}" for word in list(words)[:MAX_ANCHOR_WORDS]]
    if link.place:
        place = VARIED_CLASS.sub("", link.place)
        tokens += [f"place {place}", f"list {link.source} {place}"]
    return tuple(dict.fromkeys(tokens))
