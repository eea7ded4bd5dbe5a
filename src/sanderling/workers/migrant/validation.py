"""What a host may say: its messages are checked before they are believed, and nothing in them is taken as it came.

Pages need no check: they are parsed and marked at home. All else is brought into bounds here.
"""

from sanderling.models import FetchTask, Link, Outcome, Reason, RobotsTxt, Visit
from sanderling.urls.normalize import normalize_url
from sanderling.workers.migrant.messages import FilteredMessage, MissedMessage, RobotsMessage

MISSED_OUTCOMES = (Outcome.SKIPPED, Outcome.FAILED, Outcome.RETRY)
MAX_ROBOTS_SECONDS = 86400.0  # no rules are believed for longer (RFC 9309, 2.4)
MAX_DETAIL_LENGTH = 200
MAX_ROBOTS_BYTES = 500 * 1024  # bytes that count (RFC 9309, 2.5)
MAX_TITLE_LENGTH = 500
MAX_LINKS = 10_000
MAX_FINGERPRINT_BYTES = 64 * 1024


def validate_robots(message: RobotsMessage, now: float) -> RobotsTxt:
    """The robots.txt a host sends, with times of our own."""
    robots = message.robots
    lasts = robots.expires_at - robots.fetched_at
    believed = lasts if 0 < lasts <= MAX_ROBOTS_SECONDS else MAX_ROBOTS_SECONDS
    status = robots.status if 0 <= robots.status <= 599 else 0
    return RobotsTxt(robots.host, status, robots.body[:MAX_ROBOTS_BYTES], now, now + believed)


def validate_missed(message: MissedMessage) -> tuple[Outcome, Reason, str]:
    """Why a page was not brought; a page that is not here cannot be fetched, gone or as it was."""
    if message.outcome not in MISSED_OUTCOMES:
        return Outcome.RETRY, Reason.BROKEN_RESPONSE, "the host did not bring it"
    return message.outcome, message.reason, sanitize_line(message.detail)


def sanitize_line(text: str, max_length: int = MAX_DETAIL_LENGTH) -> str:
    """Words that fit into a line of a log."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text[: 2 * max_length]).split())[
        :max_length
    ]


def validate_filtered(message: FilteredMessage, task: FetchTask, now: float, detail: str) -> Visit:
    """What a host tells of a page that it keeps: its title, structure and links."""
    seen = message.visit
    spelled = ((normalize_url(link.request_url or link.url), link) for link in seen.links[:MAX_LINKS])
    links = tuple(
        Link(spelling.url, spelling.distinct_request_url, sanitize_line(link.anchor), link.nofollow)
        for spelling, link in spelled if spelling is not None
    )  # fmt: skip
    mark = seen.fingerprints.get("structure", b"")[:MAX_FINGERPRINT_BYTES]
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
        title=sanitize_line(seen.title, MAX_TITLE_LENGTH),
        nofollow=seen.nofollow,
        links=links,
        fingerprints={"structure": mark},
    )
