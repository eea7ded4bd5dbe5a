"""An ordering: the rank of new URLs; smaller is sooner."""

from collections.abc import Sequence

from sanderling.frontier.ordering.protocol import FoundUrl, Ordering


class ShortestUrlOrdering(Ordering):
    """Short URLs first: they are often overviews."""

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        """Return the length of each URL."""
        return [float(len(found.url)) for found in found_urls]
