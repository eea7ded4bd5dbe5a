"""Putting a batch into the archive: a response, or a revisit where the very same payload is stored already."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sanderling.http.head import get_media_type, parse_head
from sanderling.models import Outcome, Visit
from sanderling.storage.catalog import IdenticalBody, PageCatalog, PageState
from sanderling.warc.archive import Archive
from sanderling.warc.cdxj import REVISIT_MIME, CdxjEntry
from sanderling.warc.packer import HttpExchange
from sanderling.warc.records import OriginalRecord, RecordLocation


class ArchivedVisit(Struct, frozen=True):
    """A visit and where its record went."""

    visit: Visit
    request_url: str  # the URL as its record spells it
    has_changed: bool  # the page is new or its bytes differ from the last version's
    location: RecordLocation | None = None  # None if no record was written
    record_id: str = ""
    payload_digest: str = ""
    is_revisit: bool = False  # the record is a revisit
    identical_body: IdenticalBody | None = None  # another URL with the same body
    not_modified_entry: CdxjEntry | None = (
        None  # the index line of a 304: its time, and the record that was still valid
    )


def archive_visits(
    visits: Sequence[Visit],
    page_states: Mapping[int, PageState],
    request_urls: Mapping[int, str],
    catalog: PageCatalog,
    archive: Archive,
) -> list[ArchivedVisit]:
    """Append the records of a batch; they count once the archive is flushed. `wires`: spellings other than the key."""
    held = {v.id: page_states[v.id].digest for v in visits if v.outcome is Outcome.NOT_MODIFIED and v.id in page_states}
    fetched = [v.digest for v in visits if v.outcome is Outcome.FETCHED and v.size]
    twins = catalog.find_identical_bodies([*fetched, *held.values()])
    out = []
    for visit in visits:
        twin = twins.get(held.get(visit.id) or visit.digest)
        shelved = _archive_visit(
            visit,
            request_urls.get(visit.id) or visit.url,
            twin,
            _has_changed(visit, page_states.get(visit.id)),
            archive,
        )
        if visit.outcome is Outcome.NOT_MODIFIED and twin is not None and shelved.location is not None:
            shelved = replace(
                shelved, not_modified_entry=_build_not_modified_entry(shelved, page_states[visit.id], twin)
            )
        out.append(shelved)
        place = shelved.location
        if twin is None and place is not None and visit.outcome is Outcome.FETCHED and visit.size:
            twins[visit.digest] = IdenticalBody(
                0, visit.id, visit.visited_at, shelved.record_id, visit.payload_digest, shelved.request_url,
                place.file, place.offset, place.length,
            )  # fmt: skip
    return out


def _build_not_modified_entry(
    archived_visit: ArchivedVisit, previous_state: PageState, identical_body: IdenticalBody
) -> CdxjEntry:
    """Build the index line of a 304. Replay tools take the capture nearest in time, which may be a later version."""
    status = previous_state.status if 200 <= previous_state.status < 300 else 200
    place = RecordLocation(identical_body.file, identical_body.offset, identical_body.length)
    return CdxjEntry(
        archived_visit.request_url,
        archived_visit.visit.visited_at,
        previous_state.mime,
        status,
        identical_body.payload_digest,
        place,
    )


def _has_changed(visit: Visit, previous_state: PageState | None) -> bool:
    if visit.outcome is Outcome.FETCHED:
        return previous_state is None or previous_state.digest != visit.digest
    return visit.outcome is Outcome.REDIRECT


def _archive_visit(
    visit: Visit, request_url: str, identical_body: IdenticalBody | None, has_changed: bool, archive: Archive
) -> ArchivedVisit:
    other = (
        identical_body
        if identical_body is not None and identical_body.url_id != visit.id and visit.outcome is Outcome.FETCHED
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
        )
        seen = HttpExchange(request_url, visit.visited_at, visit.head, b"", visit.address)
        packed, place = archive.append_revisit(seen, original, record_id=visit.record_id)
        shelved = ArchivedVisit(
            visit, request_url, has_changed, place, packed.record_id, identical_body.payload_digest, True, other
        )
    elif visit.response_record:
        place = archive.append(visit.response_record)
        shelved = ArchivedVisit(
            visit, request_url, has_changed, place, visit.record_id, visit.payload_digest, False, other
        )
    else:
        return ArchivedVisit(visit, request_url, has_changed, identical_body=other)
    for member in (visit.request_record, visit.metadata_record):
        if member:
            archive.append(member)
    return shelved


def build_cdxj_entries(archived_visits: Sequence[ArchivedVisit]) -> list[CdxjEntry]:
    """Return the lines of a batch in the CDXJ index."""
    return [entry for one in archived_visits if (entry := one.not_modified_entry or _build_cdxj_entry(one)) is not None]


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
    """Return the media type that a stored head declares: of redirects and errors, the visit has none."""
    return get_media_type(parse_head(head.splitlines(keepends=True))[1]) if head else ""
