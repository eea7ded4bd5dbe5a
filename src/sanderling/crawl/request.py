"""The request of a crawl, and settings derived from it."""

import os
import re
from pathlib import Path
from random import Random
from typing import Any

from msgspec import Struct

from sanderling import __version__
from sanderling.config.loader import suggest_or_list_names
from sanderling.config.redact import redact_password
from sanderling.config.secret_values import read_login, read_secret, read_secret_header
from sanderling.config.settings import (
    AUTO_WORKERS,
    AssignmentSettings,
    FieldSettings,
    HttpSettings,
    LimitSettings,
    OrderingSettings,
    PolitenessSettings,
    RenderSettings,
    RevisitSettings,
    ScopeSettings,
    UrlCacheSettings,
    WorkerSettings,
)
from sanderling.crawl.choose_ordering import OrderingChoice
from sanderling.errors import UsageError
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.forms.form_recipes import load_recipes
from sanderling.frontier.politeness import Politeness
from sanderling.models import Reason
from sanderling.revisit.intervals import RevisitBudget, parse_budget
from sanderling.revisit.policies import POLICIES, find_policy
from sanderling.revisit.policies.policy import RevisitPolicy
from sanderling.urls.depth_policy import parse_depth
from sanderling.urls.normalize import NormalizedUrl, find_rejection_reason, get_host, get_hostname, normalize_url
from sanderling.urls.scope import compile_pattern

MALFORMED_SCHEME = re.compile(r"https?:[/\\]", re.IGNORECASE).match  # `http:/x` is not a host with an empty port
SIGNATURE_AGENT = re.compile(r"https://[a-z\d.-]{1,253}(:\d{1,5})?", re.IGNORECASE).fullmatch
TOKEN_VALUE = re.compile(r"[\x21-\x7e]{1,8000}").fullmatch
BARE_WORD = re.compile(r"[a-zA-Z][\w-]*").fullmatch  # more likely an option that was misspelled than a host
LOCAL_HOST = re.compile(r"(localhost|\d+\.\d+\.\d+\.\d+|\[[\da-f:.]+\])([:/]|$)", re.IGNORECASE).match
HOST_PATTERN = re.compile(r"(?:https?://)?([^/@\s]+?)(:\d+)?/?").fullmatch
BARE_IPV6 = re.compile(r"[\da-f.]*(:[\da-f.]*){2,}", re.IGNORECASE).fullmatch  # without brackets
PROXY_URL = re.compile(
    r"(?:https?|socks4a?|socks5h?)://(?:[^/?#\s]*@)?(?:\[[\da-fA-F:.%]+\]|[^/?#@:\s\[\]]+)(?::(\d{1,5}))?/?"
).fullmatch
UNDELAYED_CONNECTIONS = 16  # to one host, without a crawl delay
MAX_WORKERS = 500  # each is a process and an open file; `select` supports 1024 files
MIN_LEASE_SECONDS = 10.0  # workers send a heartbeat every 2 s; a busy machine may delay some
AUTO_MAX_WORKERS = min(16, 4 * (os.cpu_count() or 1))  # for --workers auto


class CrawlRequest(Struct, frozen=True):
    """All settings of a crawl."""

    seeds: tuple[str, ...]
    scope: ScopeSettings = ScopeSettings()
    limits: LimitSettings = LimitSettings()
    politeness: PolitenessSettings = PolitenessSettings()
    fetching: HttpSettings = HttpSettings()
    rendering: RenderSettings = RenderSettings()
    workers: WorkerSettings = WorkerSettings()
    scheduling: AssignmentSettings = AssignmentSettings()
    memory: UrlCacheSettings = UrlCacheSettings()
    revisit: RevisitSettings = RevisitSettings()
    ordering: OrderingSettings = OrderingSettings()
    fields: FieldSettings = FieldSettings()  # added to those of the collection
    ordering_choice: OrderingChoice = OrderingChoice()  # parsed from `ordering`
    command: str = ""
    selected: frozenset[str] | None = None  # refresh: exactly these pages, due or not
    uses_template_filter: bool = False  # workers return pages that match and park the others
    topic: dict[str, float] = {}  # workers report how relevant pages are to these words; not stored as the topic


class CrawlSummary(Struct, frozen=True, omit_defaults=True):
    """Result of a run."""

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
    evicted: int = 0  # pages removed from a size-limited collection
    out_of_scope: int = 0  # links to other sites; not counted as skipped
    rendered: int = 0  # pages rendered in a browser
    unrendered: int = 0  # fetched pages that look built by scripts, and were not rendered


def parse_seed(text: str) -> NormalizedUrl:
    """Parse a seed. Without a scheme, local hosts and IP addresses get http and names https."""
    raw = text.strip()
    url = normalize_url(raw if "://" in raw else f"{'http' if LOCAL_HOST(raw) else 'https'}://{raw}")
    if url is None or (
        "://" not in raw and (raw.startswith("/") or MALFORMED_SCHEME(raw) or "@" in raw.partition("/")[0])
    ):
        reasons = {Reason.SCHEME: "only http and https URLs are supported", Reason.TOO_LONG: "the URL is too long"}
        reason = reasons.get(find_rejection_reason(raw), "not a valid URL")
        raise UsageError(f"{redact_password(text)!r} cannot be crawled: {reason}")
    if BARE_WORD(raw) and not LOCAL_HOST(raw):
        raise UsageError(f"{text!r} is not a URL; if it is a host of your network, write http://{raw}/")
    return url


def parse_depth_limit(text: str) -> int:
    """Parse a depth limit; -1 means no limit."""
    if text.strip() == "-1":
        return -1
    depth = parse_depth(text, Random())
    return -1 if depth is None else depth


def count_workers(workers: WorkerSettings) -> int:
    """Return the number of worker processes at the start."""
    if workers.engine == "processes" and workers.workers > MAX_WORKERS:
        raise UsageError(f"--workers {workers.workers} is too many for one machine; use at most {MAX_WORKERS}")
    return 1 if workers.workers == AUTO_WORKERS else workers.workers or max(1, os.cpu_count() or 1)


def count_max_workers(workers: WorkerSettings) -> int:
    """Return the maximum number of workers; they share the connections to a host."""
    return AUTO_MAX_WORKERS if workers.workers == AUTO_WORKERS else count_workers(workers)


def build_fetch_settings(request: CrawlRequest) -> FetchSettings:
    fetching, politeness = request.fetching, request.politeness
    name = politeness.user_agent.strip() or f"sanderling/{__version__}"
    agent = f"{name} (+{politeness.contact})" if politeness.contact else name
    proxy = read_secret(fetching.proxy, "--proxy")
    if proxy and not _is_proxy_url(proxy):
        raise UsageError(
            f"--proxy: {redact_password(proxy)!r} is not a proxy URL; use http://HOST:PORT or socks5://HOST:PORT"
            " (in a password, write %2F for /, %3F for ? and %23 for #)"
        )
    logins = map(read_login, fetching.basic_auth)
    basic_auth = {_parse_host("--basic-auth", host, may_show_text=False): login for host, login in logins}
    bearer = dict(_parse_token(item) for item in fetching.bearer)
    if not fetching.max_body:
        raise UsageError("--max-body 0 would store no page; leave it out for the default of 20MB")
    return FetchSettings(
        user_agent=agent,
        headers=tuple(map(read_secret_header, fetching.header)),
        basic_auth=basic_auth,
        bearer=bearer,
        cookies=uses_cookies(request),
        purpose=politeness.purpose,
        **_build_signing_fields(politeness),
        proxy=proxy,
        allow_private=fetching.allow_private,
        insecure_hosts=tuple(_parse_host("--insecure-host", name) for name in fetching.insecure_host),
        own_hosts=tuple(_parse_host("--ignore-robots", name) for name in politeness.ignore_robots),
        timeout=fetching.timeout,
        max_body=fetching.max_body,
        digest=fetching.digest,
        extracts_requisites=fetching.requisites,
        **_build_form_fields(request.scope),
        topic_weights=request.topic or request.ordering_choice.topic,
        lease_seconds=request.workers.lease,
        takes_whole_sites=_takes_whole_sites(request),
        **_build_render_fields(request.rendering),
    )


def _takes_whole_sites(request: CrawlRequest) -> bool:
    """Return whether the crawl is not narrower than its hosts, so that a migrant may follow all links of a new site."""
    is_limited = request.limits != LimitSettings(repeat_limit=request.limits.repeat_limit)
    scope = request.scope
    is_narrow = scope.scope in ("page", "prefix") or bool(scope.include or scope.exclude or scope.filter)
    return not (is_limited or is_narrow)


def _parse_token(item: str) -> tuple[str, str]:
    """Return host and token. The token itself is refused: `ps` would show it."""
    host, equals, place = item.partition("=")
    if not equals or not place.startswith(("env:", "file:")):
        raise UsageError(
            "--bearer must have the form HOST=env:NAME or HOST=file:PATH, so that no other user sees the token"
        )
    name = _parse_host("--bearer", host, may_show_text=False)
    token = read_secret(place, f"--bearer {name}")
    if not TOKEN_VALUE(token):
        raise UsageError(f"--bearer {name}: the token is empty or has characters that a header cannot contain")
    return name, token


def uses_cookies(request: CrawlRequest) -> bool:
    """Return whether cookies are stored and sent: asked for, or needed for a login."""
    if request.fetching.cookies or request.fetching.cookie_file:
        return True
    return bool(request.scope.recipe and load_recipes(request.scope.recipe).logins)


def _build_signing_fields(politeness: PolitenessSettings) -> dict[str, Any]:
    """Return the fields of `FetchSettings` for signatures. Raises MissingExtra or UsageError."""
    agent = politeness.signature_agent.rstrip("/")
    if agent and not (SIGNATURE_AGENT(agent) and politeness.sign):
        raise UsageError("--signature-agent needs --sign, and an https URL without a path: https://crawler.example")
    if not politeness.sign:
        return {}
    from sanderling.workers.migrant.keys import load_key  # rarely needed

    return {"signing_key": load_key(Path(politeness.sign)).private_bytes_raw(), "signature_agent": agent}


def _build_form_fields(scope: ScopeSettings) -> dict[str, Any]:
    """Return the fields of `FetchSettings` for forms. Raises UsageError for a recipe that cannot be read."""
    if not scope.recipe:
        return {"extracts_forms": scope.forms != "off"}
    posts = [recipe.form for recipe in load_recipes(scope.recipe).forms]
    listed = tuple((form.action, tuple(sorted(field.name for field in form.fields))) for form in posts)
    return {"extracts_forms": scope.forms != "off" or bool(posts), "post_forms": listed}


def _build_render_fields(rendering: RenderSettings) -> dict[str, Any]:
    """Return the fields of `FetchSettings` for JavaScript. Raises MissingExtra or UsageError."""
    from sanderling.workers.browser.renderer import can_render, require_browser

    is_chosen = rendering.render != "default" or bool(rendering.render_always)
    mode = ("auto" if can_render() else "never") if rendering.render == "default" else rendering.render
    fields = {
        "render": mode,
        "render_always": rendering.render_always,
        "render_never": rendering.render_never,
        "screenshots": rendering.screenshots,
        "keeps_rendered": rendering.render == "default" and not can_render(),
        "tabs": max(1, rendering.tabs),
        "allows_unsandboxed": is_chosen,
    }
    for pattern in (*rendering.render_always, *rendering.render_never):
        compile_pattern(pattern)  # raises UsageError
    if mode != "never" or rendering.render_always:
        require_browser()
    return fields


def describe_missing_rendering(rendering: RenderSettings) -> str:
    """Return how to render pages that look built by scripts; empty: they are rendered."""
    from sanderling.workers.browser.renderer import can_render

    if rendering.render == "never":
        return "--render auto runs their scripts"
    if rendering.render == "default" and not can_render():
        return "to run their scripts, install Chromium and sanderling[browser] (make browser), then refresh --all"
    return ""


def _is_proxy_url(text: str) -> bool:
    """Whether curl accepts the URL. Curl's own error would show the password."""
    match = PROXY_URL(text)
    return match is not None and int(match[1] or 0) < 2**16


def _parse_host(flag: str, text: str, may_show_text: bool = True) -> str:
    """Parse a host with an optional port. `may_show_text`: it cannot be a password."""
    match = HOST_PATTERN(f"[{text.strip()}]" if BARE_IPV6(text.strip()) else text.strip())
    url = normalize_url(f"http://{match[1]}/") if match else None
    if not match or url is None:
        # The text is a password if the user swapped HOST and USER:PASSWORD.
        shown = repr(text) if may_show_text else "the part before ="
        raise UsageError(f"{flag}: {shown} is not a host; use example.org or example.org:8443")
    return get_hostname(get_host(url.url)) + (match[2] or "")


def build_politeness(request: CrawlRequest) -> Politeness:
    delay, max_workers = request.politeness.delay, count_max_workers(request.workers)
    if request.workers.lease < MIN_LEASE_SECONDS:
        raise UsageError(f"--lease must be at least {MIN_LEASE_SECONDS:g} s, to tell silent workers from busy ones")
    concurrency = request.politeness.concurrency or (1 if delay > 0 else UNDELAYED_CONNECTIONS)
    shared = delay == 0 and concurrency >= max_workers and not uses_cookies(request)  # each worker has its own cookies
    return Politeness(
        delay_seconds=delay,
        connections=max(1, concurrency // max_workers) if shared else concurrency,
        allows_sharing=shared,
        uses_proxy=bool(request.fetching.proxy),
        lease_seconds=request.workers.lease,
    )


def get_policy(name: str) -> RevisitPolicy:
    """Return a revisit policy by name, also one of a plugin. Raises UsageError."""
    policy = find_policy(name)
    if policy is None:
        raise UsageError(f"unknown revisit policy {name!r}{suggest_or_list_names(name, list(POLICIES))}")
    return policy


def get_budget(request: CrawlRequest) -> RevisitBudget | None:
    return parse_budget(request.revisit.budget) if request.revisit.budget else None
