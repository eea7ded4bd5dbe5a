"""Decide how a lease ends after a visit, and classify the visit as a signal about the host. No I/O."""

from msgspec import Struct

from sanderling.frontier.hosts import GIVE_UP_AFTER
from sanderling.frontier.leases import Lease, LeaseOutcome
from sanderling.models import Outcome, Reason, UrlState, Visit

MAX_HOPS = 20
UNREACHABLE_REASONS = frozenset({Reason.CONNECT, Reason.TIMEOUT, Reason.DNS, Reason.TLS})
RETRY_BASE_DELAY = 5.0  # seconds before the same page is tried again, doubled each time


class HostSignal(Struct, frozen=True):
    """Rate limit or failure of a host at a visit."""

    is_rate_limited: bool = False  # 429, 503 or a rate-limit page
    is_unreachable: bool = False
    retry_after: float = 0.0


FINAL_STATES = {
    Outcome.FETCHED: UrlState.VISITED,
    Outcome.NOT_MODIFIED: UrlState.VISITED,
    Outcome.REDIRECT: UrlState.VISITED,
    Outcome.GONE: UrlState.GONE,
    Outcome.FAILED: UrlState.FAILED,
    Outcome.SKIPPED: UrlState.SKIPPED,
    Outcome.PARKED: UrlState.SKIPPED,
}


def decide_lease_outcome(visit: Visit, lease: Lease, attempts: int, max_retries: int) -> LeaseOutcome:
    if visit.outcome is Outcome.RETURNED:
        return LeaseOutcome(lease, UrlState.QUEUED, attempts=attempts)
    if visit.outcome is not Outcome.RETRY:
        return LeaseOutcome(lease, FINAL_STATES[visit.outcome], visit.reason, visit.detail, attempts)
    # Not a fault of the page: its host is backed off or given up.
    if visit.reason is Reason.CONNECT and attempts < GIVE_UP_AFTER:
        return LeaseOutcome(lease, UrlState.QUEUED, visit.reason, visit.detail, attempts + 1)
    limited = visit.reason is Reason.RATE_LIMITED  # retried first after the host's back-off
    if attempts >= max_retries + limited:
        return LeaseOutcome(lease, UrlState.FAILED, visit.reason, visit.detail, attempts + 1)
    ready = 0.0 if limited else visit.visited_at + RETRY_BASE_DELAY * 2**attempts
    return LeaseOutcome(lease, UrlState.QUEUED, visit.reason, visit.detail, attempts + 1, ready_at=ready)


def classify_host_signal(visit: Visit) -> HostSignal:
    if visit.outcome not in (Outcome.RETRY, Outcome.FAILED):
        return HostSignal()
    limited = visit.status in (429, 503) or visit.reason is Reason.RATE_LIMITED
    return HostSignal(limited, visit.reason in UNREACHABLE_REASONS, visit.retry_after)
