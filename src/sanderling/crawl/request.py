"""What a person asked for, and what that means for the rooms."""

import os
import re
from random import Random

from msgspec import Struct

from sanderling import __version__
from sanderling.config.loader import nearest
from sanderling.config.redact import hide_password
from sanderling.config.settings import (
    AUTO,
    Fetching,
    Limits,
    Memory,
    Order,
    Politeness,
    Revisit,
    Scheduling,
    Scope,
    Workers,
)
from sanderling.crawl.choose_ordering import Wish
from sanderling.errors import UsageError
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.frontier.politeness import Pace
from sanderling.models import Reason
from sanderling.revisit.budget import Budget, parse_budget
from sanderling.revisit.policies.policy import Policy
from sanderling.revisit.policies.policy_registry import POLICIES
from sanderling.urls.depth_policy import read_depth
from sanderling.urls.normalize import Spelling, host_of, hostname, normalise, why_not

SLIP = re.compile(r"https?:[/\\]", re.IGNORECASE).match  # where :// is missing it is no host with an empty port
AT_HOME = re.compile(r"(localhost|\d+\.\d+\.\d+\.\d+|\[[\da-f:.]+\])([:/]|$)", re.IGNORECASE).match
NAMED_HOST = re.compile(r"(?:https?://)?([^/@\s]+?)(:\d+)?/?").fullmatch
BARE_ADDRESS = re.compile(r"[\da-f.]*(:[\da-f.]*){2,}", re.IGNORECASE).fullmatch  # IPv6 without its brackets
PROXY = re.compile(
    r"(?:https?|socks4a?|socks5h?)://(?:[^/?#\s]*@)?(?:\[[\da-fA-F:.%]+\]|[^/?#@:\s\[\]]+)(?::(\d{1,5}))?/?"
).fullmatch
FAST_CONNECTIONS = 16  # to one host, where no pause is asked for


MOST_MIGRANTS = 500  # on one machine: each is a process and an open file, and `select` knows 1024 of those
LEAST_LEASE = 10.0  # seconds: a migrant that is well speaks every two, and a busy machine may swallow some
AUTO_MOST = min(16, 4 * (os.cpu_count() or 1))  # migrants that --migrants auto creates at most


class Request(Struct, frozen=True):
    """What a person asked for."""

    seeds: tuple[str, ...]
    scope: Scope = Scope()
    limits: Limits = Limits()
    politeness: Politeness = Politeness()
    fetching: Fetching = Fetching()
    workers: Workers = Workers()
    scheduling: Scheduling = Scheduling()
    memory: Memory = Memory()
    revisit: Revisit = Revisit()
    order: Order = Order()
    wish: Wish = Wish()  # what `order` says, as it was read
    command: str = ""
    driven: bool = False  # its migrants carry a brief: they bring home matches and keep the rest


class Summary(Struct, frozen=True, omit_defaults=True):
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
    outside: int = 0  # links to other sites, never to be followed; not among the skipped


def read_seed(text: str) -> Spelling:
    """Spell a seed; a bare host name means https, this machine and plain addresses mean http."""
    raw = text.strip()
    spelling = normalise(raw if "://" in raw else f"{'http' if AT_HOME(raw) else 'https'}://{raw}")
    if spelling is None or ("://" not in raw and (raw.startswith("/") or SLIP(raw) or "@" in raw.partition("/")[0])):
        why = {Reason.SCHEME: "only http and https are crawled", Reason.TOO_LONG: "it is too long"}
        raise UsageError(f"{hide_password(text)!r} cannot be crawled: {why.get(why_not(raw), 'it is no URL')}")
    return spelling


def depth_limit(text: str) -> int:
    """Read a depth limit as `organise.depth` does; -1 means no limit."""
    if text.strip() == "-1":
        return -1
    depth = read_depth(text, Random())
    return -1 if depth is None else depth


def count_migrants(workers: Workers) -> int:
    """How many worker processes: what was asked for, else one per core; auto begins with one."""
    if workers.engine == "processes" and workers.migrants > MOST_MIGRANTS:
        raise UsageError(
            f"--migrants {workers.migrants} is more than one machine can hold; give at most {MOST_MIGRANTS}"
        )
    return 1 if workers.migrants == AUTO else workers.migrants or max(1, os.cpu_count() or 1)


def most_migrants(workers: Workers) -> int:
    """How many there may ever be at once; what one host is asked at a time is shared among so many."""
    return AUTO_MOST if workers.migrants == AUTO else count_migrants(workers)


def fetch_settings(request: Request) -> FetchSettings:
    """What migrants need to know."""
    fetching, politeness = request.fetching, request.politeness
    name = politeness.user_agent.strip() or f"sanderling/{__version__}"
    agent = f"{name} (+{politeness.contact})" if politeness.contact else name
    if fetching.proxy and not _is_proxy(fetching.proxy):
        raise UsageError(
            f"--proxy: {hide_password(fetching.proxy)!r} is no proxy; write http://HOST:PORT or socks5://HOST:PORT"
            " (in a password %2F for /, %3F for ?, %23 for #)"
        )
    auth = {}
    for item in fetching.basic_auth:
        host, equals, secret = item.partition("=")
        if not equals or ":" not in secret:
            raise UsageError("--basic-auth wants HOST=USER:PASSWORD")
        auth[_host("--basic-auth", host, is_shown=False)] = secret
    if not fetching.max_body:
        raise UsageError("--max-body 0 would keep no page at all; leave it out for 20MB")
    return FetchSettings(
        user_agent=agent,
        headers=fetching.header,
        basic_auth=auth,
        cookies=fetching.cookies,
        proxy=fetching.proxy,
        allow_private=fetching.allow_private,
        insecure_hosts=tuple(_host("--insecure-host", name) for name in fetching.insecure_host),
        own_hosts=tuple(_host("--ignore-robots", name) for name in politeness.ignore_robots),
        timeout=fetching.timeout,
        max_body=fetching.max_body,
        digest=fetching.digest,
        resources=fetching.resources,
        topic=request.wish.topic,
        lease_seconds=request.workers.lease,
    )


def _is_proxy(text: str) -> bool:
    """Is it one that curl takes? What it says of others names them whole, with their passwords."""
    found = PROXY(text)
    return found is not None and int(found[1] or 0) < 2**16


def _host(flag: str, text: str, is_shown: bool = True) -> str:
    """The name of a host as migrants spell it, with the port if one was given."""
    found = NAMED_HOST(f"[{text.strip()}]" if BARE_ADDRESS(text.strip()) else text.strip())
    spelling = normalise(f"http://{found[1]}/") if found else None
    if not found or spelling is None:
        said = repr(text) if is_shown else "what stands before ="  # a password, if it was written the other way round
        raise UsageError(f"{flag}: {said} is no host; write example.org or example.org:8443")
    return hostname(host_of(spelling.url)) + (found[2] or "")


def pace_of(request: Request) -> Pace:
    """How fast one host may be asked, and whether several migrants may do so."""
    delay, migrants = request.politeness.delay, most_migrants(request.workers)
    if request.workers.lease < LEAST_LEASE:
        raise UsageError(f"--lease: in less than {LEAST_LEASE:g} s nobody can tell a silent worker from a busy one")
    concurrency = request.politeness.concurrency or (1 if delay > 0 else FAST_CONNECTIONS)
    shared = delay == 0 and concurrency >= migrants and not request.fetching.cookies  # each migrant has its own
    return Pace(
        delay_seconds=delay,
        connections=max(1, concurrency // migrants) if shared else concurrency,
        shared=shared,
        proxied=bool(request.fetching.proxy),
        term_seconds=request.workers.lease,
    )


def policy_named(name: str) -> Policy:
    """A refresh policy by its name."""
    if name not in POLICIES:
        raise UsageError(f"there is no policy {name!r}{nearest(name, list(POLICIES))}")
    return POLICIES[name]


def budget_of(request: Request) -> Budget | None:
    """What revisits may cost; None: no limit."""
    return parse_budget(request.revisit.budget) if request.revisit.budget else None
