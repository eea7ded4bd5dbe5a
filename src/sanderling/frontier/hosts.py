"""What is known of each host: its addresses, its robots.txt, when it may be asked again, and why not before."""

import random
from collections.abc import Iterable, Mapping, Set

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.frontier.politeness import QUIET_SECONDS, eased, slowed
from sanderling.models import Host, Reason, Robots, State

LONGEST_REST = 3600.0  # seconds between two requests to a host, at most, unless we are told to wait longer
LONGEST_HOLD = 7 * 86_400.0  # and if it asked for it
CONDEMN_AFTER = 5  # failures to reach it, one after the other with growing rests: the host is left alone
ROBOTS_TRIES = 3
LIES = 3  # ETags that changed without their bodies
DNS_TRIES = 3
RETRY_AFTER_CAP = 86_400.0
SKIPPING = frozenset({Reason.ROBOTS_UNREACHABLE, Reason.PRIVATE_ADDRESS})  # reasons that are no failure of the pages
JITTER = 0.1  # so that hosts held at the same moment do not all come back in the same second


class Unresolved(Struct, frozen=True):
    """A host whose address is wanted."""

    id: int
    name: Host


def backoff(strikes: int, first: float, asked: float = 0.0) -> float:
    """Seconds to leave a host alone: what it asked for, else `first` doubled per strike, at most a day.

    One that complains again after the rest it asked for named too short a time: then `first` is the least.
    """
    least = first * 2 ** min(strikes - bool(asked), 20) if strikes or not asked else 0.0
    wait = min(max(asked, least), RETRY_AFTER_CAP)
    return wait * (1 + JITTER * random.random())


def given_up_state(reason: Reason) -> State:
    """Return the final state of URLs whose host was given up for this reason."""
    return State.SKIPPED if reason in SKIPPING else State.FAILED


class Hosts:
    """Reads and writes the table of hosts."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def unresolved(self, now: float, most: int) -> list[Unresolved]:
        """Hosts with work whose address is not known or too old."""
        rows = self.db.execute(
            "SELECT id, name FROM hosts WHERE waiting > 0 AND verdict = '' AND resolved_until <= ? AND open_at <= ?"
            " ORDER BY open_at LIMIT ?",
            (now, now, most),
        )
        return [Unresolved(id_, Host(name)) for id_, name in rows]

    def locate(self, host: int, addresses: Iterable[str], until: float) -> None:
        """Note where a host lives; hosts at one address are asked as one."""
        found = " ".join(addresses)
        self.db.execute(
            "UPDATE hosts SET addresses = ?, place = ?, resolved_until = ?, dns_tries = 0 WHERE id = ?",
            (found, found.split(" ")[0], until, host),
        )

    def not_found(self, host: int, now: float, wait: float) -> bool:
        """Note that a name did not resolve; True when it has been tried often enough."""
        row = self.db.execute(
            "UPDATE hosts SET dns_tries = dns_tries + 1, open_at = ?, hold = ? WHERE id = ? RETURNING dns_tries",
            (now + wait, Reason.DNS, host),
        ).fetchone()
        return bool(row[0] >= DNS_TRIES)

    def condemn(self, host: int, reason: Reason, state: State, note: str = "") -> int:
        """Ask nothing more of a host in this session: all that waits for it ends with this reason."""
        self.db.execute("UPDATE hosts SET verdict = ?, waiting = 0 WHERE id = ?", (reason, host))
        done = self.db.execute(
            "UPDATE urls SET state = ?, reason = ?, note = ? WHERE id IN (SELECT url FROM queue WHERE host = ?)",
            (state, reason, note, host),
        ).rowcount
        self.db.execute("DELETE FROM queue WHERE host = ?", (host,))
        return done

    def drop_given_up(self) -> dict[State, int]:
        """End queued URLs of hosts that were given up while a worker leased those URLs.

        Such URLs come back into the queue when their worker is lost or stopped. Returns the number of URLs by final
        state.
        """
        rows = self.db.execute("SELECT id, verdict FROM hosts WHERE waiting > 0 AND verdict <> ''").fetchall()
        counts: dict[State, int] = {}
        for host, verdict in rows:
            state = given_up_state(reason := Reason(verdict))
            counts[state] = counts.get(state, 0) + self.condemn(host, reason, state)
        return counts

    def verdicts(self, names: Iterable[Host]) -> dict[Host, Reason]:
        """The hosts among these that are condemned, and why."""
        out = {}
        for name in names:
            row = self.db.execute("SELECT verdict FROM hosts WHERE name = ?", (name,)).fetchone()
            if row and row[0]:
                out[name] = Reason(row[0])
        return out

    def pardon(self) -> None:
        """A run begins: every host that was given up gets another chance, now unless it asked for a rest.

        One that kept its rules from us is asked for them again: we may have a password now, or come another way.
        """
        self.db.execute("UPDATE hosts SET robots_until = 0 WHERE robots_status IN (401, 403, 407)")
        self.db.execute(
            "UPDATE hosts SET verdict = '', strikes = 0, dns_tries = 0, robots_tries = 0,"
            " open_at = CASE WHEN hold = ? THEN open_at ELSE 0 END WHERE verdict <> ''",
            (Reason.RATE_LIMITED,),
        )

    def forget_addresses(self) -> None:
        """A run begins: names are looked up again, and judged by what may be connected to now."""
        self.db.execute("UPDATE hosts SET resolved_until = 0 WHERE resolved_until > 0")

    def forget_robots(self) -> None:
        """Have each robots.txt read again before the next page of its host."""
        self.db.execute("UPDATE hosts SET robots_until = 0 WHERE robots_until > 0")

    def learn_robots(self, robots: Robots, first_wait: float, now: float, pause: float = 0.0) -> bool:
        """Keep what a robots.txt said; False when it stayed out of reach too often and the host must be given up."""
        if robots.reachable:
            self.db.execute(
                "UPDATE hosts SET robots_status = ?, robots_body = ?, robots_at = ?, robots_until = ?,"
                " robots_tries = 0, wish = ?, pause = CASE WHEN learned > ? THEN learned ELSE ? END WHERE name = ?",
                (robots.status, robots.body, robots.fetched_at, robots.expires_at, pause, pause, pause, robots.host),
            )
            return True
        row = self.db.execute(
            "UPDATE hosts SET robots_status = ?, robots_tries = robots_tries + 1, robots_until = 0"
            " WHERE name = ? RETURNING id, robots_tries",
            (robots.status, robots.host),
        ).fetchone()
        if row is None:
            return True
        self.shut(row[0], now + backoff(row[1] - 1, first_wait), Reason.ROBOTS_UNREACHABLE)
        return bool(row[1] < ROBOTS_TRIES)

    def robots(self, name: Host) -> Robots | None:
        """What a host's robots.txt said, if it was ever read."""
        row = self.db.execute(
            "SELECT robots_status, robots_body, robots_at, robots_until FROM hosts"
            " WHERE name = ? AND robots_status >= 0",
            (name,),
        ).fetchone()
        return Robots(name, row[0], row[1] or b"", row[2], row[3]) if row else None

    def etag_lied(self, name: Host) -> None:
        """An ETag changed while the body did not."""
        self.db.execute("UPDATE hosts SET etag_lies = etag_lies + 1 WHERE name = ?", (name,))

    def etag_lies(self, name: Host) -> bool:
        """Do this host's ETags change without a reason? Then Last-Modified is asked alone."""
        row = self.db.execute("SELECT etag_lies FROM hosts WHERE name = ?", (name,)).fetchone()
        return row is not None and row[0] >= LIES

    def hold(self, host: int, until: float, reason: Reason) -> None:
        """Ask nothing of a host, and of no other at its address, before this time."""
        self.db.execute(
            "UPDATE hosts SET open_at = ?, hold = ? WHERE open_at < ? AND (id = ?"
            " OR (place <> '' AND place = (SELECT place FROM hosts WHERE id = ?)))",
            (until, reason, until, host, host),
        )

    def shut(self, host: int, until: float, reason: Reason) -> None:
        """Ask nothing of one host before this time; others at its address may be well."""
        self.db.execute(
            "UPDATE hosts SET open_at = ?, hold = ? WHERE id = ? AND open_at < ?", (until, reason, host, until)
        )

    def strike(self, host: int) -> int:
        """Count a failure in a row of this host."""
        return int(
            self.db.execute(
                "UPDATE hosts SET strikes = strikes + 1 WHERE id = ? RETURNING strikes", (host,)
            ).fetchone()[0]
        )

    def count_complaint(self, host: int) -> None:
        """Keep how often a host asked us to slow down, ever."""
        self.db.execute("UPDATE hosts SET complaints = complaints + 1 WHERE id = ?", (host,))

    def struck(self, host: int, asked_at: float) -> int:
        """The strikes of a host that had complained already when it was asked at this time; 0 if it had not."""
        row = self.db.execute(
            "SELECT strikes FROM hosts WHERE id = ? AND hold = ? AND open_at > ?", (host, Reason.RATE_LIMITED, asked_at)
        ).fetchone()
        return max(1, row[0]) if row else 0

    def complain(self, host: int, urls: Set[int], delay: float, now: float) -> float:
        """Heed a complaint about these URLs; say how many seconds lie between requests from now on.

        Where one URL alone is complained of, that is not for our pace: some pages always say so.
        """
        url = min(urls)
        sql = "SELECT pause, complained_of, complained_at FROM hosts WHERE id = ?"
        pause, before, at = self.db.execute(sql, (host,)).fetchone()
        self.db.execute("UPDATE hosts SET complained_of = ?, complained_at = ? WHERE id = ?", (url, now, host))
        if len(urls) == 1 and (before in (0, url) or now - at >= QUIET_SECONDS):
            return max(delay, float(pause))
        return self._learn_pause(host, slowed(max(delay, pause)), now)

    def _learn_pause(self, host: int, learned: float, now: float) -> float:
        """Keep the pause that complaints, or their absence, taught; the wish of robots.txt holds where it is longer."""
        row = self.db.execute(
            "UPDATE hosts SET learned = ?, complained_at = ?, pause = CASE WHEN wish > ? THEN wish ELSE ? END"
            " WHERE id = ? RETURNING pause",
            (learned, now, learned, learned, host),
        ).fetchone()
        return float(row[0])

    def acquit(self, host: int) -> None:
        """A host answered: it has no strikes left."""
        self.db.execute("UPDATE hosts SET strikes = 0 WHERE id = ? AND strikes > 0", (host,))

    def rest(
        self, last: Mapping[int, float], delay: float, struck: Iterable[int], slow: Mapping[int, float] | None = None
    ) -> None:
        """After answers at these times: the next request waits, and a host that answers has no strikes left.

        What `slow` says is for that host alone: others at its address may answer faster.
        """
        struck, slow = set(struck), slow or {}
        for host, at in last.items():
            sql = "SELECT pause, learned, complained_at FROM hosts WHERE id = ?"
            pause, learned, complained_at = self.db.execute(sql, (host,)).fetchone()
            if learned and at - complained_at >= QUIET_SECONDS:
                pause = self._learn_pause(host, eased(learned, at - complained_at), at)
            if delay > 0 or pause > 0:
                self.hold(host, at + max(delay, pause), Reason.NONE)
                self.shut(host, slow.get(host, 0.0), Reason.NONE)
            if host not in struck:
                self.acquit(host)

    def set_clock_right(self, now: float, delay: float = 0.0) -> None:
        """Take back waits that only a clock that jumped back can have left; those a host asked for stay a week."""
        self.db.execute(
            "UPDATE hosts SET open_at = 0 WHERE open_at > ? OR (hold = '' AND open_at > ?)",
            (now + max(LONGEST_HOLD, delay), now + max(LONGEST_REST, delay)),
        )
        self.db.execute("UPDATE queue SET ready_at = 0 WHERE ready_at > ?", (now + LONGEST_HOLD,))
        self._forget_robots_of_later(now)

    def set_back(self, now: float, seconds: float, rest: float) -> None:
        """The clock was set back by so much: what waits, waits no longer than it would have; a host `rest` at most."""
        wait = "(CASE WHEN pause > :rest THEN pause ELSE :rest END)"
        self.db.execute(
            f"UPDATE hosts SET open_at = :now + {wait} WHERE hold = '' AND open_at > :now + {wait}",
            {"now": now, "rest": rest},
        )
        known = (seconds, now + seconds)  # before it was set back; what ends sooner may be of the new time
        self.db.execute("UPDATE hosts SET open_at = open_at - ? WHERE hold <> '' AND open_at > ?", known)
        self.db.execute("UPDATE queue SET ready_at = ready_at - ? WHERE ready_at > ?", known)
        self._forget_robots_of_later(now)

    def _forget_robots_of_later(self, now: float) -> None:
        """Have each robots.txt read again that a clock which was set back since would keep for longer than its time."""
        self.db.execute("UPDATE hosts SET robots_until = 0 WHERE robots_at > ? AND robots_until > 0", (now,))

    def next_opening(self) -> float | None:
        """When the next host with waiting URLs opens; None if nothing waits."""
        row = self.db.execute("SELECT min(open_at) FROM hosts WHERE waiting > 0 AND verdict = ''").fetchone()
        return None if row[0] is None else float(row[0])
