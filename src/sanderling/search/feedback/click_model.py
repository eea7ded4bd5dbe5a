"""Learn page weights from clicks with a position-based click model.

P(click) = P(examined) x P(attractive). Rates back off from (query, page) to page to the average. Clients whose clicks
no other client repeats lose trust (benchmarks/search/click_feedback.py).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

EXAMINATION_DECAY = 0.7  # P(examined) at position p is p ** -0.7, between published eye-tracking curves
QUERY_PRIOR = 2.0  # expected views that the page's rate counts for
PAGE_PRIOR = 5.0  # expected views that the average rate counts for
CONFIDENCE_DEVIATIONS = 1.0  # standard deviations subtracted from a rate above the average
MAX_LIFT = 4.0  # four times the average rate gives the full weight
MIN_CLIENTS = 3.0  # sum of trust below which a page is not moved
MAX_PER_QUERY = 1  # rankings per client and query that count
MAX_PER_CLIENT = 30  # rankings per client that count
TRUST_POWER = 6
TRUST_ROUNDS = 2
NEW_CLIENT_CREDIT = 0.7  # prior clicks in full agreement
ANY_QUERY = ""  # the key of weights that apply to any query


class RankingImpression(Struct, frozen=True):
    """A ranking shown to a client, with the satisfaction of its clicks."""

    client_id: str
    query_key: str
    urls: tuple[str, ...]
    clicks: dict[int, float]  # index in urls -> 0..1
    first_position: int = 1


class ClickWeight(Struct, frozen=True):
    value: float  # -1..1
    clicks: float
    expected_views: float  # sum of P(examined) over the positions shown
    clients: int


QueryPage = tuple[str, str]


class _ClickSums(Struct):
    clicks: dict[QueryPage, float]
    views: dict[QueryPage, float]
    viewer_trust: dict[QueryPage, float]  # sum of the trust of clients that saw it
    clicker_trust: dict[QueryPage, float]  # sum of the trust of clients that clicked it
    average_rate: float


def compute_examination(position: int) -> float:
    """Return P(examined) of a position."""
    return float(max(1, position) ** -EXAMINATION_DECAY)


def compute_weights(impressions: Iterable[RankingImpression]) -> dict[QueryPage, ClickWeight]:
    limited = limit_impressions(impressions)
    trust = compute_trust(limited)
    sums = sum_clicks(limited, trust)
    pages = _sum_by_page(sums)
    clients = _count_clients(limited)
    weights = {pair: _compute_weight(pair, sums, pages, clients) for pair in sums.views}
    return weights | {(ANY_QUERY, url): _compute_page_weight(url, sums, pages, clients) for url in pages}


def limit_impressions(impressions: Iterable[RankingImpression]) -> list[RankingImpression]:
    """Keep the first impressions per client."""
    per_query: dict[QueryPage, int] = defaultdict(int)
    per_client: dict[str, int] = defaultdict(int)
    limited = []
    for impression in impressions:
        if (
            per_query[impression.client_id, impression.query_key] < MAX_PER_QUERY
            and per_client[impression.client_id] < MAX_PER_CLIENT
        ):
            per_query[impression.client_id, impression.query_key] += 1
            per_client[impression.client_id] += 1
            limited.append(impression)
    return limited


def sum_clicks(impressions: Sequence[RankingImpression], trust: Mapping[str, float]) -> _ClickSums:
    """Sum clicks and expected views, weighted by trust."""
    clicks: dict[QueryPage, float] = defaultdict(float)
    views: dict[QueryPage, float] = defaultdict(float)
    viewers: dict[QueryPage, dict[str, float]] = defaultdict(dict)
    clickers: dict[QueryPage, dict[str, float]] = defaultdict(dict)
    for impression in impressions:
        client_trust = trust.get(impression.client_id, 1.0)
        for index, url in enumerate(impression.urls):
            pair = impression.query_key, url
            views[pair] += client_trust * compute_examination(impression.first_position + index)
            viewers[pair][impression.client_id] = client_trust
            if index in impression.clicks:
                clicks[pair] += client_trust * impression.clicks[index]
                clickers[pair][impression.client_id] = client_trust
    total = sum(views.values())
    rate = sum(clicks.values()) / total if total else 0.0
    return _ClickSums(clicks, views, _sum_trust(viewers), _sum_trust(clickers), rate)


def _sum_trust(trust_by_client: Mapping[QueryPage, Mapping[str, float]]) -> dict[QueryPage, float]:
    return {pair: sum(each.values()) for pair, each in trust_by_client.items()}


def compute_trust(impressions: Sequence[RankingImpression]) -> dict[str, float]:
    """Compute how far other clients confirm the satisfied clicks of each client."""
    trust: dict[str, float] = {}
    for _ in range(TRUST_ROUNDS):
        sums = sum_clicks(impressions, trust)
        confirmations: dict[str, list[float]] = defaultdict(list)
        for impression in impressions:
            client_trust = trust.get(impression.client_id, 1.0)
            for index, satisfaction in impression.clicks.items():
                if satisfaction >= 1.0:
                    pair = impression.query_key, impression.urls[index]
                    other_clicks = sums.clicks[pair] - client_trust * satisfaction + QUERY_PRIOR * sums.average_rate
                    other_views = (
                        sums.views[pair]
                        - client_trust * compute_examination(impression.first_position + index)
                        + QUERY_PRIOR
                    )
                    confirmations[impression.client_id].append(other_clicks / other_views)
        all_rates = sorted(rate for rates in confirmations.values() for rate in rates)
        median = all_rates[len(all_rates) // 2] if all_rates else 0.0
        if median <= 0:
            return trust
        for client, rates in confirmations.items():
            agreement = NEW_CLIENT_CREDIT + sum(min(1.0, rate / median) for rate in rates)
            trust[client] = (agreement / (NEW_CLIENT_CREDIT + len(rates))) ** TRUST_POWER
    return trust


def _sum_by_page(sums: _ClickSums) -> dict[str, tuple[float, float]]:
    pages: dict[str, tuple[float, float]] = {}
    for pair, views in sums.views.items():
        clicks, page_views = pages.get(pair[1], (0.0, 0.0))
        pages[pair[1]] = clicks + sums.clicks.get(pair, 0.0), page_views + views
    return pages


def _count_clients(impressions: Sequence[RankingImpression]) -> dict[QueryPage, int]:
    clients: dict[QueryPage, set[str]] = defaultdict(set)
    for impression in impressions:
        for index in impression.clicks:
            clients[impression.query_key, impression.urls[index]].add(impression.client_id)
            clients[ANY_QUERY, impression.urls[index]].add(impression.client_id)
    return {pair: len(ids) for pair, ids in clients.items()}


def _compute_weight(
    pair: QueryPage, sums: _ClickSums, pages: Mapping[str, tuple[float, float]], clients: Mapping[QueryPage, int]
) -> ClickWeight:
    clicks, views = sums.clicks.get(pair, 0.0), sums.views[pair]
    page_clicks, page_views = pages[pair[1]]
    prior = (page_clicks - clicks + PAGE_PRIOR * sums.average_rate) / (page_views - views + PAGE_PRIOR)
    value = compute_damped_weight(clicks, views, prior, QUERY_PRIOR, sums.average_rate)
    trust = sums.clicker_trust.get(pair, 0.0) if value > 0 else sums.viewer_trust[pair]
    if trust < MIN_CLIENTS:
        value = 0.0
    return ClickWeight(value, clicks, views, clients.get(pair, 0))


def _compute_page_weight(
    url: str, sums: _ClickSums, pages: Mapping[str, tuple[float, float]], clients: Mapping[QueryPage, int]
) -> ClickWeight:
    clicks, views = pages[url]
    client_count = clients.get((ANY_QUERY, url), 0)
    value = compute_damped_weight(clicks, views, sums.average_rate, PAGE_PRIOR, sums.average_rate)
    return ClickWeight(value if client_count >= MIN_CLIENTS else 0.0, clicks, views, client_count)


def compute_damped_weight(clicks: float, views: float, prior: float, strength: float, average: float) -> float:
    """Return the log ratio of the smoothed rate to the average, from -1 to 1."""
    if average <= 0:
        return 0.0
    rate = (clicks + strength * prior) / (views + strength)
    lower_bound = (max(0.0, clicks - CONFIDENCE_DEVIATIONS * math.sqrt(clicks)) + strength * prior) / (views + strength)
    damped = lower_bound if lower_bound > average else min(rate, average)
    return max(-1.0, min(1.0, math.log(max(damped, 1e-9) / average) / math.log(MAX_LIFT)))
