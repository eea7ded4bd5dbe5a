"""Fetch a URL as the crawler would, without storing it."""

import time

from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.fetch.address_guard import filter_global
from sanderling.fetch.dns import DnsResolver
from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.response_processor import skip_fingerprints
from sanderling.models import FetchBatch, FetchTask, Host, Outcome, Reason, RobotsTxt, Url, UrlRole, Visit
from sanderling.urls.normalize import NormalizedUrl, get_host, get_hostname
from sanderling.warc.warc_reader import read_member

TIMEOUT_SECONDS = 90.0


class ProbeResult(Struct, frozen=True):
    status: int
    outcome: Outcome
    reason: Reason
    detail: str
    mime: str
    content_type: str
    location: str
    body: bytes
    nofollow: bool = False
    noindex: bool = False


def probe_url(url: NormalizedUrl, settings: FetchSettings, role: UrlRole = UrlRole.PAGE) -> ProbeResult:
    """Fetch a URL with the crawler's address checks and limits, but without robots.txt."""
    host = get_host(url.url)
    allow_all = RobotsTxt(host, 404, b"", 0.0, 2e9)
    visits, _ = _fetch_once(host, url, settings, allow_all, role)
    visit = visits[0]
    record = read_member(visit.response_record) if visit.response_record else None
    content_type = (
        next((value for name, value in record.http_headers if name.lower() == "content-type"), "") if record else ""
    )
    return ProbeResult(
        visit.status,
        visit.outcome,
        visit.reason,
        visit.detail,
        visit.mime,
        content_type,
        visit.location,
        record.body if record else b"",
        visit.nofollow,
        visit.noindex or visit.header_noindex,
    )


def probe_robots(host: Host, settings: FetchSettings) -> RobotsTxt:
    """Fetch a robots.txt. Status 0: no response."""
    _, robots = _fetch_once(host, NormalizedUrl(Url(f"{host}/robots.txt"), f"{host}/robots.txt"), settings, None)
    return robots[0] if robots else RobotsTxt(host, 0, b"", time.time(), time.time())


def _fetch_once(
    host: Host, url: NormalizedUrl, settings: FetchSettings, robots: RobotsTxt | None, role: UrlRole = UrlRole.PAGE
) -> tuple[list[Visit], list[RobotsTxt]]:
    addresses = () if settings.proxy else _resolve_addresses(host, settings)
    fetch_loop = FetchLoop(settings, skip_fingerprints)
    visits: list[Visit] = []
    robots_files: list[RobotsTxt] = []
    try:
        task = FetchTask(1, 1, url.url, url.request_url, role=role)
        fetch_loop.submit(FetchBatch(host, (task,), addresses, robots, 0.0, 1))
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while fetch_loop.load and time.monotonic() < deadline:
            report = fetch_loop.run_for(0.2)
            visits += report.visits
            robots_files += report.robots
            if robots is None and robots_files:
                break
    finally:
        fetch_loop.close()
    if robots is not None and not visits:
        raise UsageError(f"{url.url} did not respond within {TIMEOUT_SECONDS:.0f} s")
    return visits, robots_files


def _resolve_addresses(host: Host, settings: FetchSettings) -> tuple[str, ...]:
    answer = DnsResolver().lookup(get_hostname(host))
    if not answer.addresses:
        raise UsageError(f"cannot resolve {get_hostname(host)}: {answer.detail or 'unknown host name'}")
    if not settings.allow_private and not filter_global(answer.addresses):
        raise UsageError(
            f"{get_hostname(host)} has a private address ({answer.addresses[0]}); use --allow-private to fetch it"
        )
    return answer.addresses
