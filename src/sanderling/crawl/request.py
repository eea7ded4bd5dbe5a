"""What a person asked for, and what that means for the rooms."""

import os
import re
from random import Random

from msgspec import Struct

from sanderling import __version__
from sanderling.config.loader import suggest_or_list_names
from sanderling.config.redact import redact_password
from sanderling.config.settings import (
    AUTO_WORKERS,
    AssignmentSettings,
    HttpSettings,
    LimitSettings,
    OrderingSettings,
    PolitenessSettings,
    RevisitSettings,
    ScopeSettings,
    UrlCacheSettings,
    WorkerSettings,
)
from sanderling.crawl.choose_ordering import OrderingChoice
from sanderling.errors import UsageError
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.frontier.politeness import Politeness
from sanderling.models import Reason
from sanderling.revisit.budget import RevisitBudget, parse_budget
from sanderling.revisit.policies.policy import RevisitPolicy
from sanderling.revisit.policies.policy_registry import POLICIES
from sanderling.urls.depth_policy import parse_depth
from sanderling.urls.normalize import NormalizedUrl, find_rejection_reason, get_host, get_hostname, normalize_url

MALFORMED_SCHEME = re.compile(
    r"https?:[/\\]", re.IGNORECASE
).match  # where :// is missing it is no host with an empty port
LOCAL_HOST = re.compile(r"(localhost|\d+\.\d+\.\d+\.\d+|\[[\da-f:.]+\])([:/]|$)", re.IGNORECASE).match
HOST_PATTERN = re.compile(r"(?:https?://)?([^/@\s]+?)(:\d+)?/?").fullmatch
BARE_IPV6 = re.compile(r"[\da-f.]*(:[\da-f.]*){2,}", re.IGNORECASE).fullmatch  # IPv6 without its brackets
PROXY_URL = re.compile(
    r"(?:https?|socks4a?|socks5h?)://(?:[^/?#\s]*@)?(?:\[[\da-fA-F:.%]+\]|[^/?#@:\s\[\]]+)(?::(\d{1,5}))?/?"
).fullmatch
UNDELAYED_CONNECTIONS = 16  # to one host, where no pause is asked for


MAX_WORKERS = 500  # on one machine: each is a process and an open file, and `select` knows 1024 of those
MIN_LEASE_SECONDS = 10.0  # seconds: a migrant that is well speaks every two, and a busy machine may swallow some
AUTO_MAX_WORKERS = min(16, 4 * (os.cpu_count() or 1))  # migrants that --workers auto creates at most


class CrawlRequest(Struct, frozen=True):
    """What a person asked for."""

    seeds: tuple[str, ...]
    scope: ScopeSettings = ScopeSettings()
    limits: LimitSettings = LimitSettings()
    politeness: PolitenessSettings = PolitenessSettings()
    fetching: HttpSettings = HttpSettings()
    workers: WorkerSettings = WorkerSettings()
    scheduling: AssignmentSettings = AssignmentSettings()
    memory: UrlCacheSettings = UrlCacheSettings()
    revisit: RevisitSettings = RevisitSettings()
    ordering: OrderingSettings = OrderingSettings()
    ordering_choice: OrderingChoice = OrderingChoice()  # what `order` says, as it was read
    command: str = ""
    uses_template_filter: bool = False  # its migrants carry a brief: they bring home matches and keep the rest


class CrawlSummary(Struct, frozen=True, omit_defaults=True):
    """How a run ended."""

    finish_reason: str
    pages: int
    fetched: int
    not_modified: int
    duplicates: int
    failed: int
    skipped: int
    bytes: int
    seconds: float
    pages_per_second: float
    evicted: int = 0  # pages that left for better ones
    out_of_scope: int = 0  # links to other sites, never to be followed; not among the skipped


def parse_seed(text: str) -> NormalizedUrl:
    """Spell a seed; a bare host name means https, this machine and plain addresses mean http."""
    raw = text.strip()
    spelling = normalize_url(raw if "://" in raw else f"{'http' if LOCAL_HOST(raw) else 'https'}://{raw}")
    if spelling is None or (
        "://" not in raw and (raw.startswith("/") or MALFORMED_SCHEME(raw) or "@" in raw.partition("/")[0])
    ):
        why = {Reason.SCHEME: "only http and https are crawled", Reason.TOO_LONG: "it is too long"}
        raise UsageError(
            f"{redact_password(text)!r} cannot be crawled: {why.get(find_rejection_reason(raw), 'it is no URL')}"
        )
    return spelling


def parse_depth_limit(text: str) -> int:
    """Read a depth limit as `organise.depth` does; -1 means no limit."""
    if text.strip() == "-1":
        return -1
    depth = parse_depth(text, Random())
    return -1 if depth is None else depth


def count_workers(workers: WorkerSettings) -> int:
    """How many worker processes: what was asked for, else one per core; auto begins with one."""
    if workers.engine == "processes" and workers.workers > MAX_WORKERS:
        raise UsageError(f"--workers {workers.workers} is more than one machine can hold; give at most {MAX_WORKERS}")
    return 1 if workers.workers == AUTO_WORKERS else workers.workers or max(1, os.cpu_count() or 1)


def count_max_workers(workers: WorkerSettings) -> int:
    """How many there may ever be at once; what one host is asked at a time is shared among so many."""
    return AUTO_MAX_WORKERS if workers.workers == AUTO_WORKERS else count_workers(workers)


def build_fetch_settings(request: CrawlRequest) -> FetchSettings:
    """What migrants need to know."""
    fetching, politeness = request.fetching, request.politeness
    name = politeness.user_agent.strip() or f"sanderling/{__version__}"
    agent = f"{name} (+{politeness.contact})" if politeness.contact else name
    if fetching.proxy and not _is_proxy_url(fetching.proxy):
        raise UsageError(
            f"--proxy: {redact_password(fetching.proxy)!r} is no proxy; write http://HOST:PORT or socks5://HOST:PORT"
            " (in a password %2F for /, %3F for ?, %23 for #)"
        )
    auth = {}
    for item in fetching.basic_auth:
        host, equals, secret = item.partition("=")
        if not equals or ":" not in secret:
            raise UsageError("--basic-auth wants HOST=USER:PASSWORD")
        auth[_parse_host("--basic-auth", host, may_show_text=False)] = secret
    if not fetching.max_body:
        raise UsageError("--max-body 0 would keep no page at all; leave it out for 20MB")
    return FetchSettings(
        user_agent=agent,
        headers=fetching.header,
        basic_auth=auth,
        cookies=fetching.cookies,
        proxy=fetching.proxy,
        allow_private=fetching.allow_private,
        insecure_hosts=tuple(_parse_host("--insecure-host", name) for name in fetching.insecure_host),
        own_hosts=tuple(_parse_host("--ignore-robots", name) for name in politeness.ignore_robots),
        timeout=fetching.timeout,
        max_body=fetching.max_body,
        digest=fetching.digest,
        extracts_resources=fetching.resources,
        topic_weights=request.ordering_choice.topic,
        lease_seconds=request.workers.lease,
    )


def _is_proxy_url(text: str) -> bool:
    """Is it one that curl takes? What it says of others names them whole, with their passwords."""
    found = PROXY_URL(text)
    return found is not None and int(found[1] or 0) < 2**16


def _parse_host(flag: str, text: str, may_show_text: bool = True) -> str:
    """The name of a host as migrants spell it, with the port if one was given."""
    found = HOST_PATTERN(f"[{text.strip()}]" if BARE_IPV6(text.strip()) else text.strip())
    spelling = normalize_url(f"http://{found[1]}/") if found else None
    if not found or spelling is None:
        said = (
            repr(text) if may_show_text else "what stands before ="
        )  # a password, if it was written the other way round
        raise UsageError(f"{flag}: {said} is no host; write example.org or example.org:8443")
    return get_hostname(get_host(spelling.url)) + (found[2] or "")


def build_politeness(request: CrawlRequest) -> Politeness:
    """How fast one host may be asked, and whether several migrants may do so."""
    delay, migrants = request.politeness.delay, count_max_workers(request.workers)
    if request.workers.lease < MIN_LEASE_SECONDS:
        raise UsageError(
            f"--lease: in less than {MIN_LEASE_SECONDS:g} s nobody can tell a silent worker from a busy one"
        )
    concurrency = request.politeness.concurrency or (1 if delay > 0 else UNDELAYED_CONNECTIONS)
    shared = delay == 0 and concurrency >= migrants and not request.fetching.cookies  # each migrant has its own
    return Politeness(
        delay_seconds=delay,
        connections=max(1, concurrency // migrants) if shared else concurrency,
        allows_sharing=shared,
        uses_proxy=bool(request.fetching.proxy),
        lease_seconds=request.workers.lease,
    )


def get_policy(name: str) -> RevisitPolicy:
    """A refresh policy by its name."""
    if name not in POLICIES:
        raise UsageError(f"there is no policy {name!r}{suggest_or_list_names(name, list(POLICIES))}")
    return POLICIES[name]


def get_budget(request: CrawlRequest) -> RevisitBudget | None:
    """What revisits may cost; None: no limit."""
    return parse_budget(request.revisit.budget) if request.revisit.budget else None
