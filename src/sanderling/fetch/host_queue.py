"""The line at one host's door: which stops wait, and when to knock next. No network here."""

from collections import deque
from collections.abc import Iterable

from sanderling.fetch.curl_transfer import Door
from sanderling.fetch.fetch_settings import LATENCY_FACTOR, MAX_LATENCY_DELAY
from sanderling.fetch.robots import Rules, rules_for
from sanderling.models import Host, Itinerary, Robots, Stop


class Line:
    """One host: its stops, its rules, and its pace."""

    def __init__(self, host: Host) -> None:
        self.host, self.prefix = host, f"{host}/"
        self.door = door_of(host)
        self.stops: deque[Stop] = deque()
        self.delay, self.connections = 0.0, 1
        self.open_at = 0.0  # no request starts before
        self.pause = 0.0  # between two starts: the delay asked for, or what robots.txt asks for
        self.in_flight = 0
        self.failures = 0  # connections that failed in a row
        self.waiting = False  # has its place in the queue of lines
        self.asking = False  # robots.txt is on its way
        self.is_closed = False  # its stops were sent home, and no others came since
        self.robots: Robots | None = None
        self.rules: Rules | None = None
        self.robots_url, self.robots_hops = f"{host}/robots.txt", 0

    def join(self, itinerary: Itinerary, addresses: tuple[str, ...], agent: str, now: float) -> None:
        """Take the stops of an itinerary; what it says of the host holds from now on."""
        self.stops.extend(itinerary.stops)
        self.is_closed = False
        self.delay, self.connections = itinerary.delay_seconds, max(1, itinerary.connections)
        if addresses != self.door.addresses:
            self.door = door_of(self.host, addresses)
        if itinerary.robots is not None:
            self.obey(itinerary.robots, agent)
        elif self.robots is not None and not self.robots.fetched_at <= now < self.robots.expires_at:
            self.forget_robots()
        self._set_pace()

    def obey(self, robots: Robots, agent: str) -> None:
        """Hold to these rules; the same file is not read twice."""
        if self.robots is None or robots.fetched_at != self.robots.fetched_at:
            self.rules = rules_for(robots, agent)
        self.robots = robots
        self._set_pace()

    def forget_robots(self) -> None:
        """Ask for robots.txt again before the next stop."""
        self.robots = self.rules = None
        self.robots_url, self.robots_hops = f"{self.host}/robots.txt", 0

    def _set_pace(self) -> None:
        wish = self.rules.crawl_delay() if self.rules is not None else None
        self.pause = max(self.delay, wish or 0.0)

    @property
    def is_ready(self) -> bool:
        """Say whether a request could start, but for the time."""
        if not self.stops or self.asking:
            return False
        return self.in_flight < (self.connections if self.pause == 0 or self.delay == self.pause else 1)

    def alone(self, stop: Stop) -> bool:
        """Say whether a stop that failed should share no connection: what others did to one may have been why."""
        return stop.attempts > 0 and self.connections > 1 and self.host.startswith("https:")

    @property
    def is_idle(self) -> bool:
        """Say whether nothing is left to do here."""
        return not self.stops and not self.in_flight

    def knock(self, now: float) -> None:
        """Note that a request starts now."""
        self.in_flight += 1
        self.open_at = now + self.pause

    def rest(self, started: float, seconds: float, factor: float, longest: float) -> None:
        """Give a slow server time: the slower it answers, the later we come again. One's own servers need no rest."""
        if self.pause:
            self.open_at = max(self.open_at, rest_until(started, seconds, factor, longest))

    def send_home(self) -> Iterable[Stop]:
        """Empty the line."""
        stops, self.stops, self.is_closed = self.stops, deque(), True
        return stops


def rest_until(
    started: float, seconds: float, factor: float = LATENCY_FACTOR, longest: float = MAX_LATENCY_DELAY
) -> float:
    """When a server that took so long may be asked again."""
    return started + min(seconds * factor, longest)


def door_of(host: Host, addresses: tuple[str, ...] = ()) -> Door:
    """Take a host apart: its name and its port."""
    scheme, _, authority = host.partition("://")
    name, port = authority, "443" if scheme == "https" else "80"
    if authority.rpartition(":")[2].isdigit() and not authority.endswith("]"):
        name, _, port = authority.rpartition(":")
    return Door(host, name.strip("[]"), int(port), addresses)
