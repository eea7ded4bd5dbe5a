"""Rules of the site owner, and the check of requests against them.

Paths are checked in every way a web server may decode them, such as `/a/..%2fprivate/`.
"""

import math
import posixpath
import re
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
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

AMBIGUOUS_PATH = re.compile(r"[%\\;]|//|/\.")  # a server may decode such a path to another one
PATH_PARAMETERS = re.compile(r";[^/]*")  # some servers remove them before they resolve dots
PLACEHOLDER_ORIGIN = "http://any.example"
PathReadings = tuple[str, str, str]  # as written, decoded, decoded without path parameters


def list_path_readings(path: str) -> PathReadings:
    """Return a path as written, and as web servers may decode it."""
    return (
        (path, decode_path(path), decode_path(path, drop_parameters=True))
        if AMBIGUOUS_PATH.search(path)
        else (path, path, path)
    )


def decode_path(path: str, drop_parameters: bool = False) -> str:
    """Decode a path, merge slashes and resolve dots: `/a/..%2fb?c` becomes `/b?c`."""
    before, question_mark, query = path.partition("?")
    name = unquote(before).replace("\\", "/")
    name = PATH_PARAMETERS.sub("", name) if drop_parameters else name
    plain = posixpath.normpath("/" + name.lstrip("/"))
    slash = "/" if name.endswith(("/", "/.", "/..")) and plain != "/" else ""
    return plain + slash + question_mark + unquote(query)


def list_request_urls(url: str, site: str) -> set[str]:
    """Return a URL and those of its decoded paths."""
    path = url[len(site) :] or "/"
    return {
        url,
        *(
            site + quote(reading, safe="/?&=;:@!$'()*+,~")
            for reading in list_path_readings(path)[1:]
            if reading != path
        ),
    }


@lru_cache(maxsize=256)
def build_allowed_prefixes(prefixes: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the allowed prefixes for each reading of a path."""
    return tuple(zip(*(list_path_readings(_normalize_prefix(prefix)) for prefix in prefixes), strict=True)) or (
        (),
        (),
        (),
    )


@lru_cache(maxsize=256)
def build_denied_prefixes(prefixes: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the denied prefixes for each reading of a path."""
    written, decoded, _ = build_allowed_prefixes(prefixes)
    return written, decoded, decoded


def _normalize_prefix(prefix: str) -> str:
    """Normalize a prefix like a URL: `/café/` becomes `/caf%C3%A9/`."""
    url = normalize_url(PLACEHOLDER_ORIGIN + prefix) if prefix.startswith("/") else None
    return split_url(url.url)[1] if url is not None else prefix


CLOCK_SKEW_SECONDS = 60.0
MAX_REQUEST_SECONDS = 86400.0  # longest lifetime of a request; its nonce is kept as long
EXPIRY_MARGIN_SECONDS = 120.0  # for a request that watches a site for the longest time
HOURS_PATTERN = re.compile(r"(0?\d|1\d|2[0-4])-(0?\d|1\d|2[0-4])", re.ASCII)
MAX_AGENT_LENGTH = 300
MAX_NONCE_BYTES = 64  # ours have 12; limits the memory for nonces


class RefusalReason(StrEnum):
    """Reason why a request is refused."""

    UNKNOWN_SENDER = "unknown sender"
    BAD_SIGNATURE = "bad signature"
    UNREADABLE = "unreadable"
    TRUNCATED = "truncated"
    TOO_LARGE = "too large"
    WRONG_RECEIVER = "for another migrant"
    EXPIRED = "expired"
    LIFETIME_TOO_LONG = "valid for too long"
    ISSUED_IN_FUTURE = "issued in the future"
    REPLAYED = "replayed"
    UNKNOWN_SITE = "other site"
    OUTSIDE_HOURS = "outside of the allowed hours"
    BUSY = "too many connections"
    ISSUED_BEFORE_START = "issued before this migrant started"


class SiteRules(Struct, frozen=True, forbid_unknown_fields=True):
    site: str
    root: str = ""  # folder with its files; empty: fetch from its web server
    address: str = "127.0.0.1"  # of its web server, on the port of `site`
    paths: tuple[str, ...] = ("/",)
    not_paths: tuple[str, ...] = ()
    pages_per_second: float = 0.0  # 0: no limit
    connections: int = 8
    hours: str = "0-24"  # UTC, e.g. 22-6
    max_pages: int = 100_000
    compression: Literal["auto", "small", "fast"] = "auto"  # of a first response; auto: small if the server compresses

    def is_path_allowed(self, path: str) -> bool:
        checks = zip(
            list_path_readings(path),
            build_allowed_prefixes(self.paths),
            build_denied_prefixes(self.not_paths),
            strict=True,
        )
        return all(
            reading.startswith(allowed) and not reading.startswith(denied) for reading, allowed, denied in checks
        )

    def is_file_denied(self, file: str) -> bool:
        """Return whether a file is denied, whatever path leads to it."""
        return file.startswith(build_denied_prefixes(self.not_paths)[1])


class OwnerRules(Struct, frozen=True, forbid_unknown_fields=True):
    """Rules of a migrant, as its owner wrote them in TOML."""

    name: str  # receiver of requests, e.g. www.example.org:8443
    site: tuple[SiteRules, ...]
    listen: str = "127.0.0.1:8443"
    senders: str = "senders"  # file with one `KEY NAME` per line
    certificate: str = ""  # PEM file; empty: plain HTTP
    private_key: str = ""
    max_request_bytes: int = 4_000_000  # compressed and decompressed
    max_urls: int = 50_000
    max_concurrent_requests: int = 8


def load_owner_rules(file: Path) -> OwnerRules:
    """Load the rules. Raises UsageError with the first error."""
    try:
        owner = msgspec.convert(tomllib.loads(file.read_text()), OwnerRules)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{file}: {error}") from None
    for message in find_errors(owner):
        raise UsageError(f"{file}: {message}")
    return owner


def find_errors(rules: OwnerRules) -> Iterator[str]:
    """Generate descriptions of invalid rules."""
    for name in ("max_request_bytes", "max_urls", "max_concurrent_requests"):
        if getattr(rules, name) < 1:
            yield f"{name} must be 1 or more"
    for site in rules.site:
        url = normalize_url(site.site)
        if url is None or get_host(url.url) != site.site:
            yield f"write a site as https://www.example.org, not {site.site!r}"
        if sum(other.site == site.site for other in rules.site) > 1:
            yield f"site {site.site} is listed twice"
        yield from (f"{site.site}: {error}" for error in _find_site_errors(site))


def _find_site_errors(site: SiteRules) -> Iterator[str]:
    if not 0 <= site.pages_per_second < math.inf:
        yield "pages_per_second must be 0 (no limit) or more"
    for name in ("connections", "max_pages"):
        if getattr(site, name) < 1:
            yield f"{name} must be 1 or more"
    for path in (*site.paths, *site.not_paths):
        if not path.startswith("/"):
            yield f"write a path as /private/, not {path!r}"
    if site.root and not Path(site.root).is_dir():
        yield f"root is not a folder: {site.root}"
    if not HOURS_PATTERN.fullmatch(site.hours):
        yield f"{site.hours!r} is not a range of hours; write 22-6 or 0-24"


def is_within_hours(hours: str, now: float) -> bool:
    """Compare with a range of hours in UTC; `22-6` spans midnight."""
    match = HOURS_PATTERN.fullmatch(hours)
    if match is None:
        raise UsageError(f"{hours!r} is not a range of hours; write 22-6 or 0-24")
    start, end, hour = int(match[1]), int(match[2]), time.gmtime(now).tm_hour
    return start <= hour < end if start <= end else hour >= start or hour < end


class ReplayGuard:
    """Stores nonces until they expire, and the last issue time of each sender before a restart."""

    def __init__(self, started_at: float = 0.0, last_issued_at: Mapping[str, float] = MappingProxyType({})) -> None:
        self.started_at = started_at
        self.last_issued_at = dict(last_issued_at)  # by sender
        self.expiry_by_nonce: dict[tuple[str, bytes], float] = {}

    def is_before_start(self, request: MigrantRequest) -> bool:
        """Check whether a request may have been answered before the restart."""
        return request.issued_at < self.started_at or request.issued_at <= self.last_issued_at.get(request.sender, 0.0)

    def register(self, request: MigrantRequest, now: float) -> bool:
        """Store the nonce of a request. Returns False if it is known."""
        if len(self.expiry_by_nonce) % 256 == 255:
            self.expiry_by_nonce = {
                key: expires_at for key, expires_at in self.expiry_by_nonce.items() if expires_at > now
            }
        key = (request.sender, request.nonce)
        if key in self.expiry_by_nonce:
            return False
        self.expiry_by_nonce[key] = request.expires_at + CLOCK_SKEW_SECONDS
        return True


def find_site_rules(request: MigrantRequest, rules: OwnerRules) -> SiteRules | None:
    return next((site for site in rules.site if Host(site.site) == request.site), None)


def check_request(  # noqa: PLR0911 one return per reason
    request: MigrantRequest, public_key: str, rules: OwnerRules, replay_guard: ReplayGuard, now: float
) -> RefusalReason | None:
    """Return why a correctly signed request is refused (None: accepted), and store its nonce."""
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
    if not request.expires_at - request.issued_at <= MAX_REQUEST_SECONDS + EXPIRY_MARGIN_SECONDS:  # true for NaN, too
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
    """Issue time of the last request of each sender, in a JSON file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.issued_at_by_sender = _read_times(file)

    def record(self, request: MigrantRequest) -> None:
        """Store the issue time of an accepted request. Disk errors are ignored."""
        if request.issued_at <= self.issued_at_by_sender.get(request.sender, 0.0):
            return
        self.issued_at_by_sender[request.sender] = request.issued_at
        with suppress(OSError):
            write_atomically(self.file, msgspec.json.encode(self.issued_at_by_sender))


def _read_times(file: Path) -> dict[str, float]:
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(file.read_bytes(), type=dict[str, float])
    return {}
