"""Tasks of a host and when its next request may start. No I/O."""

from collections import deque
from collections.abc import Iterable

from sanderling.fetch.fetch_settings import LATENCY_FACTOR, MAX_LATENCY_DELAY
from sanderling.fetch.robots import RobotsRules, build_robots_rules
from sanderling.fetch.transport import HostEndpoint
from sanderling.fetch.usage_preferences import Purpose, UsageRule, list_policy_urls, parse_robots_preferences
from sanderling.models import FetchBatch, FetchTask, Host, RobotsTxt


class HostQueue:
    """Tasks, robots.txt rules and crawl delay of a host."""

    def __init__(self, host: Host) -> None:
        self.host, self.url_prefix = host, f"{host}/"
        self.endpoint = parse_endpoint(host)
        self.tasks: deque[FetchTask] = deque()
        self.base_delay, self.connections = 0.0, 1
        self.ready_at = 0.0  # no request starts before this time
        self.crawl_delay = 0.0  # seconds between requests: `base_delay` or that of robots.txt
        self.in_flight = 0
        self.failures = 0  # consecutive
        self.is_scheduled = False  # is in the schedule of the fetch loop
        self.is_fetching_robots = False
        self.is_drained = False  # its tasks were returned, and no others submitted since
        self.robots: RobotsTxt | None = None
        self.robots_rules: RobotsRules | None = None
        self.usage_rules: tuple[UsageRule, ...] = ()
        self.robots_url, self.robots_redirects = f"{host}/robots.txt", 0
        self.draft: RobotsTxt | None = None  # robots.txt without the files of `policy_urls`
        self.policy_urls: list[str] = []

    def extend(self, batch: FetchBatch, addresses: tuple[str, ...], agent: str, now: float) -> None:
        """Add tasks, and adopt the delay, addresses, and robots.txt of their batch."""
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
        """Adopt a robots.txt; the same file is not parsed twice."""
        if self.robots is None or robots.fetched_at != self.robots.fetched_at:
            self.robots_rules = build_robots_rules(robots, agent)
            self.usage_rules = parse_robots_preferences(robots, agent)
        self.robots = robots
        self._update_crawl_delay()

    def request_policies(self, robots: RobotsTxt, purpose: Purpose) -> bool:
        """Return whether another file about the use of the host is requested before robots.txt is complete."""
        if self.draft is None:
            self.policy_urls = list_policy_urls(robots, purpose)
        self.draft = robots if self.policy_urls else None
        if self.policy_urls:
            self.robots_url = self.policy_urls.pop(0)
        return self.draft is not None

    def reset_robots(self) -> None:
        """Request robots.txt again before the next task."""
        self.robots = self.robots_rules = self.draft = None
        self.robots_url, self.robots_redirects = f"{self.host}/robots.txt", 0

    def _update_crawl_delay(self) -> None:
        robots_delay = self.robots_rules.get_crawl_delay() if self.robots_rules is not None else None
        self.crawl_delay = max(self.base_delay, robots_delay or 0.0)

    @property
    def is_ready(self) -> bool:
        """Return True if a request could start once the crawl delay has passed."""
        if not self.tasks or self.is_fetching_robots:
            return False
        return self.in_flight < (self.connections if self.crawl_delay in (0, self.base_delay) else 1)

    def should_use_fresh_connection(self, task: FetchTask) -> bool:
        """Return True for retries over HTTPS: a shared connection may have caused the failure."""
        return task.attempts > 0 and self.connections > 1 and self.host.startswith("https:")

    @property
    def is_idle(self) -> bool:
        return not self.tasks and not self.in_flight

    def mark_started(self, now: float) -> None:
        """Count a request and set the time of the next."""
        self.in_flight += 1
        self.ready_at = now + self.crawl_delay

    def delay_after_request(self, sent_at: float) -> None:
        """Count the delay from when a request was sent: connecting, or a busy machine, may have held it up."""
        if self.crawl_delay:
            self.ready_at = max(self.ready_at, sent_at + self.crawl_delay)

    def delay_after_slow_response(
        self, started_at: float, duration_seconds: float, factor: float, max_delay: float
    ) -> None:
        """Delay the next request in proportion to the response time, if there is a crawl delay."""
        if self.crawl_delay:
            self.ready_at = max(self.ready_at, compute_ready_time(started_at, duration_seconds, factor, max_delay))

    def drain(self) -> Iterable[FetchTask]:
        """Remove and return all tasks."""
        tasks, self.tasks, self.is_drained = self.tasks, deque(), True
        return tasks


def compute_ready_time(
    started_at: float, duration_seconds: float, factor: float = LATENCY_FACTOR, max_delay: float = MAX_LATENCY_DELAY
) -> float:
    return started_at + min(duration_seconds * factor, max_delay)


def parse_endpoint(host: Host, addresses: tuple[str, ...] = ()) -> HostEndpoint:
    """Split a host into name and port."""
    scheme, _, authority = host.partition("://")
    name, port = authority, "443" if scheme == "https" else "80"
    if authority.rpartition(":")[2].isdigit() and not authority.endswith("]"):
        name, _, port = authority.rpartition(":")
    return HostEndpoint(host, name.strip("[]"), int(port), addresses)
