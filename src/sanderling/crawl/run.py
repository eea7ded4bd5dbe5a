"""Start and finish a run: leases, sessions, in-memory state, summary."""

import json
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from sanderling.config.redact import strip_userinfo
from sanderling.crawl.choose_ordering import rerank_if_ordering_changed
from sanderling.crawl.context import CrawlContext, RunStats
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.reevaluate import (
    apply_ignore_robots_changes,
    enqueue_all_pages,
    enqueue_seeds,
    reevaluate_skipped,
    requeue_evicted,
    requeue_parked_pages,
)
from sanderling.crawl.request import CrawlRequest, CrawlSummary
from sanderling.crawl.stages.rank_updates import evict_worst
from sanderling.crawl.stop import FinishReason
from sanderling.db.connection import Connection, convert_disk_full, transaction
from sanderling.dedup import duplicate_stats
from sanderling.dedup.near_duplicates import PairUpdate, find_pairs, store_pairs
from sanderling.errors import DiskFull, SanderlingError
from sanderling.frontier.ordering.persistence import save_ordering
from sanderling.frontier.pattern_store import save_changed_patterns
from sanderling.frontier.url_rows import find_parked_pages
from sanderling.models import Outcome, Reason
from sanderling.monitor.page_fields import merge_field_texts
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.reports import count_pages, count_skipped
from sanderling.urls.normalize import NormalizedUrl
from sanderling.warc.remote import RemoteArchive

HOST_REJECTIONS = (Reason.ROBOTS, Reason.ROBOTS_UNREACHABLE, Reason.PRIVATE_ADDRESS)  # decided by hosts, may change


def start_run(
    context: CrawlContext,
    request: CrawlRequest,
    seeds: Sequence[NormalizedUrl],
    now: float,
    *,
    may_open_session: bool = True,
) -> int:
    """Requeue old leases, apply changed rules, queue seeds, perhaps open a session. Returns the run id.

    `may_open_session`: False while another shard of the set still has the last session to complete.
    """
    db = context.db
    with transaction(db):
        context.frontier.begin_run(now)
        context.frontier.hosts.expire_addresses()
        rerank_if_ordering_changed(context, request.ordering_choice)
        reevaluate_skipped(context, request, now)
        apply_ignore_robots_changes(context, request)
        if not request.uses_template_filter:
            requeue_parked_pages(context, find_parked_pages(db))
        enqueue_seeds(context, seeds, now)
        requeue_evicted(context, now)
        if (
            may_open_session
            and not request.uses_template_filter
            and not context.frontier.queue.count_queued()
            and db.execute("SELECT 1 FROM runs LIMIT 1").fetchone()
        ):
            _open_session(context)
        meta = CollectionMeta(db)
        meta.is_complete = False
        meta.settings = collect_settings(request)
        store_fields(db, request)
        return record_run_start(context, request, now)


def store_fields(db: Connection, request: CrawlRequest) -> None:
    """Add the fields of a request to those of the collection."""
    if request.fields.fields:
        meta = CollectionMeta(db)
        meta.fields = merge_field_texts(meta.fields, request.fields.fields)


def record_run_start(context: CrawlContext, request: CrawlRequest, now: float) -> int:
    row = context.db.execute(
        "INSERT INTO runs (session, started, command) VALUES (?, ?, ?) RETURNING id",
        (context.run.session, now, request.command),
    ).fetchone()
    return int(row[0])


def collect_settings(request: CrawlRequest) -> dict[str, object]:
    """Collect settings for a later refresh, without secrets."""
    settings: dict[str, object] = {}
    for group in (request.scope, request.limits, request.politeness, request.fetching, request.workers):
        settings |= msgspec.to_builtins(group)
    settings["proxy"] = strip_userinfo(request.fetching.proxy)  # a refresh must not bypass the proxy
    settings["migrant"] = [strip_userinfo(host) for host in request.workers.migrant]
    excluded = {"basic_auth", "header", "limit", "time_limit", "size_limit", "store", "archive", "pause_crawl"}
    return {name: value for name, value in settings.items() if name not in excluded}


def _open_session(context: CrawlContext) -> None:
    """Start a new pass over all known pages."""
    context.run.session += 1
    CollectionMeta(context.db).session = context.run.session
    context.frontier.url_filter.repeated_content.start_session()
    enqueue_all_pages(context, reasons=(*HOST_REJECTIONS, Reason.REPEATED_CONTENT))


def finish_run(
    context: CrawlContext, run_id: int, finish: FinishReason, coordinator: Coordinator, now: float
) -> CrawlSummary:
    """Record the end of a run. After a full disk, the next start completes it."""
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
    """Evict surplus pages, then start a WAL checkpoint."""
    if context.frontier.collection_limit is not None:
        with transaction(context.db):
            evict_worst(context, context.frontier.collection_limit, now)
    context.start_checkpoint()


def record_run_end(context: CrawlContext, run_id: int, finish: FinishReason, summary: object, now: float) -> None:
    """Save in-memory state, close files and record the end of a run."""
    with ThreadPoolExecutor(1) as executor:
        closing = executor.submit(context.storage.cdxj_index.close)
        with convert_disk_full():
            pair_update = context.near_duplicates.get_update(context.db) or find_pairs(
                context.db, context.run.same_text_pages
            )
        with transaction(context.db):
            _write_run_end(context, run_id, finish, summary, now)
            _record_duplicates(context, pair_update)
    closing.result()
    if context.storage.remote_archive:
        _copy_to_remote_archive(context, context.storage.remote_archive)


def _copy_to_remote_archive(context: CrawlContext, remote_archive: RemoteArchive) -> None:
    """Upload remaining WARC files; failed ones are retried in the next run."""
    (current_file,) = context.storage.archive.get_flushed_lengths()
    remote_archive.finish_uploads(current_file, context.storage.catalog.load_committed_lengths())
    for name, error in remote_archive.upload_errors.items():
        context.log.write_message(f"cannot upload {name} to {remote_archive.display_address}: {error}")
    remote_archive.close()


def _write_run_end(context: CrawlContext, run_id: int, finish: FinishReason, summary: object, now: float) -> None:
    db = context.db
    context.frontier.queue.release_all_leases()
    if not context.run.is_memory_ahead:
        _persist_memory(context)
    context.storage.archive.close()
    for name, length in context.storage.archive.get_flushed_lengths().items():
        context.storage.catalog.upsert_file(name, length)
    meta = CollectionMeta(db)
    meta.is_complete = finish is FinishReason.DONE
    if not context.options.fetches_requisites:
        meta.has_all_requisites = False
    elif finish is FinishReason.DONE:
        meta.has_all_requisites = True
    meta.finish_reason = finish
    db.execute(
        "UPDATE runs SET ended = ?, finish_reason = ?, summary = ? WHERE id = ?",
        (now, finish, json.dumps(summary), run_id),
    )


def _persist_memory(context: CrawlContext) -> None:
    """Save in-memory models, so that the next run need not replay pages."""
    db = context.db
    context.storage.link_graph.flush()
    context.revisit.schedule.save()
    if context.form_queries is not None:
        context.form_queries.store.save(is_final=True)
    if context.options.saves_ordering:
        save_ordering(db, context.options.ordering_name, context.ordering, context.storage.catalog.next_visit_id - 1)
    save_changed_patterns(db, context.frontier.url_filter.repeated_content, is_final=True)
    CollectionMeta(db).unrecorded_skips += context.frontier.url_filter.unrecorded_skips
    db.execute(
        "INSERT INTO blobs VALUES ('pattern_budget', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (context.frontier.url_filter.pattern_budget.dump(),),
    )


def _record_duplicates(context: CrawlContext, pair_update: PairUpdate) -> None:
    cache = context.frontier.url_store.url_cache
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
    """Summarize a run that was interrupted before it started."""
    empty = CrawlSummary(
        finish_reason=FinishReason.INTERRUPTED, pages=0, fetched=0, not_modified=0, duplicates=0, failed=0, skipped=0,
        bytes=0, seconds=0.0, pages_per_second=0.0,
    )  # fmt: skip
    try:
        with open_collection_read_only(folder) as collection:
            return summarize_crawl(collection.db, RunStats(), FinishReason.INTERRUPTED, 0.0)
    except SanderlingError:  # no collection yet, or not readable
        return empty


def summarize_crawl(db: Connection, stats: RunStats, finish: FinishReason, seconds: float) -> CrawlSummary:
    reasons = Counter(count_skipped(db))
    out_of_scope = reasons.pop(Reason.OUT_OF_SCOPE, 0)
    unreachable = reasons.pop(Reason.ROBOTS_UNREACHABLE, 0)  # counted as failed
    return CrawlSummary(
        finish_reason=finish,
        pages=count_pages(db),
        fetched=stats.outcomes[Outcome.FETCHED],
        not_modified=stats.outcomes[Outcome.NOT_MODIFIED],
        duplicates=stats.duplicates,
        failed=stats.failed + unreachable,
        skipped=reasons.total(),
        out_of_scope=out_of_scope,
        rendered=stats.rendered,
        unrendered=stats.unrendered,
        bytes=stats.bytes,
        seconds=round(seconds, 3),
        pages_per_second=round(stats.visited_pages / seconds, 2) if seconds else 0.0,
        evicted=stats.evicted,
    )
