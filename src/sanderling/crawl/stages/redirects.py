"""Validate redirects, and compute the nesting depth of sitemaps."""

from msgspec.structs import replace

from sanderling.crawl.context import UrlRow
from sanderling.db.connection import Connection
from sanderling.discovery.entry_types import MAX_INDEX_DEPTH
from sanderling.frontier.lease_outcome import MAX_HOPS
from sanderling.models import Outcome, Reason, UrlRole, UrlSource, Visit
from sanderling.urls.normalize import resolve_url

REFERRER_SQL = "SELECT u.via, u.source, v.role FROM urls AS u JOIN urls AS v ON v.id = u.via WHERE u.id = ?"


def validate_redirect(visit: Visit, row: UrlRow) -> Visit:
    """Fail a redirect without a valid target, or with too many hops."""
    if visit.outcome is not Outcome.REDIRECT:
        return visit
    request_url = row.request_url or visit.url
    target = resolve_url(request_url, visit.location)
    if target is not None and row.hops < MAX_HOPS and target.request_url != request_url:
        return visit
    reason = Reason.REDIRECT_WITHOUT_TARGET if target is None else Reason.TOO_MANY_REDIRECTS
    return replace(visit, outcome=Outcome.FAILED, reason=reason, detail=visit.location[:200])


def get_self_redirect_target(visit: Visit, row: UrlRow) -> str | None:
    """Return the request URL that a server prefers for the same URL key.

    None: the visit is not a redirect to itself.
    """
    if visit.outcome is not Outcome.REDIRECT:
        return None
    target = resolve_url(row.request_url or visit.url, visit.location)
    return target.distinct_request_url if target is not None and target.url == visit.url else None


def compute_sitemap_depth(db: Connection, sitemap_id: int) -> int:
    """Count the sitemap indexes above a sitemap, without redirects."""
    depth = 0
    for _ in range(MAX_HOPS * MAX_INDEX_DEPTH):
        row = db.execute(REFERRER_SQL, (sitemap_id,)).fetchone()
        if row is None or row[2] == UrlRole.PAGE:
            break
        depth += row[1] != UrlSource.REDIRECT
        sitemap_id = row[0]
    return depth
