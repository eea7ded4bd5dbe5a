"""Putting a batch into the archive: a response, or a revisit where the very same payload is stored already."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sanderling.http.head import media_type, read_head
from sanderling.models import Outcome, Visit
from sanderling.storage.catalog import Catalogue, Latest, Twin
from sanderling.warc.archive import Archive
from sanderling.warc.cdxj import REVISIT, Entry
from sanderling.warc.packer import Exchange
from sanderling.warc.records import Original, Place


class Shelved(Struct, frozen=True):
    """A visit and where its record went."""

    visit: Visit
    wire: str  # the URL as its record spells it
    changed: bool  # the page is new or its bytes differ from the last version's
    place: Place | None = None  # None if no record was written
    record: str = ""
    payload: str = ""
    repeats: bool = False  # the record is a revisit
    twin: Twin | None = None  # another URL with the same body
    confirms: Entry | None = None  # the index line of a 304: its time, and the record that was still valid


def shelve(
    visits: Sequence[Visit],
    latest: Mapping[int, Latest],
    wires: Mapping[int, str],
    catalogue: Catalogue,
    archive: Archive,
) -> list[Shelved]:
    """Append the records of a batch; they count once the archive is flushed. `wires`: spellings other than the key."""
    held = {v.id: latest[v.id].digest for v in visits if v.outcome is Outcome.NOT_MODIFIED and v.id in latest}
    fetched = [v.digest for v in visits if v.outcome is Outcome.FETCHED and v.size]
    twins = catalogue.twins([*fetched, *held.values()])
    out = []
    for visit in visits:
        twin = twins.get(held.get(visit.id) or visit.digest)
        shelved = _shelve(
            visit, wires.get(visit.id) or visit.url, twin, _has_changed(visit, latest.get(visit.id)), archive
        )
        if visit.outcome is Outcome.NOT_MODIFIED and twin is not None and shelved.place is not None:
            shelved = replace(shelved, confirms=_confirmed(shelved, latest[visit.id], twin))
        out.append(shelved)
        place = shelved.place
        if twin is None and place is not None and visit.outcome is Outcome.FETCHED and visit.size:
            twins[visit.digest] = Twin(
                0, visit.id, visit.at, shelved.record, visit.payload, shelved.wire,
                place.file, place.offset, place.length,
            )  # fmt: skip
    return out


def _confirmed(shelved: Shelved, before: Latest, twin: Twin) -> Entry:
    """Build the index line of a 304. Replay tools take the capture nearest in time, which may be a later version."""
    status = before.status if 200 <= before.status < 300 else 200
    place = Place(twin.file, twin.start, twin.length)
    return Entry(shelved.wire, shelved.visit.at, before.mime, status, twin.payload, place)


def _has_changed(visit: Visit, before: Latest | None) -> bool:
    if visit.outcome is Outcome.FETCHED:
        return before is None or before.digest != visit.digest
    return visit.outcome is Outcome.REDIRECT


def _shelve(visit: Visit, wire: str, twin: Twin | None, changed: bool, archive: Archive) -> Shelved:
    other = twin if twin is not None and twin.url != visit.id and visit.outcome is Outcome.FETCHED else None
    if twin is not None and visit.head and (not visit.response or twin.payload == visit.payload):
        original = Original(twin.record, twin.wire, twin.at, twin.payload, Place(twin.file, twin.start, twin.length))
        seen = Exchange(wire, visit.at, visit.head, b"", visit.address)
        packed, place = archive.revisit(seen, original, record_id=visit.record_id)
        shelved = Shelved(visit, wire, changed, place, packed.record_id, twin.payload, True, other)
    elif visit.response:
        place = archive.append(visit.response)
        shelved = Shelved(visit, wire, changed, place, visit.record_id, visit.payload, False, other)
    else:
        return Shelved(visit, wire, changed, twin=other)
    for member in (visit.request, visit.metadata):
        if member:
            archive.append(member)
    return shelved


def captures(shelved: Sequence[Shelved]) -> list[Entry]:
    """Return the lines of a batch in the CDXJ index."""
    return [entry for one in shelved if (entry := one.confirms or _capture(one)) is not None]


def _capture(one: Shelved) -> Entry | None:
    if one.place is None or one.visit.outcome is Outcome.NOT_MODIFIED:
        return None
    mime = REVISIT if one.repeats else one.visit.mime or _declared_mime(one.visit.head)
    return Entry(one.wire, one.visit.at, mime, one.visit.status, one.payload, one.place)


def _declared_mime(head: bytes) -> str:
    """Return the media type that a stored head declares: of redirects and errors, the visit has none."""
    return media_type(read_head(head.splitlines(keepends=True))[1]) if head else ""
