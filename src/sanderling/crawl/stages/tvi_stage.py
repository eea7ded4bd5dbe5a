"""Apply TVI files (SAR): patch volatile parts into stored copies.

A TVI file is a small file named by a page, such as its current prices. A refresh fetches it instead of the page.
"""

import hashlib
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from sanderling.crawl.stages.archive_pages import archive_versions, write_pages
from sanderling.crawl.stages.change_detection import classify_changes, schedule_visits
from sanderling.crawl.stages.discovered_urls import enqueue_links
from sanderling.crawl.stages.stage_services import TviServices
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.response_processor import UNCHANGED_DETAIL, ResponseProcessor
from sanderling.fetch.transport import FetchRequest, FetchResponse
from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import CandidateUrl, FetchTask, Outcome, Url, UrlRole, UrlSource, UrlState, Visit
from sanderling.revisit.tvi import parse_table, patch_page
from sanderling.storage.archive_batch import ArchivedVisit
from sanderling.storage.catalog import PageState
from sanderling.storage.queries import load_urls
from sanderling.urls.normalize import get_host
from sanderling.warc.packer import format_digest, format_record_start, make_record_id, pack_record
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import read_record
from sanderling.workers.worker import compute_fingerprints


def record_tvi_files(visits: Sequence[Visit], context: TviServices, now: float) -> None:
    """Record TVI files that pages name on their own host."""
    without_file = []
    for visit in visits:
        if visit.role is not UrlRole.PAGE or visit.outcome is not Outcome.FETCHED or visit.detail == UNCHANGED_DETAIL:
            continue
        tvi_refs = [p for p in visit.file_refs if p.role is UrlRole.TVI_FILE and get_host(p.url) == get_host(visit.url)]
        if not tvi_refs:
            without_file.append(visit.id)
            continue
        ref = tvi_refs[0]
        known = context.frontier.url_store.get([ref.url]).get(ref.url)
        if known is None:
            candidate = CandidateUrl(ref.url, ref.request_url, 0, UrlSource.LINK, visit.id, role=UrlRole.TVI_FILE)
            tvi_id = context.frontier.enqueue([FrontierEntry(candidate, UrlState.VISITED)], now)[ref.url]
        else:
            tvi_id = known.id
        context.revisit.tvi_files.record_file(visit.id, tvi_id)
    context.revisit.tvi_files.delete_pages(without_file)


def apply_tvi_files(visits: Sequence[Visit], context: TviServices, now: float) -> list[ArchivedVisit]:
    """Store new versions of pages from fetched TVI files. Other pages become due themselves."""
    requested = {
        page: visit
        for visit in visits
        if visit.role is UrlRole.TVI_FILE
        for page in context.revisit.tvi_files.take_requested_pages(visit.id)
    }
    if not requested:
        return []
    previous, urls = context.storage.catalog.load_page_states(list(requested)), load_urls(context.db, list(requested))
    visits_by_page = {
        page: _apply_tvi_file(Url(urls[page]), visit, previous[page], context)
        for page, visit in requested.items()
        if page in previous
    }
    unusable = [page for page in requested if visits_by_page.get(page) is None]
    context.revisit.tvi_files.delete_pages(unusable)
    context.revisit.schedule.postpone(unusable, now, "its TVI file could not be applied")
    return _store_versions([visit for visit in visits_by_page.values() if visit is not None], previous, context, now)


def _apply_tvi_file(url: Url, tvi_visit: Visit, old: PageState, context: TviServices) -> Visit | None:
    """Build a visit from a TVI file; None: the file cannot be applied."""
    if tvi_visit.outcome is Outcome.NOT_MODIFIED or (
        tvi_visit.outcome is Outcome.FETCHED and tvi_visit.detail == UNCHANGED_DETAIL
    ):
        return Visit(
            old.url_id,
            0,
            url,
            Outcome.NOT_MODIFIED,
            tvi_visit.visited_at,
            status=304,
            detail="according to its TVI file",
        )
    table = parse_table(tvi_visit.fingerprints.tvi_table or b"") if tvi_visit.outcome is Outcome.FETCHED else None
    location = context.storage.catalog.find_body_location(old.visit_id)
    if table is None or location is None or not old.is_present:
        return None
    stored = read_record(context.storage.archive.folder, RecordLocation(*location))
    body = patch_page(stored.body, table, old.charset or "utf-8")
    if body is None:
        return None
    return _process_patched_copy(url, body, tvi_visit, old, stored.get_field("WARC-Record-ID"))


def _process_patched_copy(url: Url, body: bytes, tvi_visit: Visit, old: PageState, original_record_id: str) -> Visit:
    """Process a patched copy like a fetched page, as a WARC conversion record."""
    fetch_request = FetchRequest(url, parse_endpoint(get_host(url)), None)
    content_type = f"text/html; charset={old.charset or 'utf-8'}".encode()
    head = [b"HTTP/1.1 200 OK\r\n", b"Content-Type: " + content_type + b"\r\n", b"\r\n"]
    response = FetchResponse(fetch_request, head, body, 0.0)
    task = FetchTask(old.url_id, 0, url, digest=old.digest)
    visit = ResponseProcessor(FetchSettings(), compute_fingerprints).process(task, response, tvi_visit.visited_at)
    record_id, payload = make_record_id(), format_digest("sha256", hashlib.sha256(body).digest())
    lines = (
        f"{format_record_start('conversion', record_id, tvi_visit.visited_at, url)}"
        f"WARC-Refers-To: {original_record_id}\r\n"
        f"WARC-Payload-Digest: {payload}\r\nContent-Type: {content_type.decode('latin-1')}\r\n"
    )
    record = b"" if visit.detail == UNCHANGED_DETAIL else pack_record(lines, body)
    return replace(
        visit,
        response_record=record,
        head=b"",
        record_id=record_id,
        payload_digest=payload,
        request_record=b"",
        metadata_record=b"",
    )


def _store_versions(
    visits: Sequence[Visit], previous: Mapping[int, PageState], context: TviServices, now: float
) -> list[ArchivedVisit]:
    """Store patched pages with the steps of the pipeline, without leases."""
    rows = context.frontier.load_rows([visit.id for visit in visits])
    ids = enqueue_links(visits, rows, context, now)
    request_urls = {id_: row.request_url for id_, row in rows.items()}
    pages = archive_versions(visits, request_urls, previous, ids, context)
    schedule_visits(pages.archived, previous, classify_changes(pages.archived, previous, context), context, now)
    write_pages(pages, previous, context)
    for item in pages.archived:
        context.stats.outcomes[item.visit.outcome] += 1
        context.stats.unchanged += item.visit.outcome is Outcome.FETCHED and not item.has_changed
    return list(pages.archived)
