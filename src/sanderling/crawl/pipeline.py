"""Process the results of workers: the order of all stages from a fetched page to a closed lease.

    seeds -> URL filter -> URL store, queue -> fetch batch -> worker -> worker report -> WARC archive -> catalog
                 ^                                                            |
                 +------------------------- links ----------------------------+

One batch of reports is one transaction. WARC bytes are on disk before the commit, and leases are closed in it: URLs
of a batch that a crash interrupts are still leased or queued, and are fetched again. The transaction has two halves,
so that dispatching goes on while the disk is busy: `process_batch` starts the flush, `commit_batch` waits for it. URLs
leased in between belong to the same transaction.
"""

from collections.abc import Sequence

from sanderling.crawl.context import CrawlContext
from sanderling.crawl.stages.archive_pages import archive_pages, write_pages
from sanderling.crawl.stages.change_detection import (
    classify_changes,
    move_histories,
    requeue_linked_again,
    schedule_visits,
)
from sanderling.crawl.stages.close_leases import close_leases, record_outcomes, update_hosts
from sanderling.crawl.stages.discovered_urls import enqueue_links
from sanderling.crawl.stages.page_renderings import store_renderings
from sanderling.crawl.stages.rank_updates import evict_if_due, rerank_queue, update_ordering
from sanderling.crawl.stages.repeated_pages import record_repeated_content
from sanderling.crawl.stages.requisites import enqueue_requisites
from sanderling.crawl.stages.robots_files import store_robots
from sanderling.crawl.stages.sitemaps import process_sitemaps
from sanderling.crawl.stages.tvi_stage import apply_tvi_files, record_tvi_files
from sanderling.crawl.stages.visit_batch import interpret_visits
from sanderling.db.connection import begin_transaction, commit_transaction
from sanderling.models import Visit, WorkerReport
from sanderling.storage.archive_batch import ArchivedVisit, build_cdxj_entries
from sanderling.warc.cdxj import CdxjEntry


def process_batch(reports: Sequence[WorkerReport], context: CrawlContext, now: float) -> list[CdxjEntry]:
    """Process reports in a transaction that `commit_batch` ends. Returns index entries."""
    with begin_transaction(context.db):
        for robots in (robots for report in reports for robots in report.robots):
            store_robots(robots, context, now)
        visits = [visit for report in reports for visit in report.visits]
        return build_cdxj_entries(_process_visits(visits, context, now)) if visits else []


def commit_batch(entries: Sequence[CdxjEntry], context: CrawlContext) -> None:
    """Wait until a batch is on disk, then commit and index it."""
    with commit_transaction(context.db):
        context.storage.archive.finish_flush()
    context.storage.cdxj_index.add(entries, context.storage.archive.get_flushed_lengths())
    context.log.flush()


def _process_visits(visits: Sequence[Visit], context: CrawlContext, now: float) -> list[ArchivedVisit]:
    # Results of expired leases are dropped first: another worker may have fetched those URLs since.
    batch = interpret_visits(visits, context)

    # Results of forms are read before their links are queued: a record is new if its URL is not known yet.
    if context.form_queries is not None:
        batch = context.form_queries.read_batch(batch, now)

    # Link targets need an id before page rows, the link graph and the ordering can refer to them.
    # Sitemap hints are stored before scheduling reads them.
    ids = enqueue_links([*batch.stored, *batch.parked], batch.rows, context, now)
    if context.options.fetches_requisites:
        enqueue_requisites(batch.stored, batch.rows, context.frontier, context.changes, now)
    process_sitemaps(batch.stored, context, now)
    record_tvi_files(batch.stored, context, now)

    # The flush starts here, so that the disk writes while the remaining steps run.
    pages = archive_pages(batch, ids, context)
    update_ordering(pages, batch, ids, context)

    # Change detection compares with the stored fingerprints, which `write_pages` replaces.
    # The schedule depends on the changes found; a moved page passes its history on unless its target has a plan by now.
    changed_ids = classify_changes(pages.archived, batch.previous, context)
    schedule_visits(pages.archived, batch.previous, changed_ids, context, now)
    requeue_linked_again(pages.archived, changed_ids, ids, context)
    move_histories(batch, ids, context)
    write_pages(pages, batch.previous, context)
    store_renderings(batch.stored, context)

    # TVI files patch the newest stored copy of a page, which may have come in this batch.
    patched = apply_tvi_files(batch.stored, context, now)

    # Leases are closed after the last step that enqueues URLs (links of patched copies), hosts are updated after that:
    # a full or given-up host drops its queued URLs, including retries that a closed lease has just requeued.
    lease_outcomes = close_leases(batch, context)
    update_hosts(batch, pages.rows, context, now)

    # Patterns are stopped once their links are queued and their own pages are no longer leased.
    record_repeated_content(batch, context)

    # Counters and queue maintenance see the final state of every URL of the batch.
    record_outcomes(batch, lease_outcomes, pages.rows, context)
    rerank_queue(len(pages.archived) + len(batch.parked), context, now)
    evict_if_due(len(pages.archived), context, now)
    return [*pages.archived, *patched]
