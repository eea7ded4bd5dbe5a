"""The learned policy: visit when it is worth the price, by a belief about its rate and the clock of its groups."""

from operator import mul

from . import rates
from .history import History, Look, observe
from .policy import Policy, View
from .rates import DAY
from .trust import Trust, effective

LONGEST_VOTE = 4.0  # intervals: one page never visited for long does not move the prior of its site by more
FEWEST = 32  # pages a site counts as, at least, when its prior is moved


def learn(history: History, look: Look, view: View) -> History:
    """Take what a look found into the page's belief and into what its site knows."""
    days = (look.at - history.last) / DAY
    after = observe(history, look)
    if days <= 0:
        return after  # a clock that jumped back, or the same moment twice: nothing can be learned from no time
    site = view.site
    clocks = site.elapsed(view.kin, history.last, look.at)
    evidence = rates.unpack(history.belief)
    weights = rates.belief(evidence, site.prior)
    rate = rates.mean(weights)
    told = rates.learn(evidence, site.prior, _likelihood(look, days, site.blend(clocks)), rates.forgotten(days))
    vote = min(look.at - history.last, LONGEST_VOTE * view.interval) / view.interval / max(site.pages, FEWEST)
    site.learn_prior(rates.belief(told, site.prior), min(vote, 1.0))
    table = rates.changed_table() if look.changed else rates.quiet_table()
    site.judge([sum(map(mul, weights, table[rates.slot(clock)])) for clock in clocks])
    site.tell(view.kin, history.last, look.at, rate, look.changed)
    for trust in _announcers(history, view):
        trust.tell(history.signals > 0, look.changed, days)
    return _believing(after, told)


def due(history: History, view: View) -> float:
    """When the visit will be worth its price, if the groups of the page go on at their usual pace."""
    weights = rates.belief(rates.unpack(history.belief), view.site.prior)
    view.ripe = rates.ripening(weights, view.table, view.price, view.ripe or rates.slot(view.interval / DAY))
    ripe = rates.time_at(view.ripe)
    if history.last >= view.now and not history.signals:
        return view.now + ripe * DAY
    gone, pace = _elapsed(history, view, weights)
    return view.now + (ripe - gone) / pace * DAY


def worth(history: History, view: View) -> float:
    """What a visit now is worth."""
    weights = rates.belief(rates.unpack(history.belief), view.site.prior)
    gone, _ = _elapsed(history, view, weights)
    return float(sum(map(mul, weights, view.table[rates.slot(gone)])))


def par(interval: float, table: list[rates.Row]) -> float:
    """What a visit to an unknown page is worth after the mean interval."""
    return float(sum(map(mul, rates.FLAT, table[rates.slot(interval / DAY)])))


def _elapsed(history: History, view: View, weights: rates.Row) -> tuple[float, float]:
    """Days since the last visit as far as the page is concerned, and how fast they pass from now on."""
    gone = view.site.blend(view.site.elapsed(view.kin, history.last, view.now))
    pace = 1.0
    for trust in _announcers(history, view):
        gone = effective(gone, rates.mean(weights), trust, history.signals)
        pace = max(1 - trust.recall, 0.01)
    return gone, pace


def _likelihood(look: Look, days: float, elapsed: float) -> rates.Row:
    """How probable each rate makes the look; sharper where the server says when the page changed."""
    quiet = (look.at - look.modified) / DAY
    if look.changed and look.modified > 0 and 0 <= quiet < days:
        since = rates.quiet_table()[rates.slot(elapsed * quiet / days)]
        return [rate * chance for rate, chance in zip(rates.RATES, since, strict=True)]
    return (rates.changed_table() if look.changed else rates.quiet_table())[rates.slot(elapsed)]


def _announcers(history: History, view: View) -> list[Trust]:
    """Those who announce changes of this page; of several, the one with the best recall speaks."""
    covering = [trust for bit, trust in enumerate(view.site.trusts) if history.announced_by >> bit & 1]
    return [max(covering, key=lambda trust: trust.recall)] if covering else []


def _believing(history: History, evidence: rates.Row) -> History:
    return History(
        history.last,
        history.visits,
        history.changes,
        history.changed_at,
        history.interval,
        history.recent,
        rates.pack(evidence),
        history.signals,
        history.announced_by,
        history.phase,
        history.cost,
    )


POLICY = Policy(
    "learned", "by a learned rate, the activity of related pages, and what sitemaps say", learn, due, worth, par
)
