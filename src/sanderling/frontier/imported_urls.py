"""Lease URLs whose records come from another archive instead of from a worker."""

from collections import defaultdict
from collections.abc import Sequence

from sanderling.db.connection import Connection, select_by_ids
from sanderling.frontier.leases import Lease, acquire_leases
from sanderling.models import UrlRole, UrlState

IMPORT_WORKER = "import"
LEASE_SECONDS = 86_400.0


def lease_imported(db: Connection, url_ids: Sequence[int], first_token: int, now: float) -> dict[int, Lease]:
    """Lease URLs, whatever their state. Requires that they are not leased."""
    queued = {url for (url,) in select_by_ids(db, "SELECT url FROM queue WHERE url IN ({})", list(url_ids))}
    rows = list(select_by_ids(db, "SELECT id, host FROM urls WHERE id IN ({})", list(url_ids)))
    hosts = dict(rows)
    missing = [(host, 0.0, url) for url, host in hosts.items() if url not in queued]
    db.executemany("INSERT INTO queue (host, rank, url) VALUES (?, ?, ?)", missing)
    db.executemany("UPDATE hosts SET waiting = waiting + 1 WHERE id = ?", [(host,) for host, _, _ in missing])
    db.executemany(
        f"UPDATE urls SET state = '{UrlState.QUEUED}', reason = '', note = '', attempts = 0 WHERE id = ?",
        [(url,) for url in hosts],
    )
    by_host: dict[int, list[Lease]] = defaultdict(list)
    for number, url in enumerate(dict.fromkeys(url_ids)):
        by_host[hosts[url]].append(Lease(url, hosts[url], 0.0, first_token + number))
    for leases in by_host.values():
        acquire_leases(db, leases, IMPORT_WORKER, now, now + LEASE_SECONDS)
    return {lease.url_id: lease for leases in by_host.values() for lease in leases}


def load_roles(db: Connection, url_ids: Sequence[int]) -> dict[int, UrlRole]:
    return {
        id_: UrlRole(role) for id_, role in select_by_ids(db, "SELECT id, role FROM urls WHERE id IN ({})", url_ids)
    }
