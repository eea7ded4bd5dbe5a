"""What kind of change a page had, and when to come back to it: the one loop from refresh to frontier."""

from collections.abc import Mapping, Sequence

from sanderling.changes.diff import Difference, difference
from sanderling.clock import http_time
from sanderling.crawl.context import House
from sanderling.fingerprint.model import is_current, read, write
from sanderling.models import Outcome, Role, Url, Visit
from sanderling.revisit.policies.sitemap_driven import Hint as Told
from sanderling.revisit.schedule import Facts
from sanderling.storage.archive_batch import Shelved
from sanderling.storage.catalog import LOOKS, Latest
from sanderling.storage.signal_log import Signal
from sanderling.urls.normalize import host_of, split
from sanderling.urls.scope import site_of
from sanderling.warc.reader import read_record
from sanderling.warc.records import Place

PLANNED = (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT, Outcome.GONE)
MOST_REREADS = 100_000
TROUBLE_WAIT = 86_400.0  # seconds until a page that could not be seen is looked at again


def note_changes(shelved: Sequence[Shelved], latest: Mapping[int, Latest], house: House) -> set[int]:
    """Say what kind of change each page had that was known before; give those where it matters."""
    changed: set[int] = set()
    for item in shelved:
        visit, old = item.visit, latest.get(item.visit.id)
        if old is None or visit.role is not Role.PAGE or not (old.is_there or old.is_away):
            continue
        site = site_of(visit.url)
        house.log.signal(Signal.COMPARE, 1, visit.url)
        is_same = not item.changed or house.catalogue.is_restored(visit, old)
        if is_same and visit.outcome in (Outcome.NOT_MODIFIED, Outcome.FETCHED):
            house.ledger.same(visit.id, site, is_copy=_is_copy(item))
        elif visit.outcome is Outcome.FETCHED:
            found = _difference(visit, old, house)
            _note_reread(house.rereads, old, found is not None and not found.text and not old.duplicate_of)
            change = house.ledger.note(
                visit.id, site, visit.at, old.last_visit, found, visit.mime, is_copy=_is_copy(item)
            )
            if change.matters:
                changed.add(visit.id)
            else:  # a clock, a counter: the page says what it said
                house.counts["unchanged"] += 1
    if house.uses is not None:
        house.counts["replaced"] += house.uses.replaced(shelved, latest)
    house.ledger.save()
    house.counts["changed"] += len(changed)
    return changed


def _is_copy(item: Shelved) -> bool:
    """Say whether a page is another one's copy: to the byte, or by its own word under another query.

    Some sites name one canonical page for all: another path is another page.
    """
    visit, twin = item.visit, item.twin
    if twin is not None and twin.url != visit.id:
        return True
    return visit.canonical not in ("", visit.url) and _without_query(visit.canonical) == _without_query(visit.url)


def _without_query(url: Url) -> str:
    return url.partition("?")[0]


def _note_reread(rereads: dict[int, int], old: Latest, is_reread: bool) -> None:
    """Note that a page reads as it did, or does no more; beyond the limit, pages are looked up again for nothing."""
    if not is_reread:
        rereads.pop(old.url, None)
    elif len(rereads) < MOST_REREADS:
        rereads.setdefault(old.url, old.visit)


def _difference(visit: Visit, old: Latest, house: House) -> Difference | None:
    """How a page differs from its last version: by the marks its migrant made of both, or else by full marks.

    A migrant that could not read the last version leaves that to us; None where either is no page.
    """
    new = visit.marks.get("after") or visit.marks.get("signature", b"")
    if not new or not old.was_page:
        return None
    before = visit.marks.get("before") or house.catalogue.mark(visit.id, "signature")
    if not is_current(before) and (place := house.catalogue.body_place(old.visit)):
        from sanderling.fingerprint.build import sign
        from sanderling.html.parser import parse  # most crawls never ask

        before = write(sign(parse(read_record(house.archive.folder, Place(*place)).body, old.charset)))
    return difference(read(before), read(new)) if is_current(before) else None


def plan(shelved: Sequence[Shelved], latest: Mapping[int, Latest], changed: set[int], house: House, now: float) -> None:
    """Say when to come back to every page of the batch: the one loop from refresh to frontier."""
    seen = [item for item in shelved if item.visit.role is Role.PAGE and item.visit.outcome in PLANNED]
    ids = [item.visit.id for item in seen]
    hints = house.hints.of(ids)
    facts, gone = [], []
    for item in seen:
        visit, old = item.visit, latest.get(item.visit.id)
        if visit.outcome is Outcome.GONE and (old is None or old.misses + 1 >= LOOKS):
            gone.append(visit.id)
            house.counts["vanished"] += old is not None and old.is_there
            continue
        hint = hints.get(visit.id)
        facts.append(
            Facts(
                visit.id, site_of(visit.url), split(visit.url)[1], now, old.last_visit if old else 0.0,
                visit.id in changed, old.visits + 1 if old else 1, old.changes if old else 0,
                visit.outcome is Outcome.GONE, http_time(visit.last_modified) or 0.0, visit.size,
                Told(hint.lastmod, hint.whole_day, hint.changefreq) if hint else None,
            )
        )  # fmt: skip
        house.counts["new"] += old is None and visit.outcome is Outcome.FETCHED
        house.counts["moved"] += old is not None and old.is_there and visit.outcome is Outcome.REDIRECT
        house.counts["bytes_saved"] += old.size if old and visit.outcome is Outcome.NOT_MODIFIED else 0
        if old and old.etag and visit.etag != old.etag and visit.outcome is Outcome.FETCHED and not item.changed:
            house.hosts.etag_lied(host_of(visit.url))
    house.diary.plan(facts)
    house.log.signal(Signal.TO_UPDATE, len(facts), seen[-1].visit.url if seen else "")
    house.diary.drop(gone)
    house.lists.leave([*gone, *(page.url for page in facts if not page.previous)])
    house.lists.confirm({page.url: page.changed or page.missing for page in facts if page.previous}, now)
    lost = [i.visit for i in shelved if i.visit.outcome in (Outcome.RETRY, Outcome.FAILED) and i.visit.id in latest]
    for visit in lost:
        house.diary.postpone([visit.id], now + TROUBLE_WAIT, f"it could not be seen: {visit.reason}")
    house.diary.confirm({page.url: (page.site, page.changed) for page in facts if page.previous})
