"""Close leases: final states of URLs, back-off from hosts, counters."""

from collections.abc import Sequence

from msgspec.structs import replace

from sanderling.crawl.stages.redirects import get_self_redirect_target, requeue_loop_pages
from sanderling.crawl.stages.stage_services import LeaseServices
from sanderling.crawl.stages.visit_batch import VisitBatch
from sanderling.fetch.host_queue import compute_ready_time
from sanderling.frontier.hosts import GIVE_UP_AFTER, compute_backoff, get_failed_host_state
from sanderling.frontier.lease_outcome import classify_host_signal, decide_lease_outcome
from sanderling.frontier.leases import Lease, LeaseOutcome
from sanderling.frontier.url_rows import UrlRow
from sanderling.models import Outcome, Reason, UrlRole, UrlState, Visit
from sanderling.storage.catalog import MISSES_UNTIL_GONE, PRESENT_OUTCOMES, PageState, VisitRow
from sanderling.urls.normalize import get_host

UNREACHABLE_BACKOFF_DIVISOR = 12  # back-off of an unreachable host is this much shorter than after a 429 or 503


def close_leases(batch: VisitBatch, context: LeaseServices) -> list[LeaseOutcome]:
    """Complete all leases of a batch; returns an outcome per visit.

    Loop pages are requeued after that, because their own lease may be in the batch.
    """
    outcomes = resolve_leases(batch, context)
    context.frontier.complete(outcomes)
    requeue_loop_pages(batch.loop_page_ids, context.frontier, context.ordering)
    return outcomes


def resolve_leases(batch: VisitBatch, context: LeaseServices) -> list[LeaseOutcome]:
    """Compute the outcome of each lease.

    Of several rate-limit responses from a host, only the first counts as an attempt.
    """
    outcomes, rate_limited_hosts = [], set[int]()
    for visit in batch.visits:
        lease, row = batch.leases[visit.id], batch.rows[visit.id]
        outcome = _resolve_lease(visit, lease, row, batch.previous.get(visit.id), context)
        if visit.outcome is Outcome.RETRY and outcome.reason is Reason.RATE_LIMITED:
            if lease.host_id in rate_limited_hosts:
                outcome = LeaseOutcome(lease, UrlState.QUEUED, visit.reason, visit.detail, row.attempts)
            rate_limited_hosts.add(lease.host_id)
        outcomes.append(outcome)
    return outcomes


def _resolve_lease(
    visit: Visit, lease: Lease, row: UrlRow, old: PageState | None, context: LeaseServices
) -> LeaseOutcome:
    """Compute an outcome. URLs of given-up hosts are never requeued."""
    outcome = _resolve_reachable(visit, lease, row, old, context)
    if outcome.state is UrlState.QUEUED and (
        reason := context.frontier.url_filter.failed_hosts.get(get_host(visit.url))
    ):
        return LeaseOutcome(lease, get_failed_host_state(reason), reason, visit.detail, outcome.attempts)
    return outcome


def _resolve_reachable(
    visit: Visit, lease: Lease, row: UrlRow, old: PageState | None, context: LeaseServices
) -> LeaseOutcome:
    if context.form_queries is not None and visit.id in context.form_queries.stopped_ids:
        return LeaseOutcome(lease, UrlState.SKIPPED, Reason.RATE_LIMITED, "forms of its site are not queried any more")
    outcome = decide_lease_outcome(visit, lease, row.attempts, context.options.max_retries)
    if visit.change_list_next and context.revisit.change_lists.has_next_part(visit.id):
        return LeaseOutcome(lease, UrlState.QUEUED)
    if visit.outcome is Outcome.GONE and old is not None and old.is_present and old.miss_count + 1 < MISSES_UNTIL_GONE:
        return LeaseOutcome(lease, UrlState.VISITED, detail="missing; will be checked once more")
    if (request_url := get_self_redirect_target(visit, row)) is not None:
        return LeaseOutcome(lease, UrlState.QUEUED, request_url=request_url, hops=row.hops + 1)
    if outcome.state is UrlState.FAILED and old is not None and old.is_present:
        return replace(outcome, state=UrlState.VISITED)  # a failed fetch is not a change: the stored page stays
    if row.hops and visit.outcome in PRESENT_OUTCOMES:
        return replace(outcome, hops=0)
    return outcome


def update_hosts(batch: VisitBatch, visit_rows: Sequence[VisitRow], context: LeaseServices, now: float) -> None:
    """Apply quotas, crawl delays and back-off, and give up unreachable hosts."""
    _apply_host_quota(batch, visit_rows, context)
    last_response: dict[int, float] = {}
    ready_after_slow: dict[int, float] = {}  # slow responses extend the crawl delay
    failures: dict[int, list[Visit]] = {}
    answered: set[int] = set()
    robots_retry_after: dict[int, float] = {}  # Retry-After of a robots.txt that could not be fetched
    for visit in batch.visits:
        host = batch.leases[visit.id].host_id
        if visit.outcome is Outcome.RETURNED or visit.reason is Reason.ROBOTS:
            if visit.reason is Reason.ROBOTS_UNREACHABLE and visit.retry_after:
                robots_retry_after[host] = max(robots_retry_after.get(host, 0.0), visit.retry_after)
            continue
        at = min(visit.visited_at, now)  # a worker's clock may be ahead, or ours was set back
        last_response[host] = max(last_response.get(host, 0.0), at)
        ready_at = compute_ready_time(at - visit.duration_seconds, visit.duration_seconds)
        ready_after_slow[host] = max(ready_after_slow.get(host, 0.0), ready_at)
        if visit.outcome in (Outcome.RETRY, Outcome.FAILED):
            failures.setdefault(host, []).append(visit)
        else:
            answered.add(host)
    failing = {
        host for host, visits in failures.items() if _record_failures(visits, host, host in answered, context, now)
    }
    for host, wait in robots_retry_after.items():
        context.frontier.delay_host(host, now + compute_backoff(0, 0.0, wait), Reason.RATE_LIMITED, with_address=True)
    context.frontier.hosts.update_after_responses(
        last_response, context.frontier.politeness.delay_seconds, failing, ready_after_slow
    )


def _apply_host_quota(batch: VisitBatch, visit_rows: Sequence[VisitRow], context: LeaseServices) -> None:
    """Count new pages per host, and drop queued URLs of full hosts."""
    for visit in (row.visit for row in visit_rows):
        old = batch.previous.get(visit.id)
        is_new = old is None or not 200 <= old.status < 300
        if visit.outcome is Outcome.FETCHED and visit.role is UrlRole.PAGE and is_new:
            host_id = batch.leases[visit.id].host_id
            context.stats.skipped += context.frontier.count_page(host_id, get_host(visit.url))


def _record_failures(
    visits: Sequence[Visit], host_id: int, has_answered: bool, context: LeaseServices, now: float
) -> bool:
    """Back off from a host, or give it up; several failures count once.

    Returns False if no visit was rate-limited or unreachable.
    """
    rate_limited = [visit for visit in visits if classify_host_signal(visit).is_rate_limited]
    if rate_limited:
        _slow_down(rate_limited, host_id, has_answered, context, now)
        return True
    visit = next((visit for visit in visits if classify_host_signal(visit).is_unreachable), None)
    if visit is None:
        return False
    failure_count = context.frontier.hosts.add_failure(host_id)
    if failure_count >= GIVE_UP_AFTER:
        context.stats.count_dropped(
            *context.frontier.give_up_host(host_id, get_host(visit.url), visit.reason, visit.detail)
        )
    else:
        backoff = compute_backoff(failure_count - 1, context.options.backoff_seconds / UNREACHABLE_BACKOFF_DIVISOR)
        context.frontier.delay_host(host_id, now + backoff, visit.reason)
    return True


def _slow_down(
    rate_limited: Sequence[Visit], host_id: int, has_answered: bool, context: LeaseServices, now: float
) -> None:
    """Back off from a rate-limiting host, and increase its crawl delay.

    Responses to requests sent before the current back-off belong to the same rate limit.
    """
    visit = rate_limited[0]
    first_request = min(visit.visited_at - visit.duration_seconds for visit in rate_limited)
    known_failures = context.frontier.hosts.get_backoff_failures(host_id, first_request)
    if has_answered and not known_failures:
        context.frontier.hosts.clear_failures(host_id)  # the host answered since: earlier failures are unrelated
    failure_count = known_failures or context.frontier.hosts.add_failure(host_id)
    # A response without Retry-After may mean a longer wait than one with it.
    wait = max(
        compute_backoff(failure_count - 1, context.options.backoff_seconds, visit.retry_after) for visit in rate_limited
    )
    context.frontier.delay_host(host_id, now + wait, Reason.RATE_LIMITED, with_address=True)
    context.frontier.hosts.count_rate_limit(host_id)
    message = f"{visit.url} returned {visit.status} (rate limit); its host is not requested for {wait:.0f} s"
    if not known_failures and failure_count == 1:  # after a back-off the crawl delay was not the cause
        delay = context.frontier.hosts.slow_down(
            host_id, {visit.id for visit in rate_limited}, context.frontier.politeness.delay_seconds, now
        )
        message += f", then every {delay:g} s"
    context.log.write_message(message)


def record_outcomes(
    batch: VisitBatch, outcomes: Sequence[LeaseOutcome], visit_rows: Sequence[VisitRow], context: LeaseServices
) -> None:
    """Count outcomes, and write the crawl log."""
    stats = context.stats
    for visit, outcome in zip(batch.visits, outcomes, strict=True):
        stats.bytes += visit.received_bytes
        if visit.role is UrlRole.PAGE:
            stats.outcomes[visit.outcome] += 1
            is_failed = outcome.state in (UrlState.FAILED, UrlState.GONE)
            stats.failed += is_failed or _keeps_stored_page(visit, outcome)
            stats.skipped += outcome.state is UrlState.SKIPPED
    for row in visit_rows:
        if row.visit.role is UrlRole.PAGE:
            stats.duplicates += row.identical_body is not None and row.has_changed
            stats.unchanged += row.visit.outcome is Outcome.FETCHED and not row.has_changed
    context.log.write_visits(batch.visits, batch.rows)


def _keeps_stored_page(visit: Visit, outcome: LeaseOutcome) -> bool:
    return outcome.state is UrlState.VISITED and visit.outcome in (Outcome.FAILED, Outcome.RETRY)
