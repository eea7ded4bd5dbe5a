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

LOOK_DECAY = 0.7  # chance of a look at position p: p ** -0.7, between published eye-tracking curves
QUESTION_PRIOR = 2.0  # expected looks that the page's own rate stands for
PAGE_PRIOR = 5.0  # expected looks that the average rate stands for
LUCK = 1.0  # standard deviations taken off a rate above the average
CAP = 4.0  # a page liked four times as much as the average reaches the full weight
MIN_CLIENTS = 3.0  # trusted clients it takes to move a page at all
PER_QUESTION = 1  # rankings of one client and question that count
PER_CLIENT = 30  # rankings of one client that count
TRUST_POWER = 6
TRUST_ROUNDS = 2
NEW_CLIENT = 0.7  # clicks in full agreement a client is credited with beforehand
ANY_QUESTION = ""  # the key of weights that hold whatever was asked


class Look(Struct, frozen=True):
    """One client before one ranking, and what it chose: places in `urls`, each with how satisfied it seemed."""

    client: str
    key: str
    urls: tuple[str, ...]
    chosen: dict[int, float]  # index in urls -> 0..1
    first_position: int = 1


class Weight(Struct, frozen=True):
    """What users say of a page for a question."""

    value: float  # -1..1
    clicks: float
    examined: float  # looks one expects at the positions it was shown at
    clients: int


Pair = tuple[str, str]


class _Sums(Struct):
    """Clicks and expected looks, per question and page, and per page."""

    clicks: dict[Pair, float]
    looks: dict[Pair, float]
    viewers: dict[Pair, float]  # sum of the trust in those who saw it
    choosers: dict[Pair, float]  # and in those who chose it
    rate: float  # of everything


def chance_of_look(position: int) -> float:
    """How likely a user looks at that position at all."""
    return float(max(1, position) ** -LOOK_DECAY)


def weigh(looks: Iterable[Look]) -> dict[Pair, Weight]:
    """Learn weights for (question, page) pairs, and for (any question, page)."""
    fair = fair_share(looks)
    trust = trusted(fair)
    sums = add_up(fair, trust)
    pages = _by_page(sums)
    clients = _clients(fair)
    made = {pair: _weight(pair, sums, pages, clients) for pair in sums.looks}
    return made | {(ANY_QUESTION, url): _page_weight(url, sums, pages, clients) for url in pages}


def fair_share(looks: Iterable[Look]) -> list[Look]:
    """Take only so much from each client, per question and altogether; the first count."""
    asked: dict[Pair, int] = defaultdict(int)
    spent: dict[str, int] = defaultdict(int)
    kept = []
    for look in looks:
        if asked[look.client, look.key] < PER_QUESTION and spent[look.client] < PER_CLIENT:
            asked[look.client, look.key] += 1
            spent[look.client] += 1
            kept.append(look)
    return kept


def add_up(looks: Sequence[Look], trust: Mapping[str, float]) -> _Sums:
    """Sum clicks and expected looks, each by the trust in who made them."""
    clicks: dict[Pair, float] = defaultdict(float)
    seen: dict[Pair, float] = defaultdict(float)
    viewers: dict[Pair, dict[str, float]] = defaultdict(dict)
    choosers: dict[Pair, dict[str, float]] = defaultdict(dict)
    for look in looks:
        voice = trust.get(look.client, 1.0)
        for place, url in enumerate(look.urls):
            pair = look.key, url
            seen[pair] += voice * chance_of_look(look.first_position + place)
            viewers[pair][look.client] = voice
            if place in look.chosen:
                clicks[pair] += voice * look.chosen[place]
                choosers[pair][look.client] = voice
    total = sum(seen.values())
    rate = sum(clicks.values()) / total if total else 0.0
    return _Sums(clicks, seen, _totals(viewers), _totals(choosers), rate)


def _totals(voices: Mapping[Pair, Mapping[str, float]]) -> dict[Pair, float]:
    return {pair: sum(each.values()) for pair, each in voices.items()}


def trusted(looks: Sequence[Look]) -> dict[str, float]:
    """How far each client's choices are borne out by what others chose, leaving its own clicks aside."""
    trust: dict[str, float] = {}
    for _ in range(TRUST_ROUNDS):
        sums = add_up(looks, trust)
        borne_out: dict[str, list[float]] = defaultdict(list)
        for look in looks:
            voice = trust.get(look.client, 1.0)
            for place, liking in look.chosen.items():
                if liking >= 1.0:
                    pair = look.key, look.urls[place]
                    others = sums.clicks[pair] - voice * liking + QUESTION_PRIOR * sums.rate
                    seen = sums.looks[pair] - voice * chance_of_look(look.first_position + place) + QUESTION_PRIOR
                    borne_out[look.client].append(others / seen)
        usual = sorted(rate for rates in borne_out.values() for rate in rates)
        middle = usual[len(usual) // 2] if usual else 0.0
        if middle <= 0:
            return trust
        for client, rates in borne_out.items():
            agreement = NEW_CLIENT + sum(min(1.0, rate / middle) for rate in rates)
            trust[client] = (agreement / (NEW_CLIENT + len(rates))) ** TRUST_POWER
    return trust


def _by_page(sums: _Sums) -> dict[str, tuple[float, float]]:
    pages: dict[str, tuple[float, float]] = {}
    for pair, seen in sums.looks.items():
        clicks, looks = pages.get(pair[1], (0.0, 0.0))
        pages[pair[1]] = clicks + sums.clicks.get(pair, 0.0), looks + seen
    return pages


def _clients(looks: Sequence[Look]) -> dict[Pair, int]:
    who: dict[Pair, set[str]] = defaultdict(set)
    for look in looks:
        for place in look.chosen:
            who[look.key, look.urls[place]].add(look.client)
            who[ANY_QUESTION, look.urls[place]].add(look.client)
    return {pair: len(names) for pair, names in who.items()}


def _weight(pair: Pair, sums: _Sums, pages: Mapping[str, tuple[float, float]], clients: Mapping[Pair, int]) -> Weight:
    clicks, looks = sums.clicks.get(pair, 0.0), sums.looks[pair]
    page_clicks, page_looks = pages[pair[1]]
    prior = (page_clicks - clicks + PAGE_PRIOR * sums.rate) / (page_looks - looks + PAGE_PRIOR)
    value = damped(clicks, looks, prior, QUESTION_PRIOR, sums.rate)
    heard = sums.choosers.get(pair, 0.0) if value > 0 else sums.viewers[pair]
    if heard < MIN_CLIENTS:
        value = 0.0
    return Weight(value, clicks, looks, clients.get(pair, 0))


def _page_weight(
    url: str, sums: _Sums, pages: Mapping[str, tuple[float, float]], clients: Mapping[Pair, int]
) -> Weight:
    clicks, looks = pages[url]
    who = clients.get((ANY_QUESTION, url), 0)
    value = damped(clicks, looks, sums.rate, PAGE_PRIOR, sums.rate)
    return Weight(value if who >= MIN_CLIENTS else 0.0, clicks, looks, who)


def damped(clicks: float, looks: float, prior: float, strength: float, average: float) -> float:
    """The smoothed rate against the average, on a log curve between -1 and 1; praise only beyond luck."""
    if average <= 0:
        return 0.0
    rate = (clicks + strength * prior) / (looks + strength)
    sure = (max(0.0, clicks - LUCK * math.sqrt(clicks)) + strength * prior) / (looks + strength)
    held = sure if sure > average else min(rate, average)
    return max(-1.0, min(1.0, math.log(max(held, 1e-9) / average) / math.log(CAP)))
