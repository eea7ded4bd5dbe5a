"""What a visit means for the queue: a final state, another try, and how the host is to be treated. Pure."""

from msgspec import Struct

from sanderling.frontier.hosts import CONDEMN_AFTER
from sanderling.frontier.leases import Closing, Lease
from sanderling.models import Outcome, Reason, State, Visit

MAX_HOPS = 20
HOST_TROUBLE = frozenset({Reason.CONNECT, Reason.TIMEOUT, Reason.DNS, Reason.TLS})
RETRY_WAIT = 5.0  # seconds before the same page is tried again, doubled each time


class Conduct(Struct, frozen=True):
    """How the host behaved at one visit."""

    limited: bool = False  # it asked us to slow down
    trouble: bool = False  # it could not be reached
    retry_after: float = 0.0


FINAL = {
    Outcome.FETCHED: State.VISITED,
    Outcome.NOT_MODIFIED: State.VISITED,
    Outcome.REDIRECT: State.VISITED,
    Outcome.GONE: State.GONE,
    Outcome.FAILED: State.FAILED,
    Outcome.SKIPPED: State.SKIPPED,
    Outcome.KEPT: State.SKIPPED,
}


def close(visit: Visit, lease: Lease, attempts: int, retries: int) -> Closing:
    """Say how this lease ends."""
    if visit.outcome is Outcome.RETURNED:
        return Closing(lease, State.QUEUED, attempts=attempts)
    if visit.outcome is not Outcome.RETRY:
        return Closing(lease, FINAL[visit.outcome], visit.reason, visit.note, attempts)
    if (
        visit.reason is Reason.CONNECT and attempts < CONDEMN_AFTER
    ):  # not the page's fault: its host rests, or is given up
        return Closing(lease, State.QUEUED, visit.reason, visit.note, attempts + 1)
    limited = visit.reason is Reason.RATE_LIMITED  # its host rests, and it is tried first when that is over
    if attempts >= retries + limited:
        return Closing(lease, State.FAILED, visit.reason, visit.note, attempts + 1)
    ready = 0.0 if limited else visit.at + RETRY_WAIT * 2**attempts
    return Closing(lease, State.QUEUED, visit.reason, visit.note, attempts + 1, ready_at=ready)


def conduct(visit: Visit) -> Conduct:
    """Say how the host behaved."""
    if visit.outcome not in (Outcome.RETRY, Outcome.FAILED):
        return Conduct()
    limited = visit.status in (429, 503) or visit.reason is Reason.RATE_LIMITED
    return Conduct(limited, visit.reason in HOST_TROUBLE, visit.retry_after)
