"""What a host may say: its messages are checked before they are believed, and nothing in them is taken as it came.

Pages need no check: they are parsed and marked at home. All else is brought into bounds here.
"""

from sanderling.models import Link, Outcome, Reason, Robots, Stop, Visit
from sanderling.urls.normalize import normalise
from sanderling.workers.migrant.messages import Missed, Rules, Unlike

TURNED_AWAY = (Outcome.SKIPPED, Outcome.FAILED, Outcome.RETRY)
ROBOTS_SECONDS = 86400.0  # no rules are believed for longer (RFC 9309, 2.4)
MAX_NOTE = 200
MAX_ROBOTS = 500 * 1024  # bytes that count (RFC 9309, 2.5)
MAX_TITLE = 500
MAX_LINKS = 10_000
MAX_MARK = 64 * 1024


def rules_said(rules: Rules, now: float) -> Robots:
    """The robots.txt a host sends, with times of our own."""
    robots = rules.robots
    lasts = robots.expires_at - robots.fetched_at
    believed = lasts if 0 < lasts <= ROBOTS_SECONDS else ROBOTS_SECONDS
    status = robots.status if 0 <= robots.status <= 599 else 0
    return Robots(robots.host, status, robots.body[:MAX_ROBOTS], now, now + believed)


def missed_said(missed: Missed) -> tuple[Outcome, Reason, str]:
    """Why a page was not brought; a page that is not here cannot be fetched, gone or as it was."""
    if missed.outcome not in TURNED_AWAY:
        return Outcome.RETRY, Reason.BROKEN_RESPONSE, "the host did not bring it"
    return missed.outcome, missed.reason, one_line(missed.note)


def one_line(text: str, most: int = MAX_NOTE) -> str:
    """Words that fit into a line of a log."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text[: 2 * most]).split())[:most]


def told_said(unlike: Unlike, stop: Stop, now: float, note: str) -> Visit:
    """What a host tells of a page that it keeps: its title, structure and links."""
    seen = unlike.visit
    spelled = ((normalise(link.wire or link.url), link) for link in seen.links[:MAX_LINKS])
    links = tuple(
        Link(spelling.url, spelling.wire_if_different, one_line(link.anchor), link.nofollow)
        for spelling, link in spelled if spelling is not None
    )  # fmt: skip
    mark = seen.marks.get("structure", b"")[:MAX_MARK]
    return Visit(
        stop.id, stop.token, stop.url, Outcome.KEPT, now, Reason.NOT_ALIKE, note, 200, role=stop.role,
        title=one_line(seen.title, MAX_TITLE), nofollow=seen.nofollow, links=links, marks={"structure": mark},
    )  # fmt: skip
