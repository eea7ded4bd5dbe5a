"""Weighted mix of orderings, for example `0.7*opic+0.3*breadth`. Ranks and gains are summed."""

from collections.abc import Mapping, Sequence

from sanderling.frontier.ordering.protocol import CrawledPage, FoundUrl, HostPreference, LinkLookup, Ordering
from sanderling.frontier.ordering.score_table import SumTable


class WeightedOrdering(Ordering):
    """Weighted sum of orderings."""

    def __init__(self, parts: Sequence[tuple[float, Ordering]]) -> None:
        self.parts = parts
        orderings = [ordering for _, ordering in parts]
        self.host_preference = max((o.host_preference for o in orderings), key=list(HostPreference).index)
        self.is_focused = any(o.is_focused for o in orderings)
        self.uses_sitemap_priority = any(o.uses_sitemap_priority for o in orderings)
        self.has_comparable_ranks = all(o.has_comparable_ranks for o in orderings)
        self.needs_backlinks = any(o.needs_backlinks for o in orderings)

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        total = [0.0] * len(found_urls)
        for weight, ordering in self.parts:
            total = [sum_ + weight * rank for sum_, rank in zip(total, ordering.rank(found_urls), strict=True)]
        return total

    def learn(self, crawled_page: CrawledPage) -> None:
        for _, ordering in self.parts:
            ordering.learn(crawled_page)

    def pop_rank_gains(self) -> Mapping[int, float]:
        total: dict[int, float] = {}
        for weight, ordering in self.parts:
            for url, gain in ordering.pop_rank_gains().items():
                total[url] = total.get(url, 0.0) + weight * gain
        return total

    def compute_sitemap_gains(self, priority_changes: Mapping[int, float]) -> Mapping[int, float]:
        total: dict[int, float] = {}
        for weight, ordering in self.parts:
            for url, gain in ordering.compute_sitemap_gains(priority_changes).items():
                total[url] = total.get(url, 0.0) + weight * gain
        return total

    def rank_known(self, url_id: int, depth: int) -> float:
        return sum(weight * ordering.rank_known(url_id, depth) for weight, ordering in self.parts)

    def rank_all(self, known_urls: Sequence[tuple[int, int]], get_links: LinkLookup) -> Sequence[float]:
        total = [0.0] * len(known_urls)
        for weight, ordering in self.parts:
            total = [
                sum_ + weight * rank for sum_, rank in zip(total, ordering.rank_all(known_urls, get_links), strict=True)
            ]
        return total

    def rank_for_retention(self, url_id: int, depth: int, relevance: float) -> float:
        return sum(weight * ordering.rank_for_retention(url_id, depth, relevance) for weight, ordering in self.parts)

    def get_score_tables(self) -> Mapping[str, SumTable]:
        return {
            f"{number}.{name}": table
            for number, (_, ordering) in enumerate(self.parts)
            for name, table in ordering.get_score_tables().items()
        }
