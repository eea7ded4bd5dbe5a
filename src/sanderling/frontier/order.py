"""Which page first: the seam behind `--order`. One ordering is one small file with one class or function.

An ordering gives a new URL its rank (smaller is sooner), learns from each stored page, and now and then says which
waiting URLs gained by what it learned. It sees values only; the queue moves the rows.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from sanderling.records import Candidate, Visit

LEARN_PAGES = 500  # pages between two looks at the gains


class Finding(Struct, frozen=True, gc=False):
    """A URL somebody just found: what an ordering may judge it by before it was ever visited."""

    candidate: Candidate
    anchor: str = ""
    page: Visit | None = None  # where it was found
    priority: float = 0.5  # what a sitemap said


class Ordering(Protocol):
    """What the pipeline asks of an ordering."""

    def rank(self, finding: Finding) -> float:
        """The place of a new URL among those of its host; smaller is sooner."""

    def learn(self, page: Visit, targets: Sequence[int]) -> None:
        """A page was stored; these are the ids of the URLs it links to."""

    def gains(self) -> Mapping[int, float]:
        """By how much waiting URLs moved forward since the last time this was asked."""


class Breadth:
    """Level by level, in the order of discovery: what peers do by default."""

    def rank(self, finding: Finding) -> float:
        return float(finding.candidate.depth)

    def learn(self, page: Visit, targets: Sequence[int]) -> None:
        """Nothing to learn."""

    def gains(self) -> Mapping[int, float]:
        return {}


ORDERINGS: dict[str, type[Ordering]] = {"breadth": Breadth}
