"""Notice URL patterns whose pages repeat known content, and stop fetching them."""

from sanderling.crawl.stages.stage_services import RepetitionServices
from sanderling.crawl.stages.visit_batch import VisitBatch
from sanderling.fetch.response_processor import UNCHANGED_DETAIL
from sanderling.frontier.pattern_store import save_changed_patterns, skip_queued_urls
from sanderling.models import Outcome, UrlRole, Visit
from sanderling.page_rendering import RenderReason
from sanderling.urls.content_pattern import hash_content_pattern
from sanderling.urls.normalize import get_host

SHELL_NOTE = "; they look built by scripts, which --render auto or always runs"
UNFINISHED_OUTCOMES = (Outcome.RETRY, Outcome.RETURNED, Outcome.NOT_MODIFIED, Outcome.PARKED)


def record_repeated_content(batch: VisitBatch, context: RepetitionServices) -> None:
    """Record what the pages of a batch contain, and skip queued URLs of patterns that are exhausted by it."""
    repeated_content = context.frontier.url_filter.repeated_content
    for visit in batch.visits:
        if visit.role is not UrlRole.PAGE or visit.outcome in UNFINISHED_OUTCOMES:
            continue
        is_known = visit.id in batch.previous
        if visit.outcome is not Outcome.FETCHED:
            if not is_known:
                repeated_content.record_missing(visit.url)
        elif visit.detail == UNCHANGED_DETAIL or not (content := _get_content_hash(visit)):
            repeated_content.record_uncompared(visit.url)
        elif repeated_content.record_page(visit.id, visit.url, content, is_known=is_known):
            _stop_pattern(visit, batch, context)
    repeated_content.end_batch()
    save_changed_patterns(context.db, repeated_content)


def _get_content_hash(visit: Visit) -> bytes:
    """Return the hash of the undated content, else of the text, else of the body. Empty: not compared."""
    fingerprints = visit.fingerprints
    known = (fingerprints.undated, fingerprints.text, visit.digest)
    return next(value for value in known if value is not None)


def _stop_pattern(visit: Visit, batch: VisitBatch, context: RepetitionServices) -> None:
    note = context.frontier.url_filter.repeated_content.describe_pattern(visit.url)
    if visit.rendering is not None and visit.rendering.reason is RenderReason.SHELL:
        note += SHELL_NOTE
    count = skip_queued_urls(
        context.db, batch.leases[visit.id].host_id, get_host(visit.url), [hash_content_pattern(visit.url)], note
    )
    context.stats.skipped += count
    context.log.write_message(f"{note}; {count} queued URLs are skipped, and new ones are not queued")
