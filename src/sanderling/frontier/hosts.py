"""What is known of each host: its addresses, its robots.txt, when it may be asked again, and why not before."""

import random
from collections.abc import Iterable, Mapping, Set

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.frontier.politeness import DELAY_HALF_LIFE_SECONDS, decay_delay, increase_delay
from sanderling.models import Host, Reason, RobotsTxt, UrlState

MAX_REQUEST_DELAY = 3600.0  # seconds between two requests to a host, at most, unless we are told to wait longer
MAX_BACKOFF = 7 * 86_400.0  # and if it asked for it
GIVE_UP_AFTER = 5  # failures to reach it, one after the other with growing rests: the host is left alone
MAX_ROBOTS_TRIES = 3
MAX_FALSE_ETAGS = 3  # ETags that changed without their bodies
MAX_DNS_TRIES = 3
MAX_RETRY_AFTER_WAIT = 86_400.0
SKIP_REASONS = frozenset(
    {Reason.ROBOTS_UNREACHABLE, Reason.PRIVATE_ADDRESS}
)  # reasons that are no failure of the pages
BACKOFF_JITTER = 0.1  # so that hosts held at the same moment do not all come back in the same second


class UnresolvedHost(Struct, frozen=True):
    """A host whose address is wanted."""

    id: int
    name: Host


def compute_backoff(failures: int, base_delay: float, retry_after: float = 0.0) -> float:
    """Seconds to leave a host alone: what it asked for, else `first` doubled per strike, at most a day.

    One that complains again after the rest it asked for named too short a time: then `first` is the least.
    """
    least = base_delay * 2 ** min(failures - bool(retry_after), 20) if failures or not retry_after else 0.0
    wait = min(max(retry_after, least), MAX_RETRY_AFTER_WAIT)
    return wait * (1 + BACKOFF_JITTER * random.random())


def get_failed_host_state(reason: Reason) -> UrlState:
    """Return the final state of URLs whose host was given up for this reason."""
    return UrlState.SKIPPED if reason in SKIP_REASONS else UrlState.FAILED


class HostStore:
    """Reads and writes the table of hosts."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def find_unresolved(self, now: float, limit: int) -> list[UnresolvedHost]:
        """Hosts with work whose address is not known or too old."""
        rows = self.db.execute(
            "SELECT id, name FROM hosts WHERE waiting > 0 AND verdict = '' AND resolved_until <= ? AND open_at <= ?"
            " ORDER BY open_at LIMIT ?",
            (now, now, limit),
        )
        return [UnresolvedHost(id_, Host(name)) for id_, name in rows]

    def set_addresses(self, host_id: int, addresses: Iterable[str], expires_at: float) -> None:
        """Note where a host lives; hosts at one address are asked as one."""
        found = " ".join(addresses)
        self.db.execute(
            "UPDATE hosts SET addresses = ?, place = ?, resolved_until = ?, dns_tries = 0 WHERE id = ?",
            (found, found.split(" ")[0], expires_at, host_id),
        )

    def record_dns_failure(self, host_id: int, now: float, retry_delay: float) -> bool:
        """Note that a name did not resolve; True when it has been tried often enough."""
        row = self.db.execute(
            "UPDATE hosts SET dns_tries = dns_tries + 1, open_at = ?, hold = ? WHERE id = ? RETURNING dns_tries",
            (now + retry_delay, Reason.DNS, host_id),
        ).fetchone()
        return bool(row[0] >= MAX_DNS_TRIES)

    def give_up(self, host_id: int, reason: Reason, state: UrlState, detail: str = "") -> int:
        """Ask nothing more of a host in this session: all that waits for it ends with this reason."""
        self.db.execute("UPDATE hosts SET verdict = ?, waiting = 0 WHERE id = ?", (reason, host_id))
        done = self.db.execute(
            "UPDATE urls SET state = ?, reason = ?, note = ? WHERE id IN (SELECT url FROM queue WHERE host = ?)",
            (state, reason, detail, host_id),
        ).rowcount
        self.db.execute("DELETE FROM queue WHERE host = ?", (host_id,))
        return done

    def drop_urls_of_failed_hosts(self) -> dict[UrlState, int]:
        """End queued URLs of hosts that were given up while a worker leased those URLs.

        Such URLs come back into the queue when their worker is lost or stopped. Returns the number of URLs by final
        state.
        """
        rows = self.db.execute("SELECT id, verdict FROM hosts WHERE waiting > 0 AND verdict <> ''").fetchall()
        counts: dict[UrlState, int] = {}
        for host, verdict in rows:
            state = get_failed_host_state(reason := Reason(verdict))
            counts[state] = counts.get(state, 0) + self.give_up(host, reason, state)
        return counts

    def find_failed_hosts(self, hosts: Iterable[Host]) -> dict[Host, Reason]:
        """The hosts among these that are condemned, and why."""
        out = {}
        for name in hosts:
            row = self.db.execute("SELECT verdict FROM hosts WHERE name = ?", (name,)).fetchone()
            if row and row[0]:
                out[name] = Reason(row[0])
        return out

    def reset_failed_hosts(self) -> None:
        """A run begins: every host that was given up gets another chance, now unless it asked for a rest.

        One that kept its rules from us is asked for them again: we may have a password now, or come another way.
        """
        self.db.execute("UPDATE hosts SET robots_until = 0 WHERE robots_status IN (401, 403, 407)")
        self.db.execute(
            "UPDATE hosts SET verdict = '', strikes = 0, dns_tries = 0, robots_tries = 0,"
            " open_at = CASE WHEN hold = ? THEN open_at ELSE 0 END WHERE verdict <> ''",
            (Reason.RATE_LIMITED,),
        )

    def expire_addresses(self) -> None:
        """A run begins: names are looked up again, and judged by what may be connected to now."""
        self.db.execute("UPDATE hosts SET resolved_until = 0 WHERE resolved_until > 0")

    def expire_robots(self) -> None:
        """Have each robots.txt read again before the next page of its host."""
        self.db.execute("UPDATE hosts SET robots_until = 0 WHERE robots_until > 0")

    def store_robots(self, robots: RobotsTxt, base_delay: float, now: float, crawl_delay: float = 0.0) -> bool:
        """Keep what a robots.txt said; False when it stayed out of reach too often and the host must be given up."""
        if robots.is_reachable:
            self.db.execute(
                "UPDATE hosts SET robots_status = ?, robots_body = ?, robots_at = ?, robots_until = ?,"
                " robots_tries = 0, wish = ?, pause = CASE WHEN learned > ? THEN learned ELSE ? END WHERE name = ?",
                (
                    robots.status,
                    robots.body,
                    robots.fetched_at,
                    robots.expires_at,
                    crawl_delay,
                    crawl_delay,
                    crawl_delay,
                    robots.host,
                ),
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
        """What a host's robots.txt said, if it was ever read."""
        row = self.db.execute(
            "SELECT robots_status, robots_body, robots_at, robots_until FROM hosts"
            " WHERE name = ? AND robots_status >= 0",
            (host,),
        ).fetchone()
        return RobotsTxt(host, row[0], row[1] or b"", row[2], row[3]) if row else None

    def count_false_etag(self, host: Host) -> None:
        """An ETag changed while the body did not."""
        self.db.execute("UPDATE hosts SET etag_lies = etag_lies + 1 WHERE name = ?", (host,))

    def has_unreliable_etags(self, host: Host) -> bool:
        """Do this host's ETags change without a reason? Then Last-Modified is asked alone."""
        row = self.db.execute("SELECT etag_lies FROM hosts WHERE name = ?", (host,)).fetchone()
        return row is not None and row[0] >= MAX_FALSE_ETAGS

    def delay_address(self, host_id: int, until: float, reason: Reason) -> None:
        """Ask nothing of a host, and of no other at its address, before this time."""
        self.db.execute(
            "UPDATE hosts SET open_at = ?, hold = ? WHERE open_at < ? AND (id = ?"
            " OR (place <> '' AND place = (SELECT place FROM hosts WHERE id = ?)))",
            (until, reason, until, host_id, host_id),
        )

    def delay_host(self, host_id: int, until: float, reason: Reason) -> None:
        """Ask nothing of one host before this time; others at its address may be well."""
        self.db.execute(
            "UPDATE hosts SET open_at = ?, hold = ? WHERE id = ? AND open_at < ?", (until, reason, host_id, until)
        )

    def add_failure(self, host_id: int) -> int:
        """Count a failure in a row of this host."""
        return int(
            self.db.execute(
                "UPDATE hosts SET strikes = strikes + 1 WHERE id = ? RETURNING strikes", (host_id,)
            ).fetchone()[0]
        )

    def count_rate_limit(self, host_id: int) -> None:
        """Keep how often a host asked us to slow down, ever."""
        self.db.execute("UPDATE hosts SET complaints = complaints + 1 WHERE id = ?", (host_id,))

    def get_backoff_failures(self, host_id: int, requested_at: float) -> int:
        """The strikes of a host that had complained already when it was asked at this time; 0 if it had not."""
        row = self.db.execute(
            "SELECT strikes FROM hosts WHERE id = ? AND hold = ? AND open_at > ?",
            (host_id, Reason.RATE_LIMITED, requested_at),
        ).fetchone()
        return max(1, row[0]) if row else 0

    def slow_down(self, host_id: int, url_ids: Set[int], delay: float, now: float) -> float:
        """Heed a complaint about these URLs; say how many seconds lie between requests from now on.

        Where one URL alone is complained of, that is not for our pace: some pages always say so.
        """
        url = min(url_ids)
        sql = "SELECT pause, complained_of, complained_at FROM hosts WHERE id = ?"
        pause, before, at = self.db.execute(sql, (host_id,)).fetchone()
        self.db.execute("UPDATE hosts SET complained_of = ?, complained_at = ? WHERE id = ?", (url, now, host_id))
        if len(url_ids) == 1 and (before in (0, url) or now - at >= DELAY_HALF_LIFE_SECONDS):
            return max(delay, float(pause))
        return self._store_learned_delay(host_id, increase_delay(max(delay, pause)), now)

    def _store_learned_delay(self, host_id: int, learned_delay: float, now: float) -> float:
        """Keep the pause that complaints, or their absence, taught; the wish of robots.txt holds where it is longer."""
        row = self.db.execute(
            "UPDATE hosts SET learned = ?, complained_at = ?, pause = CASE WHEN wish > ? THEN wish ELSE ? END"
            " WHERE id = ? RETURNING pause",
            (learned_delay, now, learned_delay, learned_delay, host_id),
        ).fetchone()
        return float(row[0])

    def clear_failures(self, host_id: int) -> None:
        """A host answered: it has no strikes left."""
        self.db.execute("UPDATE hosts SET strikes = 0 WHERE id = ? AND strikes > 0", (host_id,))

    def update_after_responses(
        self,
        response_times: Mapping[int, float],
        delay: float,
        failed_ids: Iterable[int],
        slow_until: Mapping[int, float] | None = None,
    ) -> None:
        """After answers at these times: the next request waits, and a host that answers has no strikes left.

        What `slow` says is for that host alone: others at its address may answer faster.
        """
        failed_ids, slow_until = set(failed_ids), slow_until or {}
        for host, at in response_times.items():
            sql = "SELECT pause, learned, complained_at FROM hosts WHERE id = ?"
            pause, learned, complained_at = self.db.execute(sql, (host,)).fetchone()
            if learned and at - complained_at >= DELAY_HALF_LIFE_SECONDS:
                pause = self._store_learned_delay(host, decay_delay(learned, at - complained_at), at)
            if delay > 0 or pause > 0:
                self.delay_address(host, at + max(delay, pause), Reason.NONE)
                self.delay_host(host, slow_until.get(host, 0.0), Reason.NONE)
            if host not in failed_ids:
                self.clear_failures(host)

    def repair_clock(self, now: float, delay: float = 0.0) -> None:
        """Take back waits that only a clock that jumped back can have left; those a host asked for stay a week."""
        self.db.execute(
            "UPDATE hosts SET open_at = 0 WHERE open_at > ? OR (hold = '' AND open_at > ?)",
            (now + max(MAX_BACKOFF, delay), now + max(MAX_REQUEST_DELAY, delay)),
        )
        self.db.execute("UPDATE queue SET ready_at = 0 WHERE ready_at > ?", (now + MAX_BACKOFF,))
        self._expire_future_robots(now)

    def shift_clock(self, now: float, seconds: float, max_delay: float) -> None:
        """The clock was set back by so much: what waits, waits no longer than it would have; a host `rest` at most."""
        wait = "(CASE WHEN pause > :rest THEN pause ELSE :rest END)"
        self.db.execute(
            f"UPDATE hosts SET open_at = :now + {wait} WHERE hold = '' AND open_at > :now + {wait}",
            {"now": now, "rest": max_delay},
        )
        known = (seconds, now + seconds)  # before it was set back; what ends sooner may be of the new time
        self.db.execute("UPDATE hosts SET open_at = open_at - ? WHERE hold <> '' AND open_at > ?", known)
        self.db.execute("UPDATE queue SET ready_at = ready_at - ? WHERE ready_at > ?", known)
        self._expire_future_robots(now)

    def _expire_future_robots(self, now: float) -> None:
        """Have each robots.txt read again that a clock which was set back since would keep for longer than its time."""
        self.db.execute("UPDATE hosts SET robots_until = 0 WHERE robots_at > ? AND robots_until > 0", (now,))

    def get_next_ready_time(self) -> float | None:
        """When the next host with waiting URLs opens; None if nothing waits."""
        row = self.db.execute("SELECT min(open_at) FROM hosts WHERE waiting > 0 AND verdict = ''").fetchone()
        return None if row[0] is None else float(row[0])
