"""Clicks to weights: freed from position bias, counted once per client, weighed by trust, smoothed, damped, capped.

Position-based model: a click needs a look and a liking. The chance of a look falls with the position; clicks divided
by expected looks estimate the liking. Rates back off from (question, page) to page to everything; what is above the
average must be so even when luck is taken off. Clients whose satisfied clicks nobody else repeats lose their voice, so
a minority, however busy, does not move the order (measured in benchmarks/search/click_feedback.py).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

EXAMINATION_DECAY = 0.7  # chance of a look at position p: p ** -0.7, between published eye-tracking curves
QUERY_PRIOR = 2.0  # expected looks that the page's own rate stands for
PAGE_PRIOR = 5.0  # expected looks that the average rate stands for
CONFIDENCE_DEVIATIONS = 1.0  # standard deviations taken off a rate above the average
MAX_LIFT = 4.0  # a page liked four times as much as the average reaches the full weight
MIN_CLIENTS = 3.0  # trusted clients it takes to move a page at all
MAX_PER_QUERY = 1  # rankings of one client and question that count
MAX_PER_CLIENT = 30  # rankings of one client that count
TRUST_POWER = 6
TRUST_ROUNDS = 2
NEW_CLIENT_CREDIT = 0.7  # clicks in full agreement a client is credited with beforehand
ANY_QUERY = ""  # the key of weights that hold whatever was asked


class RankingImpression(Struct, frozen=True):
    """One client before one ranking, and what it chose: places in `urls`, each with how satisfied it seemed."""

    client_id: str
    query_key: str
    urls: tuple[str, ...]
    clicks: dict[int, float]  # index in urls -> 0..1
    first_position: int = 1


class ClickWeight(Struct, frozen=True):
    """What users say of a page for a question."""

    value: float  # -1..1
    clicks: float
    expected_views: float  # looks one expects at the positions it was shown at
    clients: int


QueryPage = tuple[str, str]


class _ClickSums(Struct):
    """Clicks and expected looks, per question and page, and per page."""

    clicks: dict[QueryPage, float]
    views: dict[QueryPage, float]
    viewer_trust: dict[QueryPage, float]  # sum of the trust in those who saw it
    clicker_trust: dict[QueryPage, float]  # and in those who chose it
    average_rate: float  # of everything


def compute_examination(position: int) -> float:
    """How likely a user looks at that position at all."""
    return float(max(1, position) ** -EXAMINATION_DECAY)


def compute_weights(impressions: Iterable[RankingImpression]) -> dict[QueryPage, ClickWeight]:
    """Learn weights for (question, page) pairs, and for (any question, page)."""
    fair = limit_impressions(impressions)
    trust = compute_trust(fair)
    sums = sum_clicks(fair, trust)
    pages = _sum_by_page(sums)
    clients = _count_clients(fair)
    made = {pair: _compute_weight(pair, sums, pages, clients) for pair in sums.views}
    return made | {(ANY_QUERY, url): _compute_page_weight(url, sums, pages, clients) for url in pages}


def limit_impressions(impressions: Iterable[RankingImpression]) -> list[RankingImpression]:
    """Take only so much from each client, per question and altogether; the first count."""
    asked: dict[QueryPage, int] = defaultdict(int)
    spent: dict[str, int] = defaultdict(int)
    kept = []
    for look in impressions:
        if asked[look.client_id, look.query_key] < MAX_PER_QUERY and spent[look.client_id] < MAX_PER_CLIENT:
            asked[look.client_id, look.query_key] += 1
            spent[look.client_id] += 1
            kept.append(look)
    return kept


def sum_clicks(impressions: Sequence[RankingImpression], trust: Mapping[str, float]) -> _ClickSums:
    """Sum clicks and expected looks, each by the trust in who made them."""
    clicks: dict[QueryPage, float] = defaultdict(float)
    seen: dict[QueryPage, float] = defaultdict(float)
    viewers: dict[QueryPage, dict[str, float]] = defaultdict(dict)
    choosers: dict[QueryPage, dict[str, float]] = defaultdict(dict)
    for look in impressions:
        voice = trust.get(look.client_id, 1.0)
        for place, url in enumerate(look.urls):
            pair = look.query_key, url
            seen[pair] += voice * compute_examination(look.first_position + place)
            viewers[pair][look.client_id] = voice
            if place in look.clicks:
                clicks[pair] += voice * look.clicks[place]
                choosers[pair][look.client_id] = voice
    total = sum(seen.values())
    rate = sum(clicks.values()) / total if total else 0.0
    return _ClickSums(clicks, seen, _sum_trust(viewers), _sum_trust(choosers), rate)


def _sum_trust(trust_by_client: Mapping[QueryPage, Mapping[str, float]]) -> dict[QueryPage, float]:
    return {pair: sum(each.values()) for pair, each in trust_by_client.items()}


def compute_trust(impressions: Sequence[RankingImpression]) -> dict[str, float]:
    """How far each client's choices are borne out by what others chose, leaving its own clicks aside."""
    trust: dict[str, float] = {}
    for _ in range(TRUST_ROUNDS):
        sums = sum_clicks(impressions, trust)
        borne_out: dict[str, list[float]] = defaultdict(list)
        for look in impressions:
            voice = trust.get(look.client_id, 1.0)
            for place, liking in look.clicks.items():
                if liking >= 1.0:
                    pair = look.query_key, look.urls[place]
                    others = sums.clicks[pair] - voice * liking + QUERY_PRIOR * sums.average_rate
                    seen = sums.views[pair] - voice * compute_examination(look.first_position + place) + QUERY_PRIOR
                    borne_out[look.client_id].append(others / seen)
        usual = sorted(rate for rates in borne_out.values() for rate in rates)
        middle = usual[len(usual) // 2] if usual else 0.0
        if middle <= 0:
            return trust
        for client, rates in borne_out.items():
            agreement = NEW_CLIENT_CREDIT + sum(min(1.0, rate / middle) for rate in rates)
            trust[client] = (agreement / (NEW_CLIENT_CREDIT + len(rates))) ** TRUST_POWER
    return trust


def _sum_by_page(sums: _ClickSums) -> dict[str, tuple[float, float]]:
    pages: dict[str, tuple[float, float]] = {}
    for pair, seen in sums.views.items():
        clicks, looks = pages.get(pair[1], (0.0, 0.0))
        pages[pair[1]] = clicks + sums.clicks.get(pair, 0.0), looks + seen
    return pages


def _count_clients(impressions: Sequence[RankingImpression]) -> dict[QueryPage, int]:
    who: dict[QueryPage, set[str]] = defaultdict(set)
    for look in impressions:
        for place in look.clicks:
            who[look.query_key, look.urls[place]].add(look.client_id)
            who[ANY_QUERY, look.urls[place]].add(look.client_id)
    return {pair: len(names) for pair, names in who.items()}


def _compute_weight(
    pair: QueryPage, sums: _ClickSums, pages: Mapping[str, tuple[float, float]], clients: Mapping[QueryPage, int]
) -> ClickWeight:
    clicks, looks = sums.clicks.get(pair, 0.0), sums.views[pair]
    page_clicks, page_looks = pages[pair[1]]
    prior = (page_clicks - clicks + PAGE_PRIOR * sums.average_rate) / (page_looks - looks + PAGE_PRIOR)
    value = compute_damped_weight(clicks, looks, prior, QUERY_PRIOR, sums.average_rate)
    heard = sums.clicker_trust.get(pair, 0.0) if value > 0 else sums.viewer_trust[pair]
    if heard < MIN_CLIENTS:
        value = 0.0
    return ClickWeight(value, clicks, looks, clients.get(pair, 0))


def _compute_page_weight(
    url: str, sums: _ClickSums, pages: Mapping[str, tuple[float, float]], clients: Mapping[QueryPage, int]
) -> ClickWeight:
    clicks, looks = pages[url]
    who = clients.get((ANY_QUERY, url), 0)
    value = compute_damped_weight(clicks, looks, sums.average_rate, PAGE_PRIOR, sums.average_rate)
    return ClickWeight(value if who >= MIN_CLIENTS else 0.0, clicks, looks, who)


def compute_damped_weight(clicks: float, views: float, prior: float, strength: float, average: float) -> float:
    """The smoothed rate against the average, on a log curve between -1 and 1; praise only beyond luck."""
    if average <= 0:
        return 0.0
    rate = (clicks + strength * prior) / (views + strength)
    sure = (max(0.0, clicks - CONFIDENCE_DEVIATIONS * math.sqrt(clicks)) + strength * prior) / (views + strength)
    held = sure if sure > average else min(rate, average)
    return max(-1.0, min(1.0, math.log(max(held, 1e-9) / average) / math.log(MAX_LIFT)))
