"""Control database of a shard set: which process owns a shard, mail between shards, quotas, and address leases.

A shard exchanges everything in one short transaction several times a second (`exchange`), so that the database costs
the same however many pages and links there are. Every row of a shard can be lost or repeated: the shard's own database
decides what was applied.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sanderling.db.connection import Connection, transaction
from sanderling.errors import ShardLeaseLost

MAX_MAIL_BATCHES = 64  # read at once, and waiting for one receiver from one sender
MAX_ADDRESSES = 400  # asked for at once
ADDRESS_GRACE_SECONDS = 30.0  # after the lease of a dead owner, whose workers may still fetch a batch
GRANT_DIVISOR = 2  # a shard gets its share of the remaining pages in parts, so that idle shards return little


class ShardRow(Struct, frozen=True):
    """A shard and its owner."""

    id: int
    database_url: str  # empty: SQLite in its folder
    range_number: int  # of its row ids
    owner: str
    token: int  # fencing token; grows with every owner
    until: float  # end of the lease
    visited: int
    finish_reason: str
    progress: bytes
    summary: bytes


class ShardReport(Struct, frozen=True):
    """State, mail and requests of a shard."""

    visited: int  # pages of this session
    pending: int  # leased URLs, and visits that are not stored yet
    byte_count: int
    queued: int
    finish_reason: str  # why it waits: nothing to do, or its share of the page limit is used up; empty: it is busy
    progress: bytes
    outgoing: Mapping[int, Sequence[tuple[int, bytes]]] = {}  # by receiver: sequence number and payload
    applied: Mapping[int, int] = {}  # by sender: last batch applied
    new_addresses: Sequence[str] = ()  # that hosts of this shard have
    wanted_addresses: Sequence[str] = ()  # that another shard holds
    released_addresses: Mapping[str, float] = {}  # with the time of the next request


class ShardOrders(Struct, frozen=True):
    """Quota, mail and addresses for a shard."""

    granted: int  # pages that this shard may visit in this session; -1: no limit
    byte_count: int  # of all shards
    stop_reason: str  # the whole crawl stops
    finish_reason: str  # the whole crawl has ended
    incoming: Sequence[tuple[int, int, bytes]]  # sender, sequence number, payload
    applied_by: Mapping[int, int]  # by receiver: last batch applied
    held_addresses: Mapping[str, float]  # newly held, with the time of the next request
    recalled_addresses: Sequence[str]  # that another shard waits for


class ShardControl:
    """Reads and writes the control database."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def close(self) -> None:
        self.db.close()

    def load_shards(self) -> list[ShardRow]:
        sql = (
            "SELECT id, database_url, range_number, owner, token, until, visited, finish_reason, progress, summary"
            " FROM shards ORDER BY id"
        )
        return [ShardRow(*row) for row in self.db.execute(sql).fetchall()]

    def load_shard(self, shard: int) -> ShardRow:
        return next(row for row in self.load_shards() if row.id == shard)

    def load_owners(self) -> tuple[int, ...]:
        """Return the shard of each virtual shard."""
        return tuple(shard for (shard,) in self.db.execute("SELECT shard FROM virtual_shards ORDER BY id").fetchall())

    def store_shards(self, shards: Sequence[ShardRow], owners: Sequence[int]) -> None:
        """Replace the shards, and the shard of each virtual shard. All mail must have been applied."""
        with transaction(self.db):
            for table in ("shards", "virtual_shards", "mail", "mail_positions", "address_leases", "address_requests"):
                self.db.execute(f"DELETE FROM {table}")
            self.db.executemany(
                "INSERT INTO shards (id, database_url, range_number, progress, summary) VALUES (?, ?, ?, ?, ?)",
                [(shard.id, shard.database_url, shard.range_number, b"", b"") for shard in shards],
            )
            self.db.executemany("INSERT INTO virtual_shards VALUES (?, ?)", list(enumerate(owners)))

    def begin_run(self, page_limit: int) -> None:
        """Reset the state of the last run. `page_limit`: of all shards together; 0: unlimited."""
        with transaction(self.db):
            self.db.execute(
                "UPDATE shards SET visited = -1, granted = 0, bytes = 0, finish_reason = '', progress = ?, summary = ?",
                (b"", b""),
            )
            self.db.execute("DELETE FROM address_requests")
            self._set_state("stop_reason", "")
            self._set_state("finish_reason", "")
            self._set_state("page_limit", str(page_limit))

    def acquire_shard(self, shard: int, owner: str, now: float, seconds: float) -> int:
        """Become the owner of a shard whose lease has ended. Returns the fencing token; 0: another process owns it."""
        row = self.db.execute(
            "UPDATE shards SET owner = ?, token = token + 1, until = ?, finish_reason = ''"
            " WHERE id = ? AND (until <= ? OR owner = '') RETURNING token",
            (owner, now + seconds, shard, now),
        ).fetchone()
        return int(row[0]) if row else 0

    def release_shard(self, shard: int, token: int, now: float) -> None:
        """End the lease of an owner that has stopped or is known to be dead."""
        self.db.execute("UPDATE shards SET owner = '', until = ? WHERE id = ? AND token = ?", (now, shard, token))

    def store_summary(self, shard: int, token: int, summary: bytes) -> None:
        self.db.execute("UPDATE shards SET summary = ? WHERE id = ? AND token = ?", (summary, shard, token))

    def stop(self, reason: str) -> None:
        """Stop the whole crawl."""
        self._set_state("stop_reason", reason)

    def get_state(self, name: str) -> str:
        row = self.db.execute("SELECT value FROM crawl_state WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else ""

    def _set_state(self, name: str, value: str) -> None:
        self.db.execute(
            "INSERT INTO crawl_state VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, value),
        )

    def load_held_addresses(self, shard: int) -> list[str]:
        rows = self.db.execute("SELECT address FROM address_leases WHERE shard = ?", (shard,)).fetchall()
        return [address for (address,) in rows]

    def load_positions(self, sender: int) -> dict[int, int]:
        """Return the last batch of a sender that each receiver applied."""
        sql = "SELECT receiver, sequence FROM mail_positions WHERE sender = ?"
        return dict(self.db.execute(sql, (sender,)).fetchall())

    def exchange(self, shard: int, token: int, report: ShardReport, now: float, seconds: float) -> ShardOrders:
        """Renew the lease, send and receive. Raises ShardLeaseLost if another process owns the shard."""
        with transaction(self.db):
            self._renew(shard, token, report, now, seconds)
            self._confirm_applied(shard, report.applied)
            self._send_mail(shard, report.outgoing)
            incoming = self._load_mail(shard)
            held, recalled = self._exchange_addresses(shard, report, now)
            granted, byte_count = self._grant_pages(shard, report)
            if report.finish_reason and not incoming:
                self._finish_if_idle(granted)
            return ShardOrders(
                granted,
                byte_count,
                self.get_state("stop_reason"),
                self.get_state("finish_reason"),
                incoming,
                self.load_positions(shard),
                held,
                recalled,
            )

    def _renew(self, shard: int, token: int, report: ShardReport, now: float, seconds: float) -> None:
        renewed = self.db.execute(
            "UPDATE shards SET until = ?, visited = ?, bytes = ?, queued = ?, finish_reason = ?, progress = ?"
            " WHERE id = ? AND token = ?",
            (
                now + seconds,
                report.visited,
                report.byte_count,
                report.queued,
                report.finish_reason,
                report.progress,
                shard,
                token,
            ),
        ).rowcount
        if not renewed:
            raise ShardLeaseLost(f"shard {shard} was taken over by another process; this one stops")

    def _confirm_applied(self, shard: int, applied: Mapping[int, int]) -> None:
        for sender, sequence in applied.items():
            self.db.execute(
                "INSERT INTO mail_positions VALUES (?, ?, ?)"
                " ON CONFLICT (receiver, sender) DO UPDATE SET sequence = excluded.sequence",
                (shard, sender, sequence),
            )
            self.db.execute(
                "DELETE FROM mail WHERE receiver = ? AND sender = ? AND sequence <= ?", (shard, sender, sequence)
            )

    def _send_mail(self, shard: int, outgoing: Mapping[int, Sequence[tuple[int, bytes]]]) -> None:
        self.db.executemany(
            "INSERT INTO mail VALUES (?, ?, ?, ?) ON CONFLICT (receiver, sender, sequence) DO NOTHING",
            [
                (receiver, shard, sequence, payload)
                for receiver, batches in outgoing.items()
                for sequence, payload in batches
            ],
        )

    def _load_mail(self, shard: int) -> list[tuple[int, int, bytes]]:
        sql = "SELECT sender, sequence, payload FROM mail WHERE receiver = ? ORDER BY sender, sequence LIMIT ?"
        rows = self.db.execute(sql, (shard, MAX_MAIL_BATCHES)).fetchall()
        return [(sender, sequence, payload) for sender, sequence, payload in rows]

    def _grant_pages(self, shard: int, report: ShardReport) -> tuple[int, int]:
        """Return how many pages the shard may visit, and the bytes of all shards."""
        limit = int(self.get_state("page_limit") or 0)
        (byte_count,) = self.db.execute("SELECT sum(bytes) FROM shards").fetchone()
        if not limit:
            return -1, int(byte_count)
        used = report.visited + report.pending
        (granted,) = self.db.execute("SELECT granted FROM shards WHERE id = ?", (shard,)).fetchone()
        if report.finish_reason and report.finish_reason != "limit":
            granted = used  # what an idle shard does not use, others do
        granted = max(granted, used)
        self.db.execute("UPDATE shards SET granted = ? WHERE id = ?", (granted, shard))
        count, unregistered, total = self.db.execute(
            "SELECT count(*), sum(CASE WHEN visited < 0 THEN 1 ELSE 0 END),"
            " sum(CASE WHEN granted > visited THEN granted ELSE visited END) FROM shards"
        ).fetchone()
        remaining = limit - int(total)  # PostgreSQL returns sums as decimal numbers
        if report.queued and not unregistered and remaining > 0 and granted - used <= granted // 4:
            granted += max(1, remaining // (GRANT_DIVISOR * count))
            self.db.execute("UPDATE shards SET granted = ? WHERE id = ?", (granted, shard))
        return granted, int(byte_count)

    def _finish_if_idle(self, granted: int) -> None:
        """End the crawl if every shard waits, no mail is left, and no page can be granted."""
        rows = self.db.execute("SELECT finish_reason, visited, granted, queued FROM shards").fetchall()
        reasons = {reason for reason, *_ in rows}
        if "" in reasons or self.db.execute("SELECT 1 FROM mail LIMIT 1").fetchone():
            return
        if granted >= 0:
            has_pages_left = sum(max(row[1], row[2]) for row in rows) < int(self.get_state("page_limit"))
            if any(row[0] == "limit" and row[3] and (has_pages_left or row[2] > row[1]) for row in rows):
                return
        self._set_state("finish_reason", next((name for name in ("limit", "backed_off") if name in reasons), "done"))

    def _exchange_addresses(self, shard: int, report: ShardReport, now: float) -> tuple[dict[str, float], list[str]]:
        """Register, request and hand over addresses; return those newly held, and those to hand over."""
        self.db.executemany(
            "INSERT INTO address_leases VALUES (?, ?, 0) ON CONFLICT (address) DO NOTHING",
            [(address, shard) for address in report.new_addresses],
        )
        for address, ready_at in report.released_addresses.items():
            self._hand_over(address, shard, ready_at)
        held: dict[str, float] = {}
        wanted = [*report.new_addresses, *report.wanted_addresses]
        for start in range(0, len(wanted), MAX_ADDRESSES):
            held |= self._request_addresses(shard, wanted[start : start + MAX_ADDRESSES], now)
        recalled = self.db.execute(
            "SELECT DISTINCT r.address FROM address_requests AS r JOIN address_leases AS l ON l.address = r.address"
            " WHERE l.shard = ? AND r.shard <> ?",
            (shard, shard),
        ).fetchall()
        return held, [address for (address,) in recalled]

    def _hand_over(self, address: str, shard: int, ready_at: float) -> None:
        """Give an address to the shard that waits longest."""
        sql = "SELECT shard FROM address_requests WHERE address = ? AND shard <> ? ORDER BY at LIMIT 1"
        row = self.db.execute(sql, (address, shard)).fetchone()
        if row is not None:
            self.db.execute(
                "UPDATE address_leases SET shard = ?, ready_at = ? WHERE address = ?", (row[0], ready_at, address)
            )

    def _request_addresses(self, shard: int, wanted: Sequence[str], now: float) -> dict[str, float]:
        """Return the addresses that the shard holds now, and request the rest."""
        marks = ",".join("?" * len(wanted))
        self.db.execute(  # those of owners that are gone
            f"UPDATE address_leases SET shard = ?, ready_at = ? WHERE address IN ({marks}) AND shard IN"
            " (SELECT id FROM shards WHERE until < ? AND id <> ?)",
            (shard, now, *wanted, now - ADDRESS_GRACE_SECONDS, shard),
        )
        sql = f"SELECT address, ready_at FROM address_leases WHERE shard = ? AND address IN ({marks})"
        held: dict[str, float] = dict(self.db.execute(sql, (shard, *wanted)).fetchall())
        self.db.executemany(
            "DELETE FROM address_requests WHERE address = ? AND shard = ?", [(address, shard) for address in held]
        )
        self.db.executemany(
            "INSERT INTO address_requests VALUES (?, ?, ?) ON CONFLICT (address, shard) DO NOTHING",
            [(address, shard, now) for address in wanted if address not in held],
        )
        return held
