"""Lease URLs as a dispatcher with a single worker."""

from sanderling.frontier.queue import UrlQueue
from sanderling.models import FetchBatch


def lease_urls(queue: UrlQueue, worker: str, limit: int, now: float) -> list[FetchBatch]:
    """Lease up to `limit` of the best ready URLs to a worker."""
    batches: list[FetchBatch] = []
    for ready_host in queue.find_ready_hosts([worker], now, limit):
        if limit <= 0:
            break
        batch = queue.lease_host(ready_host, worker, min(limit, ready_host.share), now)
        if batch is not None:
            batches.append(batch)
            limit -= len(batch.tasks)
    return batches
