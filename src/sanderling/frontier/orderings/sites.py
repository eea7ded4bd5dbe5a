"""Larger sites first (Baeza-Yates, LIT-LSF): of the hosts that may be asked, the one with most URLs waiting."""

from collections.abc import Sequence

from sanderling.frontier.order import Favour, Finding, Ordering


class LargerSites(Ordering):
    """The choice is between hosts; within a host level by level."""

    favour = Favour.LARGEST

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        return [float(finding.depth) for finding in findings]
