"""The whole flow on one screen; the only place where loops close.

    seeds -> judge -> book, queue -> itinerary -> migrant -> parcel -> WARC -> catalogue -> links -> judge ...

One batch of parcels is one transaction: WARC bytes are on the disk before its commit, leases end in it. What a crash
leaves undone is still leased or queued, and is done again. It has two halves, so that nobody waits while the disk is
busy: `bring_home`, and `seal` once the disk has it. What is handed out between them is part of the batch.
"""

from collections.abc import Sequence

from sanderling.crawl.context import House, url_rows
from sanderling.crawl.stages.change_detection import note_changes, plan
from sanderling.crawl.stages.close_leases import close_leases, count, keep_quota, treat_hosts
from sanderling.crawl.stages.discovered_urls import offer_links
from sanderling.crawl.stages.page_links import file_page, follow, keep_best, learn, learn_kept, pair, promote
from sanderling.crawl.stages.redirects import led, respelled
from sanderling.crawl.stages.sitemaps import follow_maps, learn_robots
from sanderling.crawl.stages.tvi_stage import bring_sides, note_sides
from sanderling.db.connection import begun, committed
from sanderling.models import Outcome, Parcel, Visit
from sanderling.revisit.missing_pages import behind_notices, moves, unmasked
from sanderling.storage.archive_batch import Shelved, captures, shelve
from sanderling.storage.link_graph import FLUSH_PAIRS
from sanderling.storage.signal_log import Signal
from sanderling.warc.cdxj import Entry

NO_LOOK = (Outcome.RETURNED, Outcome.SKIPPED, Outcome.KEPT)  # nothing came home that the catalogue could hold


def bring_home(parcels: Sequence[Parcel], house: House, now: float) -> list[Entry]:
    """Store what migrants brought, queue what they found, end their leases: all of it or nothing, once it is sealed.

    What the index is to say of it is all that is left: the pages need not wait in memory while the disk is busy.
    """
    with begun(house.db):
        for robots in (robots for parcel in parcels for robots in parcel.robots):
            learn_robots(robots, house, now)
        visits = [visit for parcel in parcels for visit in parcel.visits]
        return captures(_bring_visits(visits, house, now)) if visits else []


def seal(entries: Sequence[Entry], house: House) -> None:
    """Wait until the disk has the pages of a batch, then commit it: the moment they are done."""
    with committed(house.db):
        house.archive.settle()
    house.captures.add(entries, house.archive.lengths())
    house.log.flush()


def _bring_visits(visits: Sequence[Visit], house: House, now: float) -> list[Shelved]:
    leases = house.queue.leases([(visit.id, visit.token) for visit in visits])
    held = [unmasked(visit) for visit in visits if visit.id in leases and visit.token == leases[visit.id].token]
    house.counts["fenced"] += len(visits) - len(held)
    latest = house.catalogue.latest([visit.id for visit in held if visit.outcome not in NO_LOOK])
    held = behind_notices(held, latest, house.catalogue.mark)
    visits = house.notices.unmasked(held, latest, {visit.id: leases[visit.id].host for visit in held})
    rows = url_rows(house.db, [visit.id for visit in visits])
    visits, again = house.rounds.follow([led(visit, rows[visit.id]) for visit in visits], latest)
    looks = [visit for visit in visits if visit.outcome not in NO_LOOK]
    stored = [visit for visit in looks if respelled(visit, rows[visit.id]) is None]
    kept = [visit for visit in visits if visit.outcome is Outcome.KEPT]
    ids = offer_links([*stored, *kept], rows, house, now)
    if house.uses is not None:
        house.uses.follow(stored, {id_: row.depth for id_, row in rows.items()}, now)
    follow_maps(stored, house, now)
    note_sides(stored, house, now)
    house.log.signal(Signal.CHECK, sum(visit.outcome is Outcome.FETCHED for visit in stored))
    wires = {visit.id: rows[visit.id].wire for visit in stored}
    shelved = shelve(stored, latest, wires, house.catalogue, house.archive)
    files = {name: house.catalogue.file_id(name, length) for name, length in house.archive.hand_over().items()}
    followed = [follow(item.visit.links, ids) for item in shelved]
    filed = [file_page(item, files, links, latest.get(item.visit.id), house)
             for item, links in zip(shelved, followed, strict=True)]  # fmt: skip
    learn(zip(shelved, followed, strict=True), rows, leases, ids, house)
    learn_kept(kept, leases, ids, house)
    plan(shelved, latest, note_changes(shelved, latest, house), house, now)
    house.diary.inherit(moves(stored, latest, wires, ids))
    house.catalogue.file(filed, latest, house.session)
    pair(filed, latest, house)
    patched = bring_sides(stored, house, now)
    closings = close_leases(visits, leases, rows, latest, house)
    house.queue.finish(closings)
    house.rounds.ask(again)
    keep_quota(filed, latest, leases, house)
    treat_hosts(visits, leases, house, now)
    count(visits, closings, filed, house)
    house.log.write(visits, rows)
    if house.graph.pairs >= FLUSH_PAIRS:
        house.graph.flush()
    promote(len(shelved) + len(kept), house)
    if house.keeper is not None and house.keeper.is_due(len(shelved)):
        keep_best(house, house.keeper, now)
    return [*shelved, *patched]
