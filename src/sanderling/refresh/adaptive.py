"""The learned policy behind the seam of plans.py: beliefs live in the rows of the diary, sites here."""

from collections.abc import Sequence

import msgspec

from sanderling.refresh import rates
from sanderling.refresh.history import Look, begin, decode, encode
from sanderling.refresh.kin import kin_of
from sanderling.refresh.learned import POLICY
from sanderling.refresh.plans import LONGEST, SHORTEST, Facts, Plan
from sanderling.refresh.policy import View
from sanderling.refresh.pulse import PER_INTERVAL
from sanderling.refresh.rates import DAY
from sanderling.refresh.site import Site, restore

INTERVAL = 7 * DAY  # mean seconds between two visits of a page; the price of a visit follows from it
AGE = 0.1  # weight of age beside freshness, per mean interval: enough that nothing starves
MOST_SITES = 1000  # kept in memory; the one used longest ago goes


class Learned:
    """Come back when a visit will be worth its price, by a belief about the page's rate and the pace of its site."""

    def __init__(self) -> None:
        self.sites: dict[str, Site] = {}
        self.table = rates.value_table(AGE * DAY / INTERVAL)
        self.price = POLICY.par(INTERVAL, self.table)

    def plan(self, facts: Sequence[Facts]) -> list[Plan]:
        return [self._plan(page) for page in facts]

    def _plan(self, page: Facts) -> Plan:
        view = View(page.now, self._site(page.site), kin_of(f"http://{page.site}{page.path}"), self.price, INTERVAL,
                    self.table)  # fmt: skip
        if not page.previous or not page.state:
            view.site.pages += 1
            history = begin(page.now, page.size)
        else:
            look = Look(page.now, page.changed, page.modified, page.size)
            history = POLICY.learn(decode(page.state), look, view)
        due = POLICY.due(history, view)
        rate = rates.mean(rates.belief(rates.unpack(history.belief), view.site.prior))
        why = f"changes about every {1 / rate:.3g} days, as far as known ({history.visits} visits)"
        return Plan(min(max(due, page.now + SHORTEST), page.now + LONGEST), why, encode(history))

    def _site(self, name: str) -> Site:
        site = self.sites.pop(name, None) or Site(INTERVAL / PER_INTERVAL)
        self.sites[name] = site
        if len(self.sites) > MOST_SITES:
            self.sites.pop(next(iter(self.sites)))
        return site

    def dump(self) -> bytes:
        return msgspec.msgpack.encode({name: site.export() for name, site in self.sites.items()})

    def load(self, stored: bytes) -> None:
        found = msgspec.msgpack.decode(stored, type=dict[str, bytes]) if stored else {}
        self.sites = {name: restore(state) for name, state in found.items()}
