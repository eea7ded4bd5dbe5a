"""MIG Table 4.13 and Figure 4.8: AHP against other ways to choose a migrant, in equal time, and the spread of load.

Migrants of unequal speed, memory and latency work through itineraries on a simulated clock; the production choosers
decide who goes. An itinerary waits at the migrant it was given to.
"""

from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random

from experiments.frame import Figure, Series, Table, measured
from sanderling.models import Heartbeat, Host
from sanderling.workers.assignment.criteria import WorkerState
from sanderling.workers.assignment.strategies import STRATEGIES, AssignmentStrategy, build_named_strategy

TITLE = "MIG Table 4.13, Figure 4.8: AHP against its rivals in equal time (measured, simulated clock)"

SECONDS = 14_400.0  # MIG 4.4.3
HOSTS = 60
BATCH = 20  # links of one itinerary
ROOM = 400  # links a migrant says it can hold
SEEDS = (1, 2, 3)


@dataclass
class Migrant:
    """One worker: how long a link takes it, and what it has in hand."""

    name: str
    seconds_per_link: float
    memory: int
    latency: float
    waiting: deque[int] = field(default_factory=deque)
    busy_until: float = 0.0
    done: int = 0
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=4))

    def standing(self, now: float) -> WorkerState:
        """Say how it stands, as a heartbeat would."""
        load = sum(self.waiting)
        vitals = Heartbeat(
            worker=self.name,
            sent_at=now,
            pending_tasks=load,
            memory_bytes=load * 50_000,
            free_memory_bytes=max(0, self.memory - load * 50_000),
            free_disk_bytes=self.memory * 10,
            bytes_per_second=30_000 / self.seconds_per_link,
            latency_seconds=self.latency,
        )
        return WorkerState(vitals, max(0, ROOM - load), 0.0, tuple(self.recent))


def crew(draw: Random) -> list[Migrant]:
    """Four machines, as in the thesis, from fast to slow."""
    speeds = (0.4, 0.8, 1.6, 3.2)
    return [
        Migrant(f"m{number}", speed * draw.uniform(0.9, 1.1), round(4e9 / speed), 0.02 * speed)
        for number, speed in enumerate(speeds)
    ]


def simulate(choose: AssignmentStrategy, seed: int) -> list[Migrant]:
    """Hand out itineraries for four hours, as fast as all migrants together could do them."""
    draw = Random(seed)
    migrants = crew(draw)
    by_name = {migrant.name: migrant for migrant in migrants}
    pause = BATCH / sum(1 / migrant.seconds_per_link for migrant in migrants)
    events: list[tuple[float, int, str]] = [(0.0, 0, "")]
    number = 0
    while events[0][0] <= SECONDS:
        now, _, who = heappop(events)
        number += 1
        if who:
            _finish(by_name[who], now, events, number)
            continue
        target = by_name[_choose(choose, migrants, draw, now)]
        target.waiting.append(BATCH)
        if len(target.waiting) == 1:
            _begin(target, now, events, number)
        heappush(events, (now + pause, number, ""))
    return migrants


def _choose(choose: AssignmentStrategy, migrants: list[Migrant], draw: Random, now: float) -> str:
    host = Host(f"http://host{draw.randrange(HOSTS)}.example")
    return choose([migrant.standing(now) for migrant in migrants], host)


def _begin(migrant: Migrant, now: float, events: list[tuple[float, int, str]], number: int) -> None:
    took = migrant.waiting[0] * migrant.seconds_per_link
    migrant.recent.append(took)
    heappush(events, (now + took, number, migrant.name))


def _finish(migrant: Migrant, now: float, events: list[tuple[float, int, str]], number: int) -> None:
    migrant.done += migrant.waiting.popleft()
    if migrant.waiting:
        _begin(migrant, now, events, number)


def table() -> Table:
    """Run every chooser on the same crews; links done, and how far the load is from what each can do."""
    links, spread = {}, {}
    for name in STRATEGIES:
        runs = [simulate(build_named_strategy(name), seed) for seed in SEEDS]
        links[name] = sum(migrant.done for run in runs for migrant in run) / len(runs)
        spread[name] = max(unfairness(run) for run in runs)
    base = links["round-robin"]
    rows = [
        measured("AHP: more links than round robin %", 11.6, 11.6, 100 * (links["ahp"] / base - 1), 35.0, 48.0),
        *(
            measured(f"AHP: more links than {name} %", None, None, 100 * (links["ahp"] / links[name] - 1), -1.0, 50.0)
            for name in STRATEGIES
            if name not in ("ahp", "round-robin")
        ),
        measured("AHP: load off proportion to speed, at most %", None, None, 100 * spread["ahp"], 0.0, 10.0),
    ]
    shares = {
        name: [migrant.done for migrant in simulate(build_named_strategy(name), SEEDS[0])]
        for name in ("round-robin", "ahp")
    }
    figure = Figure(
        "Links done in four hours, fast to slow",
        ("m0", "m1", "m2", "m3"),
        tuple(Series(name, tuple(float(done) for done in found)) for name, found in shares.items()),
        "links",
    )
    return Table(TITLE, tuple(rows), "Four machines, speeds 1 : 1/2 : 1/4 : 1/8.", figure)


def unfairness(migrants: list[Migrant]) -> float:
    """Say how far, at most, a migrant's share of the work is from its share of the speed."""
    speed = sum(1 / migrant.seconds_per_link for migrant in migrants)
    done = sum(migrant.done for migrant in migrants)
    return max(abs(migrant.done / done * speed * migrant.seconds_per_link - 1) for migrant in migrants)
