"""Freshness: replay real change histories under equal budgets, with the production policies and a simulated clock.

Every policy says when a page is due; each slot the earliest due pages are visited, as many as the budget allows, so all
make the same number of visits. Freshness is the share of up-to-date copies, averaged over time and pages. The oracle
knows each page's true mean rate and allots visits by the optimum for it.

SANDERLING_TRACES=DIR python -m benchmarks.freshness [--traces a,b] [--intervals 30,7,2] [--pages N] [--write]
"""

import argparse
import heapq
import json
import math
import os
import random
import sys
from bisect import bisect_right
from pathlib import Path

from msgspec import Struct

from benchmarks.report import DOCUMENT, replace_between
from sanderling.refresh.plans import Facts, Policy
from sanderling.refresh.policies import POLICIES

DAY = 86_400.0
SPANS = {  # years of use, as the traces' makers give them
    "ota-contrib": (1672531200, 1767225600),
    "openbsd-www": (946684800, 1104537600),
    "httpd-manual": (1262304000, 1577836800),
    "kubernetes-website": (1609459200, 1704067200),
}
BEGIN, END = "<!-- freshness: written by benchmarks/freshness.py -->", "<!-- end of freshness -->"


class Trace(Struct, frozen=True):
    """One page: when its content became what."""

    path: str
    born: float
    died: float
    times: list[float]
    versions: list[str]

    def at(self, now: float) -> str:
        return self.versions[bisect_right(self.times, now) - 1]


def read(folder: Path, name: str, most: int) -> list[Trace]:
    """The pages of one trace within its years of use, perhaps a sample of them."""
    start, end = SPANS[name]
    pages = []
    for line in (folder / f"{name}.jsonl").open():
        row = json.loads(line)
        died = row["died"] or end
        if row["born"] < end and died > start:
            times = [row["born"], *row["changes"]]
            pages.append(Trace(row["page"], max(row["born"], start), min(died, end), times, list(map(str, row["ver"]))))
    return random.Random(1).sample(pages, most) if 0 < most < len(pages) else pages


def fresh_time(page: Trace, held: str, since: float, until: float) -> float:
    """Seconds between two times during which a copy is what the page is."""
    total, place = 0.0, bisect_right(page.times, since) - 1
    while since < until:
        after = page.times[place + 1] if place + 1 < len(page.times) else math.inf
        step = min(after, until)
        total += (step - since) * (page.versions[place] == held)
        since, place = step, place + 1
    return total


class Oracle:
    """Visits by the best fixed intervals for the true mean rates (Cho and Garcia-Molina)."""

    def __init__(self, pages: list[Trace], interval: float) -> None:
        self.waits = best_intervals([rate_of(page) for page in pages], interval)

    def plan(self, facts: list[Facts]) -> list[float]:
        return [page.now + self.waits[page.url] for page in facts]


def rate_of(page: Trace) -> float:
    """Changes a day over the page's life."""
    seen = sum(page.born < at <= page.died for at in page.times[1:])
    return seen / max((page.died - page.born) / DAY, 1.0)


def best_intervals(rates: list[float], interval: float) -> list[float]:
    """Seconds between visits of each page, so that together they keep to the mean interval in days."""
    low, high = 1e-12, 1e6
    for _ in range(80):
        price = math.sqrt(low * high)
        spent = sum(1 / wait for wait in (_wait(rate, price) for rate in rates) if wait < math.inf)
        low, high = (price, high) if spent > len(rates) / interval else (low, price)
    return [min(_wait(rate, high), 1e5) * DAY for rate in rates]


def _wait(rate: float, price: float) -> float:
    if rate <= 0 or price >= 1 / rate:
        return math.inf
    low, high = 1e-6, 1e6
    for _ in range(60):
        middle = math.sqrt(low * high)
        worth = (1 - (1 + rate * middle) * math.exp(-rate * middle)) / rate
        low, high = (middle, high) if worth < price else (low, middle)
    return high


def replay(name: str, pages: list[Trace], interval: float, policy: Policy | Oracle) -> float:
    """Freshness under this policy, each page visited once per `interval` days on average."""
    start, end = SPANS[name]
    slot = min(interval / 7, 1.0) * DAY
    births = sorted(range(len(pages)), key=lambda n: pages[n].born)
    queue: list[tuple[float, int]] = []
    last, held, states = [0.0] * len(pages), [""] * len(pages), [b""] * len(pages)
    visits, alive, credit, fresh, lived = [0] * len(pages), 0, 0.0, 0.0, 0.0
    now, born = float(start), 0

    def visit(number: int) -> None:
        nonlocal fresh
        page, version = pages[number], pages[number].at(now)
        known = visits[number] > 0
        changed = known and version != held[number]
        if known:
            fresh += fresh_time(page, held[number], last[number], now)
        visits[number] += 1
        facts = Facts(number, name, "/" + page.path, now, last[number], changed, visits[number], state=states[number])
        if isinstance(policy, Oracle):
            due = policy.plan([facts])[0]
        else:
            (plan,) = policy.plan([facts])
            due, states[number] = plan.due_at, plan.state
        last[number], held[number] = now, version
        heapq.heappush(queue, (due, number))

    while now < end:
        while born < len(births) and pages[births[born]].born <= now:
            visit(births[born])
            alive += 1
            born += 1
        credit += alive * slot / (interval * DAY)
        while credit >= 1 and queue:
            _, number = heapq.heappop(queue)
            if pages[number].died <= now:
                alive -= 1
                continue
            credit -= 1
            visit(number)
        now += slot
    for number, page in enumerate(pages):
        if visits[number]:
            fresh += fresh_time(page, held[number], last[number], page.died) if page.died > last[number] else 0.0
            lived += page.died - page.born
    return fresh / lived


def main() -> None:
    """Replay every policy and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", default=",".join(SPANS))
    parser.add_argument("--intervals", default="30,7,2")
    parser.add_argument("--pages", type=int, default=600, help="sample of each trace (0: all)")
    parser.add_argument("--policies", default="fixed,self-adjusting,nutch,heritrix,learned")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    folder = Path(os.environ.get("SANDERLING_TRACES") or sys.exit("SANDERLING_TRACES names no folder of traces"))
    names = options.policies.split(",")
    lines = [f"| trace, days | {' | '.join(names)} | oracle | gap closed |", "|---|" + "---:|" * (len(names) + 2)]
    closed = []
    for trace in options.traces.split(","):
        pages = read(folder, trace, options.pages)
        for interval in map(float, options.intervals.split(",")):
            found = {name: replay(trace, pages, interval, POLICIES[name]()) for name in names}
            best = replay(trace, pages, interval, Oracle(pages, interval))
            gap = (found[names[-1]] - found["fixed"]) / (best - found["fixed"])
            closed.append(gap)
            cells = " | ".join(f"{found[name]:.4f}" for name in names)
            lines.append(f"| {trace}, {interval:g} | {cells} | {best:.4f} | {gap:.0%} |")
            print(lines[-1], file=sys.stderr, flush=True)
    sample = f"a sample of {options.pages} pages of each trace" if options.pages else "all pages"
    text = f"{sample}; mean share of the gap closed: {sum(closed) / len(closed):.0%}\n\n" + "\n".join(lines)
    print(text)
    if options.write:
        replace_between(DOCUMENT, BEGIN, END, text)


if __name__ == "__main__":
    main()
