"""How a run begins and how it ends: old leases, a new session, what is written down; the summary."""

import json
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from sanderling.config.redact import strip_userinfo
from sanderling.crawl.choose_ordering import rerank_if_ordering_changed
from sanderling.crawl.context import CrawlContext
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.reevaluate import (
    apply_ignore_robots_changes,
    enqueue_all_pages,
    enqueue_seeds,
    load_parked_pages,
    reevaluate_skipped,
    requeue_evicted,
    requeue_parked_pages,
)
from sanderling.crawl.request import CrawlRequest, CrawlSummary
from sanderling.crawl.stages.page_links import evict_worst
from sanderling.crawl.stop import FinishReason
from sanderling.db.connection import Connection, convert_disk_full, transaction
from sanderling.dedup import duplicate_stats
from sanderling.dedup.near_duplicates import PairUpdate, find_pairs, store_pairs
from sanderling.errors import DiskFull, SanderlingError
from sanderling.frontier.ordering.persistence import save_ordering
from sanderling.models import Outcome, Reason, UrlState
from sanderling.storage.collection import get_meta, open_collection_read_only, set_meta
from sanderling.urls.normalize import NormalizedUrl
from sanderling.warc.remote import RemoteArchive

SKIPPED_SQL = "SELECT reason, count(*) FROM urls WHERE state = ? AND role = 'page' GROUP BY reason"
HOST_REJECTIONS = (Reason.ROBOTS, Reason.ROBOTS_UNREACHABLE, Reason.PRIVATE_ADDRESS)  # by hosts, which may think again


def start_run(context: CrawlContext, request: CrawlRequest, seeds: Sequence[NormalizedUrl], now: float) -> int:
    """Give back old leases, judge again what other rules skipped, queue the seeds, perhaps open a new session."""
    db = context.db
    with transaction(db):
        context.queue.release_all_leases()
        context.hosts.reset_failed_hosts()
        context.hosts.repair_clock(now, context.queue.politeness.delay_seconds)
        context.hosts.expire_addresses()
        rerank_if_ordering_changed(context, request.ordering_choice)
        reevaluate_skipped(context, request, now)
        apply_ignore_robots_changes(context, request)
        if not request.uses_template_filter:
            requeue_parked_pages(context, load_parked_pages(db))
        enqueue_seeds(context, seeds, now)
        requeue_evicted(context, now)
        if (
            not request.uses_template_filter
            and not context.queue.count_queued()
            and db.execute("SELECT 1 FROM runs LIMIT 1").fetchone()
        ):
            _open_session(context)
        set_meta(db, "complete", "0")
        set_meta(db, "settings", _dump_settings(request))
        return record_run_start(context, request, now)


def record_run_start(context: CrawlContext, request: CrawlRequest, now: float) -> int:
    """Write down that a run began; its id."""
    row = context.db.execute(
        "INSERT INTO runs (session, started, command) VALUES (?, ?, ?) RETURNING id",
        (context.session, now, request.command),
    ).fetchone()
    return int(row[0])


def _dump_settings(request: CrawlRequest) -> str:
    """What a later refresh should know of this crawl; never passwords or secret headers."""
    kept: dict[str, object] = {}
    for group in (request.scope, request.limits, request.politeness, request.fetching, request.workers):
        kept |= msgspec.to_builtins(group)
    kept["proxy"] = strip_userinfo(request.fetching.proxy)  # without it, we must not go round it
    kept["migrant"] = [strip_userinfo(host) for host in request.workers.migrant]
    secret = {"basic_auth", "header", "limit", "time_limit", "size_limit", "store", "archive", "park"}
    return json.dumps({name: value for name, value in kept.items() if name not in secret})


def _open_session(context: CrawlContext) -> None:
    """A new pass over everything we know."""
    context.session += 1
    set_meta(context.db, "session", str(context.session))
    enqueue_all_pages(context, reasons=HOST_REJECTIONS)


def count_session_pages(db: Connection, session: int) -> int:
    """Pages visited in this session by earlier runs."""
    sql = (
        "SELECT count(*) FROM visits JOIN urls ON urls.id = visits.url"
        " WHERE session = ? AND outcome IN (?, ?) AND role = 'page'"
    )
    return int(db.execute(sql, (session, Outcome.FETCHED, Outcome.NOT_MODIFIED)).fetchone()[0])


def finish_run(
    context: CrawlContext, run_id: int, finish: FinishReason, coordinator: Coordinator, now: float
) -> CrawlSummary:
    """Write down how it ended; hand back what nobody holds any more. On a full disk the next start does it."""
    try:
        enforce_collection_limit(context, now)
        summary = summarize_crawl(context.db, context.stats, finish, time.monotonic() - coordinator.started_at)
        record_run_end(context, run_id, finish, msgspec.to_builtins(summary), now)
    except DiskFull:
        if finish is not FinishReason.DISK_FULL:
            raise
        summary = summarize_crawl(context.db, context.stats, finish, time.monotonic() - coordinator.started_at)
    return summary


def enforce_collection_limit(context: CrawlContext, now: float) -> None:
    """Before the end is written: hold no page too many, then have the log of the database written back."""
    if context.collection_limit is not None:
        with transaction(context.db):
            evict_worst(context, context.collection_limit, now)
    context.start_checkpoint()


def record_run_end(context: CrawlContext, run_id: int, finish: FinishReason, summary: object, now: float) -> None:
    """Write down how a run ended, and close what it opened; meanwhile the log of the database is written back."""
    with ThreadPoolExecutor(1) as meanwhile:
        captures = meanwhile.submit(context.cdxj_index.close)
        with convert_disk_full():
            news = context.near_duplicates.get_update(context.db) or find_pairs(context.db, context.same_text_pages)
        with transaction(context.db):
            _write_run_end(context, run_id, finish, summary, now)
            _record_duplicates(context, news)
    captures.result()
    if context.remote_archive:
        _copy_to_remote_archive(context, context.remote_archive)


def _copy_to_remote_archive(context: CrawlContext, remote_archive: RemoteArchive) -> None:
    """Bring the archive to its other place; what could not be copied stays here and is tried again the next time."""
    (current,) = context.archive.get_flushed_lengths()
    remote_archive.finish_uploads(current, context.catalog.load_committed_lengths())
    for name, why in remote_archive.upload_errors.items():
        context.crawl_log.write_message(f"{name} could not be copied to {remote_archive.display_address}: {why}")
    remote_archive.close()


def _write_run_end(context: CrawlContext, run_id: int, finish: FinishReason, summary: object, now: float) -> None:
    db = context.db
    context.queue.release_all_leases()
    if not context.is_memory_ahead:
        _persist_memory(context)
    context.archive.close()
    for name, length in context.archive.get_flushed_lengths().items():
        context.catalog.upsert_file(name, length)
    set_meta(db, "complete", "1" if finish is FinishReason.DONE else "0")
    set_meta(db, "finish_reason", finish)
    db.execute(
        "UPDATE runs SET ended = ?, finish_reason = ?, summary = ? WHERE id = ?",
        (now, finish, json.dumps(summary), run_id),
    )


def _persist_memory(context: CrawlContext) -> None:
    """Write down what was only in memory, so that the next start need not learn it again from what is stored."""
    db = context.db
    context.link_graph.flush()
    context.revisit_schedule.save()
    save_ordering(db, context.ordering_name, context.ordering, context.catalog.next_visit_id - 1)
    set_meta(db, "unlisted", str(int(get_meta(db, "unlisted", "0")) + context.url_filter.unrecorded_skips))
    db.execute(
        "INSERT INTO blobs VALUES ('pattern_budget', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (context.url_filter.pattern_budget.dump(),),
    )


def _record_duplicates(context: CrawlContext, pair_update: PairUpdate) -> None:
    """Write down how often memory knew a link, and pair the pages that read nearly the same."""
    cache = context.url_store.url_cache
    duplicate_stats.add_counts(
        context.db,
        {
            duplicate_stats.CACHE_LOOKUP_COUNT: cache.lookups,
            duplicate_stats.CACHE_HIT_COUNT: cache.hits,
            duplicate_stats.CACHE_EVICTION_COUNT: cache.evictions,
        },
    )
    store_pairs(context.db, pair_update)


def summarize_unstarted(folder: Path) -> CrawlSummary:
    """The numbers of a run that was interrupted before it began: what is stored, and nothing else."""
    nothing = CrawlSummary(
        finish_reason=FinishReason.INTERRUPTED, pages=0, fetched=0, not_modified=0, duplicates=0, failed=0, skipped=0,
        bytes=0, seconds=0.0, pages_per_second=0.0,
    )  # fmt: skip
    try:
        with open_collection_read_only(folder) as collection:
            return summarize_crawl(collection.db, Counter(), FinishReason.INTERRUPTED, 0.0)
    except SanderlingError:  # there is none yet, or none that can be read
        return nothing


def summarize_crawl(db: Connection, stats: Counter[str], finish: FinishReason, seconds: float) -> CrawlSummary:
    """The numbers of a run."""
    (pages,) = db.execute(
        "SELECT count(*) FROM pages JOIN urls ON urls.id = pages.url WHERE status BETWEEN 200 AND 299 AND role = 'page'"
    ).fetchone()
    reasons = Counter(dict(db.execute(SKIPPED_SQL, (UrlState.SKIPPED,)).fetchall()))
    outside = reasons.pop(Reason.OUT_OF_SCOPE, 0)
    unanswered = reasons.pop(Reason.ROBOTS_UNREACHABLE, 0)  # not passed over: nobody answered
    visited = stats[Outcome.FETCHED] + stats[Outcome.NOT_MODIFIED]
    return CrawlSummary(
        finish_reason=finish,
        pages=pages,
        fetched=stats[Outcome.FETCHED],
        not_modified=stats[Outcome.NOT_MODIFIED],
        duplicates=stats["duplicates"],
        failed=stats["lost"] + unanswered,
        skipped=reasons.total(),
        out_of_scope=outside,
        bytes=stats["bytes"],
        seconds=round(seconds, 3),
        pages_per_second=round(visited / seconds, 2) if seconds else 0.0,
        evicted=stats["evicted"],
    )
