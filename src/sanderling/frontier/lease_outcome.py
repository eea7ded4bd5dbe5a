"""What a visit means for the queue: a final state, another try, and how the host is to be treated. Pure."""

from msgspec import Struct

from sanderling.frontier.hosts import GIVE_UP_AFTER
from sanderling.frontier.leases import Lease, LeaseOutcome
from sanderling.models import Outcome, Reason, UrlState, Visit

MAX_HOPS = 20
UNREACHABLE_REASONS = frozenset({Reason.CONNECT, Reason.TIMEOUT, Reason.DNS, Reason.TLS})
RETRY_BASE_DELAY = 5.0  # seconds before the same page is tried again, doubled each time


class HostSignal(Struct, frozen=True):
    """How the host behaved at one visit."""

    is_rate_limited: bool = False  # it asked us to slow down
    is_unreachable: bool = False  # it could not be reached
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
    """Say how this lease ends."""
    if visit.outcome is Outcome.RETURNED:
        return LeaseOutcome(lease, UrlState.QUEUED, attempts=attempts)
    if visit.outcome is not Outcome.RETRY:
        return LeaseOutcome(lease, FINAL_STATES[visit.outcome], visit.reason, visit.detail, attempts)
    if (
        visit.reason is Reason.CONNECT and attempts < GIVE_UP_AFTER
    ):  # not the page's fault: its host rests, or is given up
        return LeaseOutcome(lease, UrlState.QUEUED, visit.reason, visit.detail, attempts + 1)
    limited = visit.reason is Reason.RATE_LIMITED  # its host rests, and it is tried first when that is over
    if attempts >= max_retries + limited:
        return LeaseOutcome(lease, UrlState.FAILED, visit.reason, visit.detail, attempts + 1)
    ready = 0.0 if limited else visit.visited_at + RETRY_BASE_DELAY * 2**attempts
    return LeaseOutcome(lease, UrlState.QUEUED, visit.reason, visit.detail, attempts + 1, ready_at=ready)


def classify_host_signal(visit: Visit) -> HostSignal:
    """Say how the host behaved."""
    if visit.outcome not in (Outcome.RETRY, Outcome.FAILED):
        return HostSignal()
    limited = visit.status in (429, 503) or visit.reason is Reason.RATE_LIMITED
    return HostSignal(limited, visit.reason in UNREACHABLE_REASONS, visit.retry_after)
