"""The batch pipeline: results of expired leases."""

from pathlib import Path

import pytest
from tests.support.frontier import lease_urls

from sanderling.config.settings import ScopeSettings
from sanderling.crawl.open_context import CrawlPlan, open_context
from sanderling.crawl.pipeline import commit_batch, process_batch
from sanderling.crawl.request import CrawlRequest, parse_seed
from sanderling.db.connection import transaction
from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import CandidateUrl, FetchBatch, Outcome, UrlSource, UrlState, Visit, WorkerReport

SEED = "http://127.0.0.1:1/"


def build_report(worker: str, batch: FetchBatch, title: str) -> WorkerReport:
    (task,) = batch.tasks
    return WorkerReport(worker, (Visit(task.id, task.token, task.url, Outcome.FETCHED, 2.0, status=200, title=title),))


@pytest.mark.parametrize("late_first", [True, False])
def test_result_of_expired_lease_is_dropped(tmp_path: Path, late_first: bool) -> None:
    request = CrawlRequest(seeds=(SEED,), scope=ScopeSettings(sitemaps=False))
    seed = parse_seed(SEED)
    with open_context(CrawlPlan(tmp_path, request, [seed])) as (context, _):
        with transaction(context.db):
            context.frontier.enqueue(
                [FrontierEntry(CandidateUrl(seed.url, source=UrlSource.SEED), UrlState.QUEUED)], 1.0
            )
            context.frontier.hosts.set_addresses(1, ("127.0.0.1",), 1e12)
            (old,) = lease_urls(context.frontier.queue, "paused", 1, 1.0)
            context.frontier.queue.release_leases("paused")
            (new,) = lease_urls(context.frontier.queue, "awake", 1, 1.0)
        reports = [build_report("paused", old, "late"), build_report("awake", new, "right")]
        commit_batch(process_batch(reports if late_first else reports[::-1], context, 2.0), context)
        stored = context.db.execute("SELECT title FROM pages").fetchall()
        visits = context.db.execute("SELECT count(*) FROM visits").fetchone()
        assert (stored, visits, context.stats.stale_results) == ([("right",)], (1,), 1)
        assert context.db.execute("SELECT url FROM leases").fetchall() == []
        assert context.frontier.queue.count_queued() == 0
