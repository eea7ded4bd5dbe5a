"""Side files (TVI): the new volatile parts are put into the stored copy, which becomes a version of the page."""

import hashlib
from collections.abc import Sequence

from msgspec.structs import replace

from sanderling.crawl.context import CrawlContext, load_url_rows
from sanderling.crawl.stages.change_detection import classify_changes, schedule_visits
from sanderling.crawl.stages.discovered_urls import enqueue_links
from sanderling.crawl.stages.page_links import build_visit_row, pair_near_duplicates, resolve_link_ids
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.process import UNCHANGED_DETAIL, ResponseProcessor
from sanderling.fetch.transport import FetchRequest, FetchResponse
from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import CandidateUrl, FetchTask, Outcome, Url, UrlRole, UrlSource, UrlState, Visit
from sanderling.revisit.tvi import parse_table, patch_page
from sanderling.storage.archive_batch import ArchivedVisit, archive_visits
from sanderling.storage.catalog import PageState
from sanderling.storage.queries import load_urls
from sanderling.urls.normalize import get_host
from sanderling.warc.packer import format_digest, format_record_start, make_record_id, pack_record
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import read_record
from sanderling.workers.worker import compute_fingerprints


def record_tvi_files(visits: Sequence[Visit], context: CrawlContext, now: float) -> None:
    """Remember the side files that pages of the same host name; they are asked by a refresh only."""
    plain = []
    for visit in visits:
        if visit.role is not UrlRole.PAGE or visit.outcome is not Outcome.FETCHED or visit.detail == UNCHANGED_DETAIL:
            continue
        named = [p for p in visit.file_refs if p.role is UrlRole.TVI_FILE and get_host(p.url) == get_host(visit.url)]
        if not named:
            plain.append(visit.id)
            continue
        known = context.url_store.get([named[0].url]).get(named[0].url)
        side = known.id if known else 0
        if known is None:
            new = CandidateUrl(named[0].url, named[0].request_url, 0, UrlSource.LINK, visit.id, role=UrlRole.TVI_FILE)
            side = context.url_store.insert_and_enqueue([FrontierEntry(new, UrlState.VISITED)], now)[named[0].url]
        context.tvi_files.record_file(visit.id, side)
    context.tvi_files.delete_pages(plain)


def apply_tvi_files(visits: Sequence[Visit], context: CrawlContext, now: float) -> list[ArchivedVisit]:
    """What side files say of the pages they were asked for; a page they cannot speak for is due itself."""
    asked = {
        page: visit
        for visit in visits
        if visit.role is UrlRole.TVI_FILE
        for page in context.tvi_files.take_requested_pages(visit.id)
    }
    if not asked:
        return []
    latest, names = context.catalog.load_page_states(list(asked)), load_urls(context.db, list(asked))
    found = {page: _apply_tvi_file(Url(names[page]), visit, latest[page], context) for page, visit in asked.items()
             if page in latest}  # fmt: skip
    lost = [page for page in asked if found.get(page) is None]
    context.tvi_files.delete_pages(lost)
    context.revisit_schedule.postpone(lost, now, "its side file could not be used")
    return _store_versions([visit for visit in found.values() if visit is not None], latest, context, now)


def _apply_tvi_file(url: Url, tvi_visit: Visit, old: PageState, context: CrawlContext) -> Visit | None:
    """The page as its side file makes it; None if that says nothing of it."""
    if tvi_visit.outcome is Outcome.NOT_MODIFIED or (
        tvi_visit.outcome is Outcome.FETCHED and tvi_visit.detail == UNCHANGED_DETAIL
    ):
        return Visit(
            old.url_id, 0, url, Outcome.NOT_MODIFIED, tvi_visit.visited_at, status=304, detail="by its side file"
        )
    table = parse_table(tvi_visit.fingerprints.get("table", b"")) if tvi_visit.outcome is Outcome.FETCHED else None
    place = context.catalog.find_body_location(old.visit_id)
    if table is None or place is None or not old.is_present:
        return None
    stored = read_record(context.archive.folder, RecordLocation(*place))
    body = patch_page(stored.body, table, old.charset or "utf-8")
    return (
        None if body is None else _process_patched_copy(url, body, tvi_visit, old, stored.get_field("WARC-Record-ID"))
    )


def _process_patched_copy(url: Url, body: bytes, tvi_visit: Visit, old: PageState, original_record_id: str) -> Visit:
    """Look at a patched copy as at a page that came; its record says what it was made from."""
    ask = FetchRequest(url, parse_endpoint(get_host(url)), None)
    kind = f"text/html; charset={old.charset or 'utf-8'}".encode()
    reply = FetchResponse(ask, [b"HTTP/1.1 200 OK\r\n", b"Content-Type: " + kind + b"\r\n", b"\r\n"], body, 0.0)
    stop = FetchTask(old.url_id, 0, url, digest=old.digest)
    visit = ResponseProcessor(FetchSettings(), compute_fingerprints).process(stop, reply, tvi_visit.visited_at)
    record, payload = make_record_id(), format_digest("sha256", hashlib.sha256(body).digest())
    lines = (
        f"{format_record_start('conversion', record, tvi_visit.visited_at, url)}WARC-Refers-To: {original_record_id}\r\n"
        f"WARC-Payload-Digest: {payload}\r\nContent-Type: {kind.decode('latin-1')}\r\n"
    )
    made = b"" if visit.detail == UNCHANGED_DETAIL else pack_record(lines, body)
    return replace(
        visit,
        response_record=made,
        head=b"",
        record_id=record,
        payload_digest=payload,
        request_record=b"",
        metadata_record=b"",
    )


def _store_versions(
    visits: Sequence[Visit], latest: dict[int, PageState], context: CrawlContext, now: float
) -> list[ArchivedVisit]:
    """File the versions as visits of their pages."""
    rows = load_url_rows(context.db, [visit.id for visit in visits])
    ids = enqueue_links(visits, rows, context, now)
    shelved = archive_visits(
        visits, latest, {id_: row.request_url for id_, row in rows.items()}, context.catalog, context.archive
    )
    files = {name: context.catalog.upsert_file(name, length) for name, length in context.archive.flush().items()}
    followed = [resolve_link_ids(item.visit.links, ids) for item in shelved]
    filed = [build_visit_row(item, files, links, latest.get(item.visit.id), context)
             for item, links in zip(shelved, followed, strict=True)]  # fmt: skip
    schedule_visits(shelved, latest, classify_changes(shelved, latest, context), context, now)
    context.catalog.write_visits(filed, latest, context.session)
    pair_near_duplicates(filed, latest, context)
    for item in shelved:
        context.stats[item.visit.outcome] += 1
        context.stats["unchanged"] += item.visit.outcome is Outcome.FETCHED and not item.has_changed
    return shelved
