"""The learned policy: visit when it is worth the price, by a belief about the page's rate and its groups' clocks."""

from math import log

import msgspec

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.announcements import dated, heard, unannounced, worth_announced
from sanderling.revisit.model.announcer_trust import Trust
from sanderling.revisit.model.change_rate import DAY, Row, Table
from sanderling.revisit.model.periodicity import BEATS, align, is_quiet, narrow
from sanderling.revisit.policies.policy import Assessment, Policy, View
from sanderling.revisit.policies.sitemap_driven import said_period
from sanderling.revisit.visit_history import History, Look, observe

LONGEST_VOTE = 4.0  # intervals: a page not visited for longer does not move the habits of its site by more
TELLING = 0.5  # recall of an announcer above which looks are made on its word, and are no sample of the group


def learn(history: History, look: Look, view: View) -> History:
    """Take what a look found into the page's belief and into what its site knows."""
    after = observe(history, look)
    days = (look.at - history.last) / DAY
    if days <= 0:
        return after  # a clock that jumped back, or the same moment twice: no time teaches nothing
    clocks = view.site.elapsed(view.kin, history.last, look.at)
    evidence, prior = change_rate.unpack(history.belief), _prior(history, view)
    likelihood = _likelihood(history, look, view, view.site.blend(clocks))
    told = change_rate.learn(evidence, prior, likelihood, change_rate.forgotten(days))
    _tell_site(history, look, view, clocks, *change_rate.belief(evidence, prior))
    view.site.habits.judge(view.kin, evidence, likelihood)
    view.site.habits.learn(view.kin, told, min(days * DAY / view.interval, LONGEST_VOTE))
    phase = narrow(history.phase, history.last, look.at, look.changed)
    return msgspec.structs.replace(after, belief=change_rate.pack(told), phase=phase)


def assess(history: History, view: View) -> Assessment:
    """When the visit is worth its price if the page's groups go on at their usual pace, and what it is worth now."""
    weights, total = change_rate.belief(change_rate.unpack(history.belief), _prior(history, view))
    gone, pace, trust = _elapsed(history, view), 1.0, _announcer(history, view)
    if trust is not None:
        weights, total = heard(weights, trust, gone, history.signals)
        pace = 1 - trust.recall
    if trust is not None and history.signals:
        worth = max(worth_announced(weights, trust, gone, history.signals) / total, 1e-12)
        return view.now + view.interval * log(view.price / worth), worth, view.ripe
    place = change_rate.ripening(
        weights, view.table, view.price * total, view.ripe or change_rate.slot(view.interval / DAY)
    )
    due_at = view.now + (change_rate.time_at(place) - gone * pace) / pace * DAY
    worth = change_rate.dot(weights, view.table[change_rate.slot(gone * pace)]) / total if gone > 0 else 0.0
    if history.phase:
        due_at = align(history.phase, history.last, due_at)
        worth = 0.0 if is_quiet(history.phase, history.last, view.now) else worth
    return due_at, worth, place


def why(history: History, view: View) -> str:
    """The parts of the decision, in words."""
    weights, total = change_rate.belief(change_rate.unpack(history.belief), _prior(history, view))
    gone, days = _elapsed(history, view), max(view.now - history.last, 0.0) / DAY
    found = f"{history.changes} found in {history.visits} visits"
    parts = [
        f"changes about every {in_words(change_rate.usual(weights, total))} ({found})"
        if history.visits > 1
        else "seen once",
        f"last visit {in_words(days)} ago" + (f", as if {in_words(gone)} by its kin" if _differ(gone, days) else ""),
    ]
    if history.signals:
        parts.append("announced as changed")
    elif (trust := _announcer(history, view)) is not None:
        parts.append(f"not announced as changed, by a site that announces {trust.recall:.0%} of its changes")
    if any(beat.is_known(history.phase) for beat in BEATS):
        parts.append("changes at a known hour or weekday")
    return "; ".join(parts)


def in_words(days: float) -> str:
    """A time as people say it."""
    minutes = days * 1440
    if minutes < 90:
        return "1 minute" if round(minutes) == 1 else f"{minutes:.0f} minutes"
    return f"{minutes / 60:.0f} hours" if minutes < 2880 else f"{days:.0f} days"


def par(interval: float, table: Table) -> float:
    """What a visit to an unknown page is worth after the mean interval."""
    return change_rate.dot(change_rate.WEB, table[change_rate.slot(interval / DAY)])


def _prior(history: History, view: View) -> Row:
    """What is thought of a page's rate beside its own evidence: its site's habits, and what the sitemap calls it."""
    if not history.said:
        return view.site.habits.of(view.kin)
    trust, said = view.site.classes, change_rate.around(said_period(history) / DAY)
    return [(1 - trust) * own + trust * told for own, told in zip(view.site.habits.of(view.kin), said, strict=True)]


def _elapsed(history: History, view: View) -> float:
    """Days since the last visit on the clocks of the page's groups."""
    if history.last >= view.now:
        return 0.0
    return view.site.blend(view.site.elapsed(view.kin, history.last, view.now))


def _differ(one: float, other: float) -> bool:
    return abs(one - other) > 0.1 * other


def _likelihood(history: History, look: Look, view: View, elapsed: float) -> Row:
    """How probable each rate makes the look; sharper where an announcer or server dates the change and is believed."""
    pace = elapsed / (look.at - history.last)
    trust = _announcer(history, view)
    if trust is not None and look.changed:
        if history.signals:
            return dated(trust.recall * pace * (min(history.announced_at, look.at) - history.last))
        return unannounced(trust.recall, elapsed)
    if look.changed and view.site.has_honest_dates and history.last < look.modified <= look.at:
        return dated(pace * (look.at - look.modified))
    return (change_rate.changed_table() if look.changed else change_rate.quiet_table())[change_rate.slot(elapsed)]


def _tell_site(history: History, look: Look, view: View, clocks: list[float], weights: Row, total: float) -> None:
    """Let the site learn which kind of group foretells changes, how lively its groups are, and whom to believe."""
    table = change_rate.changed_table() if look.changed else change_rate.quiet_table()
    trust = _announcer(history, view)
    if trust is None or trust.recall < TELLING:
        view.site.judge([change_rate.dot(weights, table[change_rate.slot(clock)]) for clock in clocks])
        view.site.tell(view.kin, history.last, look.at, change_rate.mean(weights, total), look.changed)
    if history.said:
        place = table[change_rate.slot(clocks[0])]
        said = change_rate.around(said_period(history) / DAY)
        usual = view.site.habits.prior
        view.site.judge_classes(change_rate.dot(said, place), change_rate.dot(usual, place) / sum(usual))
    if look.modified > 0:
        view.site.judge_date(history.last < look.modified <= look.at, look.changed)
    for covering in _covering(history, view):
        covering.tell(history.signals > 0, look.changed, (look.at - history.last) / DAY)


def _announcer(history: History, view: View) -> Trust | None:
    """Who announces changes of this page and is believed; of several, the one with the best recall. None: nobody."""
    if not history.announced_by:
        return None
    believed = [trust for trust in _covering(history, view) if trust.is_believed]
    return max(believed, key=lambda trust: trust.recall, default=None)


def _covering(history: History, view: View) -> list[Trust]:
    return [trust for bit, trust in enumerate(view.site.trusts) if history.announced_by >> bit & 1]


POLICY = Policy("learned", "by learned rates, related pages and what sitemaps announce", learn, assess, why, par)
