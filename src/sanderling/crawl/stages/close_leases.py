"""How leases end: retries, redirects, pages gone; hosts rest, are held or given up; the counts of a run."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from sanderling.crawl.context import CrawlContext, UrlRow
from sanderling.crawl.stages.redirects import get_self_redirect_target
from sanderling.fetch.host_queue import compute_ready_time
from sanderling.frontier.hosts import GIVE_UP_AFTER, compute_backoff, get_failed_host_state
from sanderling.frontier.lease_outcome import classify_host_signal, decide_lease_outcome
from sanderling.frontier.leases import Lease, LeaseOutcome
from sanderling.models import Outcome, Reason, UrlRole, UrlState, Visit
from sanderling.storage.catalog import MISSES_UNTIL_GONE, PRESENT_OUTCOMES, PageState, VisitRow
from sanderling.urls.normalize import get_host

UNREACHABLE_BACKOFF_DIVISOR = 12  # a host that cannot be reached rests a twelfth of what one that complains does


def resolve_lease(
    visit: Visit, lease: Lease, row: UrlRow, old: PageState | None, context: CrawlContext
) -> LeaseOutcome:
    """Decide how a lease ends; no URL of a host that was given up goes back into the queue."""
    closing = _resolve_lease(visit, lease, row, old, context)
    if closing.state is UrlState.QUEUED and (given_up := context.url_filter.failed_hosts.get(get_host(visit.url))):
        return LeaseOutcome(lease, get_failed_host_state(given_up), given_up, visit.detail, closing.attempts)
    return closing


def _resolve_lease(
    visit: Visit, lease: Lease, row: UrlRow, old: PageState | None, context: CrawlContext
) -> LeaseOutcome:
    closing = decide_lease_outcome(visit, lease, row.attempts, context.max_retries)
    if visit.change_list_next and context.change_lists.has_next_part(visit.id):
        return LeaseOutcome(lease, UrlState.QUEUED)
    if visit.outcome is Outcome.GONE and old is not None and old.is_present and old.miss_count + 1 < MISSES_UNTIL_GONE:
        return LeaseOutcome(lease, UrlState.VISITED, detail="missing, to be looked at once more")
    if (wire := get_self_redirect_target(visit, row)) is not None:
        return LeaseOutcome(lease, UrlState.QUEUED, request_url=wire, hops=row.hops + 1)
    if closing.state is UrlState.FAILED and old is not None and old.is_present:
        return replace(closing, state=UrlState.VISITED)  # trouble is no change: what we hold stays
    if row.hops and visit.outcome in PRESENT_OUTCOMES:
        return replace(closing, hops=0)
    return closing


def resolve_leases(
    visits: Sequence[Visit],
    leases: Mapping[int, Lease],
    rows: Mapping[int, UrlRow],
    latest: Mapping[int, PageState],
    context: CrawlContext,
) -> list[LeaseOutcome]:
    """Say how leases end; of complaints of a host that come together one is held against its page, not all."""
    closings, blamed = [], set[int]()
    for visit in visits:
        lease, row = leases[visit.id], rows[visit.id]
        closing = resolve_lease(visit, lease, row, latest.get(visit.id), context)
        if visit.outcome is Outcome.RETRY and closing.reason is Reason.RATE_LIMITED:
            if lease.host_id in blamed:
                closing = LeaseOutcome(lease, UrlState.QUEUED, visit.reason, visit.detail, row.attempts)
            blamed.add(lease.host_id)
        closings.append(closing)
    return closings


def update_hosts(visits: Sequence[Visit], leases: Mapping[int, Lease], context: CrawlContext, now: float) -> None:
    """Rest after answers, hold after complaints, give up on hosts that are not there."""
    last: dict[int, float] = {}  # when the last answer came
    slow: dict[int, float] = {}  # the rest that slow answers earn
    failed: dict[int, list[Visit]] = {}  # many failures at once are one
    good: set[int] = set()  # hosts that answered something
    asked: dict[int, float] = {}  # the rest that a robots.txt asked for which could not be had
    for visit in visits:
        host = leases[visit.id].host_id
        if visit.outcome is Outcome.RETURNED or visit.reason is Reason.ROBOTS:
            if visit.reason is Reason.ROBOTS_UNREACHABLE and visit.retry_after:
                asked[host] = max(asked.get(host, 0.0), visit.retry_after)
            continue
        at = min(visit.visited_at, now)  # the clock of a migrant may be ahead of ours, or ours was set back
        last[host] = max(last.get(host, 0.0), at)
        slow[host] = max(slow.get(host, 0.0), compute_ready_time(at - visit.duration_seconds, visit.duration_seconds))
        if visit.outcome in (Outcome.RETRY, Outcome.FAILED):
            failed.setdefault(host, []).append(visit)
        else:
            good.add(host)
    struck = {host for host, seen in failed.items() if _record_failures(seen, host, host in good, context, now)}
    for host, wait in asked.items():
        context.hosts.delay_address(host, now + compute_backoff(0, 0.0, wait), Reason.RATE_LIMITED)
    context.hosts.update_after_responses(last, context.queue.politeness.delay_seconds, struck, slow)


def _record_failures(
    visits: Sequence[Visit], host_id: int, has_answered: bool, context: CrawlContext, now: float
) -> bool:
    """Leave a host alone that complains or could not be reached; False if all is well."""
    limited = [visit for visit in visits if classify_host_signal(visit).is_rate_limited]
    seen = limited or [visit for visit in visits if classify_host_signal(visit).is_unreachable]
    if not seen:
        return False
    if limited:
        _slow_down(limited, host_id, has_answered, context, now)
        return True
    visit, strikes = seen[0], context.hosts.add_failure(host_id)
    if strikes >= GIVE_UP_AFTER:
        context.stats["lost"] += context.hosts.give_up(host_id, visit.reason, UrlState.FAILED, visit.detail)
        context.url_filter.failed_hosts[get_host(visit.url)] = visit.reason
    else:
        context.hosts.delay_host(
            host_id,
            now + compute_backoff(strikes - 1, context.backoff_seconds / UNREACHABLE_BACKOFF_DIVISOR),
            visit.reason,
        )
    return True


def _slow_down(
    rate_limited: Sequence[Visit], host_id: int, has_answered: bool, context: CrawlContext, now: float
) -> None:
    """Let a host rest that complains, and ask it more slowly then; what comes while it rests is the same complaint."""
    visit = rate_limited[0]
    known = context.hosts.get_backoff_failures(
        host_id, min(visit.visited_at - visit.duration_seconds for visit in rate_limited)
    )
    if has_answered and not known:
        context.hosts.clear_failures(host_id)  # what it said before is not the beginning of this
    strikes = known or context.hosts.add_failure(host_id)
    # one that does not say for how long may mean longer than one that does
    wait = max(compute_backoff(strikes - 1, context.backoff_seconds, visit.retry_after) for visit in rate_limited)
    context.hosts.delay_address(host_id, now + wait, Reason.RATE_LIMITED)
    context.hosts.count_rate_limit(host_id)
    said = f"{visit.url} asks us to slow down ({visit.status}); its host rests {wait:.0f} s"
    if not known and strikes == 1:  # else we came after a rest: that was not too soon
        pause = context.hosts.slow_down(
            host_id, {one.id for one in rate_limited}, context.queue.politeness.delay_seconds, now
        )
        said += f", then it is asked every {pause:g} s"
    context.crawl_log.write_message(said)


def _keeps_stored_page(visit: Visit, closing: LeaseOutcome) -> bool:
    """Did a visit fail whose page we hold from an earlier one?"""
    return closing.state is UrlState.VISITED and visit.outcome in (Outcome.FAILED, Outcome.RETRY)


def apply_host_quota(
    visit_rows: Sequence[VisitRow], latest: Mapping[int, PageState], leases: Mapping[int, Lease], context: CrawlContext
) -> None:
    """Count the pages of each host; one that has all it may have is asked for no others."""
    quota = context.queue.quota
    if quota is None:
        return
    for item in visit_rows:
        visit, before = item.visit, latest.get(item.visit.id)
        is_new = before is None or not 200 <= before.status < 300
        if visit.outcome is Outcome.FETCHED and visit.role is UrlRole.PAGE and is_new:
            host = leases[visit.id].host_id
            if quota.add_page(host):
                context.url_filter.full_hosts.add(get_host(visit.url))
                context.stats["passed_over"] += quota.drop_queued(host)


def count_outcomes(
    visits: Sequence[Visit], closings: Sequence[LeaseOutcome], visit_rows: Sequence[VisitRow], context: CrawlContext
) -> None:
    counts = context.stats
    for visit, closing in zip(visits, closings, strict=True):
        counts["bytes"] += visit.received_bytes
        if visit.role is UrlRole.PAGE:
            counts[visit.outcome] += 1
            counts["lost"] += closing.state in (UrlState.FAILED, UrlState.GONE) or _keeps_stored_page(visit, closing)
            counts["passed_over"] += closing.state is UrlState.SKIPPED
    for item in visit_rows:
        if item.visit.role is UrlRole.PAGE:
            counts["duplicates"] += item.identical_body is not None and item.has_changed
            counts["unchanged"] += item.visit.outcome is Outcome.FETCHED and not item.has_changed
