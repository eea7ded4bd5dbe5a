"""The seam behind `--policy`: facts about a visit in, the time of the next one out, with the reason in words."""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
from msgspec import Struct

from sanderling.refresh import fixed, heritrix, nutch, self_adjusting, sitemap
from sanderling.refresh.sitemap import DAY, Hint

SHORTEST = 3600.0
LONGEST = 90 * DAY
FIRST = 7 * DAY  # until something is known of a page


class Facts(Struct, frozen=True):
    """What is known of a page after a visit."""

    url: int
    site: str
    path: str
    now: float
    previous: float  # the visit before this one; 0 for a new page
    changed: bool  # what matters of it, not bytes
    visits: int = 1
    changes: int = 0
    missing: bool = False  # it answered 404 or 410
    modified: float = 0.0  # Last-Modified, if the server says
    size: int = 0
    hint: Hint | None = None
    state: bytes = b""  # what the policy wrote down last time


class Plan(Struct, frozen=True):
    """When to come back, and why then."""

    due_at: float
    why: str
    state: bytes = b""


class Policy(Protocol):
    """A way to decide; what it learns over all pages it keeps itself."""

    def plan(self, facts: Sequence[Facts]) -> list[Plan]:
        """One plan for each page, in order."""

    def dump(self) -> bytes:
        """What must survive a restart."""

    def load(self, stored: bytes) -> None:
        """Take over what `dump` gave."""


class Each:
    """A policy that looks at one page at a time and remembers nothing else."""

    def __init__(self, one: Callable[[Facts], Plan]) -> None:
        self.one = one

    def plan(self, facts: Sequence[Facts]) -> list[Plan]:
        return [self.one(page) for page in facts]

    def dump(self) -> bytes:
        return b""

    def load(self, stored: bytes) -> None:
        """Nothing to take over."""


class Interval(Struct, frozen=True, array_like=True):
    """The state of the simple adaptive policies."""

    seconds: float = FIRST
    looks: tuple[bool, ...] = ()  # whether the last visits found a change


def _interval(state: bytes) -> Interval:
    return msgspec.msgpack.decode(state, type=Interval) if state else Interval()


def by_fixed_interval(page: Facts) -> Plan:
    """The same interval for all."""
    return Plan(fixed.next_visit(page.now), "every week")


def by_sitemap(page: Facts) -> Plan:
    """What the sitemap says (MIG-9); pages it does not list weekly."""
    hint = page.hint or Hint()
    due = sitemap.next_visit(hint, page.now, page.now)
    why = "lastmod says it has not changed" if hint.lastmod else f"class {hint.changefreq or sitemap.DEFAULT}"
    return Plan(min(max(due, page.now + SHORTEST), page.now + 365 * DAY), why)


def self_adjusted(page: Facts) -> Plan:
    """SAR: by the share of the last ten visits that found a change."""
    old = _interval(page.state)
    if not page.previous:
        return Plan(page.now + old.seconds, "first visit", msgspec.msgpack.encode(old))
    looks = (*old.looks, page.changed)[-self_adjusting.WINDOW :]
    share = sum(looks) / len(looks)
    seconds = self_adjusting.refresh_time(old.seconds, share, floor=SHORTEST, ceiling=LONGEST)
    return Plan(page.now + seconds, f"{share:.0%} of the last {len(looks)} visits found a change",
                msgspec.msgpack.encode(Interval(seconds, looks)))  # fmt: skip


def like_nutch(page: Facts) -> Plan:
    """Shorter after a change, longer without one, shifted towards the moment of change."""
    old = _interval(page.state)
    if not page.previous:
        return Plan(page.now + old.seconds, "first visit", msgspec.msgpack.encode(old))
    quiet = page.now - page.modified if 0 < page.modified < page.now else 0.0
    seconds, early = nutch.next_interval(old.seconds, page.changed, quiet)
    due = page.now + max(seconds - early, SHORTEST)
    return Plan(due, "it changed" if page.changed else "it did not change", msgspec.msgpack.encode(Interval(seconds)))


def like_heritrix(page: Facts) -> Plan:
    """Divide the wait after a change, multiply it without one."""
    old = _interval(page.state) if page.state else Interval(heritrix.FIRST)
    seconds = heritrix.next_wait(old.seconds, page.changed) if page.previous else old.seconds
    return Plan(page.now + seconds, "it changed" if page.changed else "it did not change",
                msgspec.msgpack.encode(Interval(seconds)))  # fmt: skip
