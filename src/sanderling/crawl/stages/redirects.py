"""Where a redirect leads: to another page, to another spelling of the same one, or nowhere; and how deep maps lie."""

from msgspec.structs import replace

from sanderling.crawl.context import UrlRow
from sanderling.db.connection import Connection
from sanderling.discovery.entry_types import INDEX_DEPTH_LIMIT
from sanderling.frontier.lease_outcome import MAX_HOPS
from sanderling.models import Outcome, Reason, Role, Source, Visit
from sanderling.urls.normalize import resolve

ABOVE = "SELECT u.via, u.source, v.role FROM urls AS u JOIN urls AS v ON v.id = u.via WHERE u.id = ?"


def led(visit: Visit, row: UrlRow) -> Visit:
    """A redirect that leads nowhere, or round and round, is a failure and no version of a page."""
    if visit.outcome is not Outcome.REDIRECT:
        return visit
    wire = row.wire or visit.url
    target = resolve(wire, visit.location)
    if target is not None and row.hops < MAX_HOPS and target.wire != wire:
        return visit
    reason = Reason.REDIRECT_TO_NOWHERE if target is None else Reason.TOO_MANY_REDIRECTS
    return replace(visit, outcome=Outcome.FAILED, reason=reason, note=visit.location[:200])


def respelled(visit: Visit, row: UrlRow) -> str | None:
    """How a server likes a page to be asked for that redirects to itself; None: it does not."""
    if visit.outcome is not Outcome.REDIRECT:
        return None
    target = resolve(row.wire or visit.url, visit.location)
    return target.wire_if_different if target is not None and target.url == visit.url else None


def nesting(db: Connection, map_: int) -> int:
    """How many indexes lead to a sitemap or feed; redirects on the way do not count, nor do the pages that name it."""
    levels = 0
    for _ in range(MAX_HOPS * INDEX_DEPTH_LIMIT):
        row = db.execute(ABOVE, (map_,)).fetchone()
        if row is None or row[2] == Role.PAGE:
            break
        levels += row[1] != Source.REDIRECT
        map_ = row[0]
    return levels
