"""The whole flow on one screen; the only place where loops close.

    seeds -> judge -> book, queue -> itinerary -> migrant -> parcel -> WARC -> catalogue -> links -> judge ...

One batch of parcels is one transaction: WARC bytes are on the disk before its commit, leases end in it. What a crash
leaves undone is still leased or queued, and is done again. It has two halves, so that nobody waits while the disk is
busy: `bring_home`, and `seal` once the disk has it. What is handed out between them is part of the batch.
"""

from collections.abc import Sequence

from sanderling.crawl.context import CrawlContext, load_url_rows
from sanderling.crawl.stages.change_detection import classify_changes, schedule_visits
from sanderling.crawl.stages.close_leases import apply_host_quota, count_outcomes, resolve_leases, update_hosts
from sanderling.crawl.stages.discovered_urls import enqueue_links
from sanderling.crawl.stages.page_links import (
    build_visit_row,
    evict_worst,
    pair_near_duplicates,
    rerank_queue,
    resolve_link_ids,
    update_ordering,
    update_ordering_from_parked,
)
from sanderling.crawl.stages.redirects import get_self_redirect_target, validate_redirect
from sanderling.crawl.stages.sitemaps import process_sitemaps, store_robots
from sanderling.crawl.stages.tvi_stage import apply_tvi_files, record_tvi_files
from sanderling.db.connection import begin_transaction, commit_transaction
from sanderling.models import Outcome, Visit, WorkerReport
from sanderling.revisit.missing_pages import find_moved_pages, mark_outages, mark_soft_404
from sanderling.storage.archive_batch import ArchivedVisit, archive_visits, build_cdxj_entries
from sanderling.storage.link_graph import FLUSH_LINK_COUNT
from sanderling.storage.signal_log import Signal
from sanderling.warc.cdxj import CdxjEntry

UNCATALOGED_OUTCOMES = (
    Outcome.RETURNED,
    Outcome.SKIPPED,
    Outcome.PARKED,
)  # nothing came home that the catalogue could hold


def process_batch(reports: Sequence[WorkerReport], context: CrawlContext, now: float) -> list[CdxjEntry]:
    """Store what migrants brought, queue what they found, end their leases: all of it or nothing, once it is sealed.

    What the index is to say of it is all that is left: the pages need not wait in memory while the disk is busy.
    """
    with begin_transaction(context.db):
        for robots in (robots for parcel in reports for robots in parcel.robots):
            store_robots(robots, context, now)
        visits = [visit for parcel in reports for visit in parcel.visits]
        return build_cdxj_entries(_process_visits(visits, context, now)) if visits else []


def commit_batch(entries: Sequence[CdxjEntry], context: CrawlContext) -> None:
    """Wait until the disk has the pages of a batch, then commit it: the moment they are done."""
    with commit_transaction(context.db):
        context.archive.finish_flush()
    context.cdxj_index.add(entries, context.archive.get_flushed_lengths())
    context.crawl_log.flush()


def _process_visits(visits: Sequence[Visit], context: CrawlContext, now: float) -> list[ArchivedVisit]:
    leases = context.queue.find_held_leases([(visit.id, visit.token) for visit in visits])
    held = [mark_soft_404(visit) for visit in visits if visit.id in leases and visit.token == leases[visit.id].token]
    context.stats["fenced"] += len(visits) - len(held)
    latest = context.catalog.load_page_states([visit.id for visit in held if visit.outcome not in UNCATALOGED_OUTCOMES])
    held = mark_outages(held, latest, context.catalog.load_fingerprint)
    visits = context.notice_clusters.mark_notices(held, latest, {visit.id: leases[visit.id].host_id for visit in held})
    rows = load_url_rows(context.db, [visit.id for visit in visits])
    visits, again = context.redirect_loops.resolve_loops(
        [validate_redirect(visit, rows[visit.id]) for visit in visits], latest
    )
    looks = [visit for visit in visits if visit.outcome not in UNCATALOGED_OUTCOMES]
    stored = [visit for visit in looks if get_self_redirect_target(visit, rows[visit.id]) is None]
    kept = [visit for visit in visits if visit.outcome is Outcome.PARKED]
    ids = enqueue_links([*stored, *kept], rows, context, now)
    if context.page_resources is not None:
        context.page_resources.enqueue_resources(stored, {id_: row.depth for id_, row in rows.items()}, now)
    process_sitemaps(stored, context, now)
    record_tvi_files(stored, context, now)
    context.crawl_log.record_signal(Signal.CHECK, sum(visit.outcome is Outcome.FETCHED for visit in stored))
    wires = {visit.id: rows[visit.id].request_url for visit in stored}
    shelved = archive_visits(stored, latest, wires, context.catalog, context.archive)
    files = {name: context.catalog.upsert_file(name, length) for name, length in context.archive.start_flush().items()}
    followed = [resolve_link_ids(item.visit.links, ids) for item in shelved]
    filed = [build_visit_row(item, files, links, latest.get(item.visit.id), context)
             for item, links in zip(shelved, followed, strict=True)]  # fmt: skip
    update_ordering(zip(shelved, followed, strict=True), rows, leases, ids, context)
    update_ordering_from_parked(kept, leases, ids, context)
    schedule_visits(shelved, latest, classify_changes(shelved, latest, context), context, now)
    context.revisit_schedule.move_history(find_moved_pages(stored, latest, wires, ids))
    context.catalog.write_visits(filed, latest, context.session)
    pair_near_duplicates(filed, latest, context)
    patched = apply_tvi_files(stored, context, now)
    closings = resolve_leases(visits, leases, rows, latest, context)
    context.queue.complete_leases(closings)
    context.redirect_loops.requeue_pages(again)
    apply_host_quota(filed, latest, leases, context)
    update_hosts(visits, leases, context, now)
    count_outcomes(visits, closings, filed, context)
    context.crawl_log.write_visits(visits, rows)
    if context.link_graph.pending_count >= FLUSH_LINK_COUNT:
        context.link_graph.flush()
    rerank_queue(len(shelved) + len(kept), context)
    if context.collection_limit is not None and context.collection_limit.is_due(len(shelved)):
        evict_worst(context, context.collection_limit, now)
    return [*shelved, *patched]
