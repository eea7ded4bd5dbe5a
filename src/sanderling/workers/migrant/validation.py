"""Validates messages of a migrant, which is not trusted.

Pages need no validation: the crawler parses and fingerprints them itself.
"""

from sanderling.models import FetchTask, Link, Outcome, Reason, RobotsTxt, Visit
from sanderling.page_fingerprints import PageFingerprints
from sanderling.urls.normalize import normalize_url
from sanderling.workers.migrant.messages import FilteredMessage, MissedMessage, RobotsMessage

MISSED_OUTCOMES = (Outcome.SKIPPED, Outcome.FAILED, Outcome.RETRY)
MAX_ROBOTS_SECONDS = 86400.0  # RFC 9309, 2.4
MAX_DETAIL_LENGTH = 200
MAX_ROBOTS_BYTES = 500 * 1024  # RFC 9309, 2.5
MAX_TITLE_LENGTH = 500
MAX_LINKS = 10_000
MAX_FINGERPRINT_BYTES = 64 * 1024


def validate_robots(message: RobotsMessage, now: float) -> RobotsTxt:
    """Return the received robots.txt with times by our clock."""
    robots = message.robots
    lifetime = robots.expires_at - robots.fetched_at
    lifetime = lifetime if 0 < lifetime <= MAX_ROBOTS_SECONDS else MAX_ROBOTS_SECONDS
    status = robots.status if 0 <= robots.status <= 599 else 0
    return RobotsTxt(robots.host, status, robots.body[:MAX_ROBOTS_BYTES], now, now + lifetime)


def validate_missed(message: MissedMessage) -> tuple[Outcome, Reason, str]:
    """Return outcome, reason, and detail of a page that was not fetched."""
    if message.outcome not in MISSED_OUTCOMES:
        return Outcome.RETRY, Reason.BROKEN_RESPONSE, "the migrant did not return the page"
    return message.outcome, message.reason, sanitize_line(message.detail)


def sanitize_line(text: str, max_length: int = MAX_DETAIL_LENGTH) -> str:
    """Return text as a printable line of limited length."""
    return " ".join("".join(char if char.isprintable() else " " for char in text[: 2 * max_length]).split())[
        :max_length
    ]


def validate_filtered(message: FilteredMessage, task: FetchTask, now: float, detail: str) -> Visit:
    received = message.visit
    normalized = ((normalize_url(link.request_url or link.url), link) for link in received.links[:MAX_LINKS])
    links = tuple(
        Link(url.url, url.distinct_request_url, sanitize_line(link.anchor), link.nofollow)
        for url, link in normalized if url is not None
    )  # fmt: skip
    structure = (received.fingerprints.structure or b"")[:MAX_FINGERPRINT_BYTES]
    return Visit(
        task.id,
        task.token,
        task.url,
        Outcome.PARKED,
        now,
        Reason.NOT_SIMILAR,
        detail,
        200,
        role=task.role,
        title=sanitize_line(received.title, MAX_TITLE_LENGTH),
        nofollow=received.nofollow,
        links=links,
        fingerprints=PageFingerprints(structure=structure),
    )
