"""The line at one host's door: which stops wait, and when to knock next. No network here."""

from collections import deque
from collections.abc import Iterable

from sanderling.fetch.curl_transfer import HostEndpoint
from sanderling.fetch.fetch_settings import LATENCY_FACTOR, MAX_LATENCY_DELAY
from sanderling.fetch.robots import RobotsRules, build_robots_rules
from sanderling.models import FetchBatch, FetchTask, Host, RobotsTxt


class HostQueue:
    """One host: its stops, its rules, and its pace."""

    def __init__(self, host: Host) -> None:
        self.host, self.url_prefix = host, f"{host}/"
        self.endpoint = parse_endpoint(host)
        self.tasks: deque[FetchTask] = deque()
        self.base_delay, self.connections = 0.0, 1
        self.ready_at = 0.0  # no request starts before
        self.crawl_delay = 0.0  # between two starts: the delay asked for, or what robots.txt asks for
        self.in_flight = 0
        self.failures = 0  # connections that failed in a row
        self.is_scheduled = False  # has its place in the queue of lines
        self.is_fetching_robots = False  # robots.txt is on its way
        self.is_drained = False  # its stops were sent home, and no others came since
        self.robots: RobotsTxt | None = None
        self.robots_rules: RobotsRules | None = None
        self.robots_url, self.robots_redirects = f"{host}/robots.txt", 0

    def extend(self, batch: FetchBatch, addresses: tuple[str, ...], agent: str, now: float) -> None:
        """Take the stops of an itinerary; what it says of the host holds from now on."""
        self.tasks.extend(batch.tasks)
        self.is_drained = False
        self.base_delay, self.connections = batch.delay_seconds, max(1, batch.max_connections)
        if addresses != self.endpoint.addresses:
            self.endpoint = parse_endpoint(self.host, addresses)
        if batch.robots is not None:
            self.set_robots(batch.robots, agent)
        elif self.robots is not None and not self.robots.fetched_at <= now < self.robots.expires_at:
            self.reset_robots()
        self._update_crawl_delay()

    def set_robots(self, robots: RobotsTxt, agent: str) -> None:
        """Hold to these rules; the same file is not read twice."""
        if self.robots is None or robots.fetched_at != self.robots.fetched_at:
            self.robots_rules = build_robots_rules(robots, agent)
        self.robots = robots
        self._update_crawl_delay()

    def reset_robots(self) -> None:
        """Ask for robots.txt again before the next stop."""
        self.robots = self.robots_rules = None
        self.robots_url, self.robots_redirects = f"{self.host}/robots.txt", 0

    def _update_crawl_delay(self) -> None:
        wish = self.robots_rules.get_crawl_delay() if self.robots_rules is not None else None
        self.crawl_delay = max(self.base_delay, wish or 0.0)

    @property
    def is_ready(self) -> bool:
        """Say whether a request could start, but for the time."""
        if not self.tasks or self.is_fetching_robots:
            return False
        return self.in_flight < (
            self.connections if self.crawl_delay == 0 or self.base_delay == self.crawl_delay else 1
        )

    def should_use_fresh_connection(self, task: FetchTask) -> bool:
        """Say whether a stop that failed should share no connection: what others did to one may have been why."""
        return task.attempts > 0 and self.connections > 1 and self.host.startswith("https:")

    @property
    def is_idle(self) -> bool:
        """Say whether nothing is left to do here."""
        return not self.tasks and not self.in_flight

    def mark_started(self, now: float) -> None:
        """Note that a request starts now."""
        self.in_flight += 1
        self.ready_at = now + self.crawl_delay

    def delay_after_slow_response(
        self, started_at: float, duration_seconds: float, factor: float, max_delay: float
    ) -> None:
        """Give a slow server time: the slower it answers, the later we come again. One's own servers need no rest."""
        if self.crawl_delay:
            self.ready_at = max(self.ready_at, compute_ready_time(started_at, duration_seconds, factor, max_delay))

    def drain(self) -> Iterable[FetchTask]:
        """Empty the line."""
        stops, self.tasks, self.is_drained = self.tasks, deque(), True
        return stops


def compute_ready_time(
    started_at: float, duration_seconds: float, factor: float = LATENCY_FACTOR, max_delay: float = MAX_LATENCY_DELAY
) -> float:
    """When a server that took so long may be asked again."""
    return started_at + min(duration_seconds * factor, max_delay)


def parse_endpoint(host: Host, addresses: tuple[str, ...] = ()) -> HostEndpoint:
    """Take a host apart: its name and its port."""
    scheme, _, authority = host.partition("://")
    name, port = authority, "443" if scheme == "https" else "80"
    if authority.rpartition(":")[2].isdigit() and not authority.endswith("]"):
        name, _, port = authority.rpartition(":")
    return HostEndpoint(host, name.strip("[]"), int(port), addresses)
