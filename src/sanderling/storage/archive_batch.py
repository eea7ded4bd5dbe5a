"""Archive a batch of visits: a response record, or a revisit record if the payload is stored already."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sanderling.http.head import get_media_type, parse_head
from sanderling.models import Outcome, Visit
from sanderling.page_rendering import Capture
from sanderling.storage.catalog import IdenticalBody, PageCatalog, PageState
from sanderling.warc.archive import Archive
from sanderling.warc.cdxj import REVISIT_MIME, CdxjEntry
from sanderling.warc.packer import HttpExchange
from sanderling.warc.records import OriginalRecord, RecordLocation


class ArchivedVisit(Struct, frozen=True):
    """A visit and the location of its record."""

    visit: Visit
    request_url: str  # WARC-Target-URI of its record
    has_changed: bool  # the page is new, or its bytes or its picture differ from the last version's
    location: RecordLocation | None = None  # None: no record was written
    record_id: str = ""
    payload_digest: str = ""
    is_revisit: bool = False
    identical_body: IdenticalBody | None = None  # a stored body of another URL
    not_modified_entry: CdxjEntry | None = None  # of a 304: its time, and the location it confirmed
    capture_entries: tuple[CdxjEntry, ...] = ()  # of a rendered page: its document and what its scripts requested


def archive_visits(
    visits: Sequence[Visit],
    page_states: Mapping[int, PageState],
    request_urls: Mapping[int, str],
    catalog: PageCatalog,
    archive: Archive,
) -> list[ArchivedVisit]:
    """Append the records of a batch, which are durable after the next flush.

    `request_urls`: request URLs that differ from the URL key.
    """
    confirmed_digests = {
        v.id: page_states[v.id].digest for v in visits if v.outcome is Outcome.NOT_MODIFIED and v.id in page_states
    }
    fetched_digests = [v.digest for v in visits if v.outcome is Outcome.FETCHED and v.size]
    identical_bodies = catalog.find_identical_bodies([*fetched_digests, *confirmed_digests.values()])
    archived_visits = []
    for visit in visits:
        identical_body = identical_bodies.get(confirmed_digests.get(visit.id) or visit.digest)
        archived = _archive_visit(
            visit,
            request_urls.get(visit.id) or visit.url,
            identical_body,
            _has_changed(visit, page_states.get(visit.id)),
            archive,
        )
        is_own = identical_body is not None and not identical_body.archive
        if visit.outcome is Outcome.NOT_MODIFIED and identical_body is not None and is_own and archived.location:
            archived = replace(
                archived, not_modified_entry=_build_not_modified_entry(archived, page_states[visit.id], identical_body)
            )
        archived_visits.append(archived)
        location = archived.location
        if identical_body is None and location is not None and visit.outcome is Outcome.FETCHED and visit.size:
            identical_bodies[visit.digest] = IdenticalBody(
                0, visit.id, visit.visited_at, archived.record_id, visit.payload_digest, archived.request_url,
                location.file, location.offset, location.length,
            )  # fmt: skip
    return archived_visits


def _build_not_modified_entry(
    archived_visit: ArchivedVisit, previous_state: PageState, identical_body: IdenticalBody
) -> CdxjEntry:
    """Build the entry of a 304. Otherwise replay tools would pick the nearest capture, possibly a later version."""
    status = previous_state.status if 200 <= previous_state.status < 300 else 200
    location = RecordLocation(identical_body.file, identical_body.offset, identical_body.length)
    return CdxjEntry(
        archived_visit.request_url,
        archived_visit.visit.visited_at,
        previous_state.mime,
        status,
        identical_body.payload_digest,
        location,
    )


def _has_changed(visit: Visit, previous_state: PageState | None) -> bool:
    if visit.outcome is Outcome.FETCHED:
        has_other_picture = visit.rendering is not None and visit.rendering.visual is not None
        return previous_state is None or previous_state.digest != visit.digest or has_other_picture
    return visit.outcome is Outcome.REDIRECT


def _archive_visit(
    visit: Visit, request_url: str, identical_body: IdenticalBody | None, has_changed: bool, archive: Archive
) -> ArchivedVisit:
    other_url_body = (
        identical_body
        if identical_body is not None
        and (identical_body.is_sibling or not identical_body.archive)
        and identical_body.url_id != visit.id
        and visit.outcome is Outcome.FETCHED
        else None
    )
    if (
        identical_body is not None
        and visit.head
        and (not visit.response_record or identical_body.payload_digest == visit.payload_digest)
    ):
        original = OriginalRecord(
            identical_body.record_id,
            identical_body.request_url,
            identical_body.fetched_at,
            identical_body.payload_digest,
            RecordLocation(identical_body.file, identical_body.offset, identical_body.length),
            identical_body.archive,
        )
        exchange = HttpExchange(request_url, visit.visited_at, visit.head, b"", visit.address)
        packed, location = archive.append_revisit(exchange, original, record_id=visit.record_id)
        archived = ArchivedVisit(
            visit,
            request_url,
            has_changed,
            location,
            packed.record_id,
            identical_body.payload_digest,
            True,
            other_url_body,
        )
    elif visit.response_record:
        location = archive.append(visit.response_record)
        archived = ArchivedVisit(
            visit, request_url, has_changed, location, visit.record_id, visit.payload_digest, False, other_url_body
        )
    else:
        return ArchivedVisit(visit, request_url, has_changed, identical_body=other_url_body)
    for member in (visit.request_record, visit.metadata_record):
        if member:
            archive.append(member)
    entries = _append_captures(visit.captures, archive)
    return replace(archived, capture_entries=tuple(entries)) if entries else archived


def _append_captures(captures: Sequence[Capture], archive: Archive) -> list[CdxjEntry]:
    """Append the requests of a rendered page. They follow its record, so that they are deleted with it."""
    entries = []
    for capture in captures:
        location = archive.append(capture.member)
        if capture.request_member:
            archive.append(capture.request_member)
        if capture.is_indexed:
            entries.append(
                CdxjEntry(
                    capture.url, capture.fetched_at, capture.mime, capture.status, capture.payload_digest, location
                )
            )
    return entries


def build_cdxj_entries(archived_visits: Sequence[ArchivedVisit]) -> list[CdxjEntry]:
    entries: list[CdxjEntry] = []
    for archived in archived_visits:
        entries += archived.capture_entries
        entry = archived.not_modified_entry or _build_cdxj_entry(archived)
        if entry is not None and not archived.visit.is_rendered:  # replay tools run the scripts of the document
            entries.append(entry)
    return entries


def _build_cdxj_entry(archived_visit: ArchivedVisit) -> CdxjEntry | None:
    if archived_visit.location is None or archived_visit.visit.outcome is Outcome.NOT_MODIFIED:
        return None
    mime = (
        REVISIT_MIME
        if archived_visit.is_revisit
        else archived_visit.visit.mime or _get_declared_mime(archived_visit.visit.head)
    )
    return CdxjEntry(
        archived_visit.request_url,
        archived_visit.visit.visited_at,
        mime,
        archived_visit.visit.status,
        archived_visit.payload_digest,
        archived_visit.location,
    )


def _get_declared_mime(head: bytes) -> str:
    """Return the media type in a stored head, for redirects and errors."""
    return get_media_type(parse_head(head.splitlines(keepends=True))[1]) if head else ""
