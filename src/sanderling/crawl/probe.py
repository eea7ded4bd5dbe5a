"""Ask for one URL, as the crawler would, and look at the answer; nothing is stored."""

import time

from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.fetch.address_guard import only_global
from sanderling.fetch.dns import Resolver
from sanderling.fetch.fetch_loop import Trip
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.process import no_marks
from sanderling.models import Host, Itinerary, Outcome, Reason, Robots, Role, Stop, Url, Visit
from sanderling.urls.normalize import Spelling, host_of, hostname
from sanderling.warc.reader import read_member

PATIENCE_SECONDS = 90.0


class Answer(Struct, frozen=True):
    """What came back."""

    status: int
    outcome: Outcome
    reason: Reason
    note: str
    mime: str
    content_type: str
    location: str
    body: bytes
    nofollow: bool = False  # says the page, or a header
    noindex: bool = False


def ask(spelling: Spelling, settings: FetchSettings, role: Role = Role.PAGE) -> Answer:
    """Fetch one URL through guard and limits; robots.txt is not asked, a person is."""
    host = host_of(spelling.url)
    free = Robots(host, 404, b"", 0.0, 2e9)
    visits, _ = _travel(host, spelling, settings, free, role)
    visit = visits[0]
    record = read_member(visit.response) if visit.response else None
    kind = next((value for name, value in record.head if name.lower() == "content-type"), "") if record else ""
    return Answer(
        visit.status,
        visit.outcome,
        visit.reason,
        visit.note,
        visit.mime,
        kind,
        visit.location,
        record.body if record else b"",
        visit.nofollow,
        visit.noindex or visit.barred,
    )


def ask_robots(host: Host, settings: FetchSettings) -> Robots:
    """Fetch a host's robots.txt, with its status."""
    _, robots = _travel(host, Spelling(Url(f"{host}/robots.txt"), f"{host}/robots.txt"), settings, None)
    return robots[0] if robots else Robots(host, 0, b"", time.time(), time.time())


def _travel(
    host: Host, spelling: Spelling, settings: FetchSettings, robots: Robots | None, role: Role = Role.PAGE
) -> tuple[list[Visit], list[Robots]]:
    addresses = () if settings.proxy else _addresses(host, settings)
    trip = Trip(settings, no_marks)
    visits: list[Visit] = []
    found: list[Robots] = []
    try:
        stop = Stop(1, 1, spelling.url, spelling.wire, role=role)
        trip.accept(Itinerary(host, (stop,), addresses, robots, 0.0, 1))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while trip.load and time.monotonic() < deadline:
            parcel = trip.work(0.2)
            visits += parcel.visits
            found += parcel.robots
            if robots is None and found:
                break
    finally:
        trip.close()
    if robots is not None and not visits:
        raise UsageError(f"{spelling.url} did not answer within {PATIENCE_SECONDS:.0f} s")
    return visits, found


def _addresses(host: Host, settings: FetchSettings) -> tuple[str, ...]:
    answer = Resolver().lookup(hostname(host))
    if not answer.addresses:
        raise UsageError(f"{hostname(host)} has no address: {answer.note or 'the name is not known'}")
    if not settings.allow_private and not only_global(answer.addresses):
        raise UsageError(
            f"{hostname(host)} is at a private address ({answer.addresses[0]}); --allow-private asks it all the same"
        )
    return answer.addresses
