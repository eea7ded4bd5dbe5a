"""Addresses that several shards share."""

from pathlib import Path

from sanderling.db.connection import apply_migrations, connect_sqlite
from sanderling.db.schema.frontier import MIGRATIONS
from sanderling.frontier.shared_addresses import delay_hosts_at, find_idle_addresses, has_queued_at


def test_address_is_idle_without_leased_urls(tmp_path: Path) -> None:
    db = connect_sqlite(tmp_path / "x.db")
    apply_migrations(db, {"frontier": MIGRATIONS})
    rows = [
        ("http://a", "192.0.2.1", 1, 0, 5.0),
        ("http://b", "192.0.2.1", 0, 0, 7.0),
        ("http://c", "192.0.2.2", 1, 2, 0),
    ]
    sql = "INSERT INTO hosts (name, shared_address, waiting, leased, next_request_at) VALUES (?, ?, ?, ?, ?)"
    db.executemany(sql, rows)
    assert find_idle_addresses(db, ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) == {"192.0.2.1": 7.0, "192.0.2.3": 0.0}
    assert has_queued_at(db, "192.0.2.1")
    assert not has_queued_at(db, "192.0.2.3")
    delay_hosts_at(db, "192.0.2.1", 6.0)
    assert find_idle_addresses(db, ["192.0.2.1"]) == {"192.0.2.1": 7.0}
    assert db.execute("SELECT next_request_at FROM hosts WHERE name = 'http://a'").fetchone() == (6.0,)
    db.close()
