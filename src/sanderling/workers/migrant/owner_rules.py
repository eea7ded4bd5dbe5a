"""What the owner of a host allows, and the check of a letter against it. Pure: every refusal has a name."""

import math
import posixpath
import re
import time
import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal
from urllib.parse import quote, unquote

import msgspec
from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.models import Host
from sanderling.urls.normalize import get_host, normalize_url, split_url
from sanderling.workers.migrant.messages import MigrantRequest
from sanderling.workers.migrant.shared_dictionary import write_atomically

AMBIGUOUS_PATH = re.compile(r"[%\\;]|//|/\.")  # a server may read such a path as another one
PATH_PARAMETERS = re.compile(r";[^/]*")  # of a segment; some servers cut them off before they resolve dots
PLACEHOLDER_ORIGIN = "http://any.example"
PathReadings = tuple[str, str, str]  # as spelled, as most servers read it, as servers do that cut parameters off


def list_path_readings(path: str) -> PathReadings:
    """The ways to read a path."""
    return (
        (path, decode_path(path), decode_path(path, drop_parameters=True))
        if AMBIGUOUS_PATH.search(path)
        else (path, path, path)
    )


def decode_path(path: str, drop_parameters: bool = False) -> str:
    """A path as many web servers read it: decoded, slashes merged, dots resolved; `/a/..%2fb?c` is `/b?c`."""
    before, mark, query = path.partition("?")
    name = unquote(before).replace("\\", "/")
    name = PATH_PARAMETERS.sub("", name) if drop_parameters else name
    plain = posixpath.normpath("/" + name.lstrip("/"))
    slash = "/" if name.endswith(("/", "/.", "/..")) and plain != "/" else ""
    return plain + slash + mark + unquote(query)


def list_request_urls(url: str, site: str) -> set[str]:
    """Return a URL of a site and those of the other readings of its path: `/a%2fb` may be answered as `/a/b`."""
    path = url[len(site) :] or "/"
    return {url, *(site + quote(one, safe="/?&=;:@!$'()*+,~") for one in list_path_readings(path)[1:] if one != path)}


@lru_cache(maxsize=256)
def build_allowed_prefixes(prefixes: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """What each reading of a path has to begin with."""
    return tuple(zip(*(list_path_readings(_normalize_prefix(prefix)) for prefix in prefixes), strict=True)) or (
        (),
        (),
        (),
    )


@lru_cache(maxsize=256)
def build_denied_prefixes(prefixes: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """What no reading of a path may begin with; `/a;b` does not hide all of `/a`."""
    spelled, read, _ = build_allowed_prefixes(prefixes)
    return spelled, read, read


def _normalize_prefix(prefix: str) -> str:
    """As we spell URLs: `/café/` is `/caf%C3%A9/`."""
    spelling = normalize_url(PLACEHOLDER_ORIGIN + prefix) if prefix.startswith("/") else None
    return split_url(spelling.url)[1] if spelling is not None else prefix


CLOCK_SKEW_SECONDS = 60.0  # clocks differ
MAX_REQUEST_SECONDS = (
    86400.0  # a letter that claims to live longer is refused; nonces are remembered as long as it lives
)
EXPIRY_MARGIN_SECONDS = 120.0  # a letter that stays for the longest time lives a little longer
HOURS_PATTERN = re.compile(r"(0?\d|1\d|2[0-4])-(0?\d|1\d|2[0-4])", re.ASCII)
MAX_AGENT_LENGTH = 300  # characters
MAX_NONCE_BYTES = 64  # bytes; ours have 12, and all are kept as long as their letters are valid


class RefusalReason(StrEnum):
    """Why a letter is not obeyed."""

    UNKNOWN_SENDER = "unknown sender"
    BAD_SIGNATURE = "bad signature"
    UNREADABLE = "unreadable"
    TRUNCATED = "truncated"
    TOO_LARGE = "too large"
    WRONG_RECEIVER = "for another host"
    EXPIRED = "expired"
    LIFETIME_TOO_LONG = "lives too long"
    ISSUED_IN_FUTURE = "from the future"
    REPLAYED = "replayed"
    UNKNOWN_SITE = "other site"
    OUTSIDE_HOURS = "closed at this hour"
    BUSY = "too many guests"
    ISSUED_BEFORE_START = "written before this host began"


class SiteRules(Struct, frozen=True, forbid_unknown_fields=True):
    """One site the owner lets others visit."""

    site: str
    root: str = ""  # a folder with its files; empty: ask its web server
    address: str = "127.0.0.1"  # where its web server listens, on the port of `site`
    paths: tuple[str, ...] = ("/",)
    not_paths: tuple[str, ...] = ()
    pages_per_second: float = 0.0  # 0: no limit
    connections: int = 8
    hours: str = "0-24"  # UTC, e.g. 22-6
    max_pages: int = 100_000
    compression: Literal["auto", "small", "fast"] = (
        "auto"  # a first answer: auto is small where the web server compresses
    )

    def is_path_allowed(self, path: str) -> bool:
        """May this path be looked at, as it is spelled and as a web server may read it?"""
        ways = zip(
            list_path_readings(path),
            build_allowed_prefixes(self.paths),
            build_denied_prefixes(self.not_paths),
            strict=True,
        )
        return all(one.startswith(wanted) and not one.startswith(hidden) for one, wanted, hidden in ways)

    def is_file_denied(self, file: str) -> bool:
        """Is a file kept back, whatever path leads to it? It is named by its place in the folder: `/private/a b`."""
        return file.startswith(build_denied_prefixes(self.not_paths)[1])


class OwnerRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The rules of one host, as its owner wrote them in TOML."""

    name: str  # what senders write as receiver, e.g. host.example:8443
    site: tuple[SiteRules, ...]
    listen: str = "127.0.0.1:8443"
    senders: str = "senders"  # file with one `KEY NAME` per line
    certificate: str = ""  # PEM files; without them the service speaks plain HTTP
    private_key: str = ""
    max_request_bytes: int = 4_000_000  # bytes, as sent and again unpacked
    max_urls: int = 50_000
    max_concurrent_requests: int = 8  # connections at once


def load_owner_rules(file: Path) -> OwnerRules:
    """Read the owner's rules; what is wrong with them is said before the service starts."""
    try:
        owner = msgspec.convert(tomllib.loads(file.read_text()), OwnerRules)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{file}: {error}") from None
    for wrong in find_errors(owner):
        raise UsageError(f"{file}: {wrong}")
    return owner


def find_errors(rules: OwnerRules) -> Iterator[str]:
    """Say what cannot be meant."""
    for name in ("max_request_bytes", "max_urls", "max_concurrent_requests"):
        if getattr(rules, name) < 1:
            yield f"{name} is 1 or more"
    for site in rules.site:
        spelling = normalize_url(site.site)
        if spelling is None or get_host(spelling.url) != site.site:
            yield f"write a site as https://www.example.org, not {site.site!r}"
        if sum(other.site == site.site for other in rules.site) > 1:
            yield f"{site.site} is there twice"
        yield from (f"{site.site}: {wrong}" for wrong in _find_site_errors(site))


def _find_site_errors(site: SiteRules) -> Iterator[str]:
    if not 0 <= site.pages_per_second < math.inf:
        yield "pages_per_second is 0 (no limit) or more"
    for name in ("connections", "max_pages"):
        if getattr(site, name) < 1:
            yield f"{name} is 1 or more"
    for path in (*site.paths, *site.not_paths):
        if not path.startswith("/"):
            yield f"write a path as /private/, not {path!r}"
    if site.root and not Path(site.root).is_dir():
        yield f"root is no folder: {site.root}"
    if not HOURS_PATTERN.fullmatch(site.hours):
        yield f"{site.hours!r} are no hours; write 22-6 or 0-24"


def is_within_hours(hours: str, now: float) -> bool:
    """Is it within these hours, in UTC? `22-6` goes over midnight."""
    match = HOURS_PATTERN.fullmatch(hours)
    if match is None:
        raise UsageError(f"{hours!r} are no hours; write 22-6 or 0-24")
    start, end, hour = int(match[1]), int(match[2]), time.gmtime(now).tm_hour
    return start <= hour < end if start <= end else hour >= start or hour < end


class ReplayGuard:
    """Letters seen, as long as they could be sent again; of those before a restart, how the last ones were dated."""

    def __init__(self, started_at: float = 0.0, last_issued_at: Mapping[str, float] = MappingProxyType({})) -> None:
        self.started_at = started_at
        self.last_issued_at = dict(last_issued_at)  # the date of the last letter of each sender
        self.expiry_by_nonce: dict[tuple[str, bytes], float] = {}

    def is_before_start(self, request: MigrantRequest) -> bool:
        """May a letter have been here before the restart?"""
        return request.issued_at < self.started_at or request.issued_at <= self.last_issued_at.get(request.sender, 0.0)

    def register(self, request: MigrantRequest, now: float) -> bool:
        """Remember a letter; False if it was here before."""
        if len(self.expiry_by_nonce) % 256 == 255:
            self.expiry_by_nonce = {key: until for key, until in self.expiry_by_nonce.items() if until > now}
        key = (request.sender, request.nonce)
        if key in self.expiry_by_nonce:
            return False
        self.expiry_by_nonce[key] = request.expires_at + CLOCK_SKEW_SECONDS
        return True


def find_site_rules(request: MigrantRequest, rules: OwnerRules) -> SiteRules | None:
    """The site a letter speaks of, if the owner has it."""
    return next((site for site in rules.site if Host(site.site) == request.site), None)


def check_request(
    request: MigrantRequest, public_key: str, rules: OwnerRules, replay_guard: ReplayGuard, now: float
) -> RefusalReason | None:
    """Say why a letter whose signature is good is still not obeyed; None if it is."""
    if request.sender != public_key:
        return RefusalReason.BAD_SIGNATURE
    if len(request.user_agent) > MAX_AGENT_LENGTH or not (
        request.user_agent.isascii() and request.user_agent.isprintable()
    ):
        return RefusalReason.UNREADABLE
    if len(request.nonce) > MAX_NONCE_BYTES:
        return RefusalReason.UNREADABLE
    if request.receiver != rules.name:
        return RefusalReason.WRONG_RECEIVER
    if request.issued_at > now + CLOCK_SKEW_SECONDS:
        return RefusalReason.ISSUED_IN_FUTURE
    if request.expires_at < now - CLOCK_SKEW_SECONDS:
        return RefusalReason.EXPIRED
    if (
        not request.expires_at - request.issued_at <= MAX_REQUEST_SECONDS + EXPIRY_MARGIN_SECONDS
    ):  # nor is it without a time
        return RefusalReason.LIFETIME_TOO_LONG
    if len(request.urls) > rules.max_urls:
        return RefusalReason.TOO_LARGE
    site = find_site_rules(request, rules)
    if site is None:
        return RefusalReason.UNKNOWN_SITE
    if not is_within_hours(site.hours, now):
        return RefusalReason.OUTSIDE_HOURS
    if replay_guard.is_before_start(request):
        return RefusalReason.ISSUED_BEFORE_START
    return None if replay_guard.register(request, now) else RefusalReason.REPLAYED


class LastRequestTimes:
    """The dates of the last letters, in one small file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.issued_at_by_sender = _read_times(file)

    def record(self, request: MigrantRequest) -> None:
        """Remember a letter that is obeyed. A full disk costs only that."""
        if request.issued_at <= self.issued_at_by_sender.get(request.sender, 0.0):
            return
        self.issued_at_by_sender[request.sender] = request.issued_at
        try:
            write_atomically(self.file, msgspec.json.encode(self.issued_at_by_sender))
        except OSError:
            return


def _read_times(file: Path) -> dict[str, float]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, float])
    except (OSError, msgspec.DecodeError):
        return {}
