"""Side files (TVI): the new volatile parts are put into the stored copy, which becomes a version of the page."""

import hashlib
from collections.abc import Sequence

from msgspec.structs import replace

from sanderling.crawl.context import House, url_rows
from sanderling.crawl.stages.change_detection import note_changes, plan
from sanderling.crawl.stages.discovered_urls import offer_links
from sanderling.crawl.stages.page_links import file_page, follow, pair
from sanderling.fetch.curl_transfer import Ask, Reply
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import door_of
from sanderling.fetch.process import UNCHANGED, Observer
from sanderling.frontier.url_store import Entry
from sanderling.models import Candidate, Outcome, Role, Source, State, Stop, Url, Visit
from sanderling.revisit.tvi import patch, read_table
from sanderling.storage.archive_batch import Shelved, shelve
from sanderling.storage.catalog import Latest
from sanderling.storage.queries import urls_of
from sanderling.urls.normalize import host_of
from sanderling.warc.packer import label, new_record_id, opening, pack_record
from sanderling.warc.reader import read_record
from sanderling.warc.records import Place
from sanderling.workers.worker import marks


def note_sides(visits: Sequence[Visit], house: House, now: float) -> None:
    """Remember the side files that pages of the same host name; they are asked by a refresh only."""
    plain = []
    for visit in visits:
        if visit.role is not Role.PAGE or visit.outcome is not Outcome.FETCHED or visit.note == UNCHANGED:
            continue
        named = [p for p in visit.pointers if p.role is Role.SIDE and host_of(p.url) == host_of(visit.url)]
        if not named:
            plain.append(visit.id)
            continue
        known = house.book.find([named[0].url]).get(named[0].url)
        side = known.id if known else 0
        if known is None:
            new = Candidate(named[0].url, named[0].wire, 0, Source.LINK, visit.id, role=Role.SIDE)
            side = house.book.add([Entry(new, State.VISITED)], now)[named[0].url]
        house.sides.note(visit.id, side)
    house.sides.forget(plain)


def bring_sides(visits: Sequence[Visit], house: House, now: float) -> list[Shelved]:
    """What side files say of the pages they were asked for; a page they cannot speak for is due itself."""
    asked = {page: visit for visit in visits if visit.role is Role.SIDE for page in house.sides.asked(visit.id)}
    if not asked:
        return []
    latest, names = house.catalogue.latest(list(asked)), urls_of(house.db, list(asked))
    found = {page: _seen(Url(names[page]), visit, latest[page], house) for page, visit in asked.items()
             if page in latest}  # fmt: skip
    lost = [page for page in asked if found.get(page) is None]
    house.sides.forget(lost)
    house.diary.postpone(lost, now, "its side file could not be used")
    return _store([visit for visit in found.values() if visit is not None], latest, house, now)


def _seen(url: Url, side: Visit, old: Latest, house: House) -> Visit | None:
    """The page as its side file makes it; None if that says nothing of it."""
    if side.outcome is Outcome.NOT_MODIFIED or (side.outcome is Outcome.FETCHED and side.note == UNCHANGED):
        return Visit(old.url, 0, url, Outcome.NOT_MODIFIED, side.at, status=304, note="by its side file")
    table = read_table(side.marks.get("table", b"")) if side.outcome is Outcome.FETCHED else None
    place = house.catalogue.body_place(old.visit)
    if table is None or place is None or not old.is_there:
        return None
    stored = read_record(house.archive.folder, Place(*place))
    body = patch(stored.body, table, old.charset or "utf-8")
    return None if body is None else _patched(url, body, side, old, stored.field("WARC-Record-ID"))


def _patched(url: Url, body: bytes, side: Visit, old: Latest, original: str) -> Visit:
    """Look at a patched copy as at a page that came; its record says what it was made from."""
    ask = Ask(url, door_of(host_of(url)), None)
    kind = f"text/html; charset={old.charset or 'utf-8'}".encode()
    reply = Reply(ask, [b"HTTP/1.1 200 OK\r\n", b"Content-Type: " + kind + b"\r\n", b"\r\n"], body, 0.0)
    stop = Stop(old.url, 0, url, digest=old.digest)
    visit = Observer(FetchSettings(), marks).observe(stop, reply, side.at)
    record, payload = new_record_id(), label("sha256", hashlib.sha256(body).digest())
    lines = (
        f"{opening('conversion', record, side.at, url)}WARC-Refers-To: {original}\r\n"
        f"WARC-Payload-Digest: {payload}\r\nContent-Type: {kind.decode('latin-1')}\r\n"
    )
    made = b"" if visit.note == UNCHANGED else pack_record(lines, body)
    return replace(visit, response=made, head=b"", record_id=record, payload=payload, request=b"", metadata=b"")


def _store(made: Sequence[Visit], latest: dict[int, Latest], house: House, now: float) -> list[Shelved]:
    """File the versions as visits of their pages."""
    rows = url_rows(house.db, [visit.id for visit in made])
    ids = offer_links(made, rows, house, now)
    shelved = shelve(made, latest, {id_: row.wire for id_, row in rows.items()}, house.catalogue, house.archive)
    files = {name: house.catalogue.file_id(name, length) for name, length in house.archive.flush().items()}
    followed = [follow(item.visit.links, ids) for item in shelved]
    filed = [file_page(item, files, links, latest.get(item.visit.id), house)
             for item, links in zip(shelved, followed, strict=True)]  # fmt: skip
    plan(shelved, latest, note_changes(shelved, latest, house), house, now)
    house.catalogue.file(filed, latest, house.session)
    pair(filed, latest, house)
    for item in shelved:
        house.counts[item.visit.outcome] += 1
        house.counts["unchanged"] += item.visit.outcome is Outcome.FETCHED and not item.changed
    return shelved
