"""One migrant as the roster knows it: what it holds, and what it measured on its way to each host."""

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field

from msgspec import Struct

from sanderling.models import Host, Visit, Vitals

IN_HAND = 160  # stops a migrant holds at most; it is given more below half of it
HOSTS_REMEMBERED = 1024  # per migrant: what it measured on the way to them
RECENT = 8  # tasks whose times are remembered
SMOOTHING = 0.2  # weight of the newest measure
PATIENT_SMOOTHING = 0.02  # the same for how slow a migrant is, which changes rarely


@dataclass(slots=True)
class Way:
    """What one migrant measured on its way to one host; `shown` is as of the last heartbeat."""

    latency: float = 0.0
    speed: float = 0.0
    visits: int = 0
    shown: tuple[float, float, int] = (0.0, 0.0, 0)

    def measure(self, visit: Visit) -> None:
        """Take one visit into the running means."""
        self.visits += 1
        weight = max(SMOOTHING, 1 / self.visits)
        self.latency += weight * (visit.seconds - self.latency)
        if visit.seconds > 0:
            self.speed += weight * (visit.wire_bytes / visit.seconds - self.speed)


class Known(Struct, frozen=True):
    """What a migrant takes along when it is cloned, parked or moved."""

    ways: dict[str, tuple[float, float, int]] = {}
    recent: tuple[float, ...] = ()
    given: int = 0


@dataclass(slots=True)
class Member:
    """One migrant, as the roster knows it."""

    id: str
    vitals: Vitals
    heard_at: float
    joined_at: float
    hands: int = IN_HAND  # stops it can hold
    stops: dict[int, Host] = field(default_factory=dict)  # fencing tokens in hand
    held: Counter[Host] = field(default_factory=Counter)  # how many of them of each host
    news: dict[Host, float] = field(default_factory=dict)  # when each of them was heard of, or first asked for
    ways: OrderedDict[Host, Way] = field(default_factory=OrderedDict)
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))
    given: int = 0  # stops, since it joined
    page_seconds: float = 0.0  # what a page takes it, on the whole; 0: not known yet
    idle_since: float = 0.0
    spoke: bool = False  # it was heard of at least once
    silent: bool = False
    resting: bool = False  # it is about to leave

    def known(self) -> Known:
        """What it takes along."""
        ways = {str(host): (way.latency, way.speed, way.visits) for host, way in self.ways.items()}
        return Known(ways, tuple(self.recent), self.given)

    def measure(self, host: Host, visit: Visit) -> None:
        """Learn from one visit: of the way to its host, and of the migrant itself."""
        self.way(host).measure(visit)
        self.recent.append(visit.seconds)
        self.page_seconds += (
            PATIENT_SMOOTHING * (visit.seconds - self.page_seconds) if self.page_seconds else visit.seconds
        )

    def way(self, host: Host) -> Way:
        """What it knows of the way to a host."""
        way = self.ways.get(host)
        if way is None:
            way = self.ways[host] = Way()
            if len(self.ways) > HOSTS_REMEMBERED:
                self.ways.popitem(last=False)
        return way
