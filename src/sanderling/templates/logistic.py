"""What tokens tell about the outcome of a trial: a logistic belief that is corrected by every outcome.

Every token has a weight and how uncertain that is. An outcome moves the uncertain weights most, all together and only
as far as it was a surprise, so tokens that always come together share what they say. (An extended Kalman filter with a
diagonal covariance: the same as logistic regression in one pass, without a learning rate.)
"""

from collections.abc import Sequence
from itertools import repeat
from math import exp, log

UNCERTAIN = 1.0  # variance of a weight we know nothing of
SETTLED = 0.02  # a weight never gets surer than this: what is learned may be wrong
FARTHEST = 30.0
NOTHING = repeat(0.0)


class Belief:
    """The chance of success, given tokens."""

    def __init__(self, start: float) -> None:
        self.start = log(start / (1 - start))
        self.weights: dict[str, float] = {}
        self.variances: dict[str, float] = {}

    def chance(self, said: Sequence[str]) -> float:
        """How likely a trial with these tokens succeeds; tokens never seen say nothing."""
        odds = self.start + sum(map(self.weights.get, said, NOTHING))
        return 1 / (1 + exp(-max(-FARTHEST, min(FARTHEST, odds))))

    def learn(self, said: Sequence[str], outcome: float, weight: float = 1.0) -> None:
        """Take in how a trial came out, from 0 to 1."""
        chance, variances, weights = self.chance(said), self.variances, self.weights
        doubt = weight * max(chance * (1 - chance), 1e-3)
        share = weight / (1 + doubt * sum(variances.get(token, UNCERTAIN) for token in said))
        for token in said:
            variance = variances.get(token, UNCERTAIN)
            weights[token] = weights.get(token, 0.0) + variance * share * (outcome - chance)
            variances[token] = max(SETTLED, variance - variance * variance * share * doubt / weight)
