"""Host table: addresses, robots.txt, crawl delay, back-off, and why a host is not requested now."""

import random
from collections.abc import Iterable, Mapping, Set

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.frontier.politeness import DELAY_HALF_LIFE_SECONDS, decay_delay, increase_delay
from sanderling.models import Host, Reason, RobotsTxt, UrlState

MAX_CRAWL_DELAY = 30.0  # seconds, as in `fetch/robots.py`
MAX_REQUEST_DELAY = 3600.0  # upper limit of the seconds between two requests to a host, unless it demands more
MAX_BACKOFF = 7 * 86_400.0  # upper limit if the host demanded it (Retry-After)
GIVE_UP_AFTER = 5  # consecutive connection failures, with growing back-off, until a host is given up
MAX_ROBOTS_TRIES = 3
MAX_FALSE_ETAGS = 3  # ETags that changed without their bodies
MAX_DNS_TRIES = 3
MAX_RETRY_AFTER_WAIT = 86_400.0
SKIP_REASONS = frozenset(
    {Reason.ROBOTS_UNREACHABLE, Reason.PRIVATE_ADDRESS}
)  # the host was given up, but its pages did not fail
BACKOFF_JITTER = 0.1  # so that hosts backed off together are not retried in the same second


class UnresolvedHost(Struct, frozen=True):
    """A host whose address must be looked up."""

    id: int
    name: Host


def compute_backoff(failures: int, base_delay: float, retry_after: float = 0.0) -> float:
    """Return the back-off in seconds: Retry-After, else `base_delay` doubled per failure, at most a day.

    A host that is rate limited again after waiting for its own Retry-After gave too short a time; then `base_delay` is
    the minimum.
    """
    minimum = base_delay * 2 ** min(failures - bool(retry_after), 20) if failures or not retry_after else 0.0
    wait = min(max(retry_after, minimum), MAX_RETRY_AFTER_WAIT)
    return wait * (1 + BACKOFF_JITTER * random.random())


def get_failed_host_state(reason: Reason) -> UrlState:
    """Return the final state of URLs whose host was given up for this reason."""
    return UrlState.SKIPPED if reason in SKIP_REASONS else UrlState.FAILED


class HostStore:
    """Reads and writes the `hosts` table."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def find_unresolved(self, now: float, limit: int) -> list[UnresolvedHost]:
        """Return hosts with queued URLs whose address is unknown or expired."""
        rows = self.db.execute(
            "SELECT id, name FROM hosts"
            " WHERE waiting > 0 AND failure_reason = '' AND resolved_until <= ? AND next_request_at <= ?"
            " ORDER BY next_request_at LIMIT ?",
            (now, now, limit),
        )
        return [UnresolvedHost(id_, Host(name)) for id_, name in rows]

    def set_addresses(self, host_id: int, addresses: Iterable[str], expires_at: float, now: float = 0.0) -> None:
        """Store the addresses of a host. It waits, too, if other hosts with the same first address do."""
        joined = " ".join(addresses)
        shared = joined.split(" ")[0]
        sql = "UPDATE hosts SET addresses = ?, shared_address = ?, resolved_until = ?, dns_tries = 0 WHERE id = ?"
        self.db.execute(sql, (joined, shared, expires_at, host_id))
        (until,) = self.db.execute(
            "SELECT max(next_request_at) FROM hosts WHERE shared_address = ? AND delay_reason = ''"
            " AND next_request_at <= ?",
            (shared, now + MAX_CRAWL_DELAY),
        ).fetchone()
        self.delay_host(host_id, until or 0.0, Reason.NONE)

    def record_dns_failure(self, host_id: int, now: float, retry_delay: float) -> bool:
        """Count a failed lookup and delay the host; return True after `MAX_DNS_TRIES` failures."""
        row = self.db.execute(
            "UPDATE hosts SET dns_tries = dns_tries + 1, next_request_at = ?, delay_reason = ?"
            " WHERE id = ? RETURNING dns_tries",
            (now + retry_delay, Reason.DNS, host_id),
        ).fetchone()
        return bool(row[0] >= MAX_DNS_TRIES)

    def give_up(self, host_id: int, reason: Reason, state: UrlState, detail: str = "") -> int:
        """Give up a host for this session: its queued URLs get this state and reason. Returns their number."""
        self.db.execute("UPDATE hosts SET failure_reason = ?, waiting = 0 WHERE id = ?", (reason, host_id))
        dropped = self.db.execute(
            "UPDATE urls SET state = ?, reason = ?, note = ? WHERE id IN (SELECT url FROM queue WHERE host = ?)",
            (state, reason, detail, host_id),
        ).rowcount
        self.db.execute("DELETE FROM queue WHERE host = ?", (host_id,))
        return dropped

    def drop_urls_of_failed_hosts(self) -> dict[UrlState, int]:
        """End queued URLs of hosts that were given up while a worker leased those URLs.

        Such URLs come back into the queue when their worker is lost or stopped. Returns the number of URLs by final
        state.
        """
        rows = self.db.execute(
            "SELECT id, failure_reason FROM hosts WHERE waiting > 0 AND failure_reason <> ''"
        ).fetchall()
        counts: dict[UrlState, int] = {}
        for host, value in rows:
            state = get_failed_host_state(reason := Reason(value))
            counts[state] = counts.get(state, 0) + self.give_up(host, reason, state)
        return counts

    def reset_failed_hosts(self) -> None:
        """Reset every given-up host at the start of a run; a requested Retry-After still applies.

        A robots.txt that was refused (401, 403, 407) is fetched again: credentials or proxy may have changed.
        """
        self.db.execute("UPDATE hosts SET robots_until = 0 WHERE robots_status IN (401, 403, 407)")
        self.db.execute(
            "UPDATE hosts SET failure_reason = '', failures = 0, dns_tries = 0, robots_tries = 0,"
            " next_request_at = CASE WHEN delay_reason = ? THEN next_request_at ELSE 0 END WHERE failure_reason <> ''",
            (Reason.RATE_LIMITED,),
        )

    def expire_addresses(self) -> None:
        """Expire all DNS results at the start of a run; the address guard may have other settings now."""
        self.db.execute("UPDATE hosts SET resolved_until = 0 WHERE resolved_until > 0")

    def expire_robots(self) -> None:
        """Expire every robots.txt, so that it is fetched before the next page of its host."""
        self.db.execute("UPDATE hosts SET robots_until = 0 WHERE robots_until > 0")

    def store_robots(self, robots: RobotsTxt, base_delay: float, now: float, crawl_delay: float = 0.0) -> bool:
        """Store a robots.txt; return False if it was unreachable too often and the host must be given up."""
        if robots.is_reachable:
            self.db.execute(
                "UPDATE hosts SET robots_status = ?, robots_body = ?, robots_at = ?, robots_until = ?,"
                " robots_tries = 0, robots_delay = ?, crawl_delay = CASE WHEN learned_delay > ?"
                " THEN learned_delay ELSE ? END WHERE name = ?",
                (robots.status, robots.body, robots.fetched_at, robots.expires_at, *[crawl_delay] * 3, robots.host),
            )
            return True
        row = self.db.execute(
            "UPDATE hosts SET robots_status = ?, robots_tries = robots_tries + 1, robots_until = 0"
            " WHERE name = ? RETURNING id, robots_tries",
            (robots.status, robots.host),
        ).fetchone()
        if row is None:
            return True
        self.delay_host(row[0], now + compute_backoff(row[1] - 1, base_delay), Reason.ROBOTS_UNREACHABLE)
        return bool(row[1] < MAX_ROBOTS_TRIES)

    def get_robots(self, host: Host) -> RobotsTxt | None:
        """Return the stored robots.txt of a host; None if it was never fetched."""
        row = self.db.execute(
            "SELECT robots_status, robots_body, robots_at, robots_until FROM hosts"
            " WHERE name = ? AND robots_status >= 0",
            (host,),
        ).fetchone()
        return RobotsTxt(host, row[0], row[1] or b"", row[2], row[3]) if row else None

    def count_false_etag(self, host: Host) -> None:
        """Count an ETag that changed while the body did not."""
        self.db.execute("UPDATE hosts SET false_etags = false_etags + 1 WHERE name = ?", (host,))

    def has_unreliable_etags(self, host: Host) -> bool:
        """Return True if ETags change without the body; then only If-Modified-Since is sent."""
        row = self.db.execute("SELECT false_etags FROM hosts WHERE name = ?", (host,)).fetchone()
        return row is not None and row[0] >= MAX_FALSE_ETAGS

    def delay_address(self, host_id: int, until: float, reason: Reason) -> None:
        """Send no request to a host, or to another host at its address, before this time."""
        self.db.execute(
            "UPDATE hosts SET next_request_at = ?, delay_reason = ? WHERE next_request_at < ? AND (id = ?"
            " OR (shared_address <> '' AND shared_address = (SELECT shared_address FROM hosts WHERE id = ?)))",
            (until, reason, until, host_id, host_id),
        )

    def delay_host(self, host_id: int, until: float, reason: Reason) -> None:
        """Send no request to a host before this time; other hosts at its address are not affected."""
        self.db.execute(
            "UPDATE hosts SET next_request_at = ?, delay_reason = ? WHERE id = ? AND next_request_at < ?",
            (until, reason, host_id, until),
        )

    def add_failure(self, host_id: int) -> int:
        """Count a consecutive failure of a host and return the new count."""
        return int(
            self.db.execute(
                "UPDATE hosts SET failures = failures + 1 WHERE id = ? RETURNING failures", (host_id,)
            ).fetchone()[0]
        )

    def count_rate_limit(self, host_id: int) -> None:
        """Count a rate-limit response (429, 503) in the lifetime statistics of a host."""
        self.db.execute("UPDATE hosts SET rate_limits = rate_limits + 1 WHERE id = ?", (host_id,))

    def get_backoff_failures(self, host_id: int, requested_at: float) -> int:
        """Return the failure count of a host that was in a rate-limit back-off when requested; else 0."""
        row = self.db.execute(
            "SELECT failures FROM hosts WHERE id = ? AND delay_reason = ? AND next_request_at > ?",
            (host_id, Reason.RATE_LIMITED, requested_at),
        ).fetchone()
        return max(1, row[0]) if row else 0

    def slow_down(self, host_id: int, url_ids: Set[int], delay: float, now: float) -> float:
        """Increase the crawl delay after rate-limit responses for these URLs; return the new delay in seconds.

        A single URL does not change the delay: some pages always return 429.
        """
        url = min(url_ids)
        sql = "SELECT crawl_delay, rate_limited_url, rate_limited_at FROM hosts WHERE id = ?"
        pause, last_url, last_time = self.db.execute(sql, (host_id,)).fetchone()
        self.db.execute("UPDATE hosts SET rate_limited_url = ?, rate_limited_at = ? WHERE id = ?", (url, now, host_id))
        if len(url_ids) == 1 and (last_url in (0, url) or now - last_time >= DELAY_HALF_LIFE_SECONDS):
            return max(delay, float(pause))
        return self._store_learned_delay(host_id, increase_delay(max(delay, pause)), now)

    def _store_learned_delay(self, host_id: int, learned_delay: float, now: float) -> float:
        """Store a learned delay and return the delay in effect: the longer of it and the robots.txt Crawl-delay."""
        row = self.db.execute(
            "UPDATE hosts SET learned_delay = ?, rate_limited_at = ?, crawl_delay = CASE WHEN robots_delay > ?"
            " THEN robots_delay ELSE ? END"
            " WHERE id = ? RETURNING crawl_delay",
            (learned_delay, now, learned_delay, learned_delay, host_id),
        ).fetchone()
        return float(row[0])

    def clear_failures(self, host_id: int) -> None:
        """Reset the failure count of a host that answered."""
        self.db.execute("UPDATE hosts SET failures = 0 WHERE id = ? AND failures > 0", (host_id,))

    def update_after_responses(
        self,
        response_times: Mapping[int, float],
        delay: float,
        failed_ids: Iterable[int],
        slow_until: Mapping[int, float] | None = None,
    ) -> None:
        """Apply the crawl delay after responses at these times, and reset failures of hosts that answered.

        `slow_until` applies to the host alone, not to other hosts at its address.
        """
        failed_ids, slow_until = set(failed_ids), slow_until or {}
        for host, at in response_times.items():
            sql = "SELECT crawl_delay, learned_delay, rate_limited_at FROM hosts WHERE id = ?"
            pause, learned, complained_at = self.db.execute(sql, (host,)).fetchone()
            if learned and at - complained_at >= DELAY_HALF_LIFE_SECONDS:
                pause = self._store_learned_delay(host, decay_delay(learned, at - complained_at), at)
            if delay > 0 or pause > 0:
                self.delay_address(host, at + max(delay, pause), Reason.NONE)
                self.delay_host(host, slow_until.get(host, 0.0), Reason.NONE)
            if host not in failed_ids:
                self.clear_failures(host)

    def repair_clock(self, now: float, delay: float = 0.0) -> None:
        """Cancel delays that can only come from a clock that was set back; host demands may last a week."""
        self.db.execute(
            "UPDATE hosts SET next_request_at = 0"
            " WHERE next_request_at > ? OR (delay_reason = '' AND next_request_at > ?)",
            (now + max(MAX_BACKOFF, delay), now + max(MAX_REQUEST_DELAY, delay)),
        )
        self.db.execute("UPDATE queue SET ready_at = 0 WHERE ready_at > ?", (now + MAX_BACKOFF,))
        self._expire_future_robots(now)

    def shift_clock(self, now: float, seconds: float, max_delay: float) -> None:
        """Adapt stored times after the clock was set back, so that no host waits longer than it would have."""
        wait = "(CASE WHEN crawl_delay > :rest THEN crawl_delay ELSE :rest END)"
        self.db.execute(
            f"UPDATE hosts SET next_request_at = :now + {wait}"
            f" WHERE delay_reason = '' AND next_request_at > :now + {wait}",
            {"now": now, "rest": max_delay},
        )
        old_times = (seconds, now + seconds)  # later than this: written before the change; earlier: may be either
        self.db.execute(
            "UPDATE hosts SET next_request_at = next_request_at - ? WHERE delay_reason <> '' AND next_request_at > ?",
            old_times,
        )
        self.db.execute("UPDATE queue SET ready_at = ready_at - ? WHERE ready_at > ?", old_times)
        self._expire_future_robots(now)

    def _expire_future_robots(self, now: float) -> None:
        self.db.execute("UPDATE hosts SET robots_until = 0 WHERE robots_at > ? AND robots_until > 0", (now,))

    def are_all_backed_off(self, until: float) -> bool:
        """Return whether a host has queued URLs, and every such host asked to wait (429, 503) until after this time."""
        sql = "SELECT delay_reason, next_request_at FROM hosts WHERE waiting > 0 AND failure_reason = ''"
        waiting = self.db.execute(sql).fetchall()
        return bool(waiting) and all(reason == Reason.RATE_LIMITED and at > until for reason, at in waiting)

    def get_next_ready_time(self) -> float | None:
        """Return the earliest time at which a host with queued URLs is ready.

        None: nothing is queued.
        """
        row = self.db.execute(
            "SELECT min(next_request_at) FROM hosts WHERE waiting > 0 AND failure_reason = ''"
        ).fetchone()
        return None if row[0] is None else float(row[0])
