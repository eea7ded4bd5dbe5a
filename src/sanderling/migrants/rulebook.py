"""Asking for robots.txt: what an answer means for the host, or where to ask next."""

from msgspec import structs

from sanderling.migrants.answer import fault, judge, retry_after, text
from sanderling.migrants.body import decoded
from sanderling.migrants.head import read_head
from sanderling.migrants.robots import BODY_LIMIT, expiry, rules_for
from sanderling.migrants.transfer import Reply
from sanderling.records import Host, Outcome, Reason, Robots

HOPS = 5  # redirects followed for one robots.txt (RFC 9309, 2.3.1.2); beyond them a host has none
UNREACHABLE = 0
NONE_THERE = 404


def read_robots(host: Host, reply: Reply, hops: int, now: float) -> Robots | str:
    """Take the rules out of a reply; a string is the URL they moved to."""
    status, fields = read_head(reply.lines)
    if fault(reply) is not None:
        return unreachable(host, now)
    verdict = judge(status, fields, reply, now)
    if verdict.outcome is Outcome.REDIRECT and hops < HOPS:
        return verdict.location
    if not 200 <= status < 300:
        return _robots(host, status, b"", now)
    if verdict.outcome is not Outcome.FETCHED:  # a part of the rules: the one that is missing may keep us out
        return unreachable(host, now)
    body, reason = decoded(reply.body, text(fields.get(b"content-encoding", b"")), BODY_LIMIT + 1)
    if reason is Reason.BAD_ENCODING and not reply.cut:
        return unreachable(host, now)
    lifetime = {"cache-control": text(fields.get(b"cache-control", b""))}
    return _robots(host, status, body[: BODY_LIMIT + 1], now, lifetime)


def pause_asked_for(reply: Reply, now: float) -> float:
    """Give the seconds a host that could not serve its rules wants to be left alone."""
    return retry_after(read_head(reply.lines)[1].get(b"retry-after", b""), now)


def unreachable(host: Host, now: float) -> Robots:
    """Say that a host's rules could not be had: keep out for a while."""
    return _robots(host, UNREACHABLE, b"", now)


def waived(robots: Robots, agent: str) -> Robots:
    """Take a robots.txt for one that forbids nothing, as its owner says; pauses and sitemaps stay."""
    rules = rules_for(robots, agent)
    lines = [f"Sitemap: {sitemap}" for sitemap in rules.sitemaps]
    if pause := rules.crawl_delay():
        lines += ["User-agent: *", f"Crawl-delay: {pause:g}"]
    status = robots.status if robots.reachable else NONE_THERE
    return structs.replace(robots, status=status, body="\n".join(lines).encode())


def _robots(host: Host, status: int, body: bytes, now: float, headers: dict[str, str] | None = None) -> Robots:
    return Robots(host, status, body, now, expiry(status, headers or {}, now))
