"""Interpret visits: drop expired leases, detect missing pages, resolve redirects."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sanderling.crawl.stages.redirects import get_self_redirect_target, resolve_loops, validate_redirect
from sanderling.crawl.stages.stage_services import VisitServices
from sanderling.frontier.leases import Lease
from sanderling.frontier.url_rows import UrlRow
from sanderling.models import Outcome, Visit
from sanderling.revisit.missing_pages import mark_outages, mark_soft_404
from sanderling.storage.catalog import PageState

UNCATALOGED_OUTCOMES = (Outcome.RETURNED, Outcome.SKIPPED, Outcome.PARKED)  # the catalog gets no row


class VisitBatch(Struct, frozen=True):
    """Visits of current leases, with stored URLs and pages."""

    visits: Sequence[Visit]  # all visits, in the order in which they arrived
    stored: Sequence[Visit]  # visits that are archived and cataloged
    parked: Sequence[Visit]  # pages that a worker keeps because they do not match the template filter
    leases: Mapping[int, Lease]
    rows: Mapping[int, UrlRow]
    previous: Mapping[int, PageState]  # pages as of their last visit
    loop_page_ids: Sequence[int]  # pages to fetch again because a redirect loop leads to them

    @property
    def depths(self) -> dict[int, int]:
        return {id_: row.depth for id_, row in self.rows.items()}

    @property
    def request_urls(self) -> dict[int, str]:
        """Request URLs of stored visits; empty: same as the URL key."""
        return {visit.id: self.rows[visit.id].request_url for visit in self.stored}


def interpret_visits(visits: Sequence[Visit], context: VisitServices) -> VisitBatch:
    """Classify visits. Those of expired leases are dropped and counted."""
    leases = context.frontier.find_held_leases([(visit.id, visit.token) for visit in visits])
    current = [visit for visit in visits if visit.id in leases and visit.token == leases[visit.id].token]
    context.stats.stale_results += len(visits) - len(current)
    current = [mark_soft_404(visit) for visit in current]
    previous = context.storage.catalog.load_page_states(
        [v.id for v in current if v.outcome not in UNCATALOGED_OUTCOMES]
    )
    current = mark_outages(current, previous, context.storage.catalog.load_fingerprint)
    host_ids = {visit.id: leases[visit.id].host_id for visit in current}
    known = context.revisit.notice_clusters.mark_notices(current, previous, host_ids)
    rows = context.frontier.load_rows([visit.id for visit in known])
    redirected = [validate_redirect(visit, rows[visit.id]) for visit in known]
    resolved, loop_page_ids = resolve_loops(redirected, previous, context)
    stored = [
        visit
        for visit in resolved
        if visit.outcome not in UNCATALOGED_OUTCOMES and get_self_redirect_target(visit, rows[visit.id]) is None
    ]
    parked = [visit for visit in resolved if visit.outcome is Outcome.PARKED]
    return VisitBatch(resolved, stored, parked, leases, rows, previous, loop_page_ids)
