"""Hosts at an address that several shards share: only the shard that holds the address sends requests to them."""

from collections.abc import Iterable

from sanderling.db.connection import Connection


def delay_hosts_at(db: Connection, address: str, until: float) -> None:
    """Send no request to an address before this time."""
    sql = "UPDATE hosts SET next_request_at = ? WHERE shared_address = ? AND next_request_at < ?"
    db.execute(sql, (until, address, until))


def find_idle_addresses(db: Connection, addresses: Iterable[str]) -> dict[str, float]:
    """Return the addresses without leased URLs, and when the crawl delay of all their hosts ends."""
    sql = "SELECT max(next_request_at), sum(leased) FROM hosts WHERE shared_address = ?"
    rows = [(address, *db.execute(sql, (address,)).fetchone()) for address in addresses]
    return {address: ready_at or 0.0 for address, ready_at, leased in rows if not leased}


def has_queued_at(db: Connection, address: str) -> bool:
    sql = "SELECT count(*) FROM hosts WHERE shared_address = ? AND waiting > 0 AND failure_reason = ''"
    return bool(db.execute(sql, (address,)).fetchone()[0])
