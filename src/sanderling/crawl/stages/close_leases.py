"""How leases end: retries, redirects, pages gone; hosts rest, are held or given up; the counts of a run."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from sanderling.crawl.context import House, UrlRow
from sanderling.crawl.stages.redirects import respelled
from sanderling.fetch.host_queue import rest_until
from sanderling.frontier.hosts import CONDEMN_AFTER, backoff, given_up_state
from sanderling.frontier.lease_outcome import close, conduct
from sanderling.frontier.leases import Closing, Lease
from sanderling.models import Outcome, Reason, Role, State, Visit
from sanderling.storage.catalog import LOOKS, STILL_THERE, Filed, Latest
from sanderling.urls.normalize import host_of

TROUBLE_SHARE = 12  # a host that cannot be reached rests a twelfth of what one that complains does


def close_lease(visit: Visit, lease: Lease, row: UrlRow, old: Latest | None, house: House) -> Closing:
    """Decide how a lease ends; no URL of a host that was given up goes back into the queue."""
    closing = _close_lease(visit, lease, row, old, house)
    if closing.state is State.QUEUED and (given_up := house.judge.condemned.get(host_of(visit.url))):
        return Closing(lease, given_up_state(given_up), given_up, visit.note, closing.attempts)
    return closing


def _close_lease(visit: Visit, lease: Lease, row: UrlRow, old: Latest | None, house: House) -> Closing:
    closing = close(visit, lease, row.attempts, house.retries)
    if visit.list_next and house.lists.goes_on(visit.id):
        return Closing(lease, State.QUEUED)
    if visit.outcome is Outcome.GONE and old is not None and old.is_there and old.misses + 1 < LOOKS:
        return Closing(lease, State.VISITED, note="missing, to be looked at once more")
    if (wire := respelled(visit, row)) is not None:
        return Closing(lease, State.QUEUED, wire=wire, hops=row.hops + 1)
    if closing.state is State.FAILED and old is not None and old.is_there:
        return replace(closing, state=State.VISITED)  # trouble is no change: what we hold stays
    if row.hops and visit.outcome in STILL_THERE:
        return replace(closing, hops=0)
    return closing


def close_leases(
    visits: Sequence[Visit],
    leases: Mapping[int, Lease],
    rows: Mapping[int, UrlRow],
    latest: Mapping[int, Latest],
    house: House,
) -> list[Closing]:
    """Say how leases end; of complaints of a host that come together one is held against its page, not all."""
    closings, blamed = [], set[int]()
    for visit in visits:
        lease, row = leases[visit.id], rows[visit.id]
        closing = close_lease(visit, lease, row, latest.get(visit.id), house)
        if visit.outcome is Outcome.RETRY and closing.reason is Reason.RATE_LIMITED:
            if lease.host in blamed:
                closing = Closing(lease, State.QUEUED, visit.reason, visit.note, row.attempts)
            blamed.add(lease.host)
        closings.append(closing)
    return closings


def treat_hosts(visits: Sequence[Visit], leases: Mapping[int, Lease], house: House, now: float) -> None:
    """Rest after answers, hold after complaints, give up on hosts that are not there."""
    last: dict[int, float] = {}  # when the last answer came
    slow: dict[int, float] = {}  # the rest that slow answers earn
    failed: dict[int, list[Visit]] = {}  # many failures at once are one
    good: set[int] = set()  # hosts that answered something
    asked: dict[int, float] = {}  # the rest that a robots.txt asked for which could not be had
    for visit in visits:
        host = leases[visit.id].host
        if visit.outcome is Outcome.RETURNED or visit.reason is Reason.ROBOTS:
            if visit.reason is Reason.ROBOTS_UNREACHABLE and visit.retry_after:
                asked[host] = max(asked.get(host, 0.0), visit.retry_after)
            continue
        at = min(visit.at, now)  # the clock of a migrant may be ahead of ours, or ours was set back
        last[host] = max(last.get(host, 0.0), at)
        slow[host] = max(slow.get(host, 0.0), rest_until(at - visit.seconds, visit.seconds))
        if visit.outcome in (Outcome.RETRY, Outcome.FAILED):
            failed.setdefault(host, []).append(visit)
        else:
            good.add(host)
    struck = {host for host, seen in failed.items() if _strikes(seen, host, host in good, house, now)}
    for host, wait in asked.items():
        house.hosts.hold(host, now + backoff(0, 0.0, wait), Reason.RATE_LIMITED)
    house.hosts.rest(last, house.queue.pace.delay_seconds, struck, slow)


def _strikes(visits: Sequence[Visit], host: int, answered: bool, house: House, now: float) -> bool:
    """Leave a host alone that complains or could not be reached; False if all is well."""
    limited = [visit for visit in visits if conduct(visit).limited]
    seen = limited or [visit for visit in visits if conduct(visit).trouble]
    if not seen:
        return False
    if limited:
        _heed(limited, host, answered, house, now)
        return True
    visit, strikes = seen[0], house.hosts.strike(host)
    if strikes >= CONDEMN_AFTER:
        house.counts["lost"] += house.hosts.condemn(host, visit.reason, State.FAILED, visit.note)
        house.judge.condemned[host_of(visit.url)] = visit.reason
    else:
        house.hosts.shut(host, now + backoff(strikes - 1, house.backoff_seconds / TROUBLE_SHARE), visit.reason)
    return True


def _heed(limited: Sequence[Visit], host: int, answered: bool, house: House, now: float) -> None:
    """Let a host rest that complains, and ask it more slowly then; what comes while it rests is the same complaint."""
    visit = limited[0]
    known = house.hosts.struck(host, min(visit.at - visit.seconds for visit in limited))
    if answered and not known:
        house.hosts.acquit(host)  # what it said before is not the beginning of this
    strikes = known or house.hosts.strike(host)
    # one that does not say for how long may mean longer than one that does
    wait = max(backoff(strikes - 1, house.backoff_seconds, visit.retry_after) for visit in limited)
    house.hosts.hold(host, now + wait, Reason.RATE_LIMITED)
    house.hosts.count_complaint(host)
    said = f"{visit.url} asks us to slow down ({visit.status}); its host rests {wait:.0f} s"
    if not known and strikes == 1:  # else we came after a rest: that was not too soon
        pause = house.hosts.complain(host, {one.id for one in limited}, house.queue.pace.delay_seconds, now)
        said += f", then it is asked every {pause:g} s"
    house.log.note(said)


def _stays(visit: Visit, closing: Closing) -> bool:
    """Did a visit fail whose page we hold from an earlier one?"""
    return closing.state is State.VISITED and visit.outcome in (Outcome.FAILED, Outcome.RETRY)


def keep_quota(filed: Sequence[Filed], latest: Mapping[int, Latest], leases: Mapping[int, Lease], house: House) -> None:
    """Count the pages of each host; one that has all it may have is asked for no others."""
    quota = house.queue.quota
    if quota is None:
        return
    for item in filed:
        visit, before = item.visit, latest.get(item.visit.id)
        is_new = before is None or not 200 <= before.status < 300
        if visit.outcome is Outcome.FETCHED and visit.role is Role.PAGE and is_new:
            host = leases[visit.id].host
            if quota.store(host):
                house.judge.full.add(host_of(visit.url))
                house.counts["passed_over"] += quota.drop_waiting(host)


def count(visits: Sequence[Visit], closings: Sequence[Closing], filed: Sequence[Filed], house: House) -> None:
    counts = house.counts
    for visit, closing in zip(visits, closings, strict=True):
        counts["bytes"] += visit.wire_bytes
        if visit.role is Role.PAGE:
            counts[visit.outcome] += 1
            counts["lost"] += closing.state in (State.FAILED, State.GONE) or _stays(visit, closing)
            counts["passed_over"] += closing.state is State.SKIPPED
    for item in filed:
        if item.visit.role is Role.PAGE:
            counts["duplicates"] += item.twin is not None and item.changed
            counts["unchanged"] += item.visit.outcome is Outcome.FETCHED and not item.changed
