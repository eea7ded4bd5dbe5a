"""Process of a shard, started and restarted by the supervisor.

python -m sanderling.crawl.sharding.shard_process FOLDER SHARD TOKEN    (a `ShardTask` on standard input)
"""

import signal
import sys
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.request import CrawlRequest, CrawlSummary
from sanderling.crawl.session import CrawlGuide, crawl
from sanderling.crawl.sharding.shard_coordinator import build_membership
from sanderling.crawl.sharding.shard_member import ShardMember
from sanderling.crawl.stop import FinishReason
from sanderling.errors import SanderlingError
from sanderling.storage.shard_control import ShardControl
from sanderling.storage.shard_set import get_shard_folder, load_identity, open_control

RECONNECT_SECONDS = 300.0
EXIT_LOST = 17  # another process owns the shard, or a database was away: start it again


class ShardTask(Struct, frozen=True):
    """Request and lease of a shard process."""

    request: CrawlRequest
    lease_seconds: float
    may_open_session: bool


def wait_for_database(database_url: str, seconds: float = RECONNECT_SECONDS) -> None:
    """Raise DatabaseUnavailable if the database of a shard cannot be reached within this time."""
    if database_url:
        from sanderling.db.postgres import connect_postgres

        connect_postgres(database_url, seconds).close()


def crawl_shard(folder: Path, shard: int, token: int, task: ShardTask, *, handles_signals: bool = True) -> CrawlSummary:
    """Crawl a shard until the whole set is done, and store the summary in the control database."""
    control = open_control(folder)
    try:
        identity = load_identity(control, shard)
        url = control.load_shard(shard).database_url
        if url:  # a paused owner, or one behind a cut link, still has its connection
            from sanderling.db.postgres import end_other_coordinator

            end_other_coordinator(url)
        workers = msgspec.structs.replace(
            task.request.workers, store=url, shards=0, engine="processes", address="", place=()
        )
        request = msgspec.structs.replace(task.request, workers=workers)
        member = ShardMember(control, shard, token, task.lease_seconds)
        summary = crawl(
            get_shard_folder(folder, shard),
            request,
            on_start=_stop_on_signals if handles_signals else None,
            guide=CrawlGuide(shard=build_membership(member, identity, task.may_open_session)),
        )
        _end_lease(control, shard, token, summary)
        return summary
    finally:
        control.close()


def _end_lease(control: ShardControl, shard: int, token: int, summary: CrawlSummary) -> None:
    control.store_summary(shard, token, msgspec.msgpack.encode(summary))
    control.release_shard(shard, token, time.time())


def _stop_on_signals(coordinator: Coordinator) -> None:
    def stop(_number: int, _frame: object) -> None:
        coordinator.stop(FinishReason.INTERRUPTED)

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)


def main(arguments: list[str]) -> int:
    folder, shard, token = arguments
    task = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=ShardTask)
    try:
        crawl_shard(Path(folder), int(shard), int(token), task)
    except SanderlingError as error:
        print(f"shard {shard}: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
