"""Putting a batch into the archive: a response, or a revisit where the very same payload is stored already."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sanderling.migrants.pack import Exchange
from sanderling.records import Outcome, Visit
from sanderling.store.catalogue import Catalogue, Latest, Twin
from sanderling.store.cdxj import REVISIT, Entry
from sanderling.store.warc import Archive
from sanderling.store.warc_records import Original, Place


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
        out.append(shelved)
        place = shelved.place
        if twin is None and place is not None and visit.outcome is Outcome.FETCHED and visit.size:
            twins[visit.digest] = Twin(
                0, visit.id, visit.at, shelved.record, visit.payload, shelved.wire,
                place.file, place.offset, place.length,
            )  # fmt: skip
    return out


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
    """What the CDXJ index says of a batch; a 304 is no capture."""
    return [
        Entry(s.wire, s.visit.at, REVISIT if s.repeats else s.visit.mime, s.visit.status, s.payload, s.place)
        for s in shelved
        if s.place is not None and s.visit.outcome is not Outcome.NOT_MODIFIED
    ]
